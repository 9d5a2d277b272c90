package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/access/oidc"
)

// issuerConfig is what the flags say of the issuer of tokens. There is none if issuer
// is "".
type issuerConfig struct {
	issuer, audience                     string
	app, appClaim, userClaim, verbsClaim string
}

// issuerFlagNames are the flags of serve that are about the issuer of tokens.
func issuerFlagNames() []string {
	return []string{"oidc-issuer", "oidc-audience", "oidc-app", "oidc-app-claim", "oidc-user-claim",
		"oidc-verbs-claim"}
}

func issuerFlags(fs *flag.FlagSet, c *issuerConfig) {
	fs.StringVar(&c.issuer, "oidc-issuer", "",
		"`URL` of an OpenID Connect issuer whose tokens callers may show, such as https://login.example.com")
	fs.StringVar(&c.audience, "oidc-audience", "", "`VALUE` that must be in the claim aud of a token")
	fs.StringVar(&c.app, "oidc-app", "", "`APP` that all tokens are for")
	fs.StringVar(&c.appClaim, "oidc-app-claim", "", "`CLAIM` with the app that a token is for, instead of -oidc-app")
	fs.StringVar(&c.userClaim, "oidc-user-claim", oidc.DefaultUserClaim,
		"`CLAIM` with the user that a token is for; * makes every token one for all users of its app")
	fs.StringVar(&c.verbsClaim, "oidc-verbs-claim", oidc.DefaultVerbsClaim,
		"`CLAIM` with the verbs of a token: read, write, admin, each also with memoryd: before it")
}

// check refuses flags that do not go together. It asks the issuer nothing.
func (c *issuerConfig) check() error {
	if c.issuer == "" {
		if c.audience != "" || c.app != "" || c.appClaim != "" {
			return errors.New("-oidc-audience, -oidc-app and -oidc-app-claim are about the tokens of an issuer:" +
				" name it with -oidc-issuer")
		}
		return nil
	}
	_, err := c.verifier(nil)
	return err
}

// verifier makes the verifier of the issuer, nil if there is none.
func (c *issuerConfig) verifier(log *slog.Logger) (*oidc.Verifier, error) {
	if c.issuer == "" {
		return nil, nil
	}
	v, err := oidc.New(&oidc.Options{Issuer: c.issuer, Audience: c.audience, App: c.app, AppClaim: c.appClaim,
		UserClaim: c.userClaim, VerbsClaim: c.verbsClaim, Log: log})
	if err != nil {
		return nil, fmt.Errorf("-oidc-issuer %s: %w", c.issuer, err)
	}
	return v, nil
}

// verifier is that of the issuer as an interface, nil if there is none.
func (a *app) verifier() access.Verifier {
	if a.issuer == nil {
		return nil
	}
	return a.issuer
}
