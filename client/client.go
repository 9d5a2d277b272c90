// Package client is the Go client of memoryd's HTTP API. A [User] calls the
// sessions and memories of one scope: one user of one app.
//
//	c, err := client.New("http://127.0.0.1:8080", nil)
//	ann := c.User("shop", "ann")
//	op, err := ann.Ingest(ctx, "s1", []client.Event{client.Text("user", "I moved to Porto.")}, true)
//	matches, err := ann.Search(ctx, client.Search{Query: "Where does Ann live?"})
//
// The client retries a call that fails for a passing reason: memoryd is starting,
// or one of its stores is away. Reads are safe to retry. Appends and ingests are
// too, because every event has an id by which memoryd recognises it. A call that
// would take effect twice is retried only if it cannot have arrived.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Options configure New. The zero value is the default.
type Options struct {
	// Key is shown with every request: a key of memoryd, or a token of its issuer. A
	// memoryd without keys does not look at it.
	Key string
	// Transport sends the requests. Defaults to http.DefaultTransport with more
	// idle connections, so that concurrent calls do not open one each.
	Transport http.RoundTripper
	// Timeout bounds one try of a call. Streams have no bound. Defaults to 60 s,
	// after which memoryd itself gives up.
	Timeout time.Duration
	// Retries is how often a call is retried. The waits are 0.1 s, 0.2 s and so on
	// up to 2 s, each varied by up to a half. A Retry-After of up to 5 s replaces
	// the wait. Negative means never. Defaults to 5.
	Retries int
}

// Client calls one memoryd. It may be used by many goroutines at once.
type Client struct {
	base    string // without a trailing slash
	key     string
	http    *http.Client
	timeout time.Duration
	retries uint
}

// The defaults of Options, and bounds on the wait between two tries.
const (
	defaultTimeout = 60 * time.Second
	defaultRetries = 5
	firstWait      = 100 * time.Millisecond
	longestWait    = 2 * time.Second
	maxRetryAfter  = 5 * time.Second
)

// New makes a client of the memoryd at a base URL, such as
// http://127.0.0.1:8080. New itself makes no call. The error is
// memory.ErrInvalid for a URL of another form.
func New(base string, opts *Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: memoryd's URL %q: want one such as http://127.0.0.1:8080", memory.ErrInvalid, base)
	}
	if opts == nil {
		opts = &Options{}
	}
	c := newClient(strings.TrimRight(base, "/"), opts.Transport)
	if c.key = opts.Key; strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the key has characters that no key has", memory.ErrInvalid)
	}
	if opts.Transport == nil {
		c.http.Transport = defaultTransport()
	}
	if opts.Timeout > 0 {
		c.timeout = opts.Timeout
	}
	switch {
	case opts.Retries < 0:
		c.retries = 0
	case opts.Retries > 0:
		c.retries = uint(opts.Retries)
	}
	return c, nil
}

// InProcess makes a client of a memoryd in this process. It calls the handler
// directly, without a network.
func InProcess(h http.Handler) *Client {
	return newClient("http://localhost", inProcess{h})
}

