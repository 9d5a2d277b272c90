package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// operationBody is the JSON of an operation in an answer, without the response of one
// that has succeeded. The response is {"memories": [...]}, the facts that changed, as
// [ingest.Changed] has them, and what forgetBody adds. The turns are not repeated, because they are the events
// that the client sent. See Server.operation.
type operationBody struct {
	ID       string            `json:"id"`
	Done     bool              `json:"done"`
	Metadata operationMetadata `json:"metadata"`
	Error    *errorDetail      `json:"error,omitzero"` // of one that failed
	// Findable says whether a search that begins after this answer finds the turns.
	// It is in the answer to a request for memories alone, unless that has failed by
	// then.
	Findable *bool `json:"findable,omitzero"`
	// Quarantined says that some of the words of the request try to instruct the agent:
	// they are hidden until a review. It is in the answer to that request alone.
	Quarantined bool `json:"quarantined,omitzero"`
}

type operationMetadata struct {
	State       sessionstore.OperationState `json:"state"`
	App         string                      `json:"appName"`
	User        string                      `json:"userId"`
	SessionID   string                      `json:"sessionId,omitzero"`
	RollbackOf  string                      `json:"rollbackOf,omitzero"` // the operation that is undone
	CreateTime  time.Time                   `json:"createTime"`
	EndTime     time.Time                   `json:"endTime,omitzero"` // when it succeeded
	Attempts    int                         `json:"attempts"`
	EventsTotal int                         `json:"eventsTotal"`
	EventsDone  int                         `json:"eventsDone"`
	LastError   string                      `json:"lastError,omitzero"`
	// WaitsFor is the trigger that the memories wait for, and DueTime when they are made
	// if no other event comes.
	WaitsFor *appconfig.Trigger `json:"waitsFor,omitzero"`
	DueTime  time.Time          `json:"dueTime,omitzero"`
	// Usage and FactsDropped are sums over the calls of a model. They are absent
	// if no model was called.
	Usage        *extract.Usage `json:"usage,omitzero"`
	FactsDropped int            `json:"factsDropped,omitzero"`
	// ValuesDropped is that of values of profiles.
	ValuesDropped int `json:"valuesDropped,omitzero"`
	// EventsDamaged counts the events that the store could not read: memories were made
	// without them.
	EventsDamaged int `json:"eventsDamaged,omitzero"`
}

// operationOf returns the JSON of op.
func operationOf(op *sessionstore.Operation) operationBody {
	out := operationBody{ID: op.ID, Done: op.Done(), Metadata: operationMetadata{
		State: op.State, App: op.Key.App, User: op.Key.User, SessionID: ingest.SessionOf(op), CreateTime: op.CreateTime,
		Attempts: op.Attempts, EventsTotal: op.EventsTotal, EventsDone: op.EventsDone, LastError: op.LastError,
		RollbackOf: op.Rollback, EndTime: op.EndTime,
	}}
	if !op.DueTime.IsZero() {
		trigger := appconfig.TriggerOf(op.Trigger)
		out.Metadata.WaitsFor, out.Metadata.DueTime = &trigger, op.DueTime
	}
	out.Quarantined = op.Quarantined
	if op.State == sessionstore.Failed {
		detail := internalError(op.LastError)
		out.Error = &detail
	}
	return out
}

// add adds the cost of one batch of events.
func (m *operationMetadata) add(cost *ingest.Cost) {
	m.EventsDamaged += cost.EventsDamaged
	if cost.Usage == (extract.Usage{}) && cost.FactsDropped+cost.ValuesDropped == 0 {
		return // no model was called
	}
	if m.Usage == nil {
		m.Usage = &extract.Usage{}
	}
	*m.Usage = m.Usage.Add(cost.Usage)
	m.FactsDropped += cost.FactsDropped
	m.ValuesDropped += cost.ValuesDropped
}

// sendOperation answers with an operation.
func (s *Server) sendOperation(c echo.Context, status int, op *sessionstore.Operation, findable *bool) error {
	out := newAnswer(c, status)
	s.operation(c, out, op, findable)
	return out.finish()
}

// waitParam reads the query parameter wait. until is when a request has waited
// long enough, counted from its beginning; it is zero without wait.
func waitParam(c echo.Context) (until time.Time, err error) {
	wait, err := boolParam(c, "wait")
	if wait {
		began, _ := c.Get(beganKey).(time.Time) // boundRequest sets it
		until = began.Add(maxWait)
	}
	return until, err
}

// storeTime is how long a request with wait=true may take to be stored if its body
// arrived near the end of the wait, or behind it.
const storeTime = 10 * time.Second

// storing returns the context in which a request stores what its body brought. It ends
// with the wait, if there is one: a store that hangs must not hold up the answer.
func storing(c echo.Context, until time.Time) (context.Context, context.CancelFunc) {
	ctx := c.Request().Context()
	if until.IsZero() {
		return ctx, func() {}
	}
	if least := time.Now().Add(storeTime); least.After(until) {
		until = least
	}
	return context.WithDeadline(ctx, until)
}

