package oidc_test

import (
	"context"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/access/oidc"
	"github.com/memoryd/memoryd/memory"
)

var _ access.Verifier = (*oidc.Verifier)(nil)

func contextOf(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(t.Context()))
}

func TestAlgorithms(t *testing.T) {
	i := startIssuer(t)
	i.keys[0].Algorithm = "" // PS256 too
	v := i.fetched(t, nil)
	for alg, key := range map[jose.SignatureAlgorithm]string{jose.RS256: "rsa", jose.RS384: "rsa", jose.RS512: "rsa",
		jose.PS256: "rsa", jose.PS384: "rsa", jose.PS512: "rsa", jose.ES256: "p256", jose.ES384: "p384",
		jose.ES512: "p521", jose.EdDSA: "ed"} {
		for _, header := range []map[string]any{{"kid": key}, {"kid": key, "typ": "at+jwt"}, {"typ": nil}} {
			p, err := v.Verify(t.Context(), sign(t, private()[key], alg, header, i.claims(nil)))
			if err != nil || p.ID != "jwt:ann" {
				t.Errorf("%s, header %v: %v, %v", alg, header, p, err)
			}
		}
	}
}

// The claims become an app, a user and verbs, or a refusal.
func TestClaims(t *testing.T) {
	i := startIssuer(t)
	byClaims := i.fetched(t, nil)
	others := i.fetched(t, func(o *oidc.Options) {
		o.AppClaim, o.App, o.UserClaim, o.VerbsClaim = "", "bank", "https://example.com/user", "roles"
	})
	backends := i.fetched(t, func(o *oidc.Options) { o.UserClaim = oidc.AllUsers })
	const read, write, admin = access.Read, access.Write, access.Admin
	ann := func(can access.Verbs) *access.Principal {
		return &access.Principal{ID: "jwt:ann", App: "shop", User: "ann", Can: can}
	}
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	for name, c := range map[string]struct {
		v       *oidc.Verifier
		changes map[string]any
		want    *access.Principal // nil if it is refused
	}{
		"plain":    {byClaims, nil, ann(read | write)},
		"no scope": {byClaims, map[string]any{"scope": nil}, ann(0)},
		"scopes of others": {byClaims,
			map[string]any{"scope": "Read writes memoryd: other:admin memoryd:memoryd:read"}, ann(0)},
		"prefixed": {byClaims, map[string]any{"scope": "memoryd:admin  read"}, ann(read | admin)},
		"a list": {byClaims, map[string]any{"scope": []any{"memoryd:write", 1, nil, []any{"admin"}, "read write"}},
			ann(write)},
		"an object":         {byClaims, map[string]any{"scope": map[string]any{"admin": true}}, ann(0)},
		"several audiences": {byClaims, map[string]any{"aud": []string{"x", "memoryd"}, "scope": nil}, ann(0)},
		"other claims": {others, map[string]any{"https://example.com/user": "bob", "roles": []string{"read"}},
			&access.Principal{ID: "jwt:ann", App: "bank", User: "bob", Can: read}},
		"a subject with slashes": {others, map[string]any{"sub": "spiffe://a/b", "https://example.com/user": "bob"},
			&access.Principal{ID: "jwt:spiffe://a/b", App: "bank", User: "bob"}},
		"all users": {backends, map[string]any{"sub": "backend"},
			&access.Principal{ID: "jwt:backend", App: "shop", Can: read | write}},

		"a little late":      {byClaims, map[string]any{"exp": in(-20 * time.Second), "scope": nil}, ann(0)},
		"a little early":     {byClaims, map[string]any{"nbf": in(20 * time.Second), "scope": nil}, ann(0)},
		"no user claim":      {others, nil, nil},
		"no app":             {byClaims, map[string]any{"app": nil}, nil},
		"an empty app":       {byClaims, map[string]any{"app": ""}, nil},
		"every app":          {byClaims, map[string]any{"app": "*"}, nil},
		"every app, backend": {backends, map[string]any{"app": "*"}, nil},
		"a number as app":    {byClaims, map[string]any{"app": 5}, nil},
		"a list as app":      {byClaims, map[string]any{"app": []string{"shop"}}, nil},
		"a path as app":      {byClaims, map[string]any{"app": "shop/bank"}, nil},
		"no user":            {byClaims, map[string]any{"sub": nil}, nil},
		"an empty user":      {byClaims, map[string]any{"sub": ""}, nil},
		"every user":         {byClaims, map[string]any{"sub": "*"}, nil},
		"a path as user":     {byClaims, map[string]any{"sub": "../ann"}, nil},
		"dots as user":       {byClaims, map[string]any{"sub": ".."}, nil},
		"a line break":       {byClaims, map[string]any{"sub": "ann\n"}, nil},
		"a long user":        {byClaims, map[string]any{"sub": strings.Repeat("a", 257)}, nil},
		"no subject":         {backends, map[string]any{"sub": nil}, nil},
		"a control in it":    {backends, map[string]any{"sub": "a\x7fb"}, nil},
	} {
		p, err := c.v.Verify(t.Context(), i.good(t, c.changes))
		if c.want == nil {
			refused(t, name, p, err)
		} else if diff := cmp.Diff(c.want, p); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// refused checks that the error is the one of all refusals.
func refused(t *testing.T, name string, p *access.Principal, err error) {
	t.Helper()
	if p != nil || !errors.Is(err, access.ErrUnauthenticated) || err.Error() != access.Unauthenticated().Error() {
		t.Errorf("%s: %+v, %v", name, p, err)
	}
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// TestForged checks tokens that the issuer has not made, or not for memoryd.
func TestForged(t *testing.T) {
	i := startIssuer(t)
	v := i.fetched(t, nil)
	good := i.good(t, nil)
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	payload := parts[1]
	symmetric := func(secret []byte) string {
		text := encode([]byte(`{"alg":"HS256","kid":"rsa","typ":"JWT"}`)) + "." + payload
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(text))
		return text + "." + encode(mac.Sum(nil))
	}
	rsaKey := private()["rsa"].Public().(*rsa.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(rsaKey)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := json.Marshal(public("rsa", "RS256"))
	if err != nil {
		t.Fatal(err)
	}
	evil := private()["other"]
	evilKey := jose.JSONWebKey{Key: evil.Public(), KeyID: "rsa", Algorithm: "RS256"}
	now := time.Now()
	ours := func(header map[string]any) string {
		header["kid"] = "rsa"
		return sign(t, private()["rsa"], jose.RS256, header, i.claims(nil))
	}
	forged := func(header map[string]any) string { return sign(t, evil, jose.RS256, header, i.claims(nil)) }
	with := func(name string, value any) string { return i.good(t, map[string]any{name: value}) }
	tokens := map[string]string{
		"nothing":                    "",
		"dots":                       "..",
		"many dots":                  strings.Repeat(".", 1<<14),
		"words":                      "not a token",
		"one part":                   parts[0],
		"two parts":                  parts[0] + "." + payload,
		"four parts":                 good + ".x",
		"no signature":               parts[0] + "." + payload + ".",
		"cut off":                    good[:len(good)-4],
		"alg none":                   encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + payload + ".",
		"alg None with a signature":  encode([]byte(`{"alg":"None","kid":"rsa"}`)) + "." + payload + "." + parts[2],
		"alg of another case":        encode([]byte(`{"alg":"rs256","kid":"rsa"}`)) + "." + payload + "." + parts[2],
		"no alg":                     encode([]byte(`{"kid":"rsa"}`)) + "." + payload + "." + parts[2],
		"two algs":                   encode([]byte(`{"alg":"RS256","alg":"none","kid":"rsa"}`)) + "." + payload + ".",
		"HS256 by the PEM":           symmetric(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"HS256 by the DER":           symmetric(der),
		"HS256 by the modulus":       symmetric(rsaKey.N.Bytes()),
		"HS256 by the JWK":           symmetric(jwk),
		"HS256 by nothing":           symmetric(nil),
		"another algorithm":          sign(t, private()["rsa"], jose.RS512, map[string]any{"kid": "rsa"}, i.claims(nil)),
		"another key":                forged(map[string]any{"kid": "rsa"}),
		"another key, no kid":        forged(nil),
		"another key, kid of EC":     forged(map[string]any{"kid": "p256"}),
		"a path as kid":              forged(map[string]any{"kid": "../../../../dev/null"}),
		"a URL as kid":               forged(map[string]any{"kid": "http://127.0.0.1:1/keys"}),
		"SQL as kid":                 forged(map[string]any{"kid": "' or 1=1 --"}),
		"a long kid":                 forged(map[string]any{"kid": strings.Repeat("k", 8000)}),
		"a number as kid":            encode([]byte(`{"alg":"RS256","kid":7}`)) + "." + payload + "." + parts[2],
		"an embedded key":            forged(map[string]any{"jwk": evilKey}),
		"an embedded key, kid":       forged(map[string]any{"jwk": evilKey, "kid": "rsa"}),
		"a URL of keys":              forged(map[string]any{"jku": i.url + "/evil", "kid": "rsa"}),
		"a URL of a certificate":     forged(map[string]any{"x5u": i.url + "/evil", "kid": "rsa"}),
		"crit":                       ours(map[string]any{"crit": []string{"exp"}}),
		"a logout token":             ours(map[string]any{"typ": "logout+jwt"}),
		"typ of another type":        ours(map[string]any{"typ": 5}),
		"another issuer":             with("iss", "https://evil.example.com"),
		"the issuer with a slash":    with("iss", i.url+"/"),
		"no issuer":                  with("iss", nil),
		"another audience":           with("aud", "other"),
		"a longer audience":          with("aud", "memoryd2"),
		"no audience":                with("aud", nil),
		"an empty list of audiences": with("aud", []string{}),
		"an audience of numbers":     with("aud", []any{"memoryd", 5}),
		"no exp":                     with("exp", nil),
		"expired":                    with("exp", now.Add(-time.Minute).Unix()),
		"expired long ago":           with("exp", 0),
		"a text as exp":              with("exp", "tomorrow"),
		"a huge exp":                 with("exp", 1e300),
		"not yet":                    with("nbf", now.Add(time.Hour).Unix()),
		"issued tomorrow":            with("iat", now.Add(24*time.Hour).Unix()),
		"1 MB":                       with("more", strings.Repeat("x", 1<<20)),
		"a bit too long":             with("more", strings.Repeat("x", 12<<10)),
		"no JSON":                    sign(t, private()["rsa"], jose.RS256, map[string]any{"kid": "rsa"}, []byte("hello")),
		"a list":                     sign(t, private()["rsa"], jose.RS256, map[string]any{"kid": "rsa"}, []byte("[]")),
		"null":                       sign(t, private()["rsa"], jose.RS256, map[string]any{"kid": "rsa"}, []byte("null")),
		"deep JSON": sign(t, private()["rsa"], jose.RS256, map[string]any{"kid": "rsa"},
			[]byte(strings.Repeat("[", 11_000)+strings.Repeat("]", 11))),
		"deep JSON as header": encode([]byte(strings.Repeat(`{"a":`, 2000))) + "." + payload + "." + parts[2],
		"JSON serialization":  `{"protected":"` + parts[0] + `","payload":"` + payload + `","signature":"` + parts[2] + `"}`,
		"a JWE":               good + ".a.b",
	}
	doubled := strings.Replace(string(mustDecode(t, payload)), `"aud":"memoryd"`, `"aud":"memoryd","aud":"memoryd"`, 1)
	tokens["a claim twice"] = sign(t, private()["rsa"], jose.RS256, map[string]any{"kid": "rsa"}, []byte(doubled))
	changed := strings.Replace(string(mustDecode(t, payload)), `"ann"`, `"bob"`, 1)
	tokens["another user"] = parts[0] + "." + encode([]byte(changed)) + "." + parts[2]
	asked := i.fetches()
	for name, token := range tokens {
		p, err := v.Verify(t.Context(), token)
		refused(t, name, p, err)
	}
	if n := i.fetches(); n != asked {
		t.Errorf("the keys were fetched %d times more within the pause", n-asked)
	}
}

func mustDecode(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestOptions(t *testing.T) {
	good := oidc.Options{Issuer: "https://login.example.com/tenant", Audience: "memoryd", App: "shop"}
	if _, err := oidc.New(&good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*oidc.Options){
		"no issuer":                  func(o *oidc.Options) { o.Issuer = "" },
		"no URL":                     func(o *oidc.Options) { o.Issuer = "login.example.com" },
		"http":                       func(o *oidc.Options) { o.Issuer = "http://login.example.com" },
		"http, loopback in the name": func(o *oidc.Options) { o.Issuer = "http://127.0.0.1.example.com" },
		"http, a user":               func(o *oidc.Options) { o.Issuer = "http://localhost@example.com" },
		"a file":                     func(o *oidc.Options) { o.Issuer = "file:///etc/passwd" },
		"a query":                    func(o *oidc.Options) { o.Issuer += "?a=b" },
		"a fragment":                 func(o *oidc.Options) { o.Issuer += "#a" },
		"no audience":                func(o *oidc.Options) { o.Audience = "" },
		"no app":                     func(o *oidc.Options) { o.App = "" },
		"app and claim":              func(o *oidc.Options) { o.AppClaim = "app" },
		"every app":                  func(o *oidc.Options) { o.App = "*" },
		"a path as app":              func(o *oidc.Options) { o.App = "a/b" },
	} {
		o := good
		change(&o)
		if _, err := oidc.New(&o); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, at := range []string{"http://127.0.0.1:8080", "http://[::1]/", "http://localhost:1"} {
		o := good
		o.Issuer = at
		if _, err := oidc.New(&o); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// FuzzVerify changes tokens. One that is taken says what a signed one says.
func FuzzVerify(f *testing.F) {
	i := startIssuer(f)
	v := i.verifier(f, nil)
	payloads := map[string]bool{}
	for key, alg := range map[string]jose.SignatureAlgorithm{"rsa": jose.RS256, "p256": jose.ES256, "ed": jose.EdDSA} {
		for _, sub := range []string{"ann", "bob"} {
			token := sign(f, private()[key], alg, map[string]any{"kid": key}, i.claims(map[string]any{"sub": sub}))
			raw, _ := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
			payloads[string(raw)] = true
			f.Add(token)
		}
	}
	f.Add("")
	f.Add("e30.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		p, err := v.Verify(t.Context(), token)
		if err != nil {
			if p != nil || !errors.Is(err, access.ErrUnauthenticated) {
				t.Fatalf("%+v, %v", p, err)
			}
			return
		}
		raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
		if err != nil || !payloads[string(raw)] {
			t.Fatalf("took %q as %+v", token, p)
		}
	})
}
