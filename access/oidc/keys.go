package oidc

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/memoryd/memoryd/memory"
)

const (
	// refreshTime is how old keys become before they are fetched again. A key that the
	// issuer removes is refused after that time.
	refreshTime = 10 * time.Minute
	// pauseTime is the least time between the end of a fetch and one that a token with an
	// unknown key causes: anyone can make such tokens.
	pauseTime = 10 * time.Second
	// firstRetry and lastRetry bound the time between fetches while they fail. It doubles.
	firstRetry = time.Second
	lastRetry  = time.Minute
	// fetchTime bounds a fetch, which is two requests.
	fetchTime = 10 * time.Second
	// waitTime is how long a token waits for a fetch.
	waitTime = 3 * time.Second
	// maxDocument bounds an answer of the issuer, in bytes. Those of large ones have some
	// 20,000.
	maxDocument = 512 << 10
	// maxHeader bounds the headers of an answer, in bytes.
	maxHeader = 64 << 10
	// maxKeys bounds the keys of an issuer: a token that names none is tried with all.
	maxKeys = 100
	// minRSA is the least size of an RSA key that RFC 7518 allows, in bits. The library
	// refuses those of more than 4096.
	minRSA = 2048
)

// keys are the public keys of an issuer, as of the last fetch that went well. run is all
// that fetches, so there is one fetch at a time.
type keys struct {
	issuer string
	client *http.Client
	log    *slog.Logger
	wanted chan struct{} // asks run for a fetch

	mu     sync.Mutex
	known  []jose.JSONWebKey // never changed in place
	n      int               // of the fetch that has brought them
	failed error             // of the last fetch; errNotYet before the first
	ended  time.Time         // the last fetch
	next   chan struct{}     // closed when the next fetch ends
}

// errNotYet is the error before the first fetch.
var errNotYet = errors.New("its keys are not fetched yet")

func newKeys(o *Options) *keys {
	return &keys{issuer: o.Issuer, log: o.Log, wanted: make(chan struct{}, 1), failed: errNotYet,
		next: make(chan struct{}),
		client: &http.Client{Transport: o.Transport,
			// An issuer that was taken over in part could lead memoryd anywhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// defaultTransport bounds the headers that the issuer sends.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxResponseHeaderBytes = maxHeader
	return t
}

// all returns the keys, and the number of the fetch that has brought them. The caller
// changes nothing of them.
func (k *keys) all() ([]jose.JSONWebKey, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known, k.n
}

// renew has the keys fetched, unless a fetch has ended within pauseTime, and waits for
// it. The error is memory.ErrUnavailable if the last fetch failed, or takes too long.
func (k *keys) renew(ctx context.Context) error {
	k.mu.Lock()
	next := k.next
	if time.Since(k.ended) < pauseTime {
		defer k.mu.Unlock()
		return k.unavailable()
	}
	k.mu.Unlock()
	select {
	case k.wanted <- struct{}{}:
	default: // run is told already
	}
	select {
	case <-next:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(waitTime):
		return fmt.Errorf("%w: the issuer of tokens has not answered within %v", memory.ErrUnavailable, waitTime)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.unavailable()
}

// unavailable is the error of the last fetch. k.mu is locked.
func (k *keys) unavailable() error {
	if k.failed == nil {
		return nil
	}
	return fmt.Errorf("%w: the issuer of tokens: %v", memory.ErrUnavailable, k.failed)
}

// run fetches the keys at once, after refreshTime, and when they are wanted.
func (k *keys) run(ctx context.Context) {
	retry := firstRetry
	for {
		wait := refreshTime
		if err := k.fetch(ctx); err != nil {
			wait = retry
			retry = min(2*retry, lastRetry)
		} else {
			retry = firstRetry
		}
		due := time.NewTimer(wait)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				due.Stop()
				return
			case <-due.C:
				waiting = false
			case <-k.wanted:
				k.mu.Lock()
				waiting = time.Since(k.ended) < pauseTime // the fetch that was wanted has just ended
				k.mu.Unlock()
			}
		}
		due.Stop()
	}
}

// fetch replaces the keys. If it fails the keys stay.
func (k *keys) fetch(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	known, err := k.discover(within)
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.failed
	k.failed, k.ended = err, time.Now()
	if err == nil {
		k.known, k.n = known, k.n+1
	}
	close(k.next)
	k.next = make(chan struct{})
	switch {
	case ctx.Err() != nil:
	case err != nil && (before == nil || before.Error() != err.Error()):
		k.log.Warn("the keys of the issuer of tokens were not fetched: memoryd goes on with those it has",
			"issuer", k.issuer, "keys", len(k.known), "err", err)
	case err == nil && before != nil:
		k.log.Info("the keys of the issuer of tokens were fetched", "issuer", k.issuer, "keys", len(known))
	}
	return err
}

// note is for /readyz.
func (k *keys) note() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.failed == nil:
		return "ok"
	case len(k.known) > 0:
		return "failing, its keys are of an earlier time"
	}
	return "failing, its keys are not known yet"
}

// discover fetches the document that says where the keys are, and the keys.
func (k *keys) discover(ctx context.Context) ([]jose.JSONWebKey, error) {
	var provider struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	at := strings.TrimSuffix(k.issuer, "/") + "/.well-known/openid-configuration"
	if err := k.get(ctx, at, &provider); err != nil {
		return nil, err
	}
	if provider.Issuer != k.issuer {
		return nil, fmt.Errorf("GET %s: it is of the issuer %.200q, and not of %q", at, provider.Issuer, k.issuer)
	}
	if err := checkKeysURL(provider.JWKSURI, k.issuer); err != nil {
		return nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, provider.JWKSURI, &set); err != nil {
		return nil, err
	}
	known, err := usable(set.Keys)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", provider.JWKSURI, err)
	}
	return known, nil
}

// checkKeysURL allows http only where the issuer itself is of http.
func checkKeysURL(at, issuer string) error {
	at, _, _ = strings.Cut(at, "?") // some issuers have a query here
	return checkURL("jwks_uri", at, strings.HasPrefix(issuer, "http:"))
}

// get reads a JSON document.
func (k *keys) get(ctx context.Context, at string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	res, err := k.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: want 200, without a redirect", at, res.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s: %w", at, err)
	case len(raw) > maxDocument:
		return fmt.Errorf("GET %s: the answer has more than %d bytes", at, maxDocument)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("GET %s: the answer is not the JSON that it must be: %w", at, err)
	}
	return nil
}

// errNoKeys is the error of a set without a usable key. No issuer means that: it could
// sign nothing.
var errNoKeys = errors.New("there is no public key for signatures")

// usable are the public keys for signatures. Others are left out, such as those of a kind
// that is not known here.
func usable(raw []json.RawMessage) ([]jose.JSONWebKey, error) {
	if len(raw) > maxKeys {
		return nil, fmt.Errorf("there are %d keys, more than %d", len(raw), maxKeys)
	}
	var known []jose.JSONWebKey
	for _, one := range raw {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(one) != nil || !key.IsPublic() || !key.Valid() || key.Use != "" && key.Use != "sig" {
			continue
		}
		if r, ok := key.Key.(*rsa.PublicKey); ok && r.N.BitLen() < minRSA {
			continue
		}
		known = append(known, key)
	}
	if len(known) == 0 {
		return nil, errNoKeys
	}
	return known, nil
}
