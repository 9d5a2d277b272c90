package redact

import (
	"strings"
	"unicode/utf8"
)

// maxValue bounds a value that is stated, in bytes.
const maxValue = 4096

// quotes has the ends of quotations by their beginnings.
var quotes = map[rune]string{'"': `"`, '\'': `'`, '`': "`", '“': "”", '„': "“”", '‘': "’", '«': "»", '»': "«",
	'「': "」", '『': "』",
	'*': "*", '‹': "›", '‚': "‘"}

// value returns the value at from, if it is one that a keyword of topic t announces.
func (s *scan) value(t topic, from int, how linked) (start, end int) {
	text := s.text
	if from >= len(text) {
		return 0, 0
	}
	first, width := utf8.DecodeRuneInString(text[from:])
	if closing := quotes[first]; closing != "" {
		inside := from + width
		for first == '*' && inside < len(text) && text[inside] == '*' {
			inside++
		}
		line := text[inside:min(len(text), inside+maxValue)]
		if i := strings.IndexAny(line, closing); i > 0 && !strings.Contains(line[:i], "\n") {
			if fits(t, line[:i], max(how, owned), true) || how == sign && t == aPassword && spaced(line[:i]) {
				return inside, inside + i
			}
			return 0, 0
		}
		from = inside
	}
	stop := from
	for stop < len(text) && stop-from < maxValue && !endsValue(text, stop) {
		stop++
	}
	for !utf8.RuneStart(byteAt(text, stop)) {
		stop--
	}
	value := trimEnd(text[from:stop])
	if n := len(value) - 1; n > 3 && (value[n] == '!' || value[n] == '?') && stop+1 < len(text) &&
		isUpper(text[stop+1]) {
		value = value[:n] // it ends the sentence: another one begins
	}
	if t == aPIN || t == aCVV {
		value = s.pinAt(from, value)
	}
	if value == "" {
		return 0, 0
	}
	if t == aPassword && how != beside {
		if end := s.passphrase(from); end > from {
			return from, end
		}
	}
	if fits(t, value, how, s.clauseEnds(from+len(value))) && !s.measure(t, from, value) {
		return from, from + len(value)
	}
	return 0, 0
}

// byteAt is the byte at i of a text; a space behind its end.
func byteAt(text string, i int) byte {
	if i < len(text) {
		return text[i]
	}
	return ' '
}

// endsValue reports whether a value without quotes ends before i.
func endsValue(text string, i int) bool {
	switch text[i] {
	case ' ', '\t', '\n', '\r', '"', '`', '<', '>':
		return true
	case '\\':
		return i+1 < len(text) && strings.IndexByte(`n"trn`, text[i+1]) >= 0
	case ',':
		return i+1 >= len(text) || text[i+1] == ' ' || text[i+1] == '\n'
	}
	if text[i] < 0x80 {
		return false
	}
	for _, mark := range []string{"。", "、", "，", "！", "？", "；", "」", "』", "”", "’", "»", "“", "\u00a0", "\u3000"} {
		if strings.HasPrefix(text[i:], mark) {
			return true
		}
	}
	return false
}

// trimEnd leaves out the punctuation of the sentence behind a value. An exclamation mark
// stays: passwords end with it more often than statements of them do.
func trimEnd(value string) string {
	for {
		trimmed := strings.TrimRight(value, ".,;:'*_")
		if strings.HasSuffix(trimmed, ")") && !strings.Contains(trimmed, "(") || strings.HasSuffix(trimmed, "]") &&
			!strings.Contains(trimmed, "[") || strings.HasSuffix(trimmed, "}") && !strings.Contains(trimmed, "{") {
			trimmed = trimmed[:len(trimmed)-1]
		}
		if trimmed == value {
			return value
		}
		value = trimmed
	}
}

// pinAt returns the PIN at from: three to twelve digits, which may have a space or a
// hyphen among them.
func (s *scan) pinAt(from int, value string) string {
	end, digits := from, 0
	for end < len(s.text) && digits <= 12 {
		if _, width := digitAt(s.text, end); width > 0 {
			end, digits = end+width, digits+1
		} else if _, more := digitAt(s.text, end+1); more > 0 && digits > 0 && (s.text[end] == ' ' ||
			s.text[end] == '-') {
			end++
		} else {
			break
		}
	}
	if digits >= 3 && digits <= 12 && ends(s.text, end) {
		return s.text[from:end]
	}
	return value
}

