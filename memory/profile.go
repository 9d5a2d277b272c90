package memory

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxProfileValue is how many bytes the JSON of a Profile.Value has at most.
const MaxProfileValue = 8 << 10

// Profile is what a memory of KindProfile holds: the value of one field of a structured
// profile of the user. The configuration of the app has the schema, which says what the
// field may be. A memory outlives its schema.
type Profile struct {
	SchemaID string          `json:"schemaId"`
	Field    string          `json:"field"`
	Value    json.RawMessage `json:"value"` // a text, a number, true or false, or a list of these
}

// Statement reports whether memories of the kind state something themselves: facts and
// values of profiles. A turn is only what was said.
func (k Kind) Statement() bool { return k == KindFact || k == KindProfile }

// validateProfile reports the first rule that the profile of m breaks. A memory of
// KindProfile has one, of a user, and no other memory has.
func (m *Memory) validateProfile() error {
	p := m.Profile
	if m.Kind != KindProfile {
		if p != nil {
			return fmt.Errorf("%w: schemaId, field and value are of memories of kind %q alone", ErrInvalid, KindProfile)
		}
		return nil
	}
	if m.OfApp() {
		return fmt.Errorf("%w: kind: shared knowledge has no values of profiles, which are a user's", ErrInvalid)
	}
	if p == nil {
		return fmt.Errorf("%w: schemaId is missing: a memory of kind %q has schemaId, field and value", ErrInvalid,
			KindProfile)
	}
	if err := ValidateProfileName("schemaId", p.SchemaID); err != nil {
		return err
	}
	if err := ValidateProfileName("field", p.Field); err != nil {
		return err
	}
	return validateValue(p.Value)
}

// MaxProfileName is how many bytes the id of a schema, and the name of a field, have at
// most.
const MaxProfileName = 128

// ValidateProfileName accepts the ids of schemas and the names of fields. The error names
// the place.
func ValidateProfileName(at, name string) error {
	if len(name) > MaxProfileName {
		return fmt.Errorf("%w: %s has %d bytes, more than %d", ErrInvalid, at, len(name), MaxProfileName)
	}
	return validateName(at, name)
}

// validateValue accepts the values that a field can have, whatever its schema.
func validateValue(raw json.RawMessage) error {
	if len(raw) > MaxProfileValue {
		return fmt.Errorf("%w: value has %d bytes, more than %d", ErrInvalid, len(raw), MaxProfileValue)
	}
	var v any
	if len(raw) == 0 || !utf8.Valid(raw) || json.Unmarshal(raw, &v) != nil {
		return fmt.Errorf("%w: value is not JSON in UTF-8", ErrInvalid)
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, one := range list {
		switch one.(type) {
		case string, float64, bool:
		default:
			return fmt.Errorf("%w: value: want a text, a number, true or false, or a list of these", ErrInvalid)
		}
	}
	return nil
}

func (m *Memory) schemaID() string {
	if m.Profile == nil {
		return ""
	}
	return m.Profile.SchemaID
}

func (m *Memory) fieldName() string {
	if m.Profile == nil {
		return ""
	}
	return m.Profile.Field
}

// same reports whether p and o are equal. Either may be nil.
func (p *Profile) same(o *Profile) bool {
	if p == nil || o == nil {
		return p == o
	}
	return p.SchemaID == o.SchemaID && p.Field == o.Field && SameJSON(p.Value, o.Value)
}

// clone is a copy of p that shares nothing with it.
func (p *Profile) clone() *Profile {
	if p == nil {
		return nil
	}
	out := *p
	out.Value = append(json.RawMessage(nil), p.Value...)
	return &out
}

// bytes is about what p takes in JSON.
func (p *Profile) bytes() int {
	if p == nil {
		return 0
	}
	return 40 + len(p.SchemaID) + len(p.Field) + len(p.Value)
}
