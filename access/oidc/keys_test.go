package oidc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/access/oidc"
	"github.com/memoryd/memoryd/memory"
)

// wire calls an issuer without a network, so that the clock of synctest goes on.
type wire struct {
	*issuer
	away error         // instead of an answer
	hang chan struct{} // not nil: answers come when it is closed, or the request is over
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.Lock()
	away, hang := w.away, w.hang
	w.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if away != nil {
		return nil, away
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// onWire makes an issuer that is called without a network, and a Verifier of it, in a
// bubble. The Verifier fetches at once: an issuer that is away must be so from the start.
func onWire(t *testing.T, log *bytes.Buffer, away error) (*wire, *oidc.Verifier) {
	w := &wire{away: away, issuer: &issuer{url: "https://login.example.com/", keys: []jose.JSONWebKey{public("rsa", "")}}}
	w.url = strings.TrimSuffix(w.url, "/")
	v := w.verifier(t, func(o *oidc.Options) {
		o.Transport = w
		o.Log = logger(log)
	})
	return w, v
}

func (w *wire) token(t *testing.T, key string) string {
	return sign(t, private()[key], jose.RS256, map[string]any{"kid": key}, w.claims(nil))
}

// Keys are fetched again when they are old, and when a token names an unknown one: one
// fetch at a time, and not at once after the last one.
func TestRotation(t *testing.T) {
	private()
	synctest.Test(t, func(t *testing.T) {
		w, v := onWire(t, nil, nil)
		old, next := w.token(t, "rsa"), w.token(t, "other")
		verify := func(token string) error {
			_, err := v.Verify(t.Context(), token)
			return err
		}
		if err := verify(old); err != nil { // waits for the first fetch
			t.Fatal(err)
		}
		w.set(func() { w.keys = []jose.JSONWebKey{public("other", "")} })
		if err := verify(next); !errors.Is(err, access.ErrUnauthenticated) || w.fetches() != 1 {
			t.Errorf("an unknown key within the pause: %v, %d fetches", err, w.fetches())
		}
		time.Sleep(10 * time.Second)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := verify(next); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := w.fetches(); n != 2 {
			t.Errorf("100 tokens with a new key caused %d fetches", n-1)
		}
		if err := verify(old); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("the key that is gone: %v", err)
		}
		// Tokens with made-up keys cause one fetch in a while.
		for n := range 600 {
			token := sign(t, private()["rsa"], jose.RS256, map[string]any{"kid": fmt.Sprint(n)}, w.claims(nil))
			if err := verify(token); !errors.Is(err, access.ErrUnauthenticated) {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := w.fetches(); n < 5 || n > 9 {
			t.Errorf("made up keys caused %d fetches in a minute", n-2)
		}
		// A key that the issuer removes is refused without anybody naming another.
		w.set(func() { w.keys = []jose.JSONWebKey{public("rsa", "")} })
		time.Sleep(11 * time.Minute)
		if err := verify(next); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("a removed key after refreshTime: %v", err)
		}
	})
}

// While the issuer is away its keys go on serving, and unknown ones cannot be told.
func TestAway(t *testing.T) {
	private()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w, v := onWire(t, &log, nil)
		if _, err := v.Verify(t.Context(), w.token(t, "rsa")); err != nil {
			t.Fatal(err)
		}
		equal(t, v.Note(), "ok")
		w.set(func() { w.away = errors.New("connection refused") })
		time.Sleep(2 * time.Hour)
		equal(t, v.Note(), "failing, its keys are of an earlier time")
		if _, err := v.Verify(t.Context(), w.token(t, "rsa")); err != nil {
			t.Errorf("a known key: %v", err)
		}
		if _, err := v.Verify(t.Context(), w.token(t, "other")); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("an unknown key: %v", err)
		}
		refusedOnly(t, v, w.claims(map[string]any{"aud": "other"}))
		if n := strings.Count(log.String(), "were not fetched"); n != 1 {
			t.Errorf("the log tells of it %d times:\n%s", n, log.String())
		}
		w.set(func() { w.away, w.keys = nil, append(w.keys, public("other", "")) })
		time.Sleep(2 * time.Minute) // a retry
		if _, err := v.Verify(t.Context(), w.token(t, "other")); err != nil {
			t.Errorf("when it is back: %v", err)
		}
		equal(t, v.Note(), "ok")
	})
}

// refusedOnly checks that what is refused without a key is refused without the issuer.
func refusedOnly(t *testing.T, v *oidc.Verifier, claims any) {
	t.Helper()
	token := sign(t, private()["other"], jose.RS256, map[string]any{"kid": "other"}, claims)
	p, err := v.Verify(t.Context(), token)
	refused(t, "without keys", p, err)
}

// An issuer that hangs holds no request for long, and is asked again.
func TestHangs(t *testing.T) {
	private()
	synctest.Test(t, func(t *testing.T) {
		w, v := onWire(t, nil, nil)
		synctest.Wait() // the first fetch
		hang := make(chan struct{})
		w.set(func() { w.hang, w.keys = hang, append(w.keys, public("other", "")) })
		time.Sleep(10 * time.Second)
		began := time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if _, err := v.Verify(t.Context(), w.token(t, "other")); !errors.Is(err, memory.ErrUnavailable) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("tokens waited %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := v.Verify(ctx, w.token(t, "other")); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that left: %v", err)
		}
		time.Sleep(time.Minute)
		equal(t, v.Note(), "failing, its keys are of an earlier time")
		w.set(func() { w.hang = nil })
		close(hang)
		time.Sleep(2 * time.Minute)
		if _, err := v.Verify(t.Context(), w.token(t, "other")); err != nil {
			t.Errorf("when it answers again: %v", err)
		}
	})
}