// fits reports whether a value is what a keyword announces, and not a word about it.
func fits(t topic, value string, how linked, last bool) bool {
	if value == "" || strings.Contains(value, "://") || strings.HasPrefix(value, markOpen) || tellsNothing(value) {
		return false
	}
	v := varietyOf(value)
	digits := len(digitsOf([]byte(strings.Map(asciiDigit, value))))
	switch t {
	case aKey:
		return fitsKey(value, how)
	case aCVV:
		return digits >= 3 && digits <= 4 && !v.lower && !v.upper
	case aPIN:
		if digits < 3 || v.lower || digits > 12 {
			return false
		}
		return !v.upper && (digits >= 4 || how >= verb) || len(value) <= 10 && how >= verb
	}
	return fitsPassword(value, v, how, last)
}

// asciiDigit makes ASCII of a full-width digit.
func asciiDigit(r rune) rune {
	if r >= '０' && r <= '９' {
		return r - '０' + '0'
	}
	return r
}

// fitsPassword reports whether a value may be a password. One that people could say as a
// word of a sentence about a password must stand where a sentence ends, behind a firm link.
func fitsPassword(value string, v variety, how linked, last bool) bool {
	if len(value) < 3 || codeLike(value) {
		return false
	}
	inner := strings.Trim(value, "-'’_.!?,…")
	symbol := strings.ContainsAny(inner, "!@#$%^&*+=~|<>?;:{}[]()/\\_") || strings.ContainsAny(value,
		"!@#$%^&*") && v.digit
	switch {
	case v.digit && (v.lower || v.upper || symbol):
		if how == beside {
			return len(value) >= 6 && !dateLike(value)
		}
		return len(value) >= 4 && !dateLike(value)
	case v.digit: // digits alone
		return how >= verb && len(value) >= 4 && !dateLike(value)
	case symbol:
		return how >= verb && len(value) >= 4 && (v.lower || v.upper) && (!strings.ContainsAny(inner, "/()") ||
			v.inner)
	case v.inner && v.upper && len(value) >= 6:
		return how >= verb
	}
	word := strings.ToLower(inner)
	if utf8.RuneCountInString(word) < 4 || words["about"][word] || words["function"][word] || aboutForm(word) {
		return false
	}
	return last && (how == owned || how == sign)
}

// aboutForm reports whether a word has an ending of words that tell about a password, as
// "expired", "changing", "guessable" and "probably".
func aboutForm(word string) bool {
	for _, ending := range []string{"ed", "ing", "able", "ible", "ly", "less", "iert", "bar", "lich", "ado", "ada",
		"ido", "ida",
		"ato", "ata", "mente", "ment", "owane", "ande", "ово", "ный", "ная", "ано"} {
		if strings.HasSuffix(word, ending) && len(word) > len(ending)+2 {
			return true
		}
	}
	return false
}

// fitsKey reports whether a value looks as a machine made it.
func fitsKey(value string, how linked) bool {
	if tokenSet.run(value, 0) < len(value) {
		return false
	}
	least := 16
	if how == sign {
		least = 12
	}
	return random(value, least) && !fileLike(value) && !dateLike(value) && !codeLike(value)
}

// tellsNothing reports whether a value stands for a secret, or is one of the words that
// forms and programs have in its place.
func tellsNothing(value string) bool {
	low := strings.ToLower(strings.Trim(value, "\"'`.,;:!?()[]{}<>*"))
	return low == "" || strings.HasPrefix(value, markOpen) || words["nothing"][low] || placeholder(low) ||
		placeholder(value) ||
		strings.Trim(low, "*x•.-_#●") == ""
}

// dateLike reports whether a value is a date, a time or a version.
func dateLike(value string) bool {
	value = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(value), "pm"), "am")
	digits, seps := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case isDigit(c):
			digits++
		case c == '-' || c == '/' || c == '.' || c == ':' || c == 't' || c == 'z' || c == 'v' && i == 0:
			seps++
		default:
			return false
		}
	}
	return digits > 0 && seps > 0
}

// fileLike reports whether a value is a path, or the name of a file.
func fileLike(value string) bool {
	if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "~/") {
		return true
	}
	i := strings.LastIndexByte(value, '.')
	return i > 0 && len(value)-i <= 6 && strings.IndexByte(value[:i], '.') < 0 &&
		words["file"][strings.ToLower(value[i+1:])]
}

// codeLike reports whether a value is an expression of a program: a call, an index, or
// a name within another, such as config.password.
func codeLike(value string) bool {
	i := 0
	for i < len(value) && (isAlnum(value[i]) || value[i] == '_') {
		i++
	}
	if i == 0 || isDigit(value[0]) || i == len(value) {
		return false
	}
	switch value[i] {
	case '(', '[':
		return true
	case '.':
		rest := value[i+1:]
		return len(rest) > 0 && isLetter(rest[0]) && !strings.ContainsAny(value, "0123456789!@#$%^&*")
	}
	return false
}

