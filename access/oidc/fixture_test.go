package oidc_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/memoryd/memoryd/access/oidc"
)

// private are the keys of the test's issuers: to make RSA keys takes time.
var private = sync.OnceValue(func() map[string]crypto.Signer {
	out := map[string]crypto.Signer{}
	keep := func(name string, key crypto.Signer, err error) {
		if err != nil {
			panic(err)
		}
		out[name] = key
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	keep("rsa", r, err)
	r, err = rsa.GenerateKey(rand.Reader, 2048)
	keep("other", r, err)
	r, err = rsa.GenerateKey(rand.Reader, 1024)
	keep("short", r, err)
	for name, curve := range map[string]elliptic.Curve{"p256": elliptic.P256(), "p384": elliptic.P384(),
		"p521": elliptic.P521()} {
		e, err := ecdsa.GenerateKey(curve, rand.Reader)
		keep(name, e, err)
	}
	_, d, err := ed25519.GenerateKey(rand.Reader)
	keep("ed", d, err)
	return out
})

// public is the JWK of one of the private keys.
func public(name, alg string) jose.JSONWebKey {
	return jose.JSONWebKey{Key: private()[name].Public(), KeyID: name, Algorithm: alg, Use: "sig"}
}

// issuer is an OpenID Connect provider. Its fields may change while it is locked.
type issuer struct {
	sync.Mutex
	url       string
	keys      []jose.JSONWebKey
	discovery http.HandlerFunc // instead of its own
	jwks      http.HandlerFunc // instead of its own
	asked     int              // for keys
}

// ServeHTTP implements http.Handler.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.Lock()
	discovery, jwks := i.discovery, i.jwks
	set := jose.JSONWebKeySet{Keys: i.keys}
	if r.URL.Path == "/keys" {
		i.asked++
	}
	i.Unlock()
	switch {
	case r.URL.Path == "/.well-known/openid-configuration" && discovery != nil:
		discovery(w, r)
	case r.URL.Path == "/.well-known/openid-configuration":
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q}`, i.url, i.url+"/keys")
	case r.URL.Path == "/keys" && jwks != nil:
		jwks(w, r)
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(set)
	default:
		http.NotFound(w, r)
	}
}

// set changes the issuer.
func (i *issuer) set(change func()) {
	i.Lock()
	defer i.Unlock()
	change()
}

func (i *issuer) fetches() int {
	i.Lock()
	defer i.Unlock()
	return i.asked
}

// startIssuer serves an issuer on loopback.
func startIssuer(t testing.TB) *issuer {
	i := &issuer{keys: []jose.JSONWebKey{public("rsa", "RS256"), public("p256", ""), public("p384", ""),
		public("p521", ""), public("ed", "")}}
	s := httptest.NewServer(i)
	t.Cleanup(s.Close)
	i.url = s.URL
	return i
}

// verifier makes a Verifier that runs until the test is over.
func (i *issuer) verifier(t testing.TB, change func(*oidc.Options)) *oidc.Verifier {
	t.Helper()
	opts := &oidc.Options{Issuer: i.url, Audience: "memoryd", AppClaim: "app"}
	if change != nil {
		change(opts)
	}
	v, err := oidc.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	ctx, cancel := contextOf(t)
	go func() {
		defer close(ended)
		v.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return v
}

// fetched makes a Verifier that has the keys already: a token waits 3 s for them, and the
// first fetch on a slow machine may take longer.
func (i *issuer) fetched(t testing.TB, change func(*oidc.Options)) *oidc.Verifier {
	t.Helper()
	v := i.verifier(t, change)
	for end := time.Now().Add(time.Minute); v.Note() != "ok"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the keys of the issuer: %s", v.Note())
		}
	}
	return v
}

// claims are those of a good token, with changes. A change to nil removes a claim.
func (i *issuer) claims(changes map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{"iss": i.url, "aud": "memoryd", "sub": "ann", "app": "shop", "scope": "openid read write",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// sign makes a token. A header of nil is left out.
func sign(t testing.TB, key any, alg jose.SignatureAlgorithm, header map[string]any, claims any) string {
	t.Helper()
	opts := (&jose.SignerOptions{}).WithType("JWT")
	for name, value := range header {
		if value == nil {
			delete(opts.ExtraHeaders, jose.HeaderKey(name))
			continue
		}
		opts.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := claims.([]byte)
	if !ok {
		if payload, err = json.Marshal(claims); err != nil {
			t.Fatal(err)
		}
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// good is a token of the RSA key.
func (i *issuer) good(t testing.TB, changes map[string]any) string {
	t.Helper()
	return sign(t, private()["rsa"], jose.RS256, map[string]any{"kid": "rsa"}, i.claims(changes))
}

// logger writes into a buffer, if there is one.
func logger(to *bytes.Buffer) *slog.Logger {
	if to == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(to, nil))
}

func equal[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