func newClient(base string, transport http.RoundTripper) *Client {
	return &Client{
		base:    base,
		timeout: defaultTimeout,
		retries: defaultRetries,
		http: &http.Client{Transport: transport,
			// memoryd never redirects.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// defaultTransport returns a copy of http.DefaultTransport with more idle
// connections, or http.DefaultTransport itself if a program has replaced it with
// a transport of another type.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	return t
}

// User returns a client for one scope. Invalid ids are reported by its calls.
func (c *Client) User(app, user string) *User {
	return &User{c: c, id: user, path: "/v1/apps/" + url.PathEscape(app) + "/users/" + url.PathEscape(user),
		err: memory.Scope{App: app, User: user}.Validate()}
}

// In returns a client of the same scope whose requests name a time zone, such as
// "Europe/Lisbon": that of the events and facts which it sends without an offset, and
// of "yesterday" in its questions. memoryd refuses a name that it does not know. ""
// leaves the choice to memoryd.
func (u *User) In(timeZone string) *User {
	in := *u
	in.zone = timeZone
	return &in
}

// RequestOptions say how Ingest and AddSession make memories; see User.With.
type RequestOptions struct {
	// DisableConsolidation adds facts beside known ones.
	DisableConsolidation bool
	AllowedTopics        []string      // facts of no such topic are dropped; empty is all
	TTL                  time.Duration // of the facts; 0 is that of the app's configuration
	RevisionTTL          time.Duration // of all revisions; 0 is that of the app's configuration
	// Metadata is that of the facts. MetadataMerge says what becomes of that of facts which
	// are updated or said again; "" is sessionstore.MergeOverwrite.
	Metadata      memory.Metadata
	MetadataMerge sessionstore.MetadataMerge
	Labels        memory.Labels // of the revisions
}

// With returns a client of the same scope whose Ingest and AddSession make memories as
// the options say.
func (u *User) With(o RequestOptions) *User {
	with := *u
	with.making = making{DisableConsolidation: o.DisableConsolidation, AllowedTopics: o.AllowedTopics,
		Metadata: o.Metadata, MetadataMerge: o.MetadataMerge, Labels: o.Labels}
	if o.TTL != 0 {
		with.making.TTL = o.TTL.String()
	}
	if o.RevisionTTL != 0 {
		with.making.RevisionTTL = o.RevisionTTL.String()
	}
	return &with
}

// making is RequestOptions as requests have them.
type making struct {
	DisableConsolidation bool                       `json:"disableConsolidation,omitempty"`
	AllowedTopics        []string                   `json:"allowedTopics,omitempty"`
	TTL                  string                     `json:"ttl,omitempty"`
	RevisionTTL          string                     `json:"revisionTtl,omitempty"`
	Metadata             memory.Metadata            `json:"metadata,omitempty"`
	MetadataMerge        sessionstore.MetadataMerge `json:"metadataMergeStrategy,omitempty"`
	Labels               memory.Labels              `json:"labels,omitempty"`
}

// zoned is the time zone that a request names.
type zoned struct {
	TimeZone string `json:"timeZone,omitempty"`
}

// User is a client for one scope. It may be used by many goroutines at once.
type User struct {
	c      *Client
	id     string
	path   string
	zone   string
	making making // see With
	err    error  // of invalid ids
}

// Error is an error that memoryd answered. errors.Is matches it with the kinds of
// packages memory and access.
type Error struct {
	Code    int    // the HTTP status
	Status  string // such as NOT_FOUND
	Message string
}

// Error returns the message, which names the call and its arguments.
func (e *Error) Error() string { return e.Message }

// kinds maps the statuses of memoryd to the kinds of packages memory and access.
var kinds = map[string]error{
	"INVALID_ARGUMENT": memory.ErrInvalid, "NOT_FOUND": memory.ErrNotFound, "ALREADY_EXISTS": memory.ErrExists,
	"ABORTED": memory.ErrAborted, "UNAVAILABLE": memory.ErrUnavailable, "RESOURCE_EXHAUSTED": memory.ErrExhausted,
	"PAYLOAD_TOO_LARGE": memory.ErrInvalid,
	"UNAUTHENTICATED":   access.ErrUnauthenticated, "PERMISSION_DENIED": access.ErrDenied,
	"REQUEST_TIMEOUT": memory.ErrUnavailable,
}

// Unwrap returns the kind of e, or nil for a status without a kind.
func (e *Error) Unwrap() error { return kinds[e.Status] }

// call is one request and the place for its answer.
type call struct {
	method, path string
	query        url.Values
	body         any // nil for none
	answer       any // nil to ignore it
	// idempotent is set if a repetition has no further effect, so that a retry is
	// safe.
	idempotent bool
	// gone is set for a deletion: a later try that finds nothing follows one that may have
	// deleted it, and the call has succeeded.
	gone bool
}

func (u *User) do(ctx context.Context, c call) error {
	if u.err != nil {
		return u.err
	}
	c.path = u.path + c.path
	return u.c.do(ctx, c)
}

// do makes a call, with retries as Options.Retries allows.
func (c *Client) do(ctx context.Context, call call) error {
	var body []byte
	if call.body != nil {
		var err error
		if body, err = encode(call.body); err != nil {
			return fmt.Errorf("%w: %s %s: %v", memory.ErrInvalid, call.method, call.path, err)
		}
	}
	wait := &backoff.ExponentialBackOff{
		InitialInterval:     firstWait,
		RandomizationFactor: 0.5,
		Multiplier:          2,
		MaxInterval:         longestWait,
	}
	var last error
	lost := false // whether an earlier try may have been carried out
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		last = c.try(ctx, &call, body)
		if call.gone && lost && errors.Is(last, memory.ErrNotFound) {
			last = nil
		}
		lost = lost || mayHaveArrived(last)
		return struct{}{}, pause(last, call.idempotent)
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(c.retries+1), backoff.WithMaxElapsedTime(0))
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil:
		return last // backoff wraps it
	case last == nil || errors.Is(last, ctx.Err()):
		return ctx.Err()
	}
	return fmt.Errorf("%w, and before that %w", ctx.Err(), last) // the reason for the retries
}