// sendRequested answers a request for memories with its operation: at once if
// until is zero, else when it is done, at until, or when the server stops. The
// status is 200 if the operation is known to be done, otherwise 202. The events
// are stored, so nothing that happens to the waiting is an error of the request:
// it is answered with the state that is known.
func (s *Server) sendRequested(c echo.Context, asked *sessionstore.Operation, until time.Time) error {
	note(c, func(e *access.Entry) { e.Operation, e.Session = asked.ID, cmp.Or(e.Session, ingest.SessionOf(asked)) })
	op, findable := asked, asked.Findable
	if asked.DueTime.After(until) {
		until = time.Time{} // its trigger fires later than the client waits
	}
	if !until.IsZero() {
		releaseBody(c)                                         // what it brought is stored
		known := *s.await(c.Request().Context(), asked, until) // a copy, as other requests may wait for the same one
		known.Quarantined = asked.Quarantined
		op = &known
	}
	if op.Done() {
		status, said := http.StatusOK, &findable
		if until.IsZero() {
			status = http.StatusAccepted
		}
		if op.State == sessionstore.Succeeded {
			findable = true
		} else if !findable {
			said = nil
		}
		if !until.IsZero() { // the first changes are read by then, too
			ctx, cancel := context.WithDeadline(c.Request().Context(), until.Add(changesTime))
			defer cancel()
			c.SetRequest(c.Request().WithContext(ctx))
		}
		err := s.sendOperation(c, status, op, said)
		if err == nil || c.Response().Committed {
			return err
		}
		s.opts.Log.Warn("the changes of an operation were not read", "operation", op.ID, "err", err)
		op = asked
	}
	out := operationOf(op)
	out.Findable = &findable
	return sendJSON(c, http.StatusAccepted, out)
}

// changesTime is how long after the end of the wait the answer may begin.
const changesTime = time.Second / 2

// await returns an operation when it is done, or as it is known at until.
func (s *Server) await(ctx context.Context, op *sessionstore.Operation, until time.Time) *sessionstore.Operation {
	ctx, cancel := s.untilStop(ctx)
	defer cancel()
	waited, err := s.ingest.Wait(ctx, op.Key.Scope, op.ID, time.Until(until))
	if waited != nil {
		op = waited
	}
	// There is nothing to say of a client that has left, of a stop, of the limit on
	// watchers, which its metric counts, and of a store that was slow until the end.
	if err != nil && ctx.Err() == nil && !errors.Is(err, memory.ErrExhausted) &&
		!errors.Is(err, context.DeadlineExceeded) {
		s.opts.Log.Warn("waiting for an operation failed: it goes on", "operation", op.ID, "err", err)
	}
	return op
}

// untilStop returns a context that also ends when the server stops. The caller
// must call the cancel function. A stream keeps the context for as long as it is
// open, so no goroutine waits behind it.
func (s *Server) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	forget := s.atStop(cancel)
	return ctx, func() {
		forget()
		cancel()
	}
}

// getOperation answers GET /v1/operations/{id}, as JSON or as a stream.
func (s *Server) getOperation(c echo.Context, scope memory.Scope, id string) error {
	if wantsStream(c.Request()) {
		return s.streamOperation(c, scope, id)
	}
	op, err := s.operations.Status(c.Request().Context(), scope, id)
	if err != nil {
		return err
	}
	return s.sendOperation(c, http.StatusOK, op, nil)
}

// listOperations answers GET {scope}/operations.
func (s *Server) listOperations(c echo.Context, scope memory.Scope) error {
	list, err := pageParams(c)
	if err != nil {
		return err
	}
	ops, next, err := s.operations.Operations(c.Request().Context(), scope, list)
	if err != nil {
		return err
	}
	return sendOperations(c, ops, next)
}

// listAppOperations answers GET /v1/apps/{app}/operations.
func (s *Server) listAppOperations(c echo.Context) error {
	app, err := pathParam(c, "app")
	if err != nil {
		return err
	}
	list := sessionstore.OperationList{User: c.QueryParam("userId")}
	list.State = sessionstore.OperationState(c.QueryParam("state"))
	if list.List, err = pageParams(c); err != nil {
		return err
	}
	ops, next, err := s.operations.AppOperations(c.Request().Context(), app, list)
	if err != nil {
		return err
	}
	return sendOperations(c, ops, next)
}

// sendOperations sends a page of operations. The entries have no response: a page could hold
// thousands of memories. Each operation's own GET has it.
func sendOperations(c echo.Context, ops []sessionstore.Operation, next string) error {
	out := struct {
		Operations    []operationBody `json:"operations"`
		NextPageToken string          `json:"nextPageToken,omitzero"`
	}{NextPageToken: next}
	for i := range ops {
		out.Operations = append(out.Operations, operationOf(&ops[i]))
	}
	return sendJSON(c, http.StatusOK, out)
}

// retryOperation answers POST /v1/operations/{id}/retry. It makes the work of an
// operation due at once if the operation failed or waits for its next attempt.
// Any other operation stays as it is.
func (s *Server) retryOperation(c echo.Context, scope memory.Scope, id string) error {
	if err := decodeBody(c, &struct{}{}); err != nil { // the body takes no fields
		return err
	}
	op, err := s.ingest.Retry(c.Request().Context(), scope, id)
	if err != nil {
		return err
	}
	return s.sendOperation(c, http.StatusOK, op, nil)
}
