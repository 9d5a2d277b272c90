package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
)

// AuditOptions configure the audit log. It is kept once callers show keys: before that
// all callers are one.
type AuditOptions struct {
	// To keeps the entries. Defaults to none: then there is no audit log.
	To access.Audit
	// Reads adds an entry for each request that reads in a scope. Without it the
	// configuration of the app decides; changes, and what takes the verb admin, are
	// always told of.
	Reads bool
	// Lines gets each entry too, as a line of JSON. Defaults to none.
	Lines io.Writer
}

// auditLog tells of requests what package access says of entries.
type auditLog struct {
	opts AuditOptions
	log  *slog.Logger

	mu     sync.Mutex
	ended  []access.Entry // that are not stored yet
	lines  sync.Mutex     // guards opts.Lines
	unsaid int            // of ended, those that had no room
}

const (
	// endedTime is how soon after its change the second entry of it is stored.
	endedTime = 200 * time.Millisecond
	// maxEnded bounds the second entries that wait, while the store does not take any.
	maxEnded = 10_000
	// dryRun follows the action of a call that only counts what it would do.
	dryRun = "dryRun"
	// entryKey is where a request has its *access.Entry.
	entryKey = "entry"
)

// newAuditLog returns nil if there is to be no audit log.
func newAuditLog(opts AuditOptions, log *slog.Logger) *auditLog {
	if opts.To == nil {
		return nil
	}
	return &auditLog{opts: opts, log: log}
}

// append stores entries.
func (a *auditLog) append(ctx context.Context, entries ...access.Entry) error {
	if err := a.opts.To.AppendAudit(ctx, entries); err != nil {
		return err
	}
	if a.opts.Lines == nil {
		return nil
	}
	a.lines.Lock()
	defer a.lines.Unlock()
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = a.opts.Lines.Write(append(line, '\n'))
		}
		if err != nil {
			a.log.Error("an entry of the audit log was not written to its file; the store has it", "entry", e.ID,
				"err", err)
		}
	}
	return nil
}

// end has the last entry of a request stored soon. The request does not wait for it.
func (a *auditLog) end(e access.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.ended) < maxEnded {
		a.ended = append(a.ended, e)
	} else {
		a.unsaid++
	}
}

// run stores last entries until ctx is over, and then those that are left.
func (a *auditLog) run(ctx context.Context) {
	tick := time.NewTicker(endedTime)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		a.flush(context.WithoutCancel(ctx))
	}
}

// flush stores the last entries that wait. They stay if the store does not take them.
func (a *auditLog) flush(ctx context.Context) {
	a.mu.Lock()
	ended, unsaid := a.ended, a.unsaid
	a.ended, a.unsaid = nil, 0
	a.mu.Unlock()
	if unsaid > 0 {
		a.log.Warn("how requests ended is missing in the audit log: the store took no entries", "entries", unsaid)
	}
	if len(ended) == 0 {
		return
	}
	if err := a.append(ctx, ended...); err != nil {
		a.log.Warn("how requests ended was not stored in the audit log yet", "err", err)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ended = append(ended, a.ended...)
	}
}

// account tells the audit log of a request: before its handler if it may change
// something, and after it. A change that cannot be told of is not made.
func (s *Server) account(next echo.HandlerFunc) echo.HandlerFunc {
	if s.audit == nil {
		return next
	}
	return func(c echo.Context) error {
		takes := s.needs[c.Request().Method+" "+c.Path()]
		if !takes.some && !takes.late { // else the handler begins, once it is known what the call does
			if err := s.beginEntry(c, takes.verbs, ""); err != nil {
				return err
			}
		}
		err := next(c)
		e, ok := c.Get(entryKey).(*access.Entry)
		if !ok {
			return err
		}
		e.Time, e.Outcome, e.Status = time.Now(), access.Done, c.Response().Status
		if err != nil && !c.Response().Committed {
			e.Status = describe(err, "").Code
		}
		if err != nil || e.Status >= http.StatusBadRequest {
			e.Outcome = access.Failed
		}
		s.audit.end(*e)
		return err
	}
}

