// Package oidc checks the tokens of one issuer: JSON Web Tokens that an OpenID Connect
// provider signs. A [Verifier] finds the public keys of the issuer by discovery, keeps
// them, and tells by the claims of a token for which app and user it is, and what it may
// do there.
//
// Every token that is not valid gets one and the same error, which says nothing of what
// was wrong with it. The log has the reason at level debug.
package oidc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// AllUsers as Options.UserClaim makes every token one for all users of its app.
const AllUsers = "*"

// The defaults of Options.
const (
	DefaultUserClaim  = "sub"
	DefaultVerbsClaim = "scope"
)

// verbPrefix may stand before the name of a verb, so that the scopes of an issuer which
// serves many services are told apart.
const verbPrefix = "memoryd:"

const (
	// maxToken bounds a token, in bytes.
	maxToken = 16 << 10
	// maxSubject bounds the subject of a token, in bytes. OpenID Connect allows 255.
	maxSubject = 256
	// leeway is how far the clock of the issuer may be off.
	leeway = 30 * time.Second
)

// algorithms are those by which a token may be signed. None of them takes a secret that
// the issuer and memoryd share: with HS256, an attacker could sign by the public key.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Options configure New. Issuer, Audience, and one of App and AppClaim are required.
type Options struct {
	// Issuer is the URL of the issuer, as it is in the claim iss of its tokens. It is
	// https, or http on a loopback address.
	Issuer string
	// Audience must be among the values of the claim aud.
	Audience string
	// App is the app of all tokens.
	App string
	// AppClaim names the claim that has the app.
	AppClaim string
	// UserClaim names the claim that has the user. AllUsers stands for all users of the
	// app. Defaults to DefaultUserClaim.
	UserClaim string
	// VerbsClaim names the claim that has the verbs, as names with spaces between or as a
	// list of names. Each may begin with "memoryd:". Other words count as nothing.
	// Defaults to DefaultVerbsClaim.
	VerbsClaim string
	// Transport sends the requests to the issuer. Defaults to a copy of
	// http.DefaultTransport.
	Transport http.RoundTripper
	Now       func() time.Time // Defaults to time.Now.
	Log       *slog.Logger     // Defaults to discarding.
}

// Verifier checks tokens. It implements access.Verifier. All methods may be called
// concurrently.
type Verifier struct {
	opts     Options
	keys     *keys
	verified tokens
}

// New makes a Verifier. It asks the issuer nothing: Run does. The error is
// memory.ErrInvalid, and names the option.
func New(opts *Options) (*Verifier, error) {
	o := *opts
	o.UserClaim = cmp.Or(o.UserClaim, DefaultUserClaim)
	o.VerbsClaim = cmp.Or(o.VerbsClaim, DefaultVerbsClaim)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = defaultTransport()
	}
	if err := checkURL("issuer", o.Issuer, true); err != nil {
		return nil, err
	}
	switch {
	case o.Audience == "":
		return nil, fmt.Errorf("%w: audience: want the value that tokens for this memoryd have in aud",
			memory.ErrInvalid)
	case (o.App == "") == (o.AppClaim == ""):
		return nil, fmt.Errorf("%w: want either the app of all tokens, or the claim that has it", memory.ErrInvalid)
	case o.App == access.AllApps:
		return nil, fmt.Errorf("%w: app: tokens are for one app each, and not for %s", memory.ErrInvalid,
			access.AllApps)
	}
	if o.App != "" {
		if err := memory.ValidateID("app", o.App); err != nil {
			return nil, err
		}
	}
	cache, err := lru.New[[sha256.Size]byte, verified](maxVerified)
	return &Verifier{opts: o, keys: newKeys(&o), verified: tokens{cache}}, err
}

// checkURL allows http on loopback, which no other machine can read, if plain is set.
func checkURL(what, raw string, plain bool) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%w: %s %.200q: want a URL such as https://login.example.com", memory.ErrInvalid, what, raw)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#"):
		return fmt.Errorf("%w: %s %.200q: want a URL without password, query and fragment", memory.ErrInvalid, what,
			u.Redacted())
	case u.Scheme == "http" && !(plain && loopback(u.Hostname())):
		return fmt.Errorf("%w: %s %.200q: want https: others could replace the keys on the way", memory.ErrInvalid,
			what, raw)
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Verify implements access.Verifier. It asks the issuer only if the token is right in
// all but a key that is not known, and then waits for a few seconds at most. The error is
// memory.ErrUnavailable if the issuer does not answer.
func (v *Verifier) Verify(ctx context.Context, token string) (*access.Principal, error) {
	p, err := v.verify(ctx, token)
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, memory.ErrUnavailable):
		return nil, err
	}
	v.opts.Log.Debug("a token was refused", "why", err)
	return nil, access.Unauthenticated()
}

// Run fetches the keys of the issuer, and again from time to time, until ctx is over. A
// Verifier needs one Run.
func (v *Verifier) Run(ctx context.Context) { v.keys.run(ctx) }

// Note is the state of the issuer, for /readyz.
func (v *Verifier) Note() string { return v.keys.note() }

// Errors of tokens, for the log alone.
var (
	errLong      = errors.New("the token is too long")
	errKind      = errors.New("the token is of another kind than JWT and at+jwt, or has critical headers")
	errExpiry    = errors.New("the token has no exp")
	errSubject   = errors.New("sub is missing, too long, or no text of one line")
	errSignature = errors.New("no key of the issuer has made the signature")
)

