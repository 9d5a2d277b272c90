// Package client is the Go client of memoryd's HTTP API: the sessions and the
// memories of one user of one app at a time.
//
//	c, err := client.New("http://127.0.0.1:8080", nil)
//	ann := c.User("shop", "ann")
//	op, err := ann.Ingest(ctx, "s1", []client.Event{client.Text("user", "I moved to Porto.")}, true)
//	matches, err := ann.Search(ctx, client.Search{Query: "Where does Ann live?"})
//
// A call that fails in a way that passes, because memoryd is starting, or one
// of its stores is away, is tried again where that is safe: reading is, and
// appending and ingesting are, as every event has an id by which memoryd knows
// it again. A call that may have been done and would do it twice is tried again
// only if it cannot have arrived.
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

	"github.com/memoryd/memoryd/memory"
)

// Options are what New lets one choose.
type Options struct {
	// Transport sends the requests. Defaults to http.DefaultTransport with more
	// idle connections, so that concurrent calls do not open one each.
	Transport http.RoundTripper
	// Timeout is how long one try of a call may take, but for streams. Defaults to
	// 60 s, after which memoryd itself gives up.
	Timeout time.Duration
	// Retries is how often a call is tried again, after waits of 0.1 s, 0.2 s and
	// so on up to 2 s, each give or take a half, or what the server asks for if
	// that is up to 5 s. Negative is never. Defaults to 5.
	Retries int
}

// Client calls one memoryd. It may be used by many goroutines at once.
type Client struct {
	base    string // without a slash at its end
	http    *http.Client
	timeout time.Duration
	retries uint
}

// Bounds on waiting between tries.
const (
	defaultTimeout = 60 * time.Second
	defaultRetries = 5
	firstWait      = 100 * time.Millisecond
	longestWait    = 2 * time.Second
	longestAsked   = 5 * time.Second
)

// New makes a client of the memoryd at a base URL, such as
// http://127.0.0.1:8080. It calls nothing.
func New(base string, opts *Options) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: memoryd's URL %q: want one such as http://127.0.0.1:8080", memory.ErrInvalid, base)
	}
	if opts == nil {
		opts = &Options{}
	}
	c := newClient(strings.TrimRight(base, "/"), opts.Transport)
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

// InProcess makes a client of a memoryd in this process: what its handler
// serves, without a network in between.
func InProcess(h http.Handler) *Client {
	return newClient("http://localhost", inProcess{h})
}

func newClient(base string, transport http.RoundTripper) *Client {
	return &Client{base: base, timeout: defaultTimeout, retries: defaultRetries, http: &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}} // memoryd sends nobody elsewhere
}

// defaultTransport is http.DefaultTransport with more idle connections, unless a
// program has put another one there.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	return t
}

// User gives the calls on what belongs to one user of one app.
func (c *Client) User(app, user string) *User {
	return &User{c: c, path: "/v1/apps/" + url.PathEscape(app) + "/users/" + url.PathEscape(user),
		err: memory.Scope{App: app, User: user}.Validate()}
}

// User is a client for one scope. It may be used by many goroutines at once.
type User struct {
	c    *Client
	path string
	err  error // what is wrong with the ids
}

// Error is an answer of memoryd that is an error. errors.Is tells its kind by
// the errors of package memory.
type Error struct {
	Code    int    // of HTTP
	Status  string // such as NOT_FOUND
	Message string
}

func (e *Error) Error() string { return e.Message }

// kinds is which error of package memory a status is.
var kinds = map[string]error{
	"INVALID_ARGUMENT": memory.ErrInvalid, "NOT_FOUND": memory.ErrNotFound, "ALREADY_EXISTS": memory.ErrExists,
	"ABORTED": memory.ErrAborted, "UNAVAILABLE": memory.ErrUnavailable, "RESOURCE_EXHAUSTED": memory.ErrExhausted,
	"PAYLOAD_TOO_LARGE": memory.ErrInvalid,
}

// Unwrap is the kind of e; nil for one that package memory does not know.
func (e *Error) Unwrap() error { return kinds[e.Status] }

// call is one request and what is expected of it.
type call struct {
	method, path string
	query        url.Values
	body         any // nil for none
	answer       any // nil to ignore it
	// again reports that doing it twice is as doing it once.
	again bool
}

func (u *User) do(ctx context.Context, c call) error {
	if u.err != nil {
		return u.err
	}
	c.path = u.path + c.path
	return u.c.do(ctx, c)
}

// do makes a call, and makes it again as Options.Retries says.
func (c *Client) do(ctx context.Context, call call) error {
	var body []byte
	if call.body != nil {
		var err error
		if body, err = encode(call.body); err != nil {
			return fmt.Errorf("%w: %s %s: %v", memory.ErrInvalid, call.method, call.path, err)
		}
	}
	wait := &backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: longestWait}
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		last = c.try(ctx, &call, body)
		return struct{}{}, pause(last, call.again)
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(c.retries+1), backoff.WithMaxElapsedTime(0))
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil:
		return last // not what backoff makes of it
	case last == nil || errors.Is(last, ctx.Err()):
		return ctx.Err()
	}
	return fmt.Errorf("%w, and before that %w", ctx.Err(), last) // what it was tried again for
}

// try makes a call once.
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

// errSlow: an answer took longer than Options.Timeout.
var errSlow = errors.New("it did not answer in time")

// pause turns an error into what backoff knows: one that ends it, or one that
// says when to try again.
func pause(err error, again bool) error {
	var net *unreachable
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &net) && (again || net.refused):
		return err
	case errors.As(err, &e) && (again && e.Code == http.StatusServiceUnavailable || e.Code == http.StatusTooManyRequests):
		if after := memory.RetryAfter(err); after > longestAsked {
			return backoff.Permanent(err)
		} else if after > 0 {
			return &backoff.RetryAfterError{Duration: after}
		}
		return err
	}
	return backoff.Permanent(err)
}

// unreachable is a failure without an answer.
type unreachable struct {
	base    string
	err     error
	refused bool // nothing has arrived
}

func (u *unreachable) Error() string {
	return fmt.Sprintf("memoryd at %s cannot be reached: %v", u.base, u.err)
}

func (u *unreachable) Unwrap() []error { return []error{memory.ErrUnavailable, u.err} }

// send sends a request once. The answer is one that is no error.
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
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		var op *net.OpError
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // the method and the URL are told already
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

// maxError is how much of an error's body is read.
const maxError = 64 << 10

// failure reads an answer that is an error.
func failure(res *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxError))
	if err != nil {
		return err
	}
	var body struct {
		Error *Error `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil || body.Error == nil { // a proxy's, or another program's
		body.Error = &Error{Code: res.StatusCode, Message: fmt.Sprintf("%s: %.200s", res.Status, bytes.TrimSpace(raw))}
		if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusGatewayTimeout {
			body.Error.Code, body.Error.Status = http.StatusServiceUnavailable, "UNAVAILABLE"
		}
	}
	if after, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && after > 0 {
		return &memory.Later{After: time.Duration(after) * time.Second, Err: body.Error}
	}
	return body.Error
}

// read decodes an answer, and closes it.
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

// encode is json.Marshal, but that text stays as it is written.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
