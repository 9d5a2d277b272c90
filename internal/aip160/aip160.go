// Package aip160 reads filters in the language of AIP-160 as expressions of package
// memory:
//
//	filter     = sequence { "AND" sequence }
//	sequence   = factor { factor }
//	factor     = term { "OR" term }
//	term       = { "NOT" | "-" } ( "(" filter ")" | comparison )
//	comparison = field operator value
//	field      = name [ "." key ]
//	operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | ":" | "=~"
//	value      = text between quotes | word | "*"
//
// AND may be left out. OR binds more tightly than AND, as AIP-160 has it. The package has
// neither functions nor terms without a field.
package aip160

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// Limits of a filter. They bound the work before anything is compared.
const (
	MaxBytes = 8 << 10
	MaxDepth = 32 // parentheses and negations within each other
)

// Fields are the fields that a filter may name, by their names in camel case. A filter
// may write them in snake case too. A field of type memory.JSONField has keys, and one of type
// memory.TextsField may have one.
type Fields map[string]memory.FieldType

// Memories are the fields of a filter of memories, and Revisions those of one of revisions.
var (
	Memories  = Fields(memory.WhereFields())
	Revisions = Fields(memory.RevisionFields())
)

// Parse reads a filter. An empty one, or one of spaces, is nil. The error is
// memory.ErrInvalid, and names the byte at which the filter is wrong, the first byte
// being 0, and what would be right there.
func Parse(text string, fields Fields) (memory.Where, error) {
	switch {
	case len(text) > MaxBytes:
		return nil, failed(MaxBytes, "a filter has at most %d bytes, and this one has %d", MaxBytes, len(text))
	case !utf8.ValidString(text):
		return nil, failed(0, "a filter is UTF-8")
	case strings.TrimSpace(text) == "":
		return nil, nil
	}
	p := &parser{lexer: lexer{text: text}, fields: fields}
	if err := p.advance(false); err != nil {
		return nil, err
	}
	w, err := p.filter()
	if err != nil {
		return nil, err
	}
	if p.now.kind != end {
		return nil, p.expected("AND, OR or a comparison")
	}
	valid := func(memory.Cmp) error { return nil } // each comparison was checked as it was read
	if _, ok := fields[memory.FieldMetadata]; ok {
		valid = memory.Cmp.Validate
	}
	if err := memory.ValidateWhereBy(w, valid); err != nil { // the patterns together
		return nil, err
	}
	return w, nil
}

// failed is the error at a byte of a filter.
func failed(at int, format string, args ...any) error {
	return fmt.Errorf("%w: filter: at byte %d: %s", memory.ErrInvalid, at, fmt.Sprintf(format, args...))
}

// parser reads a filter with one token ahead.
type parser struct {
	lexer
	fields Fields
	now    token
	depth  int
	terms  int
}

// advance reads the next token. Value says that a value is expected.
func (p *parser) advance(value bool) (err error) {
	p.now, err = p.next(value)
	return err
}

// expected is the error that another token was expected.
func (p *parser) expected(what string) error {
	return failed(p.now.from, "want %s, not %s", what, p.now.show())
}

// is reports whether the token is a word of the language.
func (p *parser) is(keyword string) bool { return p.now.kind == word && p.now.text == keyword }

// filter reads sequences with AND between them or nothing.
func (p *parser) filter() (memory.Where, error) {
	var parts memory.And
	for {
		part, err := p.factor()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		switch {
		case p.is("AND"):
			if err := p.advance(false); err != nil {
				return nil, err
			}
		case p.now.kind == end || p.now.kind == shut:
			if len(parts) == 1 {
				return parts[0], nil
			}
			return parts, nil
		}
	}
}