// An issuer that is away at the start is found later, and until then no token counts.
func TestAwayAtStart(t *testing.T) {
	private()
	synctest.Test(t, func(t *testing.T) {
		w, v := onWire(t, nil, errors.New("no such host"))
		synctest.Wait() // the first fetch
		equal(t, v.Note(), "failing, its keys are not known yet")
		if _, err := v.Verify(t.Context(), w.token(t, "rsa")); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("before the issuer is found: %v", err)
		}
		w.set(func() { w.away = nil })
		time.Sleep(2 * time.Minute)
		if _, err := v.Verify(t.Context(), w.token(t, "rsa")); err != nil {
			t.Error(err)
		}
	})
}

// TestLies has an issuer answer what it must not, over a network. No token counts then,
// and none that was good before is refused.
func TestLies(t *testing.T) {
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	huge := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
				return
			}
		}
	}
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/keys?again", http.StatusFound)
	}
	headers := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("A", strings.Repeat("a", 1<<20)) }
	key := func(rest string) http.HandlerFunc { return answer(`{"keys": [{"kid": "rsa", ` + rest + `}]}`) }
	zero := strings.Repeat("A", 43) // 32 bytes
	const html = "<!doctype html><title>Log in</title>"
	for name, c := range map[string]struct {
		discovery, jwks http.HandlerFunc
		keys            []jose.JSONWebKey
	}{
		"HTML at the discovery":        {discovery: answer(html)},
		"HTML as keys":                 {jwks: answer(html)},
		"HTML that is missing":         {jwks: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }},
		"a redirect at the discovery":  {discovery: redirect},
		"a redirect to the keys":       {jwks: redirect},
		"a huge discovery":             {discovery: huge},
		"huge keys":                    {jwks: huge},
		"huge headers":                 {jwks: headers},
		"deep keys":                    {jwks: answer(strings.Repeat("[", 400_000))},
		"deep keys within":             {jwks: key(`"kty":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000))},
		"no keys":                      {jwks: answer(`{"keys": []}`)},
		"another JSON":                 {jwks: answer(`{"hello": 1}`)},
		"null":                         {jwks: answer(`null`)},
		"many keys":                    {jwks: answer(`{"keys": [` + strings.Repeat(`{},`, 1000) + `{}]}`)},
		"keys of another issuer":       {discovery: answer(`{"issuer": "https://evil.example.com", "jwks_uri": "/keys"}`)},
		"keys in a file":               {discovery: answer(`{"issuer": "ISSUER", "jwks_uri": "file:///etc/passwd"}`)},
		"keys elsewhere without TLS":   {discovery: answer(`{"issuer": "ISSUER", "jwks_uri": "http://192.0.2.1/keys"}`)},
		"a secret as a key":            {keys: []jose.JSONWebKey{{Key: []byte("secret"), KeyID: "rsa", Algorithm: "HS256"}}},
		"a private key":                {keys: []jose.JSONWebKey{{Key: private()["rsa"], KeyID: "rsa"}}},
		"a key for encryption":         {keys: []jose.JSONWebKey{{Key: private()["rsa"].Public(), KeyID: "rsa", Use: "enc"}}},
		"a short key":                  {keys: []jose.JSONWebKey{public("short", "")}},
		"keys of a kind not known":     {jwks: key(`"kty": "OKP", "crv": "Ed448", "x": "AA"`)},
		"an EC point beside the curve": {jwks: key(`"kty": "EC", "crv": "P-256", "x": "` + zero + `", "y": "` + zero + `"`)},
		"an RSA key of a megabit":      {jwks: key(`"kty": "RSA", "e": "AQAB", "n": "` + strings.Repeat("q", 200_000) + `"`)},
	} {
		t.Run(name, func(t *testing.T) {
			i := startIssuer(t)
			if c.discovery != nil {
				i.discovery = func(w http.ResponseWriter, r *http.Request) {
					rec := httptest.NewRecorder()
					if name == "a huge discovery" || name == "a redirect at the discovery" {
						c.discovery(w, r)
						return
					}
					c.discovery(rec, r)
					fmt.Fprint(w, strings.ReplaceAll(rec.Body.String(), "ISSUER", i.url))
				}
			}
			i.jwks = c.jwks
			if c.keys != nil {
				i.keys = c.keys
			}
			v := i.verifier(t, nil)
			p, err := v.Verify(t.Context(), i.good(t, nil))
			if !errors.Is(err, memory.ErrUnavailable) {
				t.Errorf("%+v, %v", p, err)
			}
			if !strings.HasPrefix(v.Note(), "failing") {
				t.Errorf("note %q", v.Note())
			}
		})
	}
}

// Keys that memoryd cannot use do not take those away that it can.
func TestKeysBeside(t *testing.T) {
	i := startIssuer(t)
	i.keys = append([]jose.JSONWebKey{{Key: []byte("secret"), KeyID: "rsa", Algorithm: "HS256"},
		{Key: private()["other"].Public(), KeyID: "rsa", Algorithm: "RS256"}}, i.keys...)
	v := i.fetched(t, nil)
	if _, err := v.Verify(t.Context(), i.good(t, nil)); err != nil {
		t.Error(err)
	}
}

func BenchmarkVerify(b *testing.B) {
	i := startIssuer(b)
	v := i.fetched(b, nil)
	for key, alg := range map[string]jose.SignatureAlgorithm{"rsa": jose.RS256, "p256": jose.ES256, "ed": jose.EdDSA} {
		token := sign(b, private()[key], alg, map[string]any{"kid": key}, i.claims(nil))
		b.Run(string(alg), func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
