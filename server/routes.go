package server

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

func (s *Server) addRoutes() {
	const (
		scope     = "/v1/apps/:app/users/:user"
		sessions  = scope + "/sessions"
		session   = sessions + "/:session"
		memories  = scope + "/memories"
		oneMemory = memories + "/:memory"
		operation = "/v1/operations/:operation"
	)
	s.route("GET", "/", s.home)
	s.route("GET", "/livez", s.alive)
	s.route("GET", "/readyz", s.ready)
	s.route("HEAD", "/livez", s.aliveHead)
	s.route("HEAD", "/readyz", s.ready)
	s.route("GET", "/metrics", s.metrics.serve)

	s.route("GET", "/v1/apps/:app/sessions", s.listAppSessions, "state", "pageSize", "pageToken")
	s.route("POST", sessions, withScope(s.createSession))
	s.route("GET", sessions, withScope(s.listSessions), "state", "pageSize", "pageToken")
	s.route("GET", session, withSession(s.getSession),
		"numRecentEvents", "after", "state", "pageSize", "pageToken")
	s.route("PATCH", session, withSession(s.patchSession))
	s.route("DELETE", session, withSession(s.deleteSession))
	s.route("POST", session+"/events", withSession(s.appendEvents), "outputKey")
	s.route("POST", session+"/memories", withSession(s.addSession), "wait")
	s.route("POST", session+"/render", withSession(s.render))

	s.route("POST", memories+"/ingest", withScope(s.ingestEvents), "wait")
	s.route("POST", memories+"/dryRun", withScope(s.dryRun))
	s.route("POST", memories+"/search", withScope(s.search))
	s.route("POST", memories+"/context", withScope(s.promptContext))
	s.route("POST", memories, withScope(s.addMemory))
	s.route("GET", memories, withScope(s.listMemories),
		"kind", "topic", "sessionId", "history", "orderBy", "pageSize", "pageToken")
	s.route("GET", oneMemory, withMemory(s.getMemory))
	s.route("PATCH", oneMemory, withMemory(s.patchMemory))
	s.route("DELETE", oneMemory, withMemory(s.deleteMemory))
	s.route("GET", oneMemory+"/revisions", withMemory(s.listRevisions), "pageSize", "pageToken")
	s.route("POST", oneMemory+"/rollback", withMemory(s.rollbackMemory))

	s.route("POST", "/v1/backup", s.backup, "store")

	s.route("GET", "/v1/tools", s.listTools)
	s.route("POST", scope+"/tools/:tool", withScope(s.callTool))
	s.route("POST", "/mcp/apps/:app/users/:user", withScope(s.mcp))
	s.route("POST", scope+"/mcp", withScope(s.mcp)) // for hosts that want a URL with this ending

	s.route("GET", scope+"/operations", withScope(s.listOperations), "pageSize", "pageToken")
	s.route("GET", operation, withOperation(s.getOperation))
	s.route("POST", operation+"/retry", withOperation(s.retryOperation))
	s.route("POST", operation+"/confirm", withOperation(s.confirmOperation), "wait")
}

// route adds a route that takes exactly the query parameters in params, each
// once; kind and topic may be repeated. A parameter that is misspelt is refused,
// since ignoring a filter would answer with more than the client asked for.
func (s *Server) route(method, path string, h echo.HandlerFunc, params ...string) {
	s.echo.Add(method, path, func(c echo.Context) error {
		// net/http drops pairs that it cannot parse, without an error.
		query, err := url.ParseQuery(c.Request().URL.RawQuery)
		if err != nil {
			return invalid("query string %.100q: %v", c.Request().URL.RawQuery, err)
		}
		for name, values := range query {
			if !slices.Contains(params, name) {
				return invalid("unknown query parameter %.60q", name)
			}
			if len(values) > 1 && name != "kind" && name != "topic" {
				return invalid("query parameter %q is given twice", name)
			}
			if !utf8.ValidString(strings.Join(values, "")) {
				return invalid("query parameter %q is not valid UTF-8", name)
			}
		}
		return h(c)
	})
}

// pathParam returns a segment of the path, unescaped once, and checks that it is
// an id.
func pathParam(c echo.Context, name string) (string, error) {
	v, err := url.PathUnescape(c.Param(name))
	if err != nil {
		return "", invalid("path: %v", err)
	}
	return v, memory.ValidateID(name, v)
}

// withScope passes the scope in the path to h.
func withScope(h func(echo.Context, memory.Scope) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		app, err := pathParam(c, "app")
		if err != nil {
			return err
		}
		user, err := pathParam(c, "user")
		if err != nil {
			return err
		}
		return h(c, memory.Scope{App: app, User: user})
	}
}

// withSession passes the key of the session in the path to h.
func withSession(h func(echo.Context, sessionstore.Key) error) echo.HandlerFunc {
	return withScope(func(c echo.Context, scope memory.Scope) error {
		id, err := pathParam(c, "session")
		if err != nil {
			return err
		}
		return h(c, sessionstore.Key{Scope: scope, ID: id})
	})
}

// withMemory passes the scope and the id of the memory in the path to h.
func withMemory(h func(echo.Context, memory.Scope, string) error) echo.HandlerFunc {
	return withScope(func(c echo.Context, scope memory.Scope) error {
		id, err := pathParam(c, "memory")
		if err != nil {
			return err
		}
		return h(c, scope, id)
	})
}

// withOperation passes the id of the operation in the path to h, and the scope
// that the id contains. A malformed id answers 404.
func withOperation(h func(echo.Context, memory.Scope, string) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := url.PathUnescape(c.Param("operation"))
		if err != nil {
			return invalid("path: %v", err)
		}
		scope, err := sessionstore.OperationScope(id)
		if err != nil {
			return err
		}
		return h(c, scope, id)
	}
}
