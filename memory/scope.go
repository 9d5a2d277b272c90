package memory

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxID is the longest id of an app, user, session, event or memory, in bytes.
const MaxID = 256

// Scope is the owner of memories: one user of one app, or the app itself; see [Shared].
// Every store method takes one as an argument of its own, and nothing reads or writes
// outside it.
type Scope struct {
	App  string `json:"appName"`
	User string `json:"userId,omitempty"`
}

// The scopes of an app itself have users that no client can name: an id has no slash.
// These names are stored.
const (
	sharedUser    = "/shared"
	documentsUser = "/documents"
)

// Shared is the scope of the shared knowledge of an app: memories for all of its users.
func Shared(app string) Scope { return Scope{App: app, User: sharedUser} }

// Documents is the scope that lists the documents of an app's shared knowledge: one
// memory for each, whose id is that of the document. Their passages are in [Shared].
func Documents(app string) Scope { return Scope{App: app, User: documentsUser} }

// IsShared reports whether s is the scope of shared knowledge.
func (s Scope) IsShared() bool { return s.User == sharedUser }

// OfApp reports whether s is a scope of the app itself: that of its shared knowledge, or
// of the documents in it.
func (s Scope) OfApp() bool { return s.User == sharedUser || s.User == documentsUser }

// Validate reports the first of the two ids that is not a valid id. It accepts the
// scopes of users alone.
func (s Scope) Validate() error {
	if err := ValidateID("app", s.App); err != nil {
		return err
	}
	return ValidateID("user", s.User)
}

// ValidateOwner accepts every scope that memories can be in: those of users, as Validate
// does, and those of the app itself.
func (s Scope) ValidateOwner() error {
	if s.OfApp() {
		return ValidateID("app", s.App)
	}
	return s.Validate()
}

// Owner names the scope in a message.
func (s Scope) Owner() string {
	switch {
	case s.IsShared():
		return fmt.Sprintf("app %q, shared knowledge", s.App)
	case s.OfApp():
		return fmt.Sprintf("app %q, documents", s.App)
	}
	return fmt.Sprintf("app %q, user %q", s.App, s.User)
}

// Wrap adds the failed call and its scope to an error.
func (s Scope) Wrap(call string, err error) error {
	return fmt.Errorf("%s of %s: %w", call, s.Owner(), err)
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
