package vertex

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
)

// memoryFields are the fields that a filter of memories may name.
func memoryFields() aip160.Fields {
	return aip160.Fields{
		"fact": memory.TextField, "displayName": memory.TextField, "memoryType": memory.TextField,
		"createTime": memory.TimeField, "updateTime": memory.TimeField, "expireTime": memory.TimeField,
		"topics": memory.ListField, "scope": memory.TextsField,
	}
}

// A filter in the language of AIP-160 is read by the parser of the HTTP API, with the names of
// this service. An expression of these names becomes one of the native names. Two fields have
// another form in memoryd: the type of a memory is a kind, and its scope is a user.

// filtersIn has the conditions on memories that a body may have. Both must hold.
type filtersIn struct {
	Filter string        `json:"filter"`
	Groups []filterGroup `json:"filterGroups"`
}

// filterGroup is conditions on metadata that must all hold. Of several groups one must hold. A
// group without conditions is refused, as it would hold of everything.
type filterGroup struct {
	Filters []metadataFilter `json:"filters"`
}

// metadataFilter compares a value of metadata.
type metadataFilter struct {
	Key    string         `json:"key"`
	Op     filterOp       `json:"op"`
	Value  *metadataValue `json:"value"`
	Negate bool           `json:"negate"`
}

// filterOp is how a value is compared. Clients may send the number of one.
type filterOp string

// The operators beside equality.
const (
	greaterThan filterOp = "GREATER_THAN"
	lessThan    filterOp = "LESS_THAN"
)

// UnmarshalJSON implements json.Unmarshaler.
func (op *filterOp) UnmarshalJSON(raw []byte) error {
	name, err := readEnum("op", raw, "OPERATOR_UNSPECIFIED", "EQUAL", string(greaterThan), string(lessThan))
	*op = filterOp(name)
	return err
}

// where is the filter and the groups in the native language; nil if there are none. The native
// bounds hold of both together: how many comparisons there are, and how much work patterns are.
func (s *Service) where(in filtersIn) (memory.Where, error) {
	parsed, err := aip160.Parse(in.Filter, memoryFields())
	if err != nil {
		return nil, err
	}
	var all memory.And
	if parsed != nil {
		native, err := rewrite(parsed, s.nativeField)
		if err != nil {
			return nil, err
		}
		all = append(all, native)
	}
	groups, err := groupsOf(in.Groups)
	if err != nil {
		return nil, err
	}
	if groups != nil {
		all = append(all, groups)
	}
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return all[0], memory.ValidateWhere(all[0])
	}
	return all, memory.ValidateWhere(all)
}

// rewrite puts what to returns in the place of each comparison, so that an expression keeps its
// form and only names differ.
func rewrite(where memory.Where, to func(memory.Cmp) (memory.Where, error)) (memory.Where, error) {
	all := func(in []memory.Where) (out []memory.Where, err error) {
		for _, w := range in {
			native, err := rewrite(w, to)
			if err != nil {
				return nil, err
			}
			out = append(out, native)
		}
		return out, nil
	}
	switch w := where.(type) {
	case memory.And:
		out, err := all(w)
		return memory.And(out), err
	case memory.Or:
		out, err := all(w)
		return memory.Or(out), err
	case memory.Not:
		inner, err := rewrite(w.Where, to)
		return memory.Not{Where: inner}, err
	case memory.Cmp:
		return to(w)
	}
	return where, nil
}

// nativeField is a comparison in the native language.
func (s *Service) nativeField(c memory.Cmp) (memory.Where, error) {
	text, _ := c.Value.AsText()
	switch c.Field {
	case "memoryType":
		kinds := map[string]memory.Kind{"NATURAL_LANGUAGE_COLLECTION": memory.KindFact,
			string(profileType): memory.KindProfile}
		if _, ok := kinds[text]; !ok || c.Op != memory.OpEqual && c.Op != memory.OpNot {
			return nil, invalid("filter: memory_type: want = or != and NATURAL_LANGUAGE_COLLECTION or %s, not %s %.60q",
				profileType, c.Op, text)
		}
		return memory.Cmp{Field: memory.FieldKind, Op: c.Op, Value: memory.Text(string(kinds[text]))}, nil
	case "scope":
		equal, err := s.scopeIs(c.Key, text)
		if err == nil && c.Op == memory.OpNot {
			equal = memory.Not{Where: equal}
		}
		return equal, err
	}
	return c, nil
}

// scopeIs holds of memories whose scope has a value for a key; without a key, of those whose
// scope is a map that is written as JSON.
func (s *Service) scopeIs(key, value string) (memory.Where, error) {
	// A merged scope has no app_name: a condition on it would leave out all users' own memories.
	if key == appKey && s.opts.Scopes == MergedScopes {
		return nil, invalid("filter: scope.%s: with -vertex-scopes merge a user's scope has none: leave it out,"+
			" or name the whole scope, as in scope=\"{…}\"", appKey)
	}
	if key != "" {
		return scopeHas(key, value)
	}
	var scope map[string]string
	if err := json.Unmarshal([]byte(value), &scope); err != nil {
		return nil, invalid(`filter: scope: want a map of texts as JSON, such as "{\"user_id\": \"ann\"}", not %.80q`,
			value)
	}
	user, err := s.userOf(scope)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	return userIs(user), nil
}

