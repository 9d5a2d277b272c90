package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/remote"
	"github.com/memoryd/memoryd/memory"
)

const secret = "a/secret+key="

// service answers tries one after the other; the last answer stays.
type service struct {
	answers []func(*http.Request) (*http.Response, error)
	at      []time.Duration // of each try, after the first
	start   time.Time
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.start.IsZero() {
		s.start = time.Now()
	}
	s.at = append(s.at, time.Since(s.start))
	return s.answers[min(len(s.at), len(s.answers))-1](r)
}

func answer(status int, body string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{
			StatusCode: status,
			Header:     h,
			Body:       io.NopCloser(strings.NewReader(body)),
			Request:    r,
		}, nil
	}
}

func failure(err error) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

func slow(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func caller() *remote.Caller {
	return &remote.Caller{
		Name:       "vendor:model",
		Address:    "https://vendor.example",
		Credential: "the key in VENDOR_KEY",
		Secrets:    []string{secret},
		Timeout:    time.Minute,
		Explain:    func(body []byte) remote.Detail { return remote.Detail{Message: string(body)} },
	}
}

// ask makes a call as a vendor's library does.
func ask(ctx context.Context, c *remote.Caller, s *service) (string, error) {
	client := remote.Client(s)
	return remote.Do(ctx, c, func(ctx context.Context) (string, error) {
		req, err := http.NewRequestWithContext(
			ctx,
			"POST",
			"https://vendor.example/v1?key="+url.QueryEscape(secret),
			nil,
		)
		if err != nil {
			return "", err
		}
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != 200 {
			err = fmt.Errorf("status %d of %+v", resp.StatusCode, req)
		}
		return string(body), err
	})
}

type outcome struct {
	Text  string
	Tries int
	Error string
	Kind  error
	After time.Duration
}

var sameError = cmp.Comparer(func(a, b error) bool { return a == b })

// Each failure of a service becomes an error of one kind.
func TestDo(t *testing.T) {
	t.Parallel()
	const busy, ok = "busy", "ok"
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, c := range map[string]struct {
		answers []func(*http.Request) (*http.Response, error)
		want    outcome
	}{
		"answers":          {[]func(*http.Request) (*http.Response, error){answer(200, ok)}, outcome{Text: ok, Tries: 1}},
		"is back soon":     {[]func(*http.Request) (*http.Response, error){answer(503, busy), answer(500, busy), answer(200, ok)}, outcome{Text: ok, Tries: 3}},
		"refuses then not": {[]func(*http.Request) (*http.Response, error){failure(refused), answer(200, ok)}, outcome{Text: ok, Tries: 2}},
		"reset then not":   {[]func(*http.Request) (*http.Response, error){failure(syscall.ECONNRESET), answer(200, ok)}, outcome{Text: ok, Tries: 2}},
		"slow then not":    {[]func(*http.Request) (*http.Response, error){slow, answer(200, ok)}, outcome{Text: ok, Tries: 2}},
		"is away": {[]func(*http.Request) (*http.Response, error){failure(refused)},
			outcome{Tries: 3, Error: "dial tcp: connection refused", Kind: memory.ErrUnavailable}},
		"is slow": {[]func(*http.Request) (*http.Response, error){slow}, outcome{Tries: 3, Error: "no answer within 1m0s", Kind: memory.ErrUnavailable}},
		"is broken": {[]func(*http.Request) (*http.Response, error){answer(502, "bad\n gateway")},
			outcome{Tries: 3, Error: "502: Bad Gateway: bad gateway", Kind: memory.ErrUnavailable}},
		"timed out": {[]func(*http.Request) (*http.Response, error){answer(408, "")}, outcome{Tries: 3, Error: "408: Request Timeout", Kind: memory.ErrUnavailable}},
		"limits": {[]func(*http.Request) (*http.Response, error){answer(429, busy)},
			outcome{Tries: 3, Error: "429: Too Many Requests: busy", Kind: memory.ErrExhausted}},
		"limits and says when": {[]func(*http.Request) (*http.Response, error){answer(429, busy, "Retry-After", "2")},
			outcome{Tries: 3, Error: "429: Too Many Requests: busy", Kind: memory.ErrExhausted, After: 2 * time.Second}},
		"limits for long": {[]func(*http.Request) (*http.Response, error){answer(429, busy, "Retry-After", "30")},
			outcome{Tries: 1, Error: "429: Too Many Requests: busy", Kind: memory.ErrExhausted, After: 30 * time.Second}},
		"is away for long": {[]func(*http.Request) (*http.Response, error){answer(503, busy, "Retry-After", "3600")},
			outcome{Tries: 1, Error: "503: Service Unavailable: busy", Kind: memory.ErrUnavailable, After: time.Hour}},
		"is away for ages": {[]func(*http.Request) (*http.Response, error){answer(503, busy, "Retry-After", "1e300")},
			outcome{Tries: 1, Error: "503: Service Unavailable: busy", Kind: memory.ErrUnavailable, After: 24 * time.Hour}},
		"wants money":     {[]func(*http.Request) (*http.Response, error){answer(402, "")}, outcome{Tries: 1, Error: "402: Payment Required", Kind: memory.ErrExhausted}},
		"does not accept": {[]func(*http.Request) (*http.Response, error){answer(400, "no "+secret)}, outcome{Tries: 1, Error: "400: Bad Request: no [key]", Kind: memory.ErrInvalid}},
		"cannot process":  {[]func(*http.Request) (*http.Response, error){answer(422, "")}, outcome{Tries: 1, Error: "422: Unprocessable Entity", Kind: memory.ErrInvalid}},
		"knows no key": {[]func(*http.Request) (*http.Response, error){answer(401, "wrong: "+secret[:8])},
			outcome{Tries: 1, Error: "401: the key in VENDOR_KEY is refused", Kind: memory.ErrInvalid}},
		"forbids": {[]func(*http.Request) (*http.Response, error){answer(403, "not you")},
			outcome{Tries: 1, Error: "403: access with the key in VENDOR_KEY is refused: not you", Kind: memory.ErrInvalid}},
		"has no such model": {[]func(*http.Request) (*http.Response, error){answer(404, "no model")},
			outcome{Tries: 1, Error: "404: there is no such model: no model", Kind: memory.ErrInvalid}},
		"redirects": {[]func(*http.Request) (*http.Response, error){answer(307, "", "Location", "https://other.example")},
			outcome{Tries: 1, Error: "307: it redirects, which is not followed, as the key would go there too", Kind: memory.ErrInvalid}},
		"has a status of its own": {[]func(*http.Request) (*http.Response, error){answer(499, strings.Repeat("é", 200))},
			outcome{Tries: 1, Error: "499: its status is not one of HTTP: " + strings.Repeat("é", 132) + "…", Kind: memory.ErrInvalid}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: c.answers}
				text, err := ask(t.Context(), caller(), s)
				got := outcome{Text: text, Tries: len(s.at), After: memory.RetryAfter(err)}
				for _, kind := range []error{memory.ErrInvalid, memory.ErrUnavailable, memory.ErrExhausted, context.DeadlineExceeded, context.Canceled} {
					if errors.Is(err, kind) {
						if got.Kind != nil {
							t.Errorf("error %v is of two kinds", err)
						}
						got.Kind = kind
					}
				}
				if err != nil {
					got.Error = strings.TrimSuffix(
						strings.TrimPrefix(err.Error(), "vendor:model at https://vendor.example: "),
						": "+got.Kind.Error(),
					)
					if all := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(all, secret) ||
						strings.Contains(all, url.QueryEscape(secret)) {
						t.Errorf("the secret is in %s", all)
					}
				}
				if diff := cmp.Diff(c.want, got, sameError); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The waits double, plus or minus a half. A wait that the service asks for is kept
// exactly, in all the ways it may be written.
func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []func(*http.Request) (*http.Response, error){answer(503, "")}}
		if _, err := ask(t.Context(), caller(), s); err == nil {
			t.Fatal("no error")
		}
		first, second := s.at[1], s.at[2]-s.at[1]
		if first < 250*time.Millisecond || first > 750*time.Millisecond+1 || second < 500*time.Millisecond ||
			second > 1500*time.Millisecond+1 {
			t.Errorf("waited %v, then %v", first, second)
		}
	})
	for name, c := range map[string]struct {
		header []string
		want   time.Duration
	}{
		"seconds":          {[]string{"Retry-After", "3"}, 3 * time.Second},
		"parts of seconds": {[]string{"Retry-After", "1.5"}, 1500 * time.Millisecond},
		"milliseconds":     {[]string{"Retry-After-Ms", "20", "Retry-After", "1"}, 20 * time.Millisecond},
		"date":             {[]string{"Retry-After", "Sat, 01 Jan 2000 00:00:04 GMT"}, 4 * time.Second}, // time begins at 2000 in a bubble
		"five seconds":     {[]string{"Retry-After", "5"}, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{
					answers: []func(*http.Request) (*http.Response, error){
						answer(429, "", c.header...),
						answer(200, ""),
					},
				}
				if _, err := ask(t.Context(), caller(), s); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]time.Duration{0, c.want}, s.at); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
	for _, odd := range []string{"soon", "-1", "NaN", "Fri, 31 Dec 1999 00:00:00 GMT"} {
		t.Run(odd, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{
					answers: []func(*http.Request) (*http.Response, error){answer(429, "", "Retry-After", odd)},
				}
				if _, err := ask(t.Context(), caller(), s); memory.RetryAfter(err) != 0 || len(s.at) != 3 {
					t.Errorf("error %v after %d tries, to be retried after %v", err, len(s.at), memory.RetryAfter(err))
				}
			})
		})
	}
}