// factor reads terms with OR between them.
func (p *parser) factor() (memory.Where, error) {
	var parts memory.Or
	for {
		part, err := p.term()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if !p.is("OR") {
			break
		}
		if err := p.advance(false); err != nil {
			return nil, err
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return parts, nil
}

// term reads a comparison, or a filter between parentheses, with its negations.
func (p *parser) term() (memory.Where, error) {
	negated := p.now.kind == minus || p.is("NOT")
	if !negated && p.now.kind != open {
		return p.comparison()
	}
	if p.depth++; p.depth > MaxDepth {
		return nil, failed(p.now.from, "more than %d parentheses and negations within each other", MaxDepth)
	}
	defer func() { p.depth-- }()
	opened := p.now.from
	if err := p.advance(false); err != nil {
		return nil, err
	}
	if negated {
		part, err := p.term()
		return memory.Not{Where: part}, err
	}
	inner, err := p.filter()
	if err != nil {
		return nil, err
	}
	if p.now.kind != shut {
		return nil, p.expected(fmt.Sprintf("the ) of the ( at byte %d", opened))
	}
	return inner, p.advance(false)
}

// comparison reads a field, an operator and a value.
func (p *parser) comparison() (memory.Where, error) {
	var c memory.Cmp
	at := p.now.from
	typ, err := p.field(&c)
	if err != nil {
		return nil, err
	}
	if p.now.kind != operator || !typ.Takes(memory.Op(p.now.text)) {
		return nil, p.expected(typ.Operators() + " behind the field")
	}
	c.Op = memory.Op(p.now.text)
	if err := p.advance(true); err != nil {
		return nil, err
	}
	if p.now.kind != word && p.now.kind != quoted || p.is("AND") || p.is("OR") || p.is("NOT") {
		return nil, p.expected("a value")
	}
	if c.Value, err = p.value(typ, c.Op); err == nil {
		err = typ.Check(c.Op, c.Value)
	}
	if kind, ok := c.Value.AsText(); err == nil && ok && c.Field == memory.FieldKind && c.Op != memory.OpHas {
		err = memory.Kind(kind).Validate()
	}
	if err != nil {
		return nil, failed(p.now.from, "%s", strings.TrimPrefix(err.Error(), memory.ErrInvalid.Error()+": "))
	}
	if p.terms++; p.terms > memory.MaxWhereTerms {
		return nil, failed(at, "more than %d comparisons", memory.MaxWhereTerms)
	}
	return c, p.advance(false)
}

// field reads the field of a comparison into c.
func (p *parser) field(c *memory.Cmp) (typ memory.FieldType, err error) {
	if p.now.kind != word {
		return 0, p.expected("a field")
	}
	name := p.now
	if err := p.advance(false); err != nil {
		return 0, err
	}
	c.Field = camel(name.text)
	if typ = p.fields[c.Field]; typ != 0 && typ != memory.JSONField {
		return typ, nil // also that of memory.TextsField which names no text
	}
	first, key, _ := strings.Cut(name.text, ".")
	c.Field = camel(first)
	if typ = p.fields[c.Field]; typ != memory.JSONField && typ != memory.TextsField {
		return 0, failed(name.from, "no field %s: want %s", name.show(), p.fields.names())
	}
	c.Key = key
	switch {
	case key == "" && strings.HasSuffix(name.text, ".") && p.now.kind == quoted &&
		p.now.from == name.from+len(name.text):
		c.Key = p.now.text
		err = p.advance(false)
	case key == "":
		err = failed(name.from, "want a name behind %s, as in %s.NAME", first, first)
	case strings.Contains(key, "."):
		err = failed(name.from, "want one name behind %s: put one with a dot between quotes", first)
	}
	return typ, err
}

// names lists the fields for a message.
func (f Fields) names() string {
	var all []string
	for name, typ := range f {
		if typ == memory.JSONField || typ == memory.TextsField {
			name += ".NAME"
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// camel turns the snake case in a name into camel case.
func camel(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if c := name[i]; c == '_' && i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' {
			i++
			b.WriteByte(name[i] - 'a' + 'A')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// value reads the token as a value for a field.
func (p *parser) value(typ memory.FieldType, op memory.Op) (memory.Value, error) {
	text, bare := p.now.text, p.now.kind == word
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case bare && text == "*":
		return memory.Anything(), nil
	case bare && strings.Contains(text, "*"):
		return memory.Value{}, errors.New("* stands alone: put texts between quotes, and use =~ for patterns")
	case op == memory.OpMatches:
		return memory.Pattern(text)
	case typ == memory.TimeField && err != nil:
		return memory.Value{}, fmt.Errorf("want a time such as 2026-03-02T15:04:05Z, not %s", p.now.show())
	case typ == memory.TimeField || typ == memory.JSONField && err == nil:
		return memory.Time(t), nil
	case typ == memory.NumberField && (!bare || !memory.IsNumber(text)):
		return memory.Value{}, fmt.Errorf("want a number, not %s", p.now.show())
	case typ == memory.NumberField:
		return memory.Number(text)
	case typ != memory.JSONField || !bare:
		return memory.Text(text), nil
	case text == "true" || text == "false":
		return memory.Bool(text == "true"), nil
	case memory.IsNumber(text):
		return memory.Number(text)
	}
	return memory.Text(text), nil
}
