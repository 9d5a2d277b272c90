package vertexauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Tokens makes the tokens that clients ask for: at the endpoint of OAuth, in exchange for an
// assertion that a service account has signed, and as a metadata server.
type Tokens struct {
	accounts *Accounts
	secret   []byte
	// metadata is the id of the key of memoryd that tokens of the metadata server stand for; ""
	// if there are none but those of no key.
	metadata string
	now      func() time.Time
}

const (
	tokenPrefix = "memoryd-token."
	tokenTime   = time.Hour
	project     = "memoryd"
	// maxAssertion bounds the body of a request for a token, in bytes.
	maxAssertion = 16 << 10
)

// NewTokens makes Tokens. Their secret comes from the key of the certificate, so that every memoryd
// with that certificate knows the tokens of the others.
func NewTokens(dir string, accounts *Accounts, metadata string, now func() time.Time) (*Tokens, error) {
	key, err := os.ReadFile(filepath.Join(dir, KeyFile))
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("memoryd tokens")) // never fails
	if now == nil {
		now = time.Now
	}
	return &Tokens{accounts: accounts, secret: mac.Sum(nil), metadata: metadata, now: now}, nil
}

// mint makes a token for a key of memoryd.
func (t *Tokens) mint(key string) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(t.now().Add(tokenTime+time.Minute).Unix()))
	text = append(text, key...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(text) + "." +
		base64.RawURLEncoding.EncodeToString(t.sign(text))
}

func (t *Tokens) sign(text []byte) []byte {
	mac := hmac.New(sha256.New, t.secret)
	mac.Write(text)
	return mac.Sum(nil)
}

// Verify returns the id of the key of memoryd that a token stands for. ok is false for what Tokens
// have not made, and for a token that has expired.
func (t *Tokens) Verify(token string) (key string, ok bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	text, sum, ok2 := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	mac, err2 := base64.RawURLEncoding.DecodeString(sum)
	if !ok || !ok2 || err != nil || err2 != nil || len(raw) < 8 || !hmac.Equal(mac, t.sign(raw)) {
		return "", false
	}
	if t.now().Unix() >= int64(binary.BigEndian.Uint64(raw)) {
		return "", false
	}
	return string(raw[8:]), true
}

// tokenBody is the answer of both endpoints, as OAuth has it.
type tokenBody struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   int    `json:"expires_in"`
	TokenType   string `json:"token_type"`
}

func (t *Tokens) body(key string) tokenBody {
	return tokenBody{t.mint(key), int(tokenTime.Seconds()), "Bearer"}
}

// ServeHTTP answers requests for tokens, and those of a metadata server, as far as clients make
// them.
func (t *Tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Metadata-Flavor", "Google")
	w.Header().Set("Cache-Control", "no-store")
	const account = "/computeMetadata/v1/instance/service-accounts/default/"
	const accounts = "/computeMetadata/v1/instance/service-accounts/"
	path, recursive := r.URL.Path, r.URL.Query().Get("recursive") == "true"
	if strings.HasPrefix(path, "/computeMetadata/") && r.Header.Get("Metadata-Flavor") != "Google" {
		http.Error(w, "the header Metadata-Flavor: Google is missing", http.StatusForbidden)
		return
	}
	// A client asks for one file, or with recursive=true for all below a directory as JSON. Directories are
	// listed as far as clients look into them, and have a slash at their end or none.
	switch path {
	case "/token":
		t.exchange(w, r)
	case "/", "/computeMetadata/", "/computeMetadata/v1/":
		text(w, "computeMetadata/\n")
	case "/computeMetadata/v1/instance", "/computeMetadata/v1/instance/":
		text(w, "service-accounts/\n") // JavaScript's clients ask for this to see whether there is a server
	case "/computeMetadata/v1/project/project-id":
		text(w, project)
	case accounts, strings.TrimSuffix(accounts, "/"):
		if !recursive { // Java's library reads the address of the account from here
			text(w, "default/\n")
			return
		}
		answer(w, map[string]any{"default": theAccount()})
	case account, strings.TrimSuffix(account, "/"):
		if !recursive {
			text(w, "email\nscopes\ntoken\n")
			return
		}
		answer(w, theAccount())
	case account + "email":
		text(w, "memoryd@"+Universe)
	case account + "scopes":
		text(w, cloudScope+"\n")
	case account + "token":
		key := t.metadata
		if key == "" {
			key = NoKey
		}
		answer(w, t.body(key))
	default:
		http.NotFound(w, r)
	}
}

// theAccount is the one service account of the metadata server, as JSON of all that is under it.
func theAccount() map[string]any {
	return map[string]any{"aliases": []string{"default"}, "email": "memoryd@" + Universe,
		"scopes": []string{cloudScope}}
}

// exchange gives a token for a signed assertion.
func (t *Tokens) exchange(w http.ResponseWriter, r *http.Request) {
	refuse := func(why string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": why})
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxAssertion)
	if r.Method != http.MethodPost || r.ParseForm() != nil {
		refuse("want a POST of a form with an assertion")
		return
	}
	key, err := t.accounts.verify(r.PostForm.Get("assertion"), func(audience string, _ []string) bool {
		return strings.HasSuffix(audience, "/token")
	})
	if err != nil {
		refuse(err.Error())
		return
	}
	answer(w, t.body(key))
}

func text(w http.ResponseWriter, s string) {
	w.Header().Set("Content-Type", "application/text")
	fmt.Fprint(w, s)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has left is no error
}
