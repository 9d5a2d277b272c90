package redact

import (
	"strings"
	"unicode/utf8"
)

// Bounds of what an assignment has.
const (
	maxName     = 64  // bytes, of a name
	maxPassword = 200 // bytes, of a passphrase in a field
)

// nameWords splits the name of a variable or a field into words in lower case:
// "dbPassword", "DB_PASSWORD" and "db-password" are "db" and "password".
func nameWords(name string) (out []string) {
	from := 0
	flush := func(to int) {
		if to > from {
			out = append(out, strings.ToLower(name[from:to]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c < 0x80 && !isAlnum(c):
			flush(i)
			from = i + 1
		case isUpper(c) && i > from && (isLower(name[i-1]) || isDigit(name[i-1]) || i+1 < len(name) &&
			isLower(name[i+1])):
			flush(i)
			from = i
		}
	}
	flush(len(name))
	return out
}

// classOf returns what a name says that its value is.
func classOf(name []string) topic {
	if len(name) == 0 {
		return none
	}
	last := strings.TrimRight(name[len(name)-1], "0123456789")
	if last == "" && len(name) > 1 { // password_2
		name = name[:len(name)-1]
		last = name[len(name)-1]
	}
	before := ""
	if len(name) > 1 {
		before = name[len(name)-2]
	}
	switch {
	case words["passname"][last]:
		return aPassword
	case last == "phrase" && before == "pass", last == "word" && before == "pass", last == "code" && before == "pass":
		return aPassword
	case last == "key" && words["keyof"][before], last == "token" && !words["nottoken"][before]:
		return aKey
	case words["keyname"][last] && !words["nottoken"][before]:
		return aKey
	case last == "string" && before == "connection", last == "header" && (before == "auth" ||
		before == "authorization"):
		return aKey
	}
	return none
}

// assignments finds the values of names that say what they are: in code, in
// configuration, in JSON, in the query of a URL, and as flags of a command.
func (s *scan) assignments() {
	if s.assigns {
		for i := 0; i < len(s.text); i++ {
			if c := s.text[i]; c == '=' || c == ':' {
				s.assignment(i)
			}
		}
	}
	for at := 0; ; {
		i := strings.Index(s.text[at:], "--")
		if i < 0 {
			return
		}
		at += i + 2
		end := wordSet.run(s.text[:min(len(s.text), at+maxName)], at)
		if end < len(s.text) && s.text[end] == ' ' && end > at && s.text[at] != '-' {
			if t := classOf(nameWords(s.text[at:end])); t != none {
				s.assigned(t, end+1, true)
			}
		}
		at = max(at, end)
	}
}

// assignment reads the assignment whose sign is at i.
func (s *scan) assignment(i int) {
	end := i
	for end > 0 && i-end < 6 && strings.IndexByte(" \t\"'`\\]+?:*_", s.text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && end-start < maxName && (wordSet[s.text[start-1]] || s.text[start-1] == '.') {
		start--
	}
	if start == end {
		return
	}
	name := s.text[start:end]
	parts := nameWords(name)
	t := classOf(parts)
	if t == none {
		return
	}
	if len(parts) == 1 && s.partOfPhrase(start, parts[0]) {
		return
	}
	from := i + 1
	for from < len(s.text) && (s.text[from] == '=' || s.text[from] == '>' && from == i+1) {
		if s.text[from] == '=' && s.text[i] == '=' {
			return // a comparison
		}
		from++
	}
	s.assigned(t, skipBlank(s.text, from), len(parts) > 1)
}

// partOfPhrase reports whether the one word before a colon is the last of a phrase that
// means something else, as in "boarding pass: 12A".
func (s *scan) partOfPhrase(start int, word string) bool {
	return word == "pass" && s.of(start, "pass") || word == "token" && s.of(start, "nottoken")
}

func skipBlank(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// assigned finds the value at from of a name of topic t. compound says that the name is
// one that programs have, of several words.
func (s *scan) assigned(t topic, from int, compound bool) {
	from, end, quoted := s.assignedValue(t, from)
	from, end = s.afterScheme(from, end, quoted)
	value := s.text[from:end]
	if !quoted {
		value = trimEnd(value)
	}
	if value == "" || tellsNothing(value) || strings.Contains(value, "://") || !fitsName(t, value, quoted, compound) {
		return
	}
	s.add(Passwords, "assigned", from, from+len(value))
	if t == aKey || !s.r.has(Passwords) {
		s.add(Keys, "assigned", from, from+len(value))
	}
}

// fitsName reports whether a value may be that of a name of topic t.
func fitsName(t topic, value string, quoted, compound bool) bool {
	if t == aPassword {
		return quoted && compound && len(value) >= 4 || (quoted || !codeLike(value)) && fits(aPassword, value,
			sign, true)
	}
	if tokenSet.run(value, 0) < len(value) || fileLike(value) || dateLike(value) || !quoted && codeLike(value) {
		return false
	}
	// Letters of both cases alone have 4 bits each if they are random, and 3.2 in a text
	// of 16 or more that is.
	return random(value, 8) || compound && len(value) >= 16 && entropy(value) >= 3.2 && varietyOf(value).inner
}

// assignedValue returns the value at from: what is in quotes, which may be escaped or
// three of them, or up to where a value without quotes ends.
func (s *scan) assignedValue(t topic, from int) (start, end int, quoted bool) {
	text := s.text
	for from < len(text) && text[from] == '\\' {
		from++
	}
	quote := byteAt(text, from)
	if quoted = quote == '"' || quote == '\'' || quote == '`'; quoted {
		if from++; byteAt(text, from) == quote && byteAt(text, from+1) == quote {
			from += 2
		}
	}
	from = min(from, len(text))
	for end = from; end < len(text) && end-from < maxValue; end++ {
		c := text[end]
		if quoted && (c == quote || c == '\n' || c == '\\' && byteAt(text, end+1) == quote) {
			break
		}
		if !quoted && (endsValue(text, end) || c == '&' && t == aKey || c == ';' || c == '\'') {
			break
		}
	}
	for end > from && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return from, end, quoted
}

// afterScheme passes over the scheme of an authorization, as in "Bearer abc".
func (s *scan) afterScheme(from, end int, quoted bool) (int, int) {
	value := s.text[from:end]
	if quoted {
		if scheme, rest, ok := strings.Cut(value, " "); ok && words["scheme"][strings.ToLower(scheme)] {
			from = end - len(strings.TrimLeft(rest, " "))
		}
		return from, end
	}
	if len(value) > maxWord || !words["scheme"][strings.ToLower(value)] || byteAt(s.text, end) != ' ' {
		return from, end
	}
	from = skipBlank(s.text, end)
	for end = from; end < len(s.text) && !endsValue(s.text, end); end++ {
	}
	return from, end
}

// urls finds the passwords in URLs, and those of curl's -u.
func (s *scan) urls() {
	kind := Passwords
	if !s.r.has(kind) {
		kind = Keys
	}
	for at := 0; s.scheme && s.at; {
		i := strings.Index(s.text[at:], "://")
		if i < 0 {
			break
		}
		at += i + len("://")
		end, last := at, -1
		for end < len(s.text) && end-at < maxValue && strings.IndexByte(" \t\r\n\"'`<>?#|", s.text[end]) < 0 {
			if s.text[end] == '@' {
				last = end
			}
			// A slash ends the authority, unless it is in a password that was not escaped.
			if s.text[end] == '/' && (last >= 0 || !inPassword(s.text[at:end])) {
				break
			}
			end++
		}
		if last < 0 {
			continue
		}
		if colon := strings.IndexByte(s.text[at:last], ':'); colon >= 0 && strings.IndexByte(s.text[at:at+colon],
			'/') < 0 {
			s.credential(kind, at+colon+1, last)
		}
		at = end
	}
	for _, flag := range []string{" -u ", " --user "} {
		if i := strings.Index(s.text, flag); i >= 0 && strings.Contains(s.text[:i], "curl") {
			from := i + len(flag)
			end := from
			for end < len(s.text) && !endsValue(s.text, end) {
				end++
			}
			if colon := strings.IndexByte(s.text[from:end], ':'); colon > 0 {
				s.credential(kind, from+colon+1, from+len(strings.TrimRight(s.text[from:end], "'")))
			}
		}
	}
}

// inPassword reports whether the authority of a URL up to here has begun a password: what
// follows its colon is no port.
func inPassword(authority string) bool {
	_, rest, ok := strings.Cut(authority, ":")
	return ok && rest != "" && !digitsOnly(rest)
}

// credential notes the password text[from:to] unless it stands for one.
func (s *scan) credential(kind Kind, from, to int) {
	if value := s.text[from:to]; len(value) > 0 && !placeholder(value) && !strings.HasPrefix(value, markOpen) &&
		strings.Trim(value, "*x•.") != "" {
		s.add(kind, "url", from, to)
	}
}
