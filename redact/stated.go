package redact

import (
	_ "embed"
	"strings"
	"unicode/utf8"
)

//go:embed words.txt
var wordsText string

// words are the word lists of words.txt, by their headings.
var words = func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	var list map[string]bool
	for line := range strings.Lines(wordsText) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok {
			name, _, _ = strings.Cut(name, ":")
			list = map[string]bool{}
			out[name] = list
			continue
		}
		for word := range strings.FieldsSeq(line) {
			list[strings.ReplaceAll(word, "_", " ")] = true
		}
	}
	return out
}()

// What a keyword announces.
type topic int

const (
	none      topic = iota
	aPassword       // a password or a passphrase
	aPIN            // digits
	aKey            // a key or a token: something that a machine made
	aCVV            // the digits on the back of a card
	aLogin          // a name, and a password behind it
)

// keyword is what the table of keywords has of a word.
type keyword struct {
	topic topic // of the word alone
	// most is how many words the longest keyword has that begins with the word; 0 for one.
	most int
}

// topics has the keywords, of one word or several with spaces between. keywords has the
// first words of all, and looksLike what a word that is none of them is known by.
var (
	topics = func() map[string]topic {
		out := map[string]topic{}
		for name, t := range map[string]topic{"password": aPassword, "pin": aPIN, "key": aKey, "cvv": aCVV,
			"login": aLogin} {
			for w := range words[name] {
				out[w] = t
			}
		}
		return out
	}()
	keywords = func() map[string]keyword {
		out := map[string]keyword{}
		for w, t := range topics {
			first, rest, more := strings.Cut(w, " ")
			k := out[first]
			if more {
				k.most = max(k.most, 2+strings.Count(rest, " "))
			} else {
				k.topic = t
			}
			out[first] = k
		}
		return out
	}()
	looksLike = func() (seen [1 << 12]bool) {
		for w := range keywords {
			seen[looks(w)] = true
		}
		return seen
	}()
)

// looks is a hash of a word's first letters and length: most words have that of no
// keyword, which is known sooner than from a map.
func looks[T string | []byte](word T) int {
	return (int(word[0]|0x20)*31*31 + int(word[1]|0x20)*31 + int(word[len(word)-1]|0x20)*7 + len(word)) & (1<<12 - 1)
}

// unspaced are the keywords of languages that put no space between words.
var unspaced = func() (out []string) {
	for w := range words["unspaced"] {
		out = append(out, w)
	}
	return out
}()

// maxWord bounds the words that are looked up, in bytes.
const maxWord = 40

// stated finds passwords, PINs and keys that a sentence states: "my password is …",
// "the PIN for the door: …", "… is my password".
func (s *scan) stated() {
	var buf [maxWord]byte
	marks := marksIn(s.text)
	for i := 0; i < len(s.text); {
		if len(marks) > 0 && i > marks[0][0] { // the words of a mark announce nothing
			i, marks = max(i, marks[0][1]), marks[1:]
			continue
		}
		end := wordRun(s.text, i)
		if end == i {
			i++
			continue
		}
		if end-i >= 2 && end-i <= maxWord && (s.text[i] >= 0x80 || looksLike[looks(s.text[i:end])]) {
			k := keywords[string(lowerInto(&buf, s.text[i:end]))]
			if k.most > 0 {
				if last, t := s.phrase(i, end, k.most); t != none {
					s.statement(t, i, last)
					i = last
					continue
				}
			}
			if k.topic != none {
				s.statement(k.topic, i, end)
			}
		}
		i = end
	}
	if s.wide {
		s.unspacedStatements()
	}
}

// wordByte reports whether a byte may be one of a word's.
func wordByte(c byte) bool { return isLetter(c) || c >= 0x80 }

// wordRun returns where the word at i ends: letters of ASCII and characters beyond it,
// without the blocks that have punctuation and full-width digits.
func wordRun(text string, i int) int {
	for i < len(text) {
		c := text[i]
		if isLetter(c) {
			i++
			continue
		}
		if c < 0xc3 || c == 0xe2 || i+1 < len(text) && (c == 0xe3 && text[i+1] == 0x80 || c == 0xef &&
			text[i+1] == 0xbc) {
			break
		}
		_, width := utf8.DecodeRuneInString(text[i:])
		i += width
	}
	return i
}