// A wait in a body counts like one in a header, and a body may say that another try
// is no use.
func TestExplained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		detail remote.Detail
		tries  int
		after  time.Duration
		text   string
	}{
		"short":   {remote.Detail{After: time.Second}, 3, time.Second, "429: Too Many Requests"},
		"long":    {remote.Detail{After: time.Minute, Message: "later"}, 1, time.Minute, "429: Too Many Requests: later"},
		"lasting": {remote.Detail{Lasting: true, Message: "pay"}, 1, 0, "429: Too Many Requests: pay"},
		"key":     {remote.Detail{BadKey: true, Message: "bad", Code: "BAD"}, 3, 0, "429: the key in VENDOR_KEY is refused (BAD)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []func(*http.Request) (*http.Response, error){answer(429, "")}}
				from := caller()
				from.Explain = func([]byte) remote.Detail { return c.detail }
				_, err := ask(t.Context(), from, s)
				if c.detail.BadKey {
					if !errors.Is(err, memory.ErrInvalid) || len(s.at) != 1 {
						t.Errorf("error %v after %d tries", err, len(s.at))
					}
				} else if len(s.at) != c.tries || memory.RetryAfter(err) != c.after {
					t.Errorf("%d tries, later %v", len(s.at), memory.RetryAfter(err))
				}
				if !strings.Contains(err.Error(), ": "+c.text+": ") {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// The end of the caller's context ends a call at any point, and is not taken for a
// slow service.
func TestContext(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]func(*http.Request) (*http.Response, error){
		"while it answers": slow,
		"between tries":    answer(503, "", "Retry-After", "5"),
	} {
		for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
			t.Run(fmt.Sprint(name, want), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					if want == context.Canceled {
						ctx, cancel = context.WithCancel(t.Context())
						time.AfterFunc(time.Second, cancel)
					}
					defer cancel()
					start := time.Now()
					s := &service{answers: []func(*http.Request) (*http.Response, error){answers}}
					if _, err := ask(ctx, caller(), s); err != want || time.Since(start) != time.Second ||
						len(s.at) != 1 {
						t.Errorf("error %v after %v and %d tries", err, time.Since(start), len(s.at))
					}
				})
			})
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := &service{answers: []func(*http.Request) (*http.Response, error){answer(200, "")}}
	if _, err := ask(ctx, caller(), s); err != context.Canceled || len(s.at) != 0 {
		t.Errorf("error %v after %d tries", err, len(s.at))
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func (endless) Close() error { return nil }

// An answer without an end is cut off.
func TestTooLong(t *testing.T) {
	t.Parallel()
	client := remote.Client(&service{answers: []func(*http.Request) (*http.Response, error){
		func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: endless{}, Request: r}, nil
		}}})
	read := int64(0)
	from := caller()
	from.Wait = time.Microsecond
	_, err := remote.Do(t.Context(), from, func(ctx context.Context) (int, error) {
		req, err := http.NewRequestWithContext(ctx, "GET", "https://vendor.example", nil)
		if err != nil {
			return 0, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		read, err = io.Copy(io.Discard, resp.Body)
		return 0, fmt.Errorf("reading: %w", err)
	})
	if !errors.Is(err, memory.ErrUnavailable) ||
		!strings.Contains(err.Error(), "its answer cannot be read: it is longer than 67108864 bytes") ||
		read > 64<<20 {
		t.Errorf("error %v after %d bytes", err, read)
	}
}

// A request that cannot be made is invalid, not unavailable.
func TestNotSent(t *testing.T) {
	t.Parallel()
	n := 0
	_, err := remote.Do(t.Context(), caller(), func(context.Context) (int, error) {
		n++
		return 0, errors.New("the model has no name, " + secret)
	})
	if n != 1 || !errors.Is(err, memory.ErrInvalid) ||
		err.Error() != "vendor:model at https://vendor.example: the model has no name, [key]: invalid argument" {
		t.Errorf("error %v after %d tries", err, n)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://vendor.example/v1":         "https://vendor.example",
		"http://localhost:11434":            "http://localhost:11434",
		"http://[::1]:8080/":                "http://[::1]:8080",
		"https://me:secret@vendor.example":  "",
		"https://vendor.example?key=secret": "",
		"https://vendor.example#secret":     "",
		"ftp://secret.example":              "",
		"secret.example/v1":                 "",
		"https://%zz-secret":                "",
		"":                                  "",
	} {
		got, err := remote.Address("VENDOR_URL", raw)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
		if err != nil &&
			(strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "VENDOR_URL") || !errors.Is(err, memory.ErrInvalid)) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
