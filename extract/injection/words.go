package injection

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text, or a term in a script without spaces.
type word struct {
	text  string
	class class
	ideas class
	span  int // words that follow and belong to the same term
	// starts is the mark before the word, if it begins a clause: ',' for marks within a
	// sentence, '.' for the end of one, '\n' for a line. 0 for none, '\'' within a word.
	starts rune
	// ends is the mark that follows the word.
	ends rune
	at   int  // where it begins in the folded text
	key  bool // it is of the name of a field of JSON, which orders nothing
}

// maxWords bounds how many words of a text are looked at. A turn of MaxFact bytes has
// fewer.
const maxWords = 1 << 16

// wordsOf parts a folded text into words with their classes.
func wordsOf(text string) []word {
	out := make([]word, 0, len(text)/6+8)
	mark := '\n'
	for i := 0; i < len(text) && len(out) < maxWords; {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isUnspaced(r):
			n := unspacedEnd(text[i:])
			out = appendUnspaced(out, text[i:i+n], i, mark)
			mark, i = 0, i+n
		case isWordRune(r):
			n := wordEnd(text[i:])
			w := word{text: text[i : i+n], starts: mark, at: i}
			if isAddress(w.text) {
				w.class |= address
			} else {
				w.text = respelled(unleet(w.text))
			}
			out = append(out, w)
			mark, i = 0, i+n
		default:
			if m := markOf(r); m != 0 {
				if len(out) > 0 && out[len(out)-1].ends == 0 {
					out[len(out)-1].ends = r
				}
				mark = stronger(mark, m)
			}
			i += size
		}
	}
	markKeys(out, text)
	lexicon, about := terms(), ideas()
	for i := range out {
		if first, _ := utf8.DecodeRuneInString(out[i].text); !isUnspaced(first) {
			out[i].ideas, _ = about.find(out, i)
			c, span := lexicon.find(out, i)
			out[i].class |= c
			out[i].span = max(out[i].span, span)
		}
	}
	return out
}

// longestKey is the longest name of a field that is seen as one.
const longestKey = 64

// markKeys marks the words of the names of fields of JSON: "note_for_user": is no order to note something.
func markKeys(words []word, text string) {
	const ends = `":`
	i := 0
	for from := 0; ; {
		end := strings.Index(text[from:], ends)
		if end < 0 {
			return
		}
		end += from
		start := max(from, end-longestKey)
		begin := start + strings.LastIndexByte(text[start:end], '"')
		from = end + len(ends)
		if begin < start || !isKey(text[begin+1:end]) {
			continue
		}
		for ; i < len(words) && words[i].at < end; i++ {
			words[i].key = words[i].at > begin
		}
	}
}

// maxKeyWords bounds the words of a name of a field: "ignore_all_previous_instructions" is an order.
const maxKeyWords = 3

// isKey reports whether a text is the name of a field: letters, digits and "_" alone, of few words.
func isKey(text string) bool {
	return strings.Count(text, "_") < maxKeyWords && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// stronger is the mark of two that ends more.
func stronger(a, b rune) rune {
	rank := func(r rune) int { return strings.IndexRune("\x00',.\n", r) }
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// markOf is the mark that a character makes between words; 0 for none.
func markOf(r rune) rune {
	switch r {
	case '\n', '\r':
		return '\n'
	case '.', '!', '?', '。', '！', '？', '．', '؟', '।', '۔', '…':
		return '.'
	case '\'', '’':
		return '\''
	case ',', ';', ':', '(', ')', '[', ']', '{', '}', '"', '“', '”', '„', '«', '»', '‘', '、', '，', '；', '：', '「', '」',
		'『', '』', '（', '）', '—', '–', '|', '<', '>', '*', '#', '،', '؛', '`', '/':
		return ','
	}
	return 0
}

func isWordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '@' || r == '$' ||
		r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// wordEnd is where the word at the begin of text ends. An address is one word.
func wordEnd(text string) int {
	end := 0
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if isUnspaced(r) || !isWordRune(r) {
			break
		}
		end += size
	}
	if whole := addressEnd(text); whole > end && isAddress(text[:whole]) {
		return whole
	}
	return end
}

// maxAddress is the longest address that is seen as one.
const maxAddress = 200

// addressEnd is where the characters end that addresses are made of.
func addressEnd(text string) int {
	end := 0
	for end < len(text) && end < maxAddress {
		if c := text[end]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("@.:/-_%+=?&~#", c) >= 0 {
			end++
			continue
		}
		break
	}
	return len(strings.TrimRight(text[:end], ".:?"))
}

// isAddress reports whether a word is a URL, an e-mail address or a host.
func isAddress(w string) bool {
	if strings.HasPrefix(w, "http://") || strings.HasPrefix(w, "https://") || strings.HasPrefix(w, "www.") {
		return true
	}
	if _, host, is := strings.Cut(w, "@"); is {
		return strings.Contains(strings.Trim(host, "."), ".")
	}
	dot := strings.LastIndexByte(w, '.')
	return dot > 1 && len(w)-dot > 2 && !strings.ContainsAny(w, ":") && isLetters(w[dot+1:]) &&
		strings.ContainsAny(w, "/-") && !strings.Contains(w, "..")
}

func isLetters(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return s != ""
}

// unspacedEnd is where characters of scripts without spaces end.
func unspacedEnd(text string) int {
	for i, r := range text {
		if !isUnspaced(r) {
			return i
		}
	}
	return len(text)
}

// appendUnspaced adds the terms in a text without spaces, the longest at each place, and
// one word for all that lies between two of them. The text begins at a place of its own.
func appendUnspaced(out []word, text string, at int, mark rune) []word {
	lexicon := terms()
	gap := false
	for i := 0; i < len(text) && len(out) < maxWords; {
		best, c := 0, class(0)
		end := i
		for n := 0; n < lexicon.unspacedMost && end < len(text); n++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
			if found := lexicon.unspaced[text[i:end]]; found != 0 {
				best, c = end, found
			}
		}
		if best == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			if !gap {
				out = append(out, word{text: text[i : i+size], starts: mark, at: at + i})
				mark, gap = 0, true
			}
			i += size
			continue
		}
		out = append(out, word{text: text[i:best], class: c, starts: mark, at: at + i})
		mark, gap, i = 0, false, best
	}
	return out
}
