package memory

import (
	"strconv"
	"strings"
	"time"
)

// all passes every memory, as each has an id.
var all = Cmp{Field: FieldID, Op: OpHas, Value: Anything()}

// String implements Where.
func (w And) String() string {
	if len(w) == 0 {
		return all.String()
	}
	return between(" AND ", w)
}

// String implements Where.
func (w Or) String() string {
	if len(w) == 0 {
		return Not{all}.String()
	}
	return between(" OR ", w)
}

// String implements Where.
func (w Not) String() string { return "NOT " + part(w.Where) }

// String implements Where.
func (c Cmp) String() string { return c.name() + " " + string(c.Op) + " " + c.Value.String() }

// between writes the parts of an And or Or.
func between(word string, parts []Where) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = part(p)
	}
	return strings.Join(texts, word)
}

// part writes an expression within another one.
func part(w Where) string {
	switch w := w.(type) {
	case nil:
		return all.String()
	case And, Or:
		return "(" + w.String() + ")"
	}
	return w.String()
}

// name is the field of c as the language of filters has it.
func (c Cmp) name() string {
	if c.Field != FieldMetadata && c.Key == "" {
		return c.Field
	}
	return c.Field + "." + quoteKey(c.Key)
}

// quoteKey puts a key between quotes unless it is a word.
func quoteKey(key string) string {
	notWord := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if key == "" || strings.ContainsFunc(key, notWord) {
		return quote(key)
	}
	return key
}

// quote writes a text between quotes.
func quote(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }

// String writes v as the language of filters has it.
func (v Value) String() string {
	switch v.kind {
	case textValue, patternValue:
		return quote(v.text)
	case numberValue:
		return v.text
	case boolValue:
		return strconv.FormatBool(v.yes)
	case timeValue:
		return v.at.Format(time.RFC3339Nano)
	case anyValue:
		return "*"
	}
	return `""`
}