// lowerInto returns a word in lower case, in buf where it has ASCII alone.
func lowerInto(buf *[maxWord]byte, word string) []byte {
	for i := range len(word) {
		c := word[i]
		if c >= 0x80 {
			return []byte(strings.ToLower(word))
		}
		if isUpper(c) {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(word)]
}

// phrase returns the end of the longest keyword of several words that begins at i, and
// what it announces. end is that of its first word, and n the most words it may have.
func (s *scan) phrase(i, end, n int) (last int, t topic) {
	key := strings.ToLower(s.text[i:end])
	for range n - 1 {
		next := end
		for next < len(s.text) && strings.IndexByte(" -_'", s.text[next]) >= 0 && next-end < 2 {
			next++
		}
		if end = wordRun(s.text, next); end == next || end-i > 3*maxWord {
			break
		}
		key += " " + strings.ToLower(s.text[next:end])
		if found := topics[key]; found != none {
			last, t = end, found
		}
	}
	return last, t
}

// statement looks for what the keyword at text[i:end] announces, after it and before it.
func (s *scan) statement(t topic, i, end int) {
	if end+1 < len(s.text) && (s.text[end] == '_' || s.text[end] == '-') && isAlnum(s.text[end+1]) {
		return // part of a longer name; see assignments
	}
	if t == aKey && strings.EqualFold(s.text[i:end], "token") && s.of(i, "nottoken") {
		return
	}
	if t == aLogin {
		s.login(end)
		return
	}
	if from, how := s.link(t, i, end); from > 0 && !s.postal(i, end, how) {
		if start, stop := s.value(t, from, how); stop > start {
			s.add(t.kind(), "stated", start, stop)
			return
		}
	}
	if start, stop := s.valueBefore(t, i); stop > start {
		s.add(t.kind(), "stated", start, stop)
	}
}

// postal reports whether a PIN is the code of a place in India: six digits right behind
// "PIN code".
func (s *scan) postal(i, end int, how linked) bool {
	at := skipSpace(s.text, end)
	return how == beside && end-i > len("pin") && strings.EqualFold(s.text[i:i+3], "pin") && at+6 <= len(s.text) &&
		digitsOnly(s.text[at:at+6]) && ends(s.text, at+6)
}

// login finds the password of "login: name / password" after its keyword, which ends
// at end.
func (s *scan) login(end int) {
	start := skipBlank(s.text, end)
	for _, word := range []string{"details", "data", "info"} {
		if strings.HasPrefix(lowerAfter(s.text, start, 8), word) {
			start = skipBlank(s.text, start+len(word))
		}
	}
	width := signAt(s.text, start)
	if width == 0 {
		return
	}
	name := skipBlank(s.text, start+width)
	at := name
	for at < len(s.text) && !endsValue(s.text, at) && s.text[at] != '/' && s.text[at] != ':' && s.text[at] != '|' {
		at++
	}
	from := skipBlank(s.text, at)
	if from == len(s.text) || at == name || strings.IndexByte("/:|,", s.text[from]) < 0 {
		return
	}
	from = skipBlank(s.text, from+1)
	stop := from
	for stop < len(s.text) && !endsValue(s.text, stop) {
		stop++
	}
	value := trimEnd(s.text[from:stop])
	if v := varietyOf(value); v.digit && (v.lower || v.upper) && fits(aPassword, value, verb, true) {
		s.add(Passwords, "login", from, from+len(value))
	}
}

// kind is the kind of what a keyword announces.
func (t topic) kind() Kind {
	switch t {
	case aKey:
		return Keys
	case aCVV:
		return Cards
	}
	return Passwords
}

// How firmly a keyword is linked to its value.
type linked int

const (
	beside linked = iota // nothing is between them
	verb                 // "is", "to", "="…
	owned                // a verb, and the keyword is somebody's: "my password is"
	sign                 // a colon, an equals sign or an arrow
)

// maxLink is how many words may stand between a keyword and its verb.
const maxLink = 7

// link returns where the value begins that the keyword at text[i:end] announces, and how
// it is linked; 0 if it announces none.
func (s *scan) link(t topic, i, end int) (from int, how linked) {
	text := s.text
	at := end
	for at < len(text) && strings.IndexByte("\"'`*_)", text[at]) >= 0 { // of markup around the keyword
		at++
	}
	preposition := false
	for n := 0; n <= maxLink; n++ {
		start := skipSpace(text, at)
		if start-at > 8 || start >= len(text) || strings.Contains(text[at:start], "\n") && n > 0 {
			break
		}
		if width := signAt(text, start); width > 0 {
			from = skipSpace(text, start+width)
			return s.skipFillers(from), sign
		}
		if text[start] == '(' { // a remark
			if stop := strings.IndexByte(text[start:min(len(text), start+60)], ')'); stop > 0 {
				at = start + stop + 1
				continue
			}
		}
		stop := wordRun(text, start)
		for stop < len(text) && (text[stop] == '\'' || isDigit(text[stop])) {
			stop = wordRun(text, stop+1)
		}
		if stop == start {
			break
		}
		word := strings.ToLower(text[start:min(stop, start+maxWord)])
		switch {
		case words["verb"][word]:
			how = verb
			if s.ownedBefore(i) {
				how = owned
			}
			return s.skipFillers(stop), how
		case words["preposition"][word]:
			preposition = true
		case words["compound"][word]:
			return 0, 0
		case n == 0 && !words["number"][word] && !words["adverb"][word]:
			return skipSpace(text, at), beside
		case !preposition && !words["number"][word] && !words["adverb"][word]:
			return 0, 0
		}
		at = stop
		for at < len(text) && strings.IndexByte("\"'`*_", text[at]) >= 0 {
			at++
		}
	}
	if at == end || !preposition {
		return skipSpace(text, at), beside
	}
	return 0, 0
}

// signAt returns the width of a sign at i that links a name to a value.
func signAt(text string, i int) int {
	for _, sign := range []string{":=", "=>", "->", "==>", "=", "：", ":", "→", "➜", "|", "– ", "— ", "- "} {
		if strings.HasPrefix(text[i:], sign) {
			if sign == ":" && strings.HasPrefix(text[i:], "://") || sign == "=" && strings.HasPrefix(text[i:], "==") {
				return 0
			}
			return len(sign)
		}
	}
	return 0
}

func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r' ||
		text[i] == 0xc2 &&
			i+1 < len(text) && text[i+1] == 0xa0 || text[i] == 0xa0 && i > 0 && text[i-1] == 0xc2) {
		i++
	}
	return i
}

