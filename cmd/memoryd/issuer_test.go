package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// An issuer closes memoryd, for good. Its tokens are for one user each.
func TestIssuer(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "k"}}})
			return
		}
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": "%s/keys"}`, "http://"+r.Host, "http://"+r.Host)
	}))
	t.Cleanup(issuer.Close)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: private, KeyID: "k"}},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	token := func(user, scope string) string {
		claims := map[string]any{"iss": issuer.URL, "aud": "memoryd", "sub": user, "scope": scope, "tenant": "shop",
			"exp": time.Now().Add(time.Hour).Unix()}
		text, err := jwt.Signed(signer).Claims(claims).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	dir := t.TempDir()
	p := start(t, dir, "-oidc-issuer", issuer.URL, "-oidc-audience", "memoryd", "-oidc-app-claim", "tenant")
	list := func(p *process, user, shown string) (int, string) {
		t.Helper()
		at := "/v1/apps/shop/users/" + user + "/memories"
		if user == "" {
			at = "/readyz"
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", p.url+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if shown != "" {
			req.Header.Set("Authorization", "Bearer "+shown)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	ann := token("ann", "memoryd:read")
	soon(func() bool { // memoryd has the keys of the issuer
		status, _ := list(p, "ann", ann)
		return status != http.StatusServiceUnavailable
	})
	for _, c := range []struct {
		user, shown string
		want        int
	}{
		{"ann", ann, 200}, {"bob", ann, 403}, {"bob", token("bob", "read"), 200}, {"ann", token("ann", "write"), 403},
		{"ann", token("ann", ""), 403}, {"ann", "", 401}, {"ann", ann[:len(ann)-8], 401}, {"ann", token("*", "read"), 401},
	} {
		if status, body := list(p, c.user, c.shown); status != c.want {
			t.Errorf("list of %s with %.300q: status %d, want %d: %s", c.user, c.shown, status, c.want, body)
		}
	}
	if status, body := list(p, "", ann); status != 200 || !strings.Contains(body, `"issuer":"ok"`) {
		t.Errorf("/readyz: status %d: %s", status, body)
	}
	if code := p.terminate(t); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.logs.String())
	}
	if strings.Contains(p.logs.String(), ann[:20]) {
		t.Error("the log has a token")
	}
	p = start(t, dir)
	for _, shown := range []string{"", ann} {
		if status, body := list(p, "ann", shown); status != 401 {
			t.Errorf("without the issuer: status %d: %s", status, body)
		}
	}
}

// A start does not wait for an issuer that is away, and memoryd is closed meanwhile.
func TestIssuerAway(t *testing.T) {
	t.Parallel()
	gone := freeAddress(t)
	p := start(t, t.TempDir(), "-oidc-issuer", "http://"+gone, "-oidc-audience", "memoryd", "-oidc-app", "shop")
	for at, want := range map[string]int{"/livez": 200, "/readyz": 200, "/v1/tools": 401,
		"/v1/apps/shop/users/ann/memories": 401} {
		status, err := call("GET", p.url+at, nil, nil)
		if status != want {
			t.Errorf("%s: status %d, %v", at, status, err)
		}
	}
}

func TestIssuerRefusals(t *testing.T) {
	t.Parallel()
	const issuer = "https://login.example.com"
	for want, args := range map[string][]string{
		"name it with -oidc-issuer":       {"-oidc-audience", "memoryd"},
		"want https":                      {"-oidc-issuer", "http://login.example.com", "-oidc-audience", "m", "-oidc-app", "a"},
		"audience":                        {"-oidc-issuer", issuer, "-oidc-app", "a"},
		"the app of all tokens":           {"-oidc-issuer", issuer, "-oidc-audience", "m"},
		"either the app":                  {"-oidc-issuer", issuer, "-oidc-audience", "m", "-oidc-app", "a", "-oidc-app-claim", "b"},
		"tokens are for one app each":     {"-oidc-issuer", issuer, "-oidc-audience", "m", "-oidc-app", "*"},
		"without password, query and fra": {"-oidc-issuer", "https://a:b@c", "-oidc-audience", "m", "-oidc-app", "a"},
	} {
		runFails(t, want, 2, append(args, "-data", ":memory:", "-listen", "127.0.0.1:0")...)
	}
}
