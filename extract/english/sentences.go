package english

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Limits on one statement. Sentences in chat seldom have more than 40 words; a longer one is pasted, or has no
// punctuation at all.
const (
	MaxSentenceBytes = 400 // of one sentence that Sentences gives
	MaxSentenceWords = 70  // beyond these, rules need not read a sentence
)

// Sentences splits a turn into the sentences that its author wrote to be read. Each is a substring of text, trimmed.
// Code, data, logs, tables, quoted mail and quotations are left out, and so are sentences of more than
// MaxSentenceBytes.
func Sentences(text string) []string {
	var out []string
	fence := ""
	for line := range lines(text) {
		trimmed := strings.TrimSpace(line)
		if mark := fenceMark(trimmed); mark != "" && (fence == "" || fence == mark) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" || trimmed == "" || notProse(line, trimmed) {
			continue
		}
		out = appendSentences(out, bullet.ReplaceAllLiteralString(trimmed, ""))
	}
	return out
}

// lines yields the lines of text, with the line ends of any system.
func lines(text string) func(func(string) bool) {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085'
	})
}

// fenceMark is the mark of a line that opens or closes a block of code; "" for other lines.
func fenceMark(line string) string {
	for _, m := range []string{"```", "~~~"} {
		// A fence opened and closed on one line is code inside a sentence.
		if strings.HasPrefix(line, m) && strings.Count(line, m) == 1 {
			return m
		}
	}
	return ""
}

var (
	// bullet matches the mark of an item of a list, with a box to tick.
	bullet = regexp.MustCompile(`^(?:[-*•–·+]|\(?\d{1,2}[.)]|\[[ xX]\])\s+(?:\[[ xX]\]\s+)?`)
	// dataLine matches lines that people do not say: log lines, stack traces, headers of mail, shell prompts, markup,
	// and roles of a pasted transcript.
	dataLine = regexp.MustCompile(`^(?:` +
		`[>|{}\[\]<#$%]|//|/\*|\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|` +
		`(?i:traceback|at [\w.$<>]+\(|file "|import |from \w+ import|def \w|class \w+[:({]|func \w|select .* from |` +
		`(?:debug|info|warn(?:ing)?|error|fatal|trace)\b[:\] ]|` +
		`(?:system|assistant|user|model|human|ai|bot|from|to|cc|subject|date|sent)\s*:))`)
	// codeEnd matches what only code has. Each match has one of codeSigns.
	codeEnd = regexp.MustCompile(`[;{}]\s*$|=>|\)\s*:\s*$|[=!]=|&&|\|\||</\w|::|\$\{|\w\(\)`)
)

// codeSigns are characters that are looked for before codeEnd, because they cost less.
const codeSigns = ";{}=&|<:$("

// maxHead bounds how much of a line notProse reads, in bytes. A line shows its nature at once, and a megabyte of it
// must not cost more.
const maxHead = 200

// notProse reports whether a line is code, data or a quotation.
func notProse(line, trimmed string) bool {
	if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") && !bullet.MatchString(trimmed) {
		return true
	}
	head := trimmed[:min(len(trimmed), maxHead)]
	return strings.HasPrefix(head, `"`) || strings.HasPrefix(head, "“") || dataLine.MatchString(head) ||
		strings.ContainsAny(head, codeSigns) && codeEnd.MatchString(head) || tabular(head)
}

// tabular reports whether a line is a row of a table, or has more commas than prose has.
func tabular(line string) bool {
	return strings.Count(line, "|") > 2 || strings.Count(line, "\t") > 2 ||
		strings.Count(line, ",") > 2+len(strings.Fields(line))/2
}

// appendSentences adds the sentences of one line. It corrects the boundaries that Unicode defines: a full stop after an
// abbreviation or inside an address ends no sentence, and one before a small letter ends one, as does an emoji between
// two sentences.
func appendSentences(out []string, line string) []string {
	start, quotes := 0, quoteState{}
	cut := func(end int) {
		s := line[start:end]
		quoted := quotes.open()
		quotes.read(s)
		start = end
		s = strings.TrimSpace(s)
		if s != "" && len(s) <= MaxSentenceBytes && !quoted && !strings.ContainsAny(s, "`{}") {
			out = append(out, s)
		}
	}
	end := 0
	for it := sentences.FromString(line); it.Next(); {
		end += len(it.Value())
		from := end - len(it.Value())
		for i := from; i < end; i++ {
			if n := innerEnd(line, start, i, end); n > 0 {
				cut(i + n)
				i += n - 1
			}
		}
		if !abbreviated(line[max(start, end-16):end]) && !initials(line, start, end) && parted(line, end) {
			cut(end)
		}
	}
	if start < len(line) {
		cut(len(line))
	}
	return out
}

