package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Holds evaluates an expression by the answers of compare to its comparisons. Nil holds.
func Holds(w Where, compare func(Cmp) bool) bool {
	switch w := w.(type) {
	case And:
		for _, part := range w {
			if !Holds(part, compare) {
				return false
			}
		}
		return true
	case Or:
		for _, part := range w {
			if Holds(part, compare) {
				return true
			}
		}
		return false
	case Not:
		return !Holds(w.Where, compare)
	case Cmp:
		return compare(w)
	}
	return true
}

// Compare reports whether c holds of m.
func (m *Memory) Compare(c Cmp) bool {
	switch c.Field {
	case FieldID:
		return c.OfText(m.ID)
	case FieldUser:
		return c.OfText(m.User)
	case FieldFact:
		return c.OfText(m.Fact)
	case FieldDisplayName:
		return c.OfText(m.DisplayName)
	case FieldDescription:
		return c.OfText(m.Description)
	case FieldRevision:
		return c.OfNumber(m.Revision)
	case FieldEvidence:
		return c.OfNumber(int64(max(1, m.Evidence)))
	case FieldConfirmed:
		return c.OfTime(m.ConfirmedTime)
	case FieldKind:
		return c.OfText(string(m.Kind))
	case FieldSchema:
		return c.OfText(m.schemaID())
	case FieldField:
		return c.OfText(m.fieldName())
	case FieldAuthor:
		return c.OfText(m.Author)
	case FieldTopics:
		return c.OfList(m.Topics)
	case FieldTimestamp:
		return c.OfTime(m.Timestamp)
	case FieldCreateTime:
		return c.OfTime(m.CreateTime)
	case FieldUpdateTime:
		return c.OfTime(m.UpdateTime)
	case FieldExpireTime:
		return c.OfTime(m.ExpireTime)
	case FieldValidFrom:
		return c.OfTime(m.ValidFrom)
	case FieldValidTo:
		return c.OfTime(m.ValidTo)
	case FieldSupersededBy:
		return c.OfText(m.SupersededBy)
	case FieldSession:
		return c.OfText(m.Source.SessionID)
	case FieldMetadata:
		return c.OfJSON(m.Metadata[c.Key])
	case FieldTrust:
		return c.OfText(string(m.Trust.Source()))
	case FieldState:
		return c.OfText(string(m.State))
	}
	return false
}

// equality is the comparison whose opposite OpNot is.
func (c Cmp) equality() Cmp {
	c.Op = OpEqual
	return c
}

// OfText reports whether c holds of a text. The empty text counts as a value for all
// operators except OpHas with Anything.
func (c Cmp) OfText(s string) bool {
	v := &c.Value
	switch c.Op {
	case OpNot:
		return !c.equality().OfText(s)
	case OpMatches:
		return v.kind == patternValue && v.pattern.MatchString(s)
	case OpHas:
		return v.kind == anyValue && s != "" || v.kind == textValue && strings.Contains(strings.ToLower(s), v.lower)
	}
	return v.kind == textValue && c.Op.ofOrder(strings.Compare(s, v.text))
}

// OfTime reports whether c holds of a time. The zero time is no value.
func (c Cmp) OfTime(t time.Time) bool {
	switch {
	case c.Op == OpNot:
		return !c.equality().OfTime(t)
	case c.Op == OpHas:
		return c.Value.kind == anyValue && !t.IsZero()
	}
	return c.Value.kind == timeValue && !t.IsZero() && c.Op.ofOrder(t.Compare(c.Value.at))
}

// OfNumber reports whether c holds of a number.
func (c Cmp) OfNumber(n int64) bool {
	if c.Op == OpNot {
		return !c.equality().OfNumber(n)
	}
	order, ok := c.Value.orderOf(strconv.AppendInt(nil, n, 10))
	return ok && c.Value.kind == numberValue && c.Op.ofOrder(order)
}

// OfList reports whether c holds of a list of texts.
func (c Cmp) OfList(all []string) bool {
	if c.Op != OpHas {
		return false
	}
	return c.Value.kind == anyValue && len(all) > 0 || c.Value.kind == textValue && slices.Contains(all, c.Value.text)
}

// OfTexts reports whether c, whose field has keys, holds of texts by name. A name that is
// missing equals nothing. A number or a boolean in c stands for the text that it is
// written as.
func (c Cmp) OfTexts(all map[string]string) bool {
	if c.Op == OpNot {
		return !c.equality().OfTexts(all)
	}
	s, ok := all[c.Key]
	switch {
	case !ok:
		return false
	case c.Value.kind == anyValue:
		return c.Op == OpHas
	case c.Value.kind == numberValue:
		c.Value = Text(c.Value.text)
	case c.Value.kind == boolValue:
		c.Value = Text(strconv.FormatBool(c.Value.yes))
	case c.Value.kind == timeValue:
		t, err := time.Parse(time.RFC3339, s)
		return err == nil && (c.Op.ofOrder(t.Compare(c.Value.at)) || c.Op == OpHas && t.Equal(c.Value.at))
	}
	return c.OfText(s)
}

