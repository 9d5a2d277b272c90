package vertexauth

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// errToken is the error of a token that is none of a service account of the directory.
var errToken = errors.New("that is no token of a service account of this memoryd")

// Accounts knows the public keys of service accounts.
type Accounts struct {
	dir string
	// audiences are the names that a token may be for.
	audiences []string
	now       func() time.Time
}

// cloudScope is the scope that clients of Google's services ask for.
const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

// maxLife bounds how long a token that a client has signed is valid.
const maxLife = time.Hour + time.Minute

// NewAccounts returns the accounts of a directory. names are those of the certificate: a token must
// be for one of them, or for the endpoint of tokens.
func NewAccounts(dir string, names []string, now func() time.Time) *Accounts {
	if now == nil {
		now = time.Now
	}
	return &Accounts{dir: dir, audiences: names, now: now}
}

// accountID is the id of an account: that of its key, and behind a hyphen its name.
var accountID = regexp.MustCompile(`^[0-9A-Za-z]{1,64}(-[a-z0-9]{1,32})?$`)

// public reads the public key of an account. It is read each time: an account that was removed
// counts no longer, and one that was added does.
func (a *Accounts) public(id string) (*rsa.PublicKey, error) {
	if !accountID.MatchString(id) {
		return nil, errToken
	}
	raw, err := readPEM(filepath.Join(a.dir, accountsPath, id+".pem"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errToken
	}
	if err != nil {
		return nil, err
	}
	public, err := x509.ParsePKIXPublicKey(raw)
	if err != nil {
		return nil, err
	}
	of, ok := public.(*rsa.PublicKey)
	if !ok {
		return nil, errToken
	}
	return of, nil
}

// Verify returns the id of the key of memoryd that a signed token stands for. The token must be
// signed by the key of a service account, be for memoryd and be valid for an hour at most.
func (a *Accounts) Verify(token string) (key string, err error) {
	return a.verify(token, func(audience string, scopes []string) bool {
		if audience == "" { // Go's library names scopes in its place, in a universe of its own
			return slices.Contains(scopes, cloudScope)
		}
		host, ok := strings.CutPrefix(audience, "https://")
		return ok && slices.Contains(a.audiences, strings.TrimSuffix(host, "/"))
	})
}

// verify is Verify for the audiences that fit.
func (a *Accounts) verify(token string, fits func(audience string, scopes []string) bool) (key string, err error) {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || len(parsed.Headers) != 1 {
		return "", errToken
	}
	public, err := a.public(parsed.Headers[0].KeyID)
	if err != nil {
		return "", err
	}
	var claims jwt.Claims
	var more struct {
		Scope string `json:"scope"`
	}
	if err := parsed.Claims(public, &claims, &more); err != nil {
		return "", errToken
	}
	audiences := claims.Audience
	if len(audiences) == 0 {
		audiences = jwt.Audience{""}
	}
	now := a.now()
	switch {
	case claims.Expiry == nil || claims.IssuedAt == nil:
		return "", errToken
	case claims.ValidateWithLeeway(jwt.Expected{Time: now}, time.Minute) != nil:
		return "", fmt.Errorf("%w: it has expired, or the clocks differ", errToken)
	case claims.Expiry.Time().Sub(now) > maxLife:
		return "", fmt.Errorf("%w: it is valid for more than an hour", errToken)
	case !slices.ContainsFunc(audiences, func(to string) bool { return fits(to, strings.Fields(more.Scope)) }):
		return "", fmt.Errorf("%w: it is for another service", errToken)
	}
	return keyOf(parsed.Headers[0].KeyID), nil
}

// Known reports whether a token names an account of the directory as its signer.
func (a *Accounts) Known(token string) bool {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || len(parsed.Headers) != 1 {
		return false
	}
	_, err = a.public(parsed.Headers[0].KeyID)
	return err == nil
}

// Sign makes a token with the service account of a directory, as Go's clients do.
func Sign(dir, location string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, Credentials))
	if err != nil {
		return "", err
	}
	var of serviceAccount
	if err := json.Unmarshal(text, &of); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, Credentials), err)
	}
	block, _ := pem.Decode([]byte(of.PrivateKey))
	if block == nil {
		return "", fmt.Errorf("%s: it has no private key", filepath.Join(dir, Credentials))
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, Credentials), err)
	}
	return sign(key, of.PrivateKeyID, jwt.Claims{Issuer: of.ClientEmail, Subject: of.ClientEmail,
		Audience: jwt.Audience{"https://" + Names(location, nil)[0] + "/"},
		IssuedAt: jwt.NewNumericDate(time.Now()), Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))})
}

// sign makes a token of claims.
func sign(key any, id string, claims ...any) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", id))
	if err != nil {
		return "", err
	}
	token := jwt.Signed(signer)
	for _, c := range claims {
		token = token.Claims(c)
	}
	return token.Serialize()
}
