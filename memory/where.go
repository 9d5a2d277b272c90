package memory

import (
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of an expression.
const (
	MaxWhereDepth = 100     // And, Or and Not within each other
	MaxWhereTerms = 256     // comparisons
	MaxPattern    = 1 << 10 // bytes
	// MaxPatternSteps bounds the work of all patterns of an expression on one character:
	// it is how many instructions they compile to.
	MaxPatternSteps = 2000
)

// Where is an expression over the fields of a memory: an [And], [Or], [Not] or [Cmp].
// Nil passes every memory. String writes it in the language of filters.
type Where interface {
	fmt.Stringer
	isWhere()
}

// And passes what each part passes; without parts, everything.
type And []Where

// Or passes what at least one part passes; without parts, nothing.
type Or []Where

// Not passes what Where does not pass.
type Not struct{ Where Where }

// Cmp compares a field with a value. A field that has no value, or one of another type,
// equals nothing: no comparison of it holds except OpNot, which is the opposite of
// OpEqual.
type Cmp struct {
	Field string // one of the Field constants
	Key   string // of FieldMetadata: the name; empty otherwise
	Op    Op
	Value Value
}

func (And) isWhere() {}
func (Or) isWhere()  {}
func (Not) isWhere() {}
func (Cmp) isWhere() {}

// The fields of a Cmp, named as in JSON.
const (
	FieldID           = "id"
	FieldUser         = "userId"
	FieldFact         = "fact"
	FieldDisplayName  = "displayName"
	FieldDescription  = "description"
	FieldRevision     = "revision"
	FieldEvidence     = "evidence" // 1 of a memory that was said once
	FieldConfirmed    = "confirmedTime"
	FieldKind         = "kind"
	FieldSchema       = "schemaId" // of a value of a profile, as is the next
	FieldField        = "field"
	FieldAuthor       = "author"
	FieldTopics       = "topics"
	FieldTimestamp    = "timestamp"
	FieldCreateTime   = "createTime"
	FieldUpdateTime   = "updateTime"
	FieldExpireTime   = "expireTime"
	FieldValidFrom    = "validFrom"
	FieldValidTo      = "validTo"
	FieldSupersededBy = "supersededBy"
	FieldSession      = "source.sessionId"
	FieldMetadata     = "metadata"
	FieldTrust        = "trust"
	FieldState        = "state"
	FieldAction       = "action" // of a revision, as are the rest
	FieldActor        = "actor"
	FieldOperation    = "operation"
	FieldLabels       = "labels"
)

// FieldType says which operators and values a field takes.
type FieldType int

// The types of fields.
const (
	TextField   FieldType = iota + 1 // texts; OpEqual, OpNot, OpHas and OpMatches
	TimeField                        // times; OpEqual, OpNot, the four orders, and OpHas with Anything
	ListField                        // texts; OpHas
	JSONField                        // any value and operator, by the type of the value
	NumberField                      // numbers; OpEqual, OpNot and the four orders
	TextsField                       // texts by name, or all of them as one; OpEqual and OpNot
)

// WhereFields are the types of the fields that a Filter compares.
func WhereFields() map[string]FieldType {
	return map[string]FieldType{
		FieldID: TextField, FieldUser: TextField, FieldFact: TextField, FieldKind: TextField, FieldAuthor: TextField,
		FieldSchema: TextField, FieldField: TextField,
		FieldDisplayName: TextField, FieldDescription: TextField, FieldRevision: NumberField,
		FieldEvidence: NumberField, FieldConfirmed: TimeField,
		FieldTopics: ListField, FieldTimestamp: TimeField, FieldCreateTime: TimeField, FieldUpdateTime: TimeField,
		FieldExpireTime: TimeField, FieldValidFrom: TimeField, FieldValidTo: TimeField,
		FieldSupersededBy: TextField, FieldSession: TextField, FieldMetadata: JSONField,
		FieldTrust: TextField, FieldState: TextField,
	}
}

// Op is an operator of a Cmp.
type Op string

// The operators. OpHas passes a text that contains the value, in letters of either case,
// a list with an element that equals it, and with Anything every field that has a value.
const (
	OpEqual   Op = "="
	OpNot     Op = "!="
	OpLess    Op = "<"
	OpAtMost  Op = "<="
	OpMore    Op = ">"
	OpAtLeast Op = ">="
	OpHas     Op = ":"
	OpMatches Op = "=~"
)

// ordered reports whether op needs values that are in an order.
func (op Op) ordered() bool {
	return op == OpLess || op == OpAtMost || op == OpMore || op == OpAtLeast
}

// ofOrder tells op's answer from the order of a field and the value: below 0, 0 or above.
func (op Op) ofOrder(order int) bool {
	switch op {
	case OpEqual:
		return order == 0
	case OpLess:
		return order < 0
	case OpAtMost:
		return order <= 0
	case OpMore:
		return order > 0
	case OpAtLeast:
		return order >= 0
	}
	return false
}

// Value is the right side of a Cmp: made by Text, Number, Bool, Time, Pattern or
// Anything. The zero value equals nothing.
type Value struct {
	kind    valueKind
	text    string // also of a number, as it was written, and of a pattern
	lower   string // of a text
	number  float64
	yes     bool
	at      time.Time
	pattern *regexp.Regexp
	steps   int // of the pattern
}

type valueKind int

const (
	textValue valueKind = iota + 1
	numberValue
	boolValue
	timeValue
	patternValue
	anyValue
)

// Text is a text to compare with.
func Text(s string) Value { return Value{kind: textValue, text: s, lower: strings.ToLower(s)} }

// Number is a number to compare with, as JSON writes it. Integers of 64 bits are compared
// exactly, others as float64.
func Number(literal string) (Value, error) {
	if !IsNumber(literal) {
		return Value{}, fmt.Errorf("%w: %.40q is not a number", ErrInvalid, literal)
	}
	n, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return Value{}, fmt.Errorf("%w: the number %.40s is too large", ErrInvalid, literal)
	}
	return Value{kind: numberValue, text: literal, number: n}, nil
}

