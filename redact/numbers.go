package redact

import (
	"unicode/utf8"
)

// maxDigits bounds a number as it is read. The longest that is looked for has 34
// characters; longer runs of digits are none of them.
const maxDigits = 48

// group is a part of a number between two separators.
type group struct {
	from, to int  // its digits
	sep      rune // before it; 0 before the first
	sealed   bool // a letter touches it: it is a part of something else
}

// number is digits as they are written: groups with one separator between two.
type number struct {
	digits     []byte // '0' to '9', also of full-width digits
	start, end []int  // of each digit in the text
	groups     []group
}

// span returns where a number's groups from a to b are in the text.
func (n *number) span(a, b int) (int, int) {
	return n.start[n.groups[a].from], n.end[n.groups[b].to-1]
}

// digitAt reads the digit at i, and its width; 0 if there is none. Full-width digits are
// what Japanese and Chinese keyboards write.
func digitAt(text string, i int) (c byte, width int) {
	if i >= len(text) {
		return 0, 0
	}
	if isDigit(text[i]) {
		return text[i], 1
	}
	if text[i] == 0xef && i+2 < len(text) && text[i+1] == 0xbc && text[i+2] >= 0x90 && text[i+2] <= 0x99 {
		return text[i+2] - 0x90 + '0', 3
	}
	return 0, 0
}

// separatorAt reads what may stand between two groups of digits, and its width; 0 if
// there is nothing of the kind.
func separatorAt(text string, i int) (sep rune, width int) {
	if i >= len(text) {
		return 0, 0
	}
	switch c := text[i]; c {
	case ' ', '-', '.', '/':
		if c == ' ' && i+2 < len(text) && text[i+1] == '-' && text[i+2] == ' ' {
			return '-', 3
		}
		return rune(c), 1
	}
	if text[i] < 0x80 {
		return 0, 0
	}
	switch r, width := utf8.DecodeRuneInString(text[i:]); r {
	case '\u00a0', '\u2007', '\u2009', '\u202f', '\u3000':
		return ' ', width
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212', '\uff0d':
		return '-', width
	}
	return 0, 0
}

// numbers reads the numbers of the text, and hands each to the detectors. Those that
// have letters too are looked for where a word begins.
func (s *scan) numbers() {
	var n number
	cards, ids, phones := s.r.has(Cards), s.r.has(NationalIDs), s.r.has(Phones)
	coded := ids || s.r.has(IBANs)
	for i := 0; i < len(s.text); {
		c := s.text[i]
		if coded && (isAlnum(c) || c == 0xef) && (i == 0 || !isAlnum(s.text[i-1]) || escaped(s.text, i)) {
			if end := s.coded(i); end > i {
				i = end
				continue
			}
		}
		if phones && (c == '+' || c == '(') {
			if end := s.phone(i); end > i {
				i = end
				continue
			}
		}
		if _, width := digitAt(s.text, i); width == 0 {
			i++
			continue
		}
		end := n.read(s.text, i)
		if cards && len(n.digits) >= 12 {
			s.cards(&n)
		}
		if phones && len(n.digits) >= 7 {
			s.localPhone(&n)
		}
		if coded {
			// What has letters, or a shape of its own, may begin at any group.
			for g := 1; g < len(n.groups); g++ {
				s.coded(n.start[n.groups[g].from])
			}
		}
		i = end
	}
}

// read reads the number at i of text, and returns where it ends.
func (n *number) read(text string, i int) int {
	n.digits, n.start, n.end, n.groups = n.digits[:0], n.start[:0], n.end[:0], n.groups[:0]
	sealed := i > 0 && (isAlnum(text[i-1]) || text[i-1] == '_') && !escaped(text, i) || decimal(text, i)
	sep := rune(0)
	for {
		g := group{from: len(n.digits), sep: sep, sealed: sealed}
		for {
			c, width := digitAt(text, i)
			if width == 0 {
				break
			}
			if len(n.digits) < maxDigits {
				n.digits, n.start, n.end = append(n.digits, c), append(n.start, i), append(n.end, i+width)
			} else {
				g.sealed = true
			}
			i += width
		}
		g.to = len(n.digits)
		g.sealed = g.sealed || i < len(text) && (isAlnum(text[i]) || text[i] == '_')
		if g.to > g.from {
			n.groups = append(n.groups, g)
		}
		var width int
		sep, width = separatorAt(text, i)
		if _, more := digitAt(text, i+width); width == 0 || more == 0 || len(n.digits) >= maxDigits {
			return i
		}
		i, sealed = i+width, false
	}
}

// decimal reports whether a number at i is the rest of one: digits and a point or a
// comma come before it.
func decimal(text string, i int) bool {
	return i >= 2 && (text[i-1] == '.' || text[i-1] == ',') && isDigit(text[i-2])
}