// innerEnd reports whether a sentence ends at byte i, within a sentence of Unicode's that ends at end. It gives how
// many bytes from i still belong to the sentence; 0 if it goes on.
func innerEnd(line string, start, i, end int) int {
	switch c := line[i]; {
	case c == '.':
		small := i+2 < end && line[i+1] == ' ' && isLower(line[i+2]) // "none at all. ok"
		ellipsis := i > 0 && line[i-1] == '.'
		if small && !ellipsis && !abbreviated(line[max(start, i-16):i+1]) {
			return 1
		}
	case c >= utf8.RuneSelf:
		return emojiEnd(line[i:end])
	}
	return 0
}

// emojiEnd is the length of the emoji at the front of s, if a sentence ends with them: if a capital follows. It is 0
// otherwise.
func emojiEnd(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if n < 2 || !unicode.Is(unicode.So, r) {
		return 0
	}
	// Variation selectors, joiners and further emoji go with the first. How far to look is bounded, or a long row of
	// emoji would take its square.
	near := s[n:min(len(s), n+32)]
	rest := strings.TrimLeftFunc(near, func(r rune) bool { return !WordRune(r) && r != '(' })
	if first, _ := utf8.DecodeRuneInString(rest); !unicode.IsUpper(first) {
		return 0
	}
	return n + len(near) - len(rest)
}

// parted reports whether a sentence that ends at end is apart from the text behind it. In an address ("a?b=c") it is
// not.
func parted(line string, end int) bool {
	return end == len(line) || line[end-1] == ' ' || line[end] >= utf8.RuneSelf || line[end] >= 'A' && line[end] <= 'Z'
}

// isLower reports whether c is a small letter of ASCII.
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// abbreviated reports whether the full stop that ends s belongs to its last word. "etc.", "a.m." and the like may end a
// sentence too; then two sentences stay together, which does less harm than half a sentence.
func abbreviated(s string) bool {
	s = strings.TrimRight(s, " ")
	if !strings.HasSuffix(s, ".") {
		return false
	}
	s = s[:len(s)-1]
	if i := strings.LastIndexAny(s, " (\t\"'/,"); i >= 0 {
		s = s[i+1:]
	}
	// A single capital is an initial ("J. Smith"), but "I." is not.
	return abbreviations.Has(strings.ToLower(s)) || len(s) == 1 && s >= "A" && s <= "Z" && s != "I"
}

// initialsAtEnd matches the initials of a name at the end of a text: "J.K. ", "J.R.R. ".
var initialsAtEnd = regexp.MustCompile(`(?:^|[\s("“'/])(?:[A-Z]\.){2,4} *$`)

// initials reports whether line[start:end] ends in initials of the name that goes on behind them: "J.K. Rowling". "The
// U.S. My aunt" has two sentences, as a word such as "my" is no name.
func initials(line string, start, end int) bool {
	if end == len(line) || !initialsAtEnd.MatchString(line[max(start, end-16):end]) {
		return false
	}
	next := Split(line[end:min(len(line), end+32)])
	return len(next) > 0 && next[0].Upper && !StopWords.Has(next[0].Text)
}

// quoteState follows quotation marks from one sentence of a line to the next. A sentence that begins inside them has
// somebody else's words.
type quoteState struct {
	straight bool // a straight mark is open
	curly    int  // how many curly marks are open
}

// open reports whether the text so far ends inside quotation marks.
func (q *quoteState) open() bool { return q.straight || q.curly > 0 }

// read goes on with the text s.
func (q *quoteState) read(s string) {
	for i, r := range s {
		switch r {
		case '"':
			if i == 0 || s[i-1] < '0' || s[i-1] > '9' { // 5'10" is a length
				q.straight = !q.straight
			}
		case '“', '„', '«':
			q.curly++
		case '”', '»':
			q.curly = max(0, q.curly-1)
		}
	}
}