// skipFillers passes over words such as "now", "set to" or "as follows:" before a value.
func (s *scan) skipFillers(at int) int {
	for range 4 {
		start := skipSpace(s.text, at)
		if width := signAt(s.text, start); width > 0 && strings.IndexByte("-–—|", s.text[start]) < 0 {
			at = start + width
			continue
		}
		stop := wordRun(s.text, start)
		if stop == start || stop < len(s.text) && strings.IndexByte(" :\t\n", s.text[stop]) < 0 ||
			!words["filler"][strings.ToLower(s.text[start:min(stop, start+maxWord)])] {
			return start
		}
		at = stop
	}
	return skipSpace(s.text, at)
}

// ownedBefore reports whether one of the three words before i says whose it is.
func (s *scan) ownedBefore(i int) bool {
	low := wordsIn(lowerBefore(s.text, i, 40))
	for n := 0; n < 3 && n < len(low); n++ {
		if words["possessive"][low[len(low)-1-n]] {
			return true
		}
	}
	return false
}

// of reports whether the word before i is in a list.
func (s *scan) of(i int, list string) bool {
	low := wordsIn(lowerBefore(s.text, i, 24))
	return len(low) > 0 && words[list][low[len(low)-1]]
}

// unspacedStatements finds passwords after keywords of languages without spaces: the
// next characters of ASCII, a few others away.
func (s *scan) unspacedStatements() {
	for _, keyword := range unspaced {
		for at := 0; ; {
			i := strings.Index(s.text[at:], keyword)
			if i < 0 {
				break
			}
			at += i + len(keyword)
			from := at
			for n := 0; n < 14 && from < len(s.text); n++ {
				r, width := utf8.DecodeRuneInString(s.text[from:])
				if r > ' ' && r < 0x80 && r != ':' && r != '=' && r != '"' && r != '\'' || r == '。' || r == '、' ||
					r == '，' || r == '？' {
					break
				}
				from += width
			}
			stop := from
			for stop < len(s.text) && s.text[stop] > ' ' && s.text[stop] < 0x80 && s.text[stop] != '"' &&
				s.text[stop] != '\'' {
				stop++
			}
			value := strings.TrimRight(s.text[from:stop], ".,;:)")
			least := 4
			if v := varietyOf(value); v.lower && !v.digit && !v.symbol && !v.upper {
				least = 6
			}
			if len(value) >= least && !strings.Contains(value, "://") && !tellsNothing(value) {
				s.add(Passwords, "stated", from, from+len(value))
			}
		}
	}
}