// try makes a call once, within Options.Timeout.
func (c *Client) try(ctx context.Context, call *call, body []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, errSlow)
	defer cancel()
	res, err := c.send(ctx, call, body, "application/json")
	if err == nil {
		err = c.read(res, call.answer)
	}
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		return &unreachable{c.base, fmt.Errorf("%w: %v", errSlow, c.timeout), false}
	}
	return err
}

// errSlow is the cause of a context that ended after Options.Timeout.
var errSlow = errors.New("it did not answer in time")

// mayHaveArrived reports whether memoryd may have carried out a request that failed.
func mayHaveArrived(err error) bool {
	var net *unreachable
	var e *Error
	return errors.As(err, &net) && !net.refused || errors.As(err, &e) && e.Code == http.StatusServiceUnavailable
}

// pause translates an error for package backoff: into a permanent error, which
// ends the retries, or into one that says when to retry.
func pause(err error, idempotent bool) error {
	var net *unreachable
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &net) && (idempotent || net.refused):
		return err
	case errors.As(err, &e) && (e.Code == http.StatusTooManyRequests ||
		idempotent && e.Code == http.StatusServiceUnavailable):
		if after := memory.RetryAfter(err); after > maxRetryAfter {
			return backoff.Permanent(err)
		} else if after > 0 {
			return &backoff.RetryAfterError{Duration: after}
		}
		return err
	}
	return backoff.Permanent(err)
}

// unreachable is the error of a call that got no answer.
type unreachable struct {
	base    string
	err     error
	refused bool // the connection was refused, so nothing arrived
}

func (u *unreachable) Error() string {
	return fmt.Sprintf("memoryd at %s cannot be reached: %v", u.base, u.err)
}

func (u *unreachable) Unwrap() []error { return []error{memory.ErrUnavailable, u.err} }

// send sends a request once. It returns an answer with a status below 300; any
// other answer becomes an error.
func (c *Client) send(ctx context.Context, call *call, body []byte, accept string) (*http.Response, error) {
	to := c.base + call.path
	if len(call.query) > 0 {
		to += "?" + call.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, call.method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		var op *net.OpError
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // without the method and URL, which unreachable tells
		}
		if errors.As(err, new(*panicked)) {
			return nil, err
		}
		return nil, &unreachable{c.base, err, errors.As(err, &op) && op.Op == "dial"}
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, failure(res)
}

// maxError bounds the part of an error's body that is read, in bytes.
const maxError = 64 << 10

// failure reads an error answer. An answer that is not memoryd's, such as a
// proxy's, becomes an Error with its status line.
func failure(res *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxError))
	if err != nil {
		return err
	}
	var body struct {
		Error *Error `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil || body.Error == nil {
		body.Error = &Error{Code: res.StatusCode, Message: fmt.Sprintf("%s: %.200s", res.Status, bytes.TrimSpace(raw))}
		if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusBadGateway ||
			res.StatusCode == http.StatusGatewayTimeout {
			body.Error.Code, body.Error.Status = http.StatusServiceUnavailable, "UNAVAILABLE"
		}
	}
	if after, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && after > 0 {
		return &memory.Later{After: time.Duration(after) * time.Second, Err: body.Error}
	}
	return body.Error
}

// read decodes an answer and closes its body.
func (c *Client) read(res *http.Response, into any) error {
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	switch {
	case errors.As(err, new(*panicked)):
		return err
	case err != nil:
		return &unreachable{base: c.base, err: err}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("memoryd's answer cannot be read: %w", err)
	}
	return nil
}

// encode is json.Marshal without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
