package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/memory"
)

const (
	maxAnswer = 64 << 20 // bytes: 100 vectors of 3,072 numbers are some 6 MB of JSON
	maxError  = 64 << 10 // bytes of an answer with an error
	// maxAfter is the longest time that a service can put its callers off. A longer
	// one is taken for a mistake.
	maxAfter = 24 * time.Hour
)

// errTooLong is the error of a body beyond maxAnswer.
var errTooLong = fmt.Errorf("it is longer than %d bytes", maxAnswer)

// seen records what one try met, for classify.
type seen struct {
	status int
	after  time.Duration
	body   []byte // if the status is an error
}

// seenKey is the key of a try's *seen in its context, by which the transport below a
// vendor's library reports to the try above it.
type seenKey struct{}

// Client returns an HTTP client for Do, over base or, if that is nil, a transport
// like http.DefaultTransport. It follows no redirect, so that a key and a prompt
// reach no other host than the one named.
func Client(base http.RoundTripper) *http.Client {
	if base == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 16 // the default of 2 would close connections of concurrent sessions
		base = t
	}
	return &http.Client{Transport: watch{base}}
}

// watch records each answer in the seen of its request, and bounds its body.
type watch struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper. It reads the body of an error here, because
// libraries read only the forms they know.
func (w watch) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	s, ok := req.Context().Value(seenKey{}).(*seen)
	if !ok {
		s = new(seen)
	}
	s.status = resp.StatusCode
	if s.status/100 == 2 {
		resp.Body = &bounded{resp.Body, maxAnswer}
		return resp, nil
	}
	s.after = after(resp.Header, time.Now())
	s.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxError)) // its beginning, if it breaks off
	resp.Body.Close()
	if s.status/100 == 3 {
		return nil, errors.New("a redirect")
	}
	resp.Body = io.NopCloser(bytes.NewReader(s.body))
	return resp, nil
}

// bounded is a body that fails once it exceeds its limit.
type bounded struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// after reads the wait before another try: from Retry-After-Ms, which OpenAI sends,
// or Retry-After (RFC 9110, section 10.2.3), in seconds or as a date.
func after(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return Seconds(ms / 1000)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return Seconds(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return Seconds(at.Sub(now).Seconds())
	}
	return 0
}

// Seconds returns a wait of s seconds, from 0 to a day.
func Seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 {
		return 0
	}
	return time.Duration(min(s, maxAfter.Seconds()) * float64(time.Second))
}

// Address returns the scheme and host of an API's URL, which the environment
// variable name has.
func Address(name, raw string) (string, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil: // not in the error, since it repeats the URL
		return "", fmt.Errorf("%s cannot be read as a URL: %w", name, memory.ErrInvalid)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf(
			"%s is not the URL of an API: want https://HOST or http://HOST:PORT: %w",
			name,
			memory.ErrInvalid,
		)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf(
			"%s has more than a host and a path: a key has a variable of its own: %w",
			name,
			memory.ErrInvalid,
		)
	}
	return u.Scheme + "://" + u.Host, nil
}
