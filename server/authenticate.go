package server

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// authenticate finds out who calls, and refuses a caller that may not use the route in
// the scope that the path names. Behind it the context of the request has the
// principal, with the verbs of the route alone: package guard holds every call of a
// store to that. Callers of an open route show nothing.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		takes, known := s.needs[c.Request().Method+" "+c.Path()]
		if takes.open {
			return next(c)
		}
		if access.From(c.Request().Context()) != nil {
			c.Set(trustedKey, true)
		}
		p, err := s.caller(c.Request())
		if errors.Is(err, access.ErrUnauthenticated) {
			c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="memoryd"`)
		}
		if err != nil {
			return err
		}
		c.Set(callerKey, p)
		if !known {
			return next(c) // the router's own 404 or 405
		}
		if err := takes.check(c, p); err != nil {
			return err
		}
		s.become(c, p.For(takes.verbs))
		return next(c)
	}
}

const (
	callerKey  = "caller"  // the *access.Principal of a request, with all its verbs
	trustedKey = "trusted" // set if the context of the request came with a principal
)

// callerOf returns who makes a request; nil before authenticate and on an open route.
func callerOf(c echo.Context) *access.Principal {
	p, _ := c.Get(callerKey).(*access.Principal)
	return p
}

// caller returns who makes a request. A principal that its context has already was put
// there by this process, for a call that came over no network or over a socket that
// only the owner can write to.
func (s *Server) caller(r *http.Request) (*access.Principal, error) {
	if p := access.From(r.Context()); p != nil {
		return p, nil
	}
	if s.ring == nil {
		return access.Owner, nil
	}
	return s.ring.Authenticate(r.Context(), ShownKey(r))
}

// ShownKey is the key or the token in the header of a request; "" if there is none, or
// if two of them differ.
func ShownKey(r *http.Request) string {
	shown := ""
	for _, value := range r.Header.Values(echo.HeaderAuthorization) {
		scheme, rest, _ := strings.Cut(value, " ")
		if !strings.EqualFold(scheme, "Bearer") || shown != "" {
			return ""
		}
		shown = strings.TrimSpace(rest)
	}
	for _, value := range r.Header.Values("X-Goog-Api-Key") {
		if shown != "" && shown != value {
			return ""
		}
		shown = value
	}
	return shown
}

// check refuses a principal that may not use a route in the scope of its path.
func (n need) check(c echo.Context, p *access.Principal) error {
	if n.anyKey {
		return nil
	}
	if n.verbs == 0 {
		return access.ErrDenied // the route declares nothing
	}
	scope, ok := requestScope(c)
	if !ok && c.Param("operation") != "" {
		return nil // an id that no operation has: the handler answers 404
	}
	verbs := n.verbs
	if n.some {
		if verbs &= p.Can; verbs == 0 {
			verbs = n.verbs
		}
	}
	return p.Check(scope, verbs)
}

// permit refuses a caller that lacks a verb which depends on more than the route, and
// gives the request that verb alone. what says in the audit log which call it is.
func (s *Server) permit(c echo.Context, scope memory.Scope, verbs access.Verbs, what string) error {
	p := callerOf(c)
	if err := p.Check(scope, verbs); err != nil {
		return err
	}
	if err := s.beginEntry(c, verbs, what); err != nil {
		return err
	}
	s.become(c, p.For(verbs))
	return nil
}

// stillMay refuses the caller of a stream whose key is no longer valid.
func (s *Server) stillMay(c echo.Context) error {
	if s.ring == nil || c.Get(trustedKey) != nil {
		return nil
	}
	p, err := s.ring.Authenticate(c.Request().Context(), ShownKey(c.Request()))
	if err != nil {
		return err
	}
	return s.needs[c.Request().Method+" "+c.Path()].check(c, p)
}

// become gives the context of a request a principal.
func (s *Server) become(c echo.Context, p *access.Principal) {
	c.SetRequest(c.Request().WithContext(access.With(c.Request().Context(), p)))
}