// clauseEnds reports whether a clause ends at i: at punctuation, at the end of a line, or
// before a word that begins another.
func (s *scan) clauseEnds(i int) bool {
	if i >= len(s.text) {
		return true
	}
	switch s.text[i] {
	case '.', ',', ';', '!', '?', '\n', '\r', ')', '"', '\'', '`', '*', '\\', '}', ']', '<':
		return true
	case ' ', '\t':
	default:
		return s.text[i] >= 0x80
	}
	from := skipSpace(s.text, i)
	if from >= len(s.text) || wordRun(s.text, from) == from {
		return true
	}
	stop := wordRun(s.text, from)
	return words["clause"][strings.ToLower(s.text[from:min(stop, from+maxWord)])]
}

// measure reports whether digits are an amount of something, as in "12 characters".
func (s *scan) measure(t topic, from int, value string) bool {
	if t == aKey || !digitsOnly(value) {
		return false
	}
	after := wordsIn(lowerAfter(s.text, from+len(value), 24))
	rest := strings.TrimLeft(s.text[from+len(value):], " ")
	return len(after) > 0 && rest != "" && wordByte(rest[0]) && words["unit"][after[0]] ||
		strings.HasPrefix(s.text[from+len(value):], "%")
}

// The words of a passphrase.
const (
	minPhrase = 3
	maxPhrase = 30
)

// passphrase returns the end of a passphrase at from: three or more words up to the end
// of a clause, none of which sentences are built with.
func (s *scan) passphrase(from int) int {
	n, about, at := 0, 0, from
	for n <= maxPhrase {
		stop := wordRun(s.text, at)
		word := strings.ToLower(s.text[at:min(stop, at+maxWord)])
		if stop == at || len(word) < 3 || words["function"][word] {
			break
		}
		n++
		if words["about"][word] || words["nothing"][word] || aboutForm(word) {
			about++
		}
		if stop >= len(s.text) || s.text[stop] != ' ' && s.text[stop] != '-' {
			if strings.HasPrefix(s.text[stop:], "://") || stop < len(s.text) && !s.clauseEnds(stop) {
				return 0
			}
			return phraseEnd(n, about, stop)
		}
		if s.text[stop] == ' ' && s.clauseEnds(stop) && n >= minPhrase {
			return phraseEnd(n, about, stop)
		}
		at = stop + 1
	}
	return 0
}

// phraseEnd is the end of a phrase of n words, unless it is short or many of them tell
// about a password, as in "stored encrypted somewhere".
func phraseEnd(n, about, stop int) int {
	if n < minPhrase || about*3 > n {
		return 0
	}
	return stop
}

// spaced reports whether a value in quotes is a passphrase: words with spaces.
func spaced(value string) bool { return strings.Contains(value, " ") && !tellsNothing(value) }

// valueBefore returns the value that a statement names before its keyword at i: "… is my
// password", "use … as the PIN".
func (s *scan) valueBefore(t topic, i int) (start, end int) {
	at, verbs := i, false
	for range 5 {
		stop := at
		for stop > 0 && s.text[stop-1] == ' ' {
			stop--
		}
		if stop == at && at != i || stop == 0 {
			return 0, 0
		}
		from := stop
		for from > 0 && (wordByte(s.text[from-1]) || s.text[from-1] == '\'') && stop-from < maxWord {
			from--
		}
		word := strings.ToLower(s.text[from:stop])
		switch {
		case from == stop:
			return 0, 0
		case words["reverse"][word]:
			verbs = true
		case !words["possessive"][word] && !words["article"][word]:
			return 0, 0
		}
		if at = from; verbs {
			break
		}
	}
	if !verbs {
		return 0, 0
	}
	return s.wordBefore(t, at)
}

// wordBefore returns the value of a keyword of topic t that ends before at.
func (s *scan) wordBefore(t topic, at int) (start, end int) {
	for end = at; end > 0 && s.text[end-1] == ' '; end-- {
	}
	if end == at {
		return 0, 0
	}
	for start = end; start > 0 && s.text[start-1] > ' ' && end-start < 256; start-- {
	}
	for start < end && !utf8.RuneStart(s.text[start]) {
		start++
	}
	value := s.text[start:end]
	first, width := utf8.DecodeRuneInString(value)
	quoted := quotes[first] != ""
	if quoted {
		start, value = start+width, value[width:]
	}
	value = strings.TrimRight(value, "\"'`”’»*,")
	v := varietyOf(value)
	if !quoted && !v.digit && !v.inner && !strings.ContainsAny(value, "!@#$%^&*") || !fits(t, value, verb, true) {
		return 0, 0
	}
	return start, start + len(value)
}