// scopeHas holds of memories whose scope has a value for a key. A scope of user_id alone is
// natively that user, and one of more pairs is a text of all of them: the pairs are encoded, so
// that no value has an & or = and a pattern tells them apart.
func scopeHas(key, value string) (memory.Where, error) {
	// The native user has the pairs in order, with & between them. The value is quoted, as it
	// is a text and no pattern.
	pattern, err := memory.Pattern("^" + mapPrefix + "(?:[^&]*&)*" + regexp.QuoteMeta(pair(key, value)) + "(?:&|$)")
	if err != nil {
		return nil, fmt.Errorf("filter: scope.%.80s: %w", key, err)
	}
	among := memory.Cmp{Field: memory.FieldUser, Op: memory.OpMatches, Value: pattern}
	if key != userKey || value == "" {
		return among, nil
	}
	user, err := userOf(value)
	if err != nil {
		return nil, fmt.Errorf("filter: scope.%.80s: %w", key, err)
	}
	return memory.Or{userIs(user), among}, nil
}

// groupsOf are conditions on metadata in the native language; nil if there are none. An error
// names the group and the condition by their places in the lists.
func groupsOf(groups []filterGroup) (memory.Where, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	var out memory.Or
	for i, g := range groups {
		if len(g.Filters) == 0 {
			return nil, invalid("filterGroups[%d].filters: want one at least", i)
		}
		var all memory.And
		for j := range g.Filters {
			w, err := g.Filters[j].where()
			if err != nil {
				return nil, fmt.Errorf("filterGroups[%d].filters[%d]: %w", i, j, err)
			}
			all = append(all, w)
		}
		out = append(out, all)
	}
	return out, nil
}

// where is the condition in the native language. A value that is missing, or of another type,
// passes it only if it is negated.
func (f *metadataFilter) where() (w memory.Where, err error) {
	if f.Key == "" || f.Value == nil {
		return nil, invalid("want key and value")
	}
	if _, err := f.Value.native(); err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	compare := func(op memory.Op, v memory.Value) memory.Cmp {
		return memory.Cmp{Field: memory.FieldMetadata, Key: f.Key, Op: op, Value: v}
	}
	op := map[filterOp]memory.Op{greaterThan: memory.OpMore, lessThan: memory.OpLess}[f.Op]
	if op == "" {
		op = memory.OpEqual
	}
	switch v := f.Value; {
	case v.String != nil:
		w = compare(op, memory.Text(*v.String))
	case v.Bool != nil && op != memory.OpEqual:
		return nil, invalid("op: %s does not compare boolValue", f.Op)
	case v.Bool != nil:
		w = compare(op, memory.Bool(*v.Bool))
	case v.Timestamp != nil:
		// Times are compared to the second: one within the same second is equal.
		from := v.Timestamp.Truncate(time.Second)
		to := memory.Time(from.Add(time.Second))
		switch op {
		case memory.OpEqual:
			w = memory.And{compare(memory.OpAtLeast, memory.Time(from)), compare(memory.OpLess, to)}
		case memory.OpMore:
			w = compare(memory.OpAtLeast, to)
		default:
			w = compare(memory.OpLess, memory.Time(from))
		}
	default:
		number, err := memory.Number(strings.Trim(string(v.Double), `"`))
		if err != nil {
			return nil, fmt.Errorf("value: %w", err)
		}
		w = compare(op, number)
	}
	// A value that is missing, or of another type, equals nothing: only the negation holds of it.
	if f.Negate {
		w = memory.Not{Where: w}
	}
	return w, nil
}

// oneUser finds the one native user whose memories a condition asks for; "" if it asks for
// those of several. A call can then name the scope: that takes fewer rights than reading
// across users, and less time.
func oneUser(where memory.Where) string {
	must, _ := memory.Conjuncts(where)
	for _, c := range must {
		if user, ok := c.Value.AsText(); ok && c.Field == memory.FieldUser && c.Op == memory.OpEqual {
			return user
		}
	}
	return ""
}

// personOf is the person whose memories are those in all scopes of the user that a caller is for.
func personOf(p *access.Principal) memory.Person {
	id := userID(p.User)
	if native, err := userOf(id); err == nil && native == p.User {
		return memory.Person{User: native, Part: pair(userKey, id)}
	}
	return memory.Person{User: p.User}
}

// personIn is the person whose memories alone pass a filter, so that a store need not look at those of
// others; the zero value if there is none. The filter is one that where has read.
func personIn(filter string) (out memory.Person) {
	parsed, err := aip160.Parse(filter, memoryFields())
	if err != nil {
		return out
	}
	must, _ := memory.Conjuncts(parsed)
	for _, c := range must {
		id, ok := c.Value.AsText()
		if !ok || c.Field != "scope" || c.Key != userKey || c.Op != memory.OpEqual {
			continue
		}
		out.Part = pair(userKey, id)
		if user, err := userOf(id); err == nil {
			out.User = user
		}
	}
	return out
}

// userIs holds of the memories of a native user.
func userIs(user string) memory.Where {
	return memory.Cmp{Field: memory.FieldUser, Op: memory.OpEqual, Value: memory.Text(user)}
}