// beginEntry makes the entry of a request whose caller has shown a key, if the log tells
// of such requests. what says more than the route.
func (s *Server) beginEntry(c echo.Context, verbs access.Verbs, what string) error {
	p := callerOf(c)
	if s.audit == nil || p == nil || p == access.Owner || verbs == 0 {
		return nil
	}
	scope, _ := requestScope(c)
	if verbs == access.Read && !s.tellsReads(c, scope.App) {
		return nil
	}
	param := func(name string) string {
		v, _ := url.PathUnescape(c.Param(name)) // the handler refuses what is malformed
		return v
	}
	now := time.Now()
	e := &access.Entry{ID: uuid.NewString(), Time: now, Outcome: access.Begun, Actor: p.ID,
		Action: strings.TrimSpace(c.Request().Method + " " + actionPath(c.Path()) + " " + what),
		App:    scope.App, User: scope.User, Session: param("session"), Operation: param("operation"),
		Key:     param("key"),
		Request: requestID(c)}
	if from := s.clientOf(c.Request()); from.IsValid() {
		e.Address = from.String()
	}
	if id := param("memory"); id != "" {
		e.Memories = []string{id}
	}
	if e.App == "" {
		e.App = access.AllApps
	}
	c.Set(entryKey, e)
	if verbs&access.Write == 0 && c.Request().Method == http.MethodGet || verbs == access.Read || what == dryRun {
		return nil // it changes nothing: how it ended says all
	}
	return s.audit.append(c.Request().Context(), *e)
}

// tellsReads reports whether the log has an entry for a request that reads in an app: it
// has one of every app, or the configuration of the app asks for it.
func (s *Server) tellsReads(c echo.Context, app string) bool {
	return s.audit.opts.Reads || s.ingest.Configs().Known(c.Request().Context(), app).Audit.Reads
}

// note adds to the entry of a request, if it has one.
func note(c echo.Context, add func(*access.Entry)) {
	if e, ok := c.Get(entryKey).(*access.Entry); ok {
		add(e)
	}
}

// actionPath is the path of a route as the audit log and the pages write it.
func actionPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "/v1/apps/:app/users/:user"); ok {
		path = "{scope}" + rest
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// Account tells the audit log of the facts that ingestion is about to change, while
// callers show keys.
func (s *Server) Account(ctx context.Context, a ingest.Accounted) error {
	if s.audit == nil || s.ring == nil || !s.ring.WasClosed() {
		return nil
	}
	return s.audit.append(ctx, access.Entry{ID: a.ID, Time: time.Now(), Outcome: access.Begun, Actor: access.System.ID,
		Action: "make memories", App: a.Key.App, User: a.Key.User, Session: a.Key.ID, Operation: a.Operation,
		Memories: a.Facts})
}

// listAudit answers GET /v1/apps/{app}/audit.
func (s *Server) listAudit(c echo.Context) (err error) {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	if s.audit == nil {
		return invalid("this memoryd keeps no audit log (-audit)")
	}
	list := access.ListAudit{User: c.QueryParam("userId"), PageToken: c.QueryParam("pageToken")}
	if list.PageSize, err = pageSizeParam(c); err != nil {
		return err
	}
	if list.Since, err = timeParam(c, "since"); err != nil {
		return err
	}
	if list.Until, err = timeParam(c, "until"); err != nil {
		return err
	}
	page, err := s.opts.Audit.To.ListAudit(c.Request().Context(), app, list)
	if err != nil {
		return err
	}
	out := struct {
		Entries       []auditBody `json:"entries"`
		NextPageToken string      `json:"nextPageToken,omitzero"`
	}{[]auditBody{}, page.NextPageToken}
	for _, e := range page.Entries {
		out.Entries = append(out.Entries, auditBody{jsonTime{e.Time}, e})
	}
	return sendJSON(c, http.StatusOK, out)
}

// auditBody is the JSON of an entry, with its time as answers have it.
type auditBody struct {
	Time jsonTime `json:"time"`
	access.Entry
}
