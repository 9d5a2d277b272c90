package memory

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxID is the longest id of an app, user, session, event or memory, in bytes.
const MaxID = 256

// Scope is the owner of memories: one user of one app. Every store method takes
// one as an argument of its own, and nothing reads or writes outside it.
type Scope struct {
	App  string `json:"appName"`
	User string `json:"userId"`
}

// Validate reports the first of the two ids that is not a valid id.
func (s Scope) Validate() error {
	if err := ValidateID("app", s.App); err != nil {
		return err
	}
	return ValidateID("user", s.User)
}

// Wrap adds the failed call and its scope to an error.
func (s Scope) Wrap(call string, err error) error {
	return fmt.Errorf("%s of app %q, user %q: %w", call, s.App, s.User, err)
}

// ValidateID is the one rule for ids, wherever they come from: 1 to [MaxID]
// bytes of UTF-8, no slash, no control character, and neither "." nor "..". The
// error is ErrInvalid and names the id by what.
func ValidateID(what, id string) error { return validateName(what+" id", id) }

// ValidateTopic reports whether a memory can have a topic. The error names the field.
func ValidateTopic(field, topic string) error { return validateName(field, topic) }

// validateName is the same rule for names that are not called ids: topics, and
// the names in metadata.
func validateName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: %s is empty", ErrInvalid, what)
	case len(name) > MaxID:
		return fmt.Errorf("%w: %s has %d bytes, more than %d", ErrInvalid, what, len(name), MaxID)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %s is not valid UTF-8", ErrInvalid, what)
	case name == "." || name == "..":
		return fmt.Errorf("%w: %s may not be %q", ErrInvalid, what, name)
	}
	for _, r := range name {
		if r == '/' {
			return fmt.Errorf("%w: %s %q has a slash", ErrInvalid, what, name)
		}
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: %s %q has a control character", ErrInvalid, what, name)
		}
	}
	return nil
}
