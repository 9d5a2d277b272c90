// Package remote calls models over HTTP. A call is bounded in time and tried again
// after a failure that passes. Its errors are of the kinds of package memory and
// hold no secret.
package remote

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// The longest that one try takes by default. A model writes some 50 tokens a second,
// and an answer has up to a few thousand.
const (
	GenerateTimeout = 60 * time.Second
	EmbedTimeout    = 30 * time.Second
)

const (
	tries     = 3                      // in all
	firstWait = 500 * time.Millisecond // before the second try
	// maxWait is the longest wait between two tries. For a longer one Do returns,
	// since its caller has other work to do meanwhile.
	maxWait = 5 * time.Second
)

// Caller describes a model and its service, for calls and their errors.
type Caller struct {
	Name       string        // of the model, as the user writes it: "gemini:gemini-2.5-flash"
	Provider   string        // as the semantic conventions of OpenTelemetry name it: "gcp.gemini"
	Address    string        // scheme and host
	AddressVar string        // the environment variable that Address is from, if any
	Credential string        // by which the service knows the caller: "the key in GEMINI_API_KEY"
	Secrets    []string      // texts that no error may hold
	Timeout    time.Duration // of one try
	// Wait is the time between the first two tries, plus or minus a half, and
	// doubles for the third. Defaults to 500 ms.
	Wait time.Duration
	// Explain reads the body of an answer whose status is an error.
	Explain func(body []byte) Detail
}

// Detail has the words of a service about a failure, beyond the status.
type Detail struct {
	Message string
	Code    string        // a word for programs
	Param   string        // the parameter that the service refuses
	After   time.Duration // the time to wait before another try
	Lasting bool          // another try soon is no use
	BadKey  bool          // the service does not accept the key, whatever the status
	Refused bool          // the content of the prompt is refused
}

// Span begins the span of a call of the model, in a request or batch that is traced.
func (c *Caller) Span(ctx context.Context, operation string) (context.Context, *tracing.Span) {
	_, name, _ := strings.Cut(c.Name, ":")
	return tracing.Model{Provider: c.Provider, Name: name, Address: c.Address}.Call(ctx, operation)
}

// Do calls a service through an HTTP client made by Client. It tries up to three
// times, as long as failures pass. It returns an *Error, within a memory.Later if
// the service says when to try again, or the error of ctx as soon as ctx is over.
// call may end the tries with an *Error of its own.
func Do[T any](ctx context.Context, c *Caller, call func(context.Context) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	wait := &backoff.ExponentialBackOff{
		InitialInterval:     c.Wait,
		RandomizationFactor: 0.5,
		Multiplier:          2,
		MaxInterval:         maxWait,
	}
	if wait.InitialInterval == 0 {
		wait.InitialInterval = firstWait
	}
	defer fair.Pause(ctx)()
	var last *Error
	v, err := backoff.Retry(ctx, func() (T, error) {
		v, failure := try(ctx, c, call)
		last = failure
		switch {
		case failure == nil:
			return v, nil
		case !failure.passes || failure.After > maxWait:
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

// try makes one call. ctx carries a seen for the transport, so that an error tells what
// the service answered even if the library does not.
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
	return v, c.classify(seen, err, ctx.Err() != nil)
}
