package english

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Limits on what is read as one statement. People's sentences in chat are
// seldom longer than 40 words; what exceeds this is pasted, or has no
// punctuation at all.
const (
	MaxSentenceBytes = 400
	MaxSentenceWords = 70
)

// sentencesOf splits a turn into the sentences its author wrote to be read:
// every one is a substring of text, trimmed. Code, data, logs, tables, quoted
// mail and quotations are left out, and so are sentences over the limits.
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

// lines yields the lines of text, whatever the system they were written on.
func lines(text string) func(func(string) bool) {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085'
	})
}

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
	bullet = regexp.MustCompile(`^(?:[-*•–·+]|\(?\d{1,2}[.)]|\[[ xX]\])\s+(?:\[[ xX]\]\s+)?`)
	// dataLine knows lines that no one says: log lines, stack traces, headers of
	// mail, shell prompts, markup, and roles of a pasted transcript.
	dataLine = regexp.MustCompile(`^(?:` +
		`[>|{}\[\]<#$%]|//|/\*|\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|` +
		`(?i:traceback|at [\w.$<>]+\(|file "|import |from \w+ import|def \w|class \w+[:({]|func \w|select .* from |` +
		`(?:debug|info|warn(?:ing)?|error|fatal|trace)\b[:\] ]|` +
		`(?:system|assistant|user|model|human|ai|bot|from|to|cc|subject|date|sent)\s*:))`)
	// codeEnd knows what only code has; each of it has one of codeSigns.
	codeEnd = regexp.MustCompile(`[;{}]\s*$|=>|\)\s*:\s*$|[=!]=|&&|\|\||</\w|::|\$\{|\w\(\)`)
)

const codeSigns = ";{}=&|<:$("

// notProse reports whether a line is code, data or somebody else's words.
func notProse(line, trimmed string) bool {
	if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") && !bullet.MatchString(trimmed) {
		return true
	}
	head := trimmed[:min(len(trimmed), 200)] // a line shows its nature at once, and a megabyte of it must not cost more
	return dataLine.MatchString(head) || strings.ContainsAny(head, codeSigns) && codeEnd.MatchString(head) || strings.HasPrefix(head, `"`) || strings.HasPrefix(head, "“") ||
		strings.Count(head, "|") > 2 || strings.Count(head, "\t") > 2 || strings.Count(head, ",") > 2+len(strings.Fields(head))/2
}

// appendSentences adds the sentences of one line. Unicode's boundaries are
// mended: a full stop after an abbreviation or inside an address ends nothing,
// and one before a small letter, or an emoji between two sentences, does.
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
		if !abbreviated(line[max(start, end-16):end]) && parted(line, end) {
			cut(end)
		}
	}
	if start < len(line) {
		cut(len(line))
	}
	return out
}

// innerEnd reports whether a sentence ends within a Unicode sentence at i, and
// how many bytes from i still belong to it.
func innerEnd(line string, start, i, end int) int {
	switch c := line[i]; {
	case c == '.':
		if i+2 < end && line[i+1] == ' ' && isLower(line[i+2]) && (i == 0 || line[i-1] != '.') && !abbreviated(line[max(start, i-16):i+1]) {
			return 1
		}
	case c >= utf8.RuneSelf:
		r, n := utf8.DecodeRuneInString(line[i:end])
		if n > 1 && unicode.Is(unicode.So, r) {
			// Variation selectors, joiners and further emoji go with the first. How
			// far to look is bounded, or a long row of emoji would take its square.
			near := line[i+n : min(end, i+n+32)]
			rest := strings.TrimLeftFunc(near, func(r rune) bool { return !WordRune(r) && r != '(' })
			if first, _ := utf8.DecodeRuneInString(rest); unicode.IsUpper(first) {
				return n + len(near) - len(rest)
			}
		}
	}
	return 0
}

// parted reports whether what ends at end is apart from what follows: "a?b=c"
// in an address is not.
func parted(line string, end int) bool {
	return end == len(line) || line[end-1] == ' ' || line[end] >= utf8.RuneSelf || line[end] >= 'A' && line[end] <= 'Z'
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// abbreviated reports whether the full stop that ends s belongs to its last
// word. "etc.", "a.m." and the like may end a sentence as well; then two
// sentences stay together, which costs less than half a sentence.
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

// quoteState follows quotation marks from one sentence of a line to the next:
// what begins inside them is somebody else's words.
type quoteState struct {
	straight bool
	curly    int
}

func (q *quoteState) open() bool { return q.straight || q.curly > 0 }

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
