package server

import "github.com/memoryd/memoryd/access"

// Need is what a route takes of its caller, for tests.
type Need struct {
	Method, Path string
	Open, AnyKey bool
	Verbs        access.Verbs
	Some         bool // one of Verbs suffices
}

// Needs returns what each route of the router takes.
func (s *Server) Needs() (out []Need) {
	for _, r := range s.echo.Routes() {
		n := s.needs[r.Method+" "+r.Path]
		out = append(out, Need{r.Method, r.Path, n.open, n.anyKey, n.verbs, n.some})
	}
	return out
}
