package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// maxText is how many bytes of a service's own words an error has.
const maxText = 300

// Error is a failed call. It wraps a kind of package memory and nothing else, since
// the errors of libraries may hold the request and its key.
type Error struct {
	Status int // of HTTP; 0 if no answer came
	Detail
	text   string
	kind   error
	passes bool // another try may succeed
}

// Error implements error.
func (e *Error) Error() string { return e.text + ": " + e.kind.Error() }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.kind }

// Invalid returns an error that another try does not mend.
func (c *Caller) Invalid(format string, args ...any) *Error {
	return c.fail(memory.ErrInvalid, fmt.Sprintf(format, args...))
}

// Faulty returns the error of a service that gave no usable answer. Another try may
// succeed.
func (c *Caller) Faulty(format string, args ...any) *Error {
	e := c.fail(memory.ErrUnavailable, fmt.Sprintf(format, args...))
	e.passes = true
	return e
}

func (c *Caller) fail(kind error, text string) *Error {
	return &Error{kind: kind, text: fmt.Sprintf("%s at %s: %s", c.Name, c.Address, c.Clean(text))}
}

// classify makes an *Error of a failed try. late reports whether the try used up its
// time.
func (c *Caller) classify(s *seen, err error, late bool) *Error {
	var network *url.Error
	switch answered := s.status != 0; {
	case answered && s.status/100 != 2:
		return c.status(s)
	case late:
		return c.Faulty("no answer within %v", c.Timeout)
	case answered:
		return c.Faulty("its answer cannot be read: %s", reading(err))
	case errors.As(err, &network): // without its URL, which may hold a key
		return c.Faulty("%v", network.Err)
	}
	return c.Invalid("%v", err) // the request was not sent
}

// reading says why an answer could not be read, without repeating the answer, which
// may be long and private.
func reading(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Error()
	case errors.As(err, &kind):
		return fmt.Sprintf("%s where a %v is expected", kind.Value, kind.Type)
	case errors.Is(err, errTooLong):
		return errTooLong.Error()
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// status makes an *Error of an answer whose status is not one of success. The texts
// name the environment variable to look at, since most such errors are mistakes of
// configuration.
func (c *Caller) status(s *seen) *Error {
	var d Detail
	if c.Explain != nil {
		d = c.Explain(s.body)
	}
	d.Message, d.Code = c.Clean(d.Message), c.Clean(d.Code)
	d.After = max(d.After, s.after)
	kind, text, passes := memory.ErrInvalid, http.StatusText(s.status), false
	switch {
	case s.status == http.StatusUnauthorized || d.BadKey:
		// Without its message, in which some services repeat parts of the key.
		text, d.Message = c.Credential+" is refused", ""
		if d.Code != "" {
			text += " (" + d.Code + ")"
		}
	case s.status == http.StatusForbidden:
		text = "access with " + c.Credential + " is refused"
	case s.status == http.StatusNotFound:
		text = "there is no such model"
		if c.AddressVar != "" {
			text += ", or " + c.AddressVar + " is not the address of its API"
		}
	case s.status/100 == 3:
		text = "it redirects, which is not followed, as the key would go there too"
		if c.AddressVar != "" {
			text += ": set " + c.AddressVar + " to the address itself"
		}
	case s.status == http.StatusTooManyRequests:
		kind, passes = memory.ErrExhausted, !d.Lasting
	case s.status == http.StatusPaymentRequired:
		kind = memory.ErrExhausted
	case s.status == http.StatusRequestTimeout, s.status == http.StatusConflict,
		s.status == http.StatusTooEarly, s.status/100 == 5:
		kind, passes = memory.ErrUnavailable, true
	}
	if text == "" {
		text = "its status is not one of HTTP"
	}
	text = fmt.Sprintf("%d: %s", s.status, text)
	if d.Message != "" {
		text += ": " + d.Message
	}
	e := c.fail(kind, text)
	e.Status, e.Detail, e.passes = s.status, d, passes
	return e
}

// Clean makes text fit for an error: on one line, short, and without any secret,
// plain or escaped for a URL.
func (c *Caller) Clean(text string) string {
	for _, secret := range c.Secrets {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[key]")
			}
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > maxText {
		text = memory.Cut(text, maxText) + "…"
	}
	return text
}
