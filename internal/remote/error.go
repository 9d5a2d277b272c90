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

// maxText is how much of a service's own words goes into an error, in bytes.
const maxText = 300

// Error is a call that has failed. It wraps a kind of package memory and nothing
// else: what the libraries below say may hold the request, with its key.
type Error struct {
	Status int // of HTTP; 0 if no answer came
	Detail
	text   string
	kind   error
	passes bool
}

func (e *Error) Error() string { return e.text + ": " + e.kind.Error() }

func (e *Error) Unwrap() error { return e.kind }

// Invalid is an error of c that trying again does not mend.
func (c *Caller) Invalid(format string, args ...any) *Error {
	return c.fail(memory.ErrInvalid, fmt.Sprintf(format, args...))
}

// Faulty is an answer that is none: the service is at fault.
func (c *Caller) Faulty(format string, args ...any) *Error {
	e := c.fail(memory.ErrUnavailable, fmt.Sprintf(format, args...))
	e.passes = true
	return e
}

func (c *Caller) fail(kind error, text string) *Error {
	return &Error{kind: kind, text: fmt.Sprintf("%s at %s: %s", c.Name, c.Address, c.Clean(text))}
}

// judge finds out what has happened. late is whether the try has used up its
// time.
func (c *Caller) judge(s *seen, err error, late bool) *Error {
	var network *url.Error
	switch answered := s.status != 0; {
	case answered && s.status/100 != 2:
		return c.status(s)
	case late:
		return c.Faulty("no answer within %v", c.Timeout)
	case answered:
		return c.Faulty("its answer cannot be read: %s", reading(err))
	case errors.As(err, &network): // whose URL is left out, as others may put a key into it
		return c.Faulty("%v", network.Err)
	}
	return c.Invalid("%v", err) // it was not even sent
}

// reading is why an answer could not be read, without the answer: libraries
// repeat it, and it may be long, and private.
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
		// Its message is left out: some services repeat parts of the key.
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
	case s.status == http.StatusRequestTimeout,
		s.status == http.StatusConflict,
		s.status == http.StatusTooEarly,
		s.status/100 == 5:
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

// Clean is text as an error may have it: on one line, not long, and without a
// secret, whole or as a URL would have it.
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