// cardShapes are the lengths of groups that card numbers are written in. One group may
// have 13 to 19 digits.
var cardShapes = [][]int{{4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {4, 4, 4, 4, 3}, {4, 4, 5}, {4, 4, 4, 4, 2}, {6, 10},
	{6, 13}, {4, 5, 6}, {8, 8}, {4, 12}}

// cards finds card numbers: of a length and first digits that an issuer has, with a
// right last digit (ISO/IEC 7812-1), and in the groups that cards show.
func (s *scan) cards(n *number) {
	for g := 0; g < len(n.groups); g++ {
		if last := n.cardAt(s, g); last >= g {
			from, to := n.span(g, last)
			s.add(Cards, "luhn", from, to)
			g = last
		}
	}
}

// cardAt returns the last group of the card number that begins with group g; -1 if none
// does.
func (n *number) cardAt(s *scan, g int) int {
	first := n.groups[g]
	if k := first.to - first.from; k >= 13 && k <= 19 && !first.sealed {
		digits := n.digits[first.from:first.to]
		from, to := n.span(g, g)
		if sure, ok := cardOf(digits); ok && luhn(digits) {
			near := s.near(from, to, cardWords)
			if !partOfMore(n, g) && !repeats(digits) && (near || sure && !s.otherNumber(from)) {
				return g
			}
		}
		return -1
	}
shapes:
	for _, shape := range cardShapes {
		last := g + len(shape) - 1
		if last >= len(n.groups) {
			continue
		}
		for j, size := range shape {
			part := n.groups[g+j]
			if part.to-part.from != size || part.sealed || j > 1 && part.sep != n.groups[g+1].sep {
				continue shapes
			}
		}
		if sep := n.groups[g+1].sep; sep == '.' || sep == '/' {
			continue
		}
		digits := n.digits[first.from:n.groups[last].to]
		if sure, ok := cardOf(digits); !ok || !luhn(digits) || repeats(digits) {
			continue
		} else if from, to := n.span(g, last); sure && len(shape) > 2 && !s.otherNumber(from) ||
			s.near(from, to, cardWords) {
			return last
		}
	}
	return -1
}

// partOfMore reports whether a group stands among other groups of digits, as in a list
// of numbers with spaces: a card number that is written in one piece stands alone or
// among few.
func partOfMore(n *number, g int) bool {
	touches := func(k int) bool { return k > 0 && k < len(n.groups) && n.groups[k].sep != ' ' }
	return touches(g) || touches(g+1)
}

// repeats reports whether a number has at most two different digits, as a placeholder.
// "4242 4242 4242 4242" is a card of Stripe's tests, and is replaced with the others.
func repeats(digits []byte) bool {
	var seen [10]bool
	count := 0
	for _, d := range digits {
		if !seen[d-'0'] {
			seen[d-'0'] = true
			count++
		}
	}
	return count < 2
}

// cardOf reports whether a card number may have these digits, by the ranges that issuers
// have; sure is false for ranges so wide that words must say that it is a card.
func cardOf(digits []byte) (sure, ok bool) {
	n := len(digits)
	six := 0
	for _, d := range digits[:6] {
		six = six*10 + int(d-'0')
	}
	within := func(low, high, scale int) bool { return six/scale >= low && six/scale <= high }
	switch {
	case within(4, 4, 100_000): // Visa
		return n == 16 || n == 19, n == 13 || n == 16 || n == 19
	case within(51, 55, 10_000), within(2221, 2720, 100): // Mastercard
		return true, n == 16
	case within(34, 34, 10_000), within(37, 37, 10_000): // American Express
		return true, n == 15
	case within(300, 305, 1000), within(3095, 3095, 100), within(36, 36, 10_000), within(38, 39, 10_000): // Diners
		return n == 14 || n == 16, n >= 14
	case within(3528, 3589, 100): // JCB
		return true, n >= 16
	case within(6011, 6011, 100), within(644, 649, 1000), within(65, 65, 10_000): // Discover, RuPay
		return true, n >= 16
	case within(62, 62, 10_000), within(81, 82, 10_000): // UnionPay, RuPay
		return n == 16 || n == 19, n >= 16
	case within(2200, 2204, 100): // Mir
		return true, n >= 16
	case within(9792, 9792, 100), within(508, 508, 1000), within(60, 60, 10_000): // Troy, RuPay
		return true, n == 16
	case within(50, 50, 10_000), within(56, 59, 10_000), within(61, 69, 10_000): // Maestro
		return false, n >= 13
	case within(1, 1, 100_000): // UATP
		return false, n == 15
	}
	return false, false
}

// luhn reports whether the last of some digits is the check digit of those before it.
func luhn(digits []byte) bool {
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
