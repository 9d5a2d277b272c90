package aip160

import (
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// token is a piece of a filter.
type token struct {
	kind tokenKind
	text string // of a word or a text between quotes, without them
	from int    // its first byte
}

type tokenKind int

const (
	end    tokenKind = iota
	word             // a field, a bare value, AND, OR or NOT
	quoted           // a text between quotes
	operator
	open // (
	shut // )
	minus
)

// show writes a token for a message.
func (t token) show() string {
	switch t.kind {
	case end:
		return "the end"
	case quoted:
		return "a text between quotes"
	}
	if len(t.text) > 40 {
		return strings.ToValidUTF8(t.text[:40], "") + "…"
	}
	return t.text
}

// operators are the operators, longer ones first.
var operators = []memory.Op{memory.OpNot, memory.OpAtMost, memory.OpAtLeast, memory.OpMatches, memory.OpEqual,
	memory.OpLess, memory.OpMore, memory.OpHas}

// lexer cuts a filter into tokens.
type lexer struct {
	text string
	at   int
}

// next reads a token. Behind an operator a word may have a colon, as times do.
func (l *lexer) next(value bool) (token, error) {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
	t := token{from: l.at}
	if l.at == len(l.text) {
		return t, nil
	}
	if c := l.text[l.at]; c == '"' || c == '\'' {
		text, err := l.quoted(c)
		t.kind, t.text = quoted, text
		return t, err
	}
	t.kind, t.text = l.sign(value)
	if t.kind != end {
		l.at += len(t.text)
		return t, nil
	}
	for l.at < len(l.text) && isWord(l.text[l.at], value) {
		l.at++
	}
	if t.text = l.text[t.from:l.at]; t.text == "" {
		_, size := utf8.DecodeRuneInString(l.text[l.at:])
		return t, failed(t.from, "%q has no meaning here: put texts between quotes", l.text[l.at:l.at+size])
	}
	t.kind = word
	return t, nil
}

// sign recognizes a token that is no word.
func (l *lexer) sign(value bool) (tokenKind, string) {
	rest := l.text[l.at:]
	switch {
	case rest[0] == '(':
		return open, "("
	case rest[0] == ')':
		return shut, ")"
	case rest[0] == '-' && !value:
		return minus, "-"
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, string(op)) {
			return operator, string(op)
		}
	}
	return end, ""
}

// isWord reports whether a byte belongs to a word. All of UTF-8 beyond ASCII does.
func isWord(c byte, value bool) bool {
	switch {
	case c == ':':
		return value
	case c == '.':
		return true
	case strings.IndexByte("\"'()=<>!~,", c) >= 0:
		return false
	}
	return c > ' ' && c != 0x7f
}

// quoted reads a text up to its closing quote. A backslash stands before a quote or a
// backslash that belongs to the text.
func (l *lexer) quoted(quote byte) (string, error) {
	from := l.at
	var b strings.Builder
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; c {
		case quote:
			l.at++
			return b.String(), nil
		case '\\':
			l.at++
			if l.at == len(l.text) || strings.IndexByte(`\"'`, l.text[l.at]) < 0 {
				return "", failed(l.at-1, `want \\ or \" behind a backslash: a backslash of the text is written twice`)
			}
			b.WriteByte(l.text[l.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", failed(from, "the text that begins here has no closing quote")
}
