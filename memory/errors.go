package memory

import (
	"errors"
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

// RetryAfter is how long err says to wait before another try; 0 if it does not
// say.
func RetryAfter(err error) time.Duration {
	if l := (*Later)(nil); errors.As(err, &l) {
		return l.After
	}
	return 0
}
