package sessionstore

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// The fields that an expression about sessions compares beside those of package memory.
const (
	fieldUser        = "userId"
	fieldDisplayName = "displayName"
	fieldLabels      = "labels"
	fieldLastUpdate  = "lastUpdateTime" // as sessions have it in answers
)

// WhereFields are the types of the fields that List.Where compares. Labels have keys.
func WhereFields() map[string]memory.FieldType {
	return map[string]memory.FieldType{
		memory.FieldID: memory.TextField, fieldUser: memory.TextField, fieldDisplayName: memory.TextField,
		fieldLabels: memory.JSONField, memory.FieldCreateTime: memory.TimeField,
		memory.FieldUpdateTime: memory.TimeField, fieldLastUpdate: memory.TimeField,
		memory.FieldExpireTime: memory.TimeField,
	}
}

// validateCmp refuses a comparison that no session has.
func validateCmp(c memory.Cmp) error {
	typ, ok := WhereFields()[c.Field]
	switch {
	case !ok:
		return fmt.Errorf("%w: filter: no field %.40q", memory.ErrInvalid, c.Field)
	case c.Field != fieldLabels && c.Key != "":
		return fmt.Errorf("%w: filter: %s has no keys", memory.ErrInvalid, c.Field)
	case c.Field == fieldLabels && (c.Key == "" || !utf8.ValidString(c.Key)):
		return fmt.Errorf("%w: filter: labels: want a name in UTF-8", memory.ErrInvalid)
	}
	if err := typ.Check(c.Op, c.Value); err != nil {
		return fmt.Errorf("filter: %s: %w", c.Field, err)
	}
	return nil
}

// Match reports whether an expression holds of s: it defines what List.Where passes.
func (s *Session) Match(w memory.Where) bool {
	return memory.Holds(w, func(c memory.Cmp) bool {
		switch c.Field {
		case memory.FieldID:
			return c.OfText(s.ID)
		case fieldUser:
			return c.OfText(s.User)
		case fieldDisplayName:
			return c.OfText(s.DisplayName)
		case fieldLabels:
			return c.OfTexts(s.Labels)
		case memory.FieldCreateTime:
			return c.OfTime(s.CreateTime)
		case memory.FieldUpdateTime, fieldLastUpdate:
			return c.OfTime(s.LastUpdateTime)
		case memory.FieldExpireTime:
			return c.OfTime(s.ExpireTime)
		}
		return false
	})
}

// Order is the order of a list of sessions. The zero value has the newest created first:
// that is the order in which the store has made them, also if it was an import that did.
type Order struct {
	Updated   bool // by LastUpdateTime, not by creation; ties in an order of the store
	Ascending bool
}

// String returns o as ParseOrder reads it; "" for the zero Order.
func (o Order) String() string {
	if o == (Order{}) {
		return ""
	}
	field, direction := "createTime", "desc"
	if o.Updated {
		field = "updateTime"
	}
	if o.Ascending {
		direction = "asc"
	}
	return field + " " + direction
}

// ParseOrder reads "createTime", "updateTime" or "lastUpdateTime", with "asc" or "desc"
// behind it. Without that the newest come first. The empty text is the zero Order.
func ParseOrder(s string) (o Order, err error) {
	words := strings.Fields(s)
	if len(words) == 0 {
		return o, nil
	}
	known := map[string]bool{"createTime": false, "create_time": false, "updateTime": true, "update_time": true,
		"lastUpdateTime": true}
	updated, ok := known[words[0]]
	direction := "desc"
	if len(words) > 1 {
		direction = strings.ToLower(words[1])
	}
	if !ok || len(words) > 2 || !slices.Contains([]string{"asc", "desc"}, direction) {
		return o, fmt.Errorf("%w: orderBy %.60q: want createTime or updateTime, then asc or desc", memory.ErrInvalid, s)
	}
	return Order{Updated: updated, Ascending: direction == "asc"}, nil
}
