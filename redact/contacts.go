package redact

import "strings"

var (
	localSet = chars("A-Za-z0-9.!#$%&'*+/=?^_`{|}~-")
	hostSet  = chars("A-Za-z0-9.-")
)

// Bounds of an address (RFC 5321).
const (
	maxLocal = 64
	maxHost  = 253
)

// emails finds e-mail addresses.
func (s *scan) emails() {
	for at := 0; s.at; {
		i := strings.IndexByte(s.text[at:], '@')
		if i < 0 {
			return
		}
		i += at
		at = i + 1
		start := i
		for start > 0 && i-start < maxLocal && (localSet[s.text[start-1]] || s.text[start-1] >= 0x80) {
			start--
		}
		for start < i && strings.IndexByte("'`.*=/{|", s.text[start]) >= 0 || start < i && s.text[start] >= 0x80 &&
			s.text[start] < 0xc0 {
			start++
		}
		if eq := strings.LastIndexAny(s.text[start:i], "=/"); eq >= 0 {
			start += eq + 1
		}
		end := i + 1
		for end < len(s.text) && end-i < maxHost && (hostSet[s.text[end]] || s.text[end] >= 0xc3 &&
			s.text[end] < 0xe2 ||
			s.text[end] >= 0x80 && s.text[end] < 0xc0 && end > i+1) {
			end++
		}
		host := strings.TrimRight(s.text[i+1:end], ".-")
		dot := strings.LastIndexByte(host, '.')
		if start < i && dot > 0 && !userinfo(s.text, i) && len(host)-dot > 2 && !digitsOnly(host[dot+1:]) &&
			host[0] != '.' && host[0] != '-' {
			s.add(Emails, "address", start, i+1+len(host))
			at = i + 1 + len(host)
		}
	}
}

// userinfo reports whether the '@' at i ends the credentials of a URL.
func userinfo(text string, i int) bool {
	before := text[max(0, i-maxHost):i]
	before = before[strings.LastIndexAny(before, " \t\n\"'<>(")+1:]
	_, authority, ok := strings.Cut(before, "://")
	return ok && !strings.Contains(authority, "/")
}

var phoneWords = []string{"phone*", "tel", "telephone", "mobile", "cell", "call", "text", "whatsapp", "fax",
	"dial", "ring",
	"reach", "sms", "contact", "handy*", "telefon*", "mobil*", "rufnummer", "anrufen", "téléphone", "telephone",
	"portable", "appelle*",
	"appeler", "numéro", "teléfono", "telefono", "móvil", "movil", "llám*", "llama*", "cellulare", "chiama*",
	"telefone", "celular", "telemóvel",
	"ligue", "zadzwoń", "komórk*", "numer telefonu", "bel", "telefoonnummer", "телефон*", "позвони*", "звони*",
	"номер*", "電話*", "携帯*", "电话*", "手机*", "電話番号", "전화*", "number is", "my number"}

// phone finds a phone number that begins with '+' or '(' at i, and returns its end.
func (s *scan) phone(i int) int {
	text := s.text
	if i > 0 && (isAlnum(text[i-1]) || text[i-1] == '+') {
		return 0
	}
	digits, end, open := 0, i, 0
	for at := i; at < len(text) && digits < 17; {
		if _, width := digitAt(text, at); width > 0 {
			at += width
			digits, end = digits+1, at
			continue
		}
		if c := text[at]; c == '+' && at == i || c == '(' && open == 0 || c == ')' && open == 1 {
			if c != '+' {
				open++
			}
			at++
			continue
		}
		_, width := separatorAt(text, at)
		if width == 0 || at == i {
			break
		}
		at += width
	}
	switch {
	case !ends(text, end) || digits > 15:
		return 0
	case text[i] == '+' && digits >= 8 && text[i+1] != '0' && text[i+1] != ' ':
	case text[i] == '(' && open == 2 && digits >= 7 && (digits >= 9 || s.near(i, end, phoneWords)) &&
		end-i-digits >= 3:
	default:
		return 0
	}
	s.add(Phones, "number", i, end)
	return end
}

// localPhone finds a phone number without the code of its country: in the groups that
// such numbers have, or where words call it one.
func (s *scan) localPhone(n *number) {
	if last := len(n.groups) - 1; last <= 6 && n.isPhone(s, 0, last) {
		from, to := n.span(0, last)
		s.add(Phones, "number", from, to)
	}
}

func (n *number) isPhone(s *scan, g, last int) bool {
	digits := n.digits[n.groups[g].from:n.groups[last].to]
	from, to := n.span(g, last)
	if len(digits) < 7 || len(digits) > 15 || n.groups[g].sealed || n.groups[last].sealed || s.otherNumber(from) ||
		dateLike(s.text[from:to]) && len(digits) == 8 && g != last && n.groups[g].to-n.groups[g].from != 4 {
		return false
	}
	size := func(k int) int { return n.groups[g+k].to - n.groups[g+k].from }
	american := last-g == 2 && size(0) == 3 && size(1) == 3 && size(2) == 4 && digits[0] >= '2'
	longDistance := last-g == 3 && size(0) == 1 && digits[0] == '1' && size(1) == 3 && size(2) == 3 && size(3) == 4
	trunk := digits[0] == '0' && len(digits) >= 9 && last > g // a leading zero, in groups
	return american || longDistance || trunk || s.near(from, to, phoneWords)
}