// IsNumber reports whether JSON writes a number like that.
func IsNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && s[len(s)-1] > ' ' && json.Valid([]byte(s))
}

// Bool is true or false to compare with.
func Bool(yes bool) Value { return Value{kind: boolValue, yes: yes} }

// Time is a time to compare with. Of metadata it is compared with texts that are times
// in RFC 3339, and with an object that has such a text as timestampValue.
func Time(t time.Time) Value { return Value{kind: timeValue, at: t.UTC()} }

// Anything is what OpHas passes every field with that has a value.
func Anything() Value { return Value{kind: anyValue} }

// Pattern is a regular expression of RE2 for OpMatches. It matches anywhere in a text.
func Pattern(expr string) (Value, error) {
	if len(expr) > MaxPattern {
		return Value{}, fmt.Errorf("%w: a pattern has %d bytes, more than %d", ErrInvalid, len(expr), MaxPattern)
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return Value{}, fmt.Errorf("%w: a pattern is not of RE2: %w", ErrInvalid, err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return Value{}, fmt.Errorf("%w: a pattern is not of RE2: %w", ErrInvalid, err)
	}
	if len(prog.Inst) > MaxPatternSteps {
		return Value{}, tooMuchPattern(len(prog.Inst))
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return Value{}, fmt.Errorf("%w: a pattern is not of RE2: %w", ErrInvalid, err)
	}
	return Value{kind: patternValue, text: expr, pattern: re, steps: len(prog.Inst)}, nil
}

func tooMuchPattern(steps int) error {
	return fmt.Errorf("%w: the patterns take %d steps a character, more than %d: shorten them, or repeat less",
		ErrInvalid, steps, MaxPatternSteps)
}

// Equal reports whether v and o are the same value.
func (v Value) Equal(o Value) bool {
	return v.kind == o.kind && v.text == o.text && v.yes == o.yes && v.at.Equal(o.at)
}

// Validate refuses a comparison that no field takes.
func (c Cmp) Validate() error {
	typ, ok := WhereFields()[c.Field]
	switch {
	case !ok:
		return fmt.Errorf("%w: filter: no field %.40q", ErrInvalid, c.Field)
	case c.Field != FieldMetadata && c.Key != "":
		return fmt.Errorf("%w: filter: %s has no keys", ErrInvalid, c.Field)
	case c.Field == FieldMetadata:
		if err := validateName("filter: a name of metadata", c.Key); err != nil {
			return err
		}
	}
	if err := typ.Check(c.Op, c.Value); err != nil {
		return fmt.Errorf("filter: %s: %w", c.name(), err)
	}
	if c.Field == FieldKind && (c.Op == OpEqual || c.Op == OpNot) {
		if err := Kind(c.Value.text).Validate(); err != nil {
			return fmt.Errorf("filter: %w", err)
		}
	}
	if c.Field == FieldTrust && (c.Op == OpEqual || c.Op == OpNot) {
		if err := Trust(c.Value.text).Validate(); err != nil {
			return fmt.Errorf("filter: %w", err)
		}
	}
	if c.Field == FieldState && (c.Op == OpEqual || c.Op == OpNot) {
		if err := State(c.Value.text).Validate(); err != nil {
			return fmt.Errorf("filter: %w", err)
		}
	}
	return nil
}

// Operators are those that fields of the type take, in words for a message.
func (typ FieldType) Operators() string {
	switch typ {
	case TextField:
		return "=, !=, : or =~"
	case TimeField, NumberField:
		return "=, !=, <, <=, > or >="
	case ListField:
		return ":"
	case TextsField:
		return "= or !="
	}
	return "=, !=, <, <=, >, >=, : or =~"
}

// Takes reports whether fields of the type take an operator.
func (typ FieldType) Takes(op Op) bool {
	switch op {
	case OpHas:
		return typ != NumberField && typ != TextsField
	case OpEqual, OpNot:
		return typ != ListField
	case OpMatches:
		return typ == TextField || typ == JSONField
	}
	return op.ordered() && (typ == TimeField || typ == JSONField || typ == NumberField)
}

// Check refuses an operator or a value that fields of the type do not take.
func (typ FieldType) Check(op Op, v Value) error {
	refused := func(want string) error { return fmt.Errorf("%w: %s takes %s", ErrInvalid, op, want) }
	switch {
	case v.kind == 0:
		return fmt.Errorf("%w: %s has no value", ErrInvalid, op)
	case !typ.Takes(op):
		return fmt.Errorf("%w: want %s, not %s", ErrInvalid, typ.Operators(), op)
	case v.kind == anyValue && op != OpHas:
		return fmt.Errorf("%w: * stands behind : only", ErrInvalid)
	case v.kind == anyValue:
		return nil
	case (op == OpMatches) != (v.kind == patternValue):
		return refused("a pattern, and no other operator does")
	case op == OpMatches:
		return nil
	case typ == TimeField && op == OpHas:
		return refused("* alone here")
	case typ == TimeField && v.kind != timeValue:
		return refused("a time here")
	case typ == NumberField && v.kind != numberValue:
		return refused("a number here")
	case (typ == TextField || typ == ListField || typ == TextsField) && v.kind != textValue:
		return refused("a text here")
	case op.ordered() && v.kind == boolValue:
		return refused("a text, a number or a time")
	case !utf8.ValidString(v.text):
		return refused("UTF-8")
	}
	return nil
}

// ValidateWhere refuses an expression that exceeds the limits, or has a comparison that
// no memory has.
func ValidateWhere(w Where) error { return ValidateWhereBy(w, Cmp.Validate) }

// ValidateWhereBy is ValidateWhere of an expression about something else than memories,
// whose comparisons valid checks.
func ValidateWhereBy(w Where, valid func(Cmp) error) error {
	terms, steps := 0, 0
	var check func(w Where, depth int) error
	check = func(w Where, depth int) (err error) {
		if depth > MaxWhereDepth {
			return fmt.Errorf("%w: filter: more than %d levels", ErrInvalid, MaxWhereDepth)
		}
		switch w := w.(type) {
		case And:
			for i := 0; i < len(w) && err == nil; i++ {
				err = check(w[i], depth+1)
			}
			return err
		case Or:
			for i := 0; i < len(w) && err == nil; i++ {
				err = check(w[i], depth+1)
			}
			return err
		case Not:
			return check(w.Where, depth+1)
		case Cmp:
			if terms, steps = terms+1, steps+w.Value.steps; terms > MaxWhereTerms {
				return fmt.Errorf("%w: filter: more than %d comparisons", ErrInvalid, MaxWhereTerms)
			}
			if steps > MaxPatternSteps {
				return fmt.Errorf("filter: %w", tooMuchPattern(steps))
			}
			return valid(w)
		}
		return fmt.Errorf("%w: filter: a part is missing", ErrInvalid)
	}
	if w == nil {
		return nil
	}
	return check(w, 0)
}
