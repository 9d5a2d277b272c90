package server

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
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
		keys      = "/v1/apps/:app/keys"
		config    = "/v1/apps/:app/config"
		all       = "/v1/apps/:app/all/memories"
		shared    = "/v1/apps/:app/memories"
		oneShared = shared + "/:memory"
		documents = "/v1/apps/:app/documents"
		document  = documents + "/:document"
	)
	s.route("GET", "/", open, s.home)
	s.route("GET", "/console", open, s.console)
	s.route("GET", "/console/:file", open, s.console)
	s.route("HEAD", "/console", open, s.console)
	s.route("HEAD", "/console/:file", open, s.console)
	s.route("GET", "/livez", open, s.alive)
	s.route("GET", "/readyz", open, s.ready)
	s.route("HEAD", "/livez", open, s.aliveHead)
	s.route("HEAD", "/readyz", open, s.ready)
	s.route("GET", "/metrics", anyKey, s.metrics.serve)
	s.route("GET", "/openapi.json", anyKey, s.openAPI)

	s.route("GET", "/v1/apps", admin, s.listApps, "pageSize", "pageToken")
	s.route("DELETE", "/v1/apps/:app", erases, s.eraseApp, "confirm", "dryRun")
	s.route("GET", "/v1/apps/:app/users", admin, s.listUsers, "pageSize", "pageToken")
	s.route("DELETE", scope, erases, withScope(s.eraseUser), "confirm", "dryRun")
	s.route("POST", session+"/erase", erases, withSession(s.eraseSession))
	s.route("GET", "/v1/apps/:app/sessions", admin, s.listAppSessions, "state", "filter", "orderBy", "pageSize",
		"pageToken")
	s.route("GET", "/v1/apps/:app/sessions/:session", admin, s.findSession,
		"numRecentEvents", "after", "state", "pageSize", "pageToken")
	s.route("POST", sessions, write, withScope(s.createSession))
	s.route("GET", sessions, read, withScope(s.listSessions), "state", "filter", "orderBy", "pageSize", "pageToken")
	s.route("GET", scope+"/state", read, withScope(s.getState))
	s.route("GET", session, read, withSession(s.getSession),
		"numRecentEvents", "after", "state", "pageSize", "pageToken")
	s.route("PATCH", session, write, withSession(s.patchSession))
	s.route("DELETE", session, write, withSession(s.deleteSession))
	s.route("POST", session+"/events", write, withSession(s.appendEvents), "outputKey")
	s.route("POST", session+"/memories", write, withSession(s.addSession), "wait")
	s.route("POST", session+"/render", read, withSession(s.render))

	s.route("POST", memories+"/ingest", write, withScope(s.ingestEvents), "wait")
	s.route("POST", memories+"/dryRun", read, withScope(s.dryRun))
	s.route("POST", memories+"/search", read, withScope(s.search))
	s.route("POST", memories+"/context", read, withScope(s.promptContext))
	s.route("POST", memories, write, withScope(s.addMemory))
	s.route("GET", memories, read, withScope(s.listMemories),
		listQuery...)
	s.route("GET", scope+"/counts", read, withScope(s.counts))
	s.route("GET", scope+"/limits", read, withScope(s.userLimits))
	s.route("GET", scope+"/profiles", read, withScope(s.profiles), "ids")
	s.route("GET", oneMemory, read, withMemory(s.getMemory))
	s.route("PATCH", oneMemory, write, withMemory(s.patchMemory))
	s.route("DELETE", oneMemory, write, withMemory(s.deleteMemory))
	s.route("GET", oneMemory+"/revisions", read, withMemory(s.listRevisions), "filter", "pageSize", "pageToken")
	s.route("POST", oneMemory+"/rollback", write, withMemory(s.rollbackMemory))
	s.route("POST", oneMemory+"/review", write, withMemory(s.reviewMemory))

	s.route("POST", oneMemory+"/erase", erases, withMemory(s.eraseMemory))
	s.route("POST", memories+"/purge", admin, withScope(s.purge))
	s.route("GET", all, admin, s.listAppMemories, appListQuery...)
	s.route("GET", all+"/:memory", admin, s.getAppMemory)
	s.route("POST", all+"/purge", admin, s.purgeApp)

	s.route("POST", shared+"/search", admin, withShared(s.search))
	s.route("POST", shared+"/context", admin, withShared(s.promptContext))
	s.route("POST", shared, admin, withShared(s.addMemory))
	s.route("GET", shared, admin, withShared(s.listMemories), listQuery...)
	s.route("POST", shared+"/purge", admin, withShared(s.purge))
	s.route("POST", documents, admin, withShared(s.putDocument))
	s.route("GET", documents, admin, withShared(s.listDocuments), "pageSize", "pageToken")
	s.route("GET", document, admin, withDocument(s.getDocument))
	s.route("DELETE", document, admin, withDocument(s.deleteDocument))
	s.route("POST", document+"/erase", erases, withDocument(s.eraseDocument))
	s.route("GET", oneShared, admin, withSharedMemory(s.getMemory))
	s.route("PATCH", oneShared, admin, withSharedMemory(s.patchMemory))
	s.route("DELETE", oneShared, admin, withSharedMemory(s.deleteMemory))
	s.route("GET", oneShared+"/revisions", admin, withSharedMemory(s.listRevisions), "filter", "pageSize", "pageToken")
	s.route("POST", oneShared+"/rollback", admin, withSharedMemory(s.rollbackMemory))
	s.route("POST", oneShared+"/erase", erases, withSharedMemory(s.eraseMemory))

	s.route("GET", "/v1/apps/:app/audit", admin, s.listAudit, "userId", "since", "until", "pageSize", "pageToken")
	s.route("GET", "/v1/apps/:app/limits", admin, s.appLimits)
	s.route("GET", config, admin, s.getConfig)
	s.route("PUT", config, admin, s.putConfig)
	s.route("POST", keys, admin, s.withKeys(s.createKey))
	s.route("GET", keys, admin, s.withKeys(s.listKeys), "pageSize", "pageToken")
	s.route("DELETE", keys+"/:key", admin, s.withKeys(s.revokeKey))
	s.route("POST", keys+"/:key/rotate", admin, s.withKeys(s.rotateKey))

	s.route("POST", "/v1/backup", admin, s.backup, "store")

	s.route("GET", "/v1/tools", anyKey, s.listTools)
	s.route("POST", scope+"/tools/:tool", byTool, withScope(s.callTool))
	s.route("POST", "/mcp/apps/:app/users/:user", byTool, withScope(s.mcp))
	s.route("POST", scope+"/mcp", byTool, withScope(s.mcp)) // for hosts that want a URL with this ending

	s.route("GET", scope+"/operations", read, withScope(s.listOperations), "pageSize", "pageToken")
	s.route("GET", "/v1/apps/:app/operations", admin, s.listAppOperations, "state", "userId", "pageSize", "pageToken")
	s.route("GET", operation, read, withOperation(s.getOperation))
	s.route("POST", operation+"/retry", write, withOperation(s.retryOperation))
	s.route("POST", operation+"/confirm", write, withOperation(s.confirmOperation), "wait")
	s.route("POST", operation+"/rollback", write, withOperation(s.rollbackOperation), "wait")
}

// need is what a route takes of its caller. Each route declares one: the zero value
// refuses everybody, so that a route without one does not go unnoticed.
type need struct {
	open  bool         // takes nothing
	verbs access.Verbs // in the scope of the path: that of an app, or of all apps, where it names no user
	// some has one of verbs suffice: the handler asks for the one that its call takes.
	some bool
	// late has the handler begin the entry in the audit log, as it knows what the call is.
	late bool
	// anyKey takes a valid key, whatever it may do.
	anyKey bool
}

var (
	open   = need{open: true}
	anyKey = need{anyKey: true}
	read   = need{verbs: access.Read}
	write  = need{verbs: access.Write}
	admin  = need{verbs: access.Admin}
	erases = need{verbs: access.Admin, late: true}
	byTool = need{verbs: access.Read | access.Write, some: true}
)

// route adds a route that takes exactly the query parameters in params, each
// once; kind and topic may be repeated. A parameter that is misspelt is refused,
// since ignoring a filter would answer with more than the client asked for. The route
// is described in openapi.json.
func (s *Server) route(method, path string, takes need, h echo.HandlerFunc, params ...string) {
	s.needs[method+" "+path] = takes
	s.routes = append(s.routes, declaration{method, path, takes, params})
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