// verify checks everything that needs no key first: who has no token of this issuer
// cannot make memoryd fetch its keys so easily.
func (v *Verifier) verify(ctx context.Context, token string) (*access.Principal, error) {
	if len(token) > maxToken {
		return nil, errLong
	}
	sum := sha256.Sum256([]byte(token))
	_, fetch := v.keys.all()
	if p := v.verified.get(sum, fetch, v.opts.Now()); p != nil {
		return p, nil
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, err
	}
	if len(parsed.Headers) != 1 || !plain(&parsed.Headers[0]) {
		return nil, errKind
	}
	var claims jwt.Claims
	var all map[string]any
	if err := parsed.UnsafeClaimsWithoutVerification(&claims, &all); err != nil {
		return nil, err
	}
	expected := jwt.Expected{Issuer: v.opts.Issuer, AnyAudience: jwt.Audience{v.opts.Audience}, Time: v.opts.Now()}
	if err := claims.ValidateWithLeeway(expected, leeway); err != nil {
		return nil, err
	}
	if claims.Expiry == nil {
		return nil, errExpiry
	}
	p, err := v.principal(claims.Subject, all)
	if err != nil {
		return nil, err
	}
	if err := v.checkSignature(ctx, parsed); err != nil {
		return nil, err
	}
	// By the keys as they were before: if others came meanwhile, it is verified again.
	v.verified.Add(sum, verified{p, claims.Expiry.Time().Add(leeway), fetch})
	return p, nil
}

// maxVerified bounds the tokens that are remembered as verified. One takes some 300 bytes.
const maxVerified = 10_000

// verified is a token that was verified: whose it is, until when it is valid, and by the
// keys of which fetch. A caller shows the same token many times, and a signature takes
// longer to check than most requests take.
type verified struct {
	principal *access.Principal
	until     time.Time
	fetch     int
}

// tokens are those verified last, by their SHA-256. The tokens themselves are not kept.
type tokens struct {
	*lru.Cache[[sha256.Size]byte, verified]
}

// get returns the principal of a token; nil if the token was not verified by these keys,
// or has expired.
func (t tokens) get(sum [sha256.Size]byte, fetch int, now time.Time) *access.Principal {
	was, ok := t.Get(sum)
	if !ok || was.fetch != fetch || !now.Before(was.until) {
		return nil
	}
	p := *was.principal
	return &p
}

// plain reports whether the header is that of an id token or an access token. A logout
// token, which has the same issuer, audience and subject, is neither. Nor is a token
// whose issuer says that it is valid only by rules which memoryd does not know.
func plain(h *jose.Header) bool {
	if _, ok := h.ExtraHeaders["crit"]; ok {
		return false
	}
	kind, given := h.ExtraHeaders[jose.HeaderType]
	if !given {
		return true
	}
	text, _ := kind.(string)
	text = strings.ToLower(text)
	return text == "jwt" || strings.TrimPrefix(text, "application/") == "at+jwt"
}

// checkSignature tries the keys that the token may be signed with. A token that names no
// key may be signed with any.
func (v *Verifier) checkSignature(ctx context.Context, token *jwt.JSONWebToken) error {
	kid, algorithm := token.Headers[0].KeyID, token.Headers[0].Algorithm
	signed := func() (ok, known bool) {
		all, _ := v.keys.all()
		for _, key := range all {
			if kid != "" && key.KeyID != kid {
				continue
			}
			known = known || kid != ""
			if key.Algorithm != "" && key.Algorithm != algorithm {
				continue
			}
			if token.Claims(&key) == nil {
				return true, true
			}
		}
		return false, known
	}
	ok, known := signed()
	if !ok && !known {
		if err := v.keys.renew(ctx); err != nil {
			return err
		}
		ok, _ = signed() // also if nothing was fetched now: a fetch may have ended since the first try
	}
	if !ok {
		return errSignature
	}
	return nil
}

// principal reads the claims.
func (v *Verifier) principal(subject string, claims map[string]any) (*access.Principal, error) {
	if subject == "" || len(subject) > maxSubject || !utf8.ValidString(subject) ||
		strings.ContainsFunc(subject, unicode.IsControl) {
		return nil, errSubject
	}
	p := &access.Principal{ID: "jwt:" + subject, App: v.opts.App, Can: verbs(claims[v.opts.VerbsClaim])}
	var err error
	if v.opts.AppClaim != "" {
		if p.App, err = id(claims, v.opts.AppClaim); err != nil {
			return nil, err
		}
	}
	if v.opts.UserClaim != AllUsers {
		if p.User, err = id(claims, v.opts.UserClaim); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// id is the claim that has an app or a user. It is never "*": that is a user or an app
// for those who read it as such only.
func id(claims map[string]any, name string) (string, error) {
	value, ok := claims[name].(string)
	if !ok {
		return "", fmt.Errorf("the claim %q is missing, or no text", name)
	}
	if value == access.AllApps {
		return "", fmt.Errorf("the claim %q is %s", name, value)
	}
	return value, memory.ValidateID("claim "+name, value)
}

// verbs are those among the words of a claim.
func verbs(claim any) (can access.Verbs) {
	add := func(word string) {
		if v, err := access.ParseVerbs([]string{strings.TrimPrefix(word, verbPrefix)}); err == nil {
			can |= v
		}
	}
	switch claim := claim.(type) {
	case string:
		for word := range strings.SplitSeq(claim, " ") {
			add(word)
		}
	case []any:
		for _, word := range claim {
			if word, ok := word.(string); ok {
				add(word)
			}
		}
	}
	return can
}
