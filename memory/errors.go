package memory

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The kinds of failure that a caller can act on. Every error of this module
// that crosses a package wraps exactly one of them, or is an internal fault.
// Test with errors.Is; the text around the kind names the call and its
// arguments once.
var (
	// ErrInvalid: the request cannot be served as it stands. Sending it again
	// unchanged will fail again.
	ErrInvalid = errors.New("invalid argument")
	// ErrNotFound: there is nothing of that name in that scope.
	ErrNotFound = errors.New("not found")
	// ErrExists: the name is taken.
	ErrExists = errors.New("already exists")
	// ErrAborted: another writer was faster. Read again and decide again.
	ErrAborted = errors.New("aborted: a newer revision won")
	// ErrUnavailable: a store or model cannot be reached. The same call may
	// succeed later.
	ErrUnavailable = errors.New("unavailable")
	// ErrExhausted: a limit on rate or work in progress is reached.
	ErrExhausted = errors.New("resource exhausted")
)

// Later is an error with the time to wait before another try, as the failing
// service has stated it.
type Later struct {
	After time.Duration
	Err   error
}

// Error is the text of the wrapped error.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap gives the error with the kind.
func (l *Later) Unwrap() error { return l.Err }

// Refusal is the error of a request that memoryd's own limit refuses for now. Its
// text names the limit and the flag that sets it. Unlike the text of any other
// ErrExhausted or ErrUnavailable, which may hold addresses, it is for clients to
// read.
type Refusal struct {
	flag, text string
	after      time.Duration
}

// Refuse makes a Refusal. After is how long to wait before another try, as far as
// the limit can tell.
func Refuse(after time.Duration, format string, args ...any) *Refusal {
	flag := flagIn(format)
	for _, arg := range args {
		if name, ok := arg.(Flag); ok {
			flag = strings.TrimPrefix(string(name), "-")
		}
	}
	return &Refusal{flag, fmt.Sprintf(format, args...), after}
}

// Flag is a flag with its dash, as an argument of Refuse.
type Flag string

// flagIn returns the first flag that a format of Refuse names, without its dash; ""
// if it names none.
func flagIn(format string) string {
	for word := range strings.FieldsSeq(format) {
		if name, ok := strings.CutPrefix(word, "-"); ok && name != "" {
			return strings.TrimRight(name, ".,:;")
		}
	}
	return ""
}

// Flag is the flag that sets the limit, without its dash. It comes from the words
// of the program alone, so metrics can count by it.
func (r *Refusal) Flag() string { return r.flag }

// Error is the kind and the text.
func (r *Refusal) Error() string { return ErrExhausted.Error() + ": " + r.text }

// Unwrap gives the kind, ErrExhausted.
func (r *Refusal) Unwrap() error { return ErrExhausted }

// Damage is the error of a call that meets data which its store has lost or cannot
// read. Its text says what is damaged, what still works, and which command to run.
// Like that of a Refusal it is for clients to read, so it holds no address and no
// path.
type Damage struct{ text string }

// Damaged makes a Damage.
func Damaged(format string, args ...any) *Damage { return &Damage{fmt.Sprintf(format, args...)} }

// Error is the text.
func (d *Damage) Error() string { return d.text }

// Unwrap gives the kind, ErrUnavailable.
func (d *Damage) Unwrap() error { return ErrUnavailable }

// RetryAfter is how long err says to wait before another try; 0 if it does not
// say.
func RetryAfter(err error) time.Duration {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r.after
	}
	if l := (*Later)(nil); errors.As(err, &l) {
		return l.After
	}
	return 0
}
