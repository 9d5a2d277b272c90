package vertexauth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"software.sslmate.com/src/go-pkcs12"
)

// Init writes all files once. Renew makes another certificate, of all names, of the same authority.
func TestInit(t *testing.T) {
	dir := t.TempDir()
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	all := func() (out []string) {
		for _, name := range []string{CAFile, CertFile, KeyFile, Credentials, Go, TrustFile} {
			out = append(out, read(name))
		}
		return out
	}
	if _, err := (Init{Dir: dir, Hosts: []string{"memory.example.com"}}).Write(); err != nil {
		t.Fatal(err)
	}
	first := all()
	if wrote, err := (Init{Dir: dir}).Write(); err != nil || len(wrote) > 0 || strings.Join(all(), "") != strings.Join(first, "") {
		t.Errorf("Init of what is there wrote %v, %v", wrote, err)
	}
	if _, err := (Init{Dir: dir, Hosts: []string{"10.0.0.1"}, Renew: true}).Write(); err != nil {
		t.Fatal(err)
	}
	ca, err := readPEM(filepath.Join(dir, CAFile))
	if err != nil || read(CAFile) != first[0] || read(CertFile) == first[1] || read(Credentials) != first[3] {
		t.Fatalf("after Renew: %v", err)
	}
	authority, err := x509.ParseCertificate(ca)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := readPEM(filepath.Join(dir, CertFile))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := pkcs12.DecodeTrustStore([]byte(first[5]), TrustPassword)
	if err != nil || len(trusted) < 1 || !trusted[0].Equal(authority) || len(trusted) != 1+len(machineRoots()) {
		t.Errorf("Java trusts %d authorities, %v", len(trusted), err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	for _, name := range Names(DefaultLocation, []string{"10.0.0.1"}) {
		if _, err := cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, caKeyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key of the authority is %v, %v", info.Mode(), err)
	}
	if _, err := (Init{Dir: t.TempDir(), Location: "global"}).Write(); err == nil {
		t.Error("Init takes the location global")
	}
}

// A token counts if a service account of the directory has signed it, for memoryd and for an hour.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	if _, err := (Init{Dir: dir, Key: "Key1"}).Write(); err != nil {
		t.Fatal(err)
	}
	accounts := NewAccounts(dir, Names(DefaultLocation, nil), nil)
	tokens, err := NewTokens(dir, accounts, "Key2", nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := Sign(dir, DefaultLocation)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := accounts.Verify(signed); key != "Key1" || err != nil {
		t.Errorf("Verify: %q, %v", key, err)
	}

	var of serviceAccount
	text, err := os.ReadFile(filepath.Join(dir, Credentials))
	if err != nil || json.Unmarshal(text, &of) != nil {
		t.Fatal(err)
	}
	own, err := x509.ParsePKCS8PrivateKey(pemBytes(t, of.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		t.Fatal(err)
	}
	claims := func(audience string, from, life time.Duration) jwt.Claims {
		now := time.Now().Add(from)
		return jwt.Claims{Audience: jwt.Audience{audience}, IssuedAt: jwt.NewNumericDate(now),
			Expiry: jwt.NewNumericDate(now.Add(life))}
	}
	const name = "https://aiplatform.memoryd.internal/"
	for _, tt := range []struct {
		what   string
		key    any
		id     string
		claims jwt.Claims
		good   bool
	}{
		{"good", own, "Key1", claims(name, 0, time.Hour), true},
		{"signed by a stranger", stranger, "Key1", claims(name, 0, time.Hour), false},
		{"of another key", own, "Key2", claims(name, 0, time.Hour), false},
		{"of a path", own, "../accounts/Key1", claims(name, 0, time.Hour), false},
		{"for another service", own, "Key1", claims("https://storage.googleapis.com/", 0, time.Hour), false},
		{"expired", own, "Key1", claims(name, -2*time.Hour, time.Hour), false},
		{"for a day", own, "Key1", claims(name, 0, 24*time.Hour), false},
		{"without an end", own, "Key1", jwt.Claims{Audience: jwt.Audience{name}}, false},
	} {
		token, err := sign(tt.key, tt.id, tt.claims)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := accounts.Verify(token); (err == nil) != tt.good {
			t.Errorf("a token that is %s: %v", tt.what, err)
		}
	}

	for scope, good := range map[string]bool{"openid " + cloudScope: true, "openid": false, "": false} {
		token, err := sign(own, "Key1", claims("", 0, time.Hour), map[string]any{"scope": scope, "aud": ""})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := accounts.Verify(token); (err == nil) != good {
			t.Errorf("a token of the scopes %q: %v", scope, err)
		}
	}

	get := func(method, path, body string) string {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Metadata-Flavor", "Google")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		tokens.ServeHTTP(w, r)
		var out tokenBody
		if w.Code == http.StatusOK && json.Unmarshal(w.Body.Bytes(), &out) != nil {
			t.Errorf("%s: %s", path, w.Body)
		}
		return out.AccessToken
	}
	assertion, err := sign(own, "Key1", claims("http://127.0.0.1:8081/token", 0, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for want, token := range map[string]string{
		"Key1": get("POST", "/token", url.Values{"assertion": {assertion}}.Encode()),
		"Key2": get("GET", "/computeMetadata/v1/instance/service-accounts/default/token", ""),
	} {
		if key, ok := tokens.Verify(token); key != want || !ok {
			t.Errorf("the token of %s is of %q, %v", want, key, ok)
		}
		if _, ok := tokens.Verify(token[:len(token)-2] + "AA"); ok {
			t.Error("a changed token counts")
		}
	}
	if token := get("POST", "/token", url.Values{"assertion": {assertion + "x"}}.Encode()); token != "" {
		t.Errorf("a bad assertion gets %q", token)
	}
	tokens.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	old := tokens.mint("Key1")
	tokens.now = func() time.Time { return time.Now().Add(4 * time.Hour) }
	if _, ok := tokens.Verify(old); ok {
		t.Error("an old token counts")
	}
}

// The libraries find at a metadata server what they look for, in the form that they read, and by the
// header that it is one. The requests are those that each has sent: google-auth 2.63 for Python,
// compute/metadata 0.9 for Go, google-auth-library 10 for JavaScript and 1.30 for Java.
func TestMetadata(t *testing.T) {
	dir := t.TempDir()
	if _, err := (Init{Dir: dir, Key: "Key1"}).Write(); err != nil {
		t.Fatal(err)
	}
	tokens, err := NewTokens(dir, NewAccounts(dir, Names(DefaultLocation, nil), nil), "Key2", nil)
	if err != nil {
		t.Fatal(err)
	}
	const (
		v1      = "/computeMetadata/v1/"
		account = v1 + "instance/service-accounts/default/"
		scope   = "https://www.googleapis.com/auth/cloud-platform"
		token   = `{"access_token":"TOKEN","expires_in":3600,"token_type":"Bearer"}`
		asJSON  = `{"aliases":["default"],"email":"memoryd@memoryd.internal","scopes":["` + scope + `"]}`
	)
	for _, tt := range []struct {
		clients, path string
		code          int
		kind, body    string // of the answer; TOKEN stands for a token
	}{
		{"Python, Java: is it one?", "/", 200, "text", "computeMetadata/\n"},
		{"JavaScript: is it one?", v1 + "instance", 200, "text", "service-accounts/\n"},
		{"older JavaScript: is it one?", v1 + "instance/", 200, "text", "service-accounts/\n"},
		{"Python, Go, JavaScript", v1 + "project/project-id", 200, "text", "memoryd"},
		{"Python", account + "?recursive=true", 200, "json", asJSON},
		{"Java", v1 + "instance/service-accounts/?recursive=true", 200, "json", `{"default":` + asJSON + `}`},
		{"Go", account + "scopes", 200, "text", scope + "\n"},
		{"Go, JavaScript", account + "email", 200, "text", "memoryd@memoryd.internal"},
		{"Python, Go, JavaScript", account + "token?scopes=" + url.QueryEscape(scope), 200, "json", token},
		{"Java", account + "token?scopes=" + scope, 200, "json", token},
		{"Python without scopes", account + "token", 200, "json", token},
		// There is none but Google's own, which they take a 404 for.
		{"Python, Go, Java", v1 + "universe/universe-domain", 404, "text", "404 page not found\n"},
		// A token of the identity is signed by Google for another service, and memoryd takes none.
		{"Java, Go", account + "identity?audience=https%3A%2F%2Fexample.com&format=full", 404, "text", "404 page not found\n"},
	} {
		get := func(flavor string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", tt.path, nil)
			if flavor != "" {
				r.Header.Set("Metadata-Flavor", flavor)
			}
			w := httptest.NewRecorder()
			tokens.ServeHTTP(w, r)
			return w
		}
		w := get("Google")
		head := w.Result().Header
		if w.Code != tt.code || head.Get("Metadata-Flavor") != "Google" || head.Get("Cache-Control") != "no-store" ||
			!strings.Contains(head.Get("Content-Type"), tt.kind) {
			t.Errorf("%s: GET %s: %d %v, want %d and %s", tt.clients, tt.path, w.Code, head, tt.code, tt.kind)
		}
		body := w.Body.String()
		var of tokenBody
		if json.Unmarshal([]byte(body), &of) == nil && of.AccessToken != "" {
			if key, ok := tokens.Verify(of.AccessToken); key != "Key2" || !ok {
				t.Errorf("%s: the token is of %q, %v", tt.clients, key, ok)
			}
			body = strings.Replace(body, of.AccessToken, "TOKEN", 1)
		}
		if tt.kind == "json" {
			tt.body += "\n"
		}
		if body != tt.body {
			t.Errorf("%s: GET %s: %s\nwant %s", tt.clients, tt.path, body, tt.body)
		}
		// A page of a browser, or a server that is made to ask, cannot set the header.
		for _, flavor := range []string{"", "google", "Other"} {
			if w := get(flavor); strings.HasPrefix(tt.path, v1) && (w.Code != http.StatusForbidden ||
				strings.Contains(w.Body.String(), tokenPrefix)) {
				t.Errorf("GET %s with Metadata-Flavor %q: %d %s", tt.path, flavor, w.Code, w.Body)
			}
		}
	}
}

// Python's and Java's libraries get a token for what a service account has signed, by a POST of a form, and
// are told what is wrong with one in OAuth's words.
func TestExchange(t *testing.T) {
	dir := t.TempDir()
	if _, err := (Init{Dir: dir, Key: "Key1"}).Write(); err != nil {
		t.Fatal(err)
	}
	tokens, err := NewTokens(dir, NewAccounts(dir, Names(DefaultLocation, nil), nil), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var of serviceAccount
	text, err := os.ReadFile(filepath.Join(dir, Credentials))
	if err != nil || json.Unmarshal(text, &of) != nil {
		t.Fatal(err)
	}
	own, err := x509.ParsePKCS8PrivateKey(pemBytes(t, of.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	assertion, err := sign(own, of.PrivateKeyID, jwt.Claims{Issuer: of.ClientEmail, Subject: of.ClientEmail,
		Audience: jwt.Audience{of.TokenURI}, IssuedAt: jwt.NewNumericDate(now),
		Expiry: jwt.NewNumericDate(now.Add(time.Hour))}, map[string]any{"scope": cloudScope})
	if err != nil {
		t.Fatal(err)
	}
	const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	form := func(assertion string) string {
		return url.Values{"grant_type": {grant}, "assertion": {assertion}}.Encode()
	}
	for _, tt := range []struct {
		method, body string
		code         int
		want         string
	}{
		{"POST", form(assertion), 200, `"access_token":"memoryd-token.`},
		{"POST", form(assertion + "x"), 400, `"error":"invalid_grant"`},
		{"POST", form(""), 400, `"error":"invalid_grant"`},
		{"POST", "%", 400, "want a POST of a form with an assertion"},
		{"POST", form(strings.Repeat("a", maxAssertion)), 400, "want a POST of a form with an assertion"},
		{"GET", "", 400, "want a POST of a form with an assertion"},
	} {
		r := httptest.NewRequest(tt.method, "/token", strings.NewReader(tt.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		tokens.ServeHTTP(w, r)
		if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.want) ||
			w.Result().Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %.80s: %d %s, want %d %s", tt.method, tt.body, w.Code, w.Body, tt.code, tt.want)
		}
	}
}

func pemBytes(t *testing.T, text string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := readPEM(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// An account of a client's own key pair counts, and has no credentials here. Further accounts of a key
// overwrite none.
func TestAccounts(t *testing.T) {
	dir := t.TempDir()
	if _, err := (Init{Dir: dir, Key: "Key1"}).Write(); err != nil {
		t.Fatal(err)
	}
	own, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	public := func(key *rsa.PrivateKey) []byte {
		raw, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		return encodePEM("PUBLIC KEY", raw)
	}
	account := Account{Dir: dir, Key: "Key1", Name: "ci", Public: public(own)}
	if wrote, err := account.Write(); err != nil || len(wrote) != 1 {
		t.Fatalf("wrote %v, %v", wrote, err)
	}
	accounts := NewAccounts(dir, Names(DefaultLocation, nil), nil)
	token, err := sign(own, account.ID(), jwt.Claims{Audience: jwt.Audience{"https://localhost/"},
		IssuedAt: jwt.NewNumericDate(time.Now()), Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	if key, err := accounts.Verify(token); key != "Key1" || err != nil {
		t.Errorf("Verify: %q, %v", key, err)
	}
	for _, bad := range []Account{account, {Name: "go"}, {Name: "A"}, {Name: ""}, {Name: "weak", Public: public(weak)},
		{Name: "text", Public: []byte("text")}, {Name: "private", Public: encodePEM("PRIVATE KEY", nil)}} {
		bad.Dir, bad.Key = dir, "Key1"
		if wrote, err := bad.Write(); err == nil {
			t.Errorf("account %q wrote %v", bad.Name, wrote)
		}
	}
}
