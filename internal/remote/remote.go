// Package remote is how a model that is elsewhere is called over HTTP: bounded
// in time, again where a failure is one that passes, and with errors that are of
// the kinds of package memory and hold no secret.
package remote

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/memoryd/memoryd/memory"
)

// How long one try may take unless options say otherwise. A model writes some
// 50 tokens a second; an answer has up to a few thousand.
const (
	GenerateTimeout = 60 * time.Second
	EmbedTimeout    = 30 * time.Second
)

const (
	tries     = 3                      // in all
	firstWait = 500 * time.Millisecond // before the second try
	// short is the longest wait that is waited out here. Whoever calls has work
	// of others to do meanwhile, and knows what to do later.
	short = 5 * time.Second
)

// Caller says what is called, so that errors can.
type Caller struct {
	Name       string        // of the model, as the user gives it: "gemini:gemini-2.5-flash"
	Address    string        // scheme and host
	AddressVar string        // the environment variable that Address is from, if there is one
	Credential string        // what the service knows the caller by: "the key in GEMINI_API_KEY"
	Secrets    []string      // what no error may hold
	Timeout    time.Duration // of one try
	// Wait is what lies between the first two tries, give or take a half; it
	// doubles for the third. Defaults to 500 ms.
	Wait time.Duration
	// Explain reads the body of an answer whose status is an error.
	Explain func(body []byte) Detail
}

// Detail is what a service says about a failure beyond its status.
type Detail struct {
	Message string
	Code    string        // a word for programs
	Param   string        // the parameter it does not take
	After   time.Duration // when to try again
	Lasting bool          // trying again soon is no use
	BadKey  bool          // it does not know the key, whatever the status
	Refused bool          // it is about what the prompt says
}

// Do calls a service, with a client from Client, until it answers, the failure
// is not one that passes, or it was tried three times. It returns an *Error, in
// a memory.Later if the service has said when to try again; or, as soon as ctx
// is over, the error of ctx. A call may end its tries with an *Error of its own.
func Do[T any](ctx context.Context, c *Caller, call func(context.Context) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	wait := &backoff.ExponentialBackOff{
		InitialInterval:     c.Wait,
		RandomizationFactor: 0.5,
		Multiplier:          2,
		MaxInterval:         short,
	}
	if wait.InitialInterval == 0 {
		wait.InitialInterval = firstWait
	}
	var last *Error
	v, err := backoff.Retry(ctx, func() (T, error) {
		v, failure := try(ctx, c, call)
		last = failure
		switch {
		case failure == nil:
			return v, nil
		case !failure.passes || failure.After > short:
			return none, backoff.Permanent(failure)
		case failure.After > 0:
			return none, &backoff.RetryAfterError{Duration: failure.After}
		}
		return none, failure
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
	switch {
	case err == nil:
		return v, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case last.After > 0:
		return none, &memory.Later{After: last.After, Err: last}
	}
	return none, last
}

func try[T any](ctx context.Context, c *Caller, call func(context.Context) (T, error)) (T, *Error) {
	seen := new(seen)
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, seenKey{}, seen), c.Timeout)
	defer cancel()
	v, err := call(ctx)
	if err == nil {
		return v, nil
	}
	if own := (*Error)(nil); errors.As(err, &own) {
		return v, own
	}
	return v, c.judge(seen, err, ctx.Err() != nil)
}