// OfJSON reports whether c holds of a JSON value. No bytes and null are no value.
// Values are compared if they are of the type of c's value: texts byte by byte, or as
// times where c's value is one. OpHas looks into lists as well.
func (c Cmp) OfJSON(raw json.RawMessage) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if c.Op == OpNot {
		return !c.equality().OfJSON(raw)
	}
	if len(raw) == 0 || raw[0] == 'n' {
		return false
	}
	v := &c.Value
	switch {
	case v.kind == anyValue:
		return c.Op == OpHas
	case raw[0] == '[' && c.Op == OpHas:
		var all []json.RawMessage
		return json.Unmarshal(raw, &all) == nil && slices.ContainsFunc(all, c.equality().OfJSON)
	case v.kind == boolValue:
		is := raw[0] == 't'
		return (is || raw[0] == 'f') && (c.Op == OpEqual || c.Op == OpHas) && is == v.yes
	case v.kind == numberValue:
		order, ok := v.orderOf(raw)
		return ok && (c.Op.ofOrder(order) || c.Op == OpHas && order == 0)
	}
	s, ok := textOf(raw)
	if v.kind == timeValue && raw[0] == '{' {
		var at map[string]string
		ok = json.Unmarshal(raw, &at) == nil && len(at) == 1
		s = at["timestampValue"]
	}
	if !ok {
		return false
	}
	if v.kind != timeValue {
		return c.OfText(s)
	}
	t, err := time.Parse(time.RFC3339, s)
	return err == nil && (c.Op.ofOrder(t.Compare(v.at)) || c.Op == OpHas && t.Equal(v.at))
}

// textOf reads a JSON value if it is a text.
func textOf(raw json.RawMessage) (s string, ok bool) {
	raw = bytes.TrimRight(raw, " \t\r\n")
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// orderOf compares a JSON value with the number v, if it is a number.
func (v *Value) orderOf(raw json.RawMessage) (order int, ok bool) {
	if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	s := string(bytes.TrimRight(raw, " \t\r\n"))
	n, _ := strconv.ParseFloat(s, 64) // one that is too large is infinite
	if order = cmp.Compare(n, v.number); order == 0 && math.Abs(n) >= 1<<53 {
		a, errA := strconv.ParseInt(s, 10, 64)
		b, errB := strconv.ParseInt(v.text, 10, 64)
		if errA == nil && errB == nil {
			order = cmp.Compare(a, b)
		}
	}
	return order, true
}

// Conjuncts are comparisons that hold of all memories that w passes. Complete says that
// w passes no others: a store that narrows by all of them needs no further check.
func Conjuncts(w Where) (all []Cmp, complete bool) {
	switch w := w.(type) {
	case nil:
		return nil, true
	case Cmp:
		return []Cmp{w}, true
	case And:
		complete = true
		for _, part := range w {
			some, whole := Conjuncts(part)
			all, complete = append(all, some...), complete && whole
		}
		return all, complete
	case Or:
		if len(w) == 1 {
			return Conjuncts(w[0])
		}
	case Not:
		if c, ok := w.Where.(Cmp); ok && c.Op == OpEqual {
			c.Op = OpNot
			return []Cmp{c}, true
		} else if ok && c.Op == OpNot {
			return []Cmp{c.equality()}, true
		}
	}
	return nil, false
}

// AsText is the text that v is, if it is one.
func (v Value) AsText() (string, bool) { return v.text, v.kind == textValue }

// AsTime is the time that v is, if it is one.
func (v Value) AsTime() (time.Time, bool) { return v.at, v.kind == timeValue }

// AsJSON is the JSON value that equals, by CanonicalJSON, exactly the values that v
// equals. Times have none, as a time is written in many ways, and neither have numbers
// from 2^53 on.
func (v Value) AsJSON() (json.RawMessage, bool) {
	switch {
	case v.kind == textValue:
		raw, err := EncodeJSON(v.text)
		return raw, err == nil
	case v.kind == boolValue:
		return strconv.AppendBool(nil, v.yes), true
	case v.kind == numberValue && math.Abs(v.number) < 1<<53:
		return json.RawMessage(v.text), true
	}
	return nil, false
}
