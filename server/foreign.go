package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
)

// Call is a request that came in another protocol than the HTTP API: a package of its own
// serves that. Enter lets it in as the HTTP API lets in its own.
type Call struct {
	// Method names the call in metrics, in the log and in the audit log: it is one of the
	// names of the protocol, never a text of the client.
	Method string
	// Protocol is the method of the call in metrics, such as "REST".
	Protocol string
	App      string // that the call names; "" for none
	// Takes has the verbs that the call may use. The caller must have one of them; the guards
	// of the stores check each step.
	Takes access.Verbs
	Shown string // the key or token; "" for none
	// Key is the id of the key that the protocol knows the caller by, or AnyKey; then Shown does
	// not count.
	Key string
	// Refused is why the call is refused, with any key; "" if it is not.
	Refused string
	Request *http.Request // for the address of the client
	Bytes   int64         // of the body, or the most that it may have
	// Held tells that room for the body is taken; see Authenticate.
	Held bool
	// Read reads the body, once it is known who calls and there is room. Nil if it is there.
	Read func() error
}

// AnyKey as Call.Key is the owner, though callers show keys.
const AnyKey = "*"

// Enter authenticates the caller of a call, holds it to the limits and quotas of requests,
// waits for its turn to compute, and begins its entry of the audit log. The call runs in the
// context that it returns: its principal has the verbs of the call alone. leave ends the call
// with its error; Enter calls it itself if it fails. Enter returns the id of the call, under
// which the log has it, in any case.
func (s *Server) Enter(ctx context.Context, call Call) (_ context.Context, id string, leave func(error), err error) {
	in := &foreign{server: s, call: call, id: rand.Text(), began: time.Now()}
	s.metrics.running.Inc()
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	in.undo(cancel)
	if ctx, err = in.enter(ctx); err != nil {
		in.leave(ctx, err)
		return ctx, in.id, nil, err
	}
	return ctx, in.id, func(err error) { in.leave(ctx, err) }, nil
}

// Authenticate returns the error that Enter would have for the caller of a call, whatever the call
// is for, and else how to take room for its message, which is held until release is called. A
// refusal is counted and logged as that of a call.
func (s *Server) Authenticate(ctx context.Context, call Call) (
	room func(ctx context.Context, bytes int64) (release func(), err error), err error) {
	in := &foreign{server: s, call: call, id: rand.Text(), began: time.Now()}
	if err = in.refused(); err == nil {
		in.caller, err = in.authenticate(ctx)
	}
	if err != nil {
		s.metrics.running.Inc()
		in.leave(ctx, err)
		return nil, err
	}
	scope := memory.Scope{App: in.caller.App, User: in.caller.User}
	if scope.App == access.AllApps {
		scope = memory.Scope{}
	}
	return func(ctx context.Context, bytes int64) (func(), error) { return s.takeRoom(ctx, scope, bytes) }, nil
}

// takeRoom takes room for a body, and for what decoding makes of it.
func (s *Server) takeRoom(ctx context.Context, scope memory.Scope, bytes int64) (release func(), err error) {
	pool := s.bodies
	if bytes <= smallBody {
		pool = s.smallOnes
	}
	share, err := pool.Take(ctx, scope, decodeFactor*bytes, roomTime)
	if err != nil {
		return nil, err
	}
	return share.Release, nil
}

// refused is the error of a call that is refused with any key.
func (in *foreign) refused() error {
	if in.call.Refused == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", errForbidden, in.call.Refused)
}

// foreign is a Call that is served.
type foreign struct {
	server *Server
	call   Call
	id     string
	began  time.Time
	caller *access.Principal
	entry  *access.Entry
	undone []func()
}

// undo has f called at the end.
func (in *foreign) undo(f func()) { in.undone = append(in.undone, f) }

func (in *foreign) enter(ctx context.Context) (context.Context, error) {
	s := in.server
	s.requests.RLock()
	in.undo(s.requests.RUnlock)
	if s.closed {
		return ctx, errClosed
	}
	if err := in.refused(); err != nil {
		return ctx, err
	}
	var err error
	if in.caller, err = in.authenticate(ctx); err != nil {
		return ctx, err
	}
	scope := memory.Scope{App: in.call.App, User: in.caller.User}
	if memory.ValidateID("app", scope.App) != nil {
		scope = memory.Scope{}
	}
	if s.opts.Quotas != nil {
		end, err := s.opts.Quotas.Begin(ctx, quota.Request{By: in.caller, Scope: scope})
		if err != nil {
			return ctx, err
		}
		in.undo(end)
	}
	// A key of another app ends here, before anything is read.
	if in.call.App != "" && in.caller.App != access.AllApps && in.caller.App != in.call.App ||
		in.caller.Can&in.call.Takes == 0 {
		return ctx, in.caller.Check(memory.Scope{App: in.call.App, User: cmp.Or(in.caller.User, "-")}, in.call.Takes)
	}
	if ctx, err = in.admit(ctx, scope); err != nil {
		return ctx, err
	}
	if err := in.beginEntry(ctx); err != nil {
		return ctx, err
	}
	return access.With(ctx, in.caller.For(in.call.Takes&in.caller.Can)), nil
}

func (in *foreign) authenticate(ctx context.Context) (*access.Principal, error) {
	switch {
	case in.server.ring == nil || in.call.Key == AnyKey:
		return access.Owner, nil
	case in.call.Key != "":
		return in.server.ring.Holder(ctx, in.call.Key)
	}
	return in.server.ring.Authenticate(ctx, in.call.Shown)
}

// admit takes a place, room for the body, and a turn.
func (in *foreign) admit(ctx context.Context, scope memory.Scope) (context.Context, error) {
	s := in.server
	free, err := s.places.Take(scope)
	if err != nil {
		return ctx, err
	}
	in.undo(free)
	ctx, turn := s.gate.Begin(ctx, scope)
	in.undo(turn.End)
	if in.call.Bytes > 0 && !in.call.Held {
		release, err := s.takeRoom(ctx, scope, in.call.Bytes)
		if err != nil {
			return ctx, err
		}
		in.undo(release)
	}
	if in.call.Read != nil { // before the turn: the client may be slow
		if err := in.call.Read(); err != nil {
			return ctx, err
		}
	}
	return ctx, fair.Ready(ctx)
}

// beginEntry tells the audit log of the call, as of a request to the HTTP API.
func (in *foreign) beginEntry(ctx context.Context) error {
	s := in.server
	reads := in.call.Takes == access.Read
	if s.audit == nil || in.caller == access.Owner ||
		reads && !s.audit.opts.Reads && !s.ingest.Configs().Known(ctx, in.call.App).Audit.Reads {
		return nil
	}
	e := &access.Entry{ID: uuid.NewString(), Time: time.Now(), Outcome: access.Begun, Actor: in.caller.ID,
		Action: in.call.Method, App: cmp.Or(in.call.App, access.AllApps), User: in.caller.User, Request: in.id}
	if from := s.clientOf(in.call.Request); from.IsValid() {
		e.Address = from.String()
	}
	in.entry = e
	if reads {
		return nil
	}
	return s.audit.append(ctx, *e)
}

// leave ends the call: it gives back all that the call has taken, counts it and logs it.
func (in *foreign) leave(ctx context.Context, err error) {
	s := in.server
	status := http.StatusOK
	if err != nil {
		status = describe(err, in.id).Code
	}
	for i := len(in.undone) - 1; i >= 0; i-- {
		in.undone[i]()
	}
	s.metrics.running.Dec()
	s.metrics.foreign(in.call, status, time.Since(in.began), err)
	if in.entry != nil {
		e := *in.entry
		e.Time, e.Outcome, e.Status = time.Now(), access.Done, status
		if err != nil {
			e.Outcome = access.Failed
		}
		s.audit.end(e)
	}
	in.log(ctx, status, err)
}

// log writes the line of the call.
func (in *foreign) log(ctx context.Context, status int, err error) {
	args := []any{"method", in.call.Protocol, "path", in.call.Method, "status", status,
		"ms", float64(time.Since(in.began).Microseconds()) / 1000, "in", in.call.Bytes, "id", in.id}
	if from := in.server.clientOf(in.call.Request); from.IsValid() {
		args = append(args, "from", from.String())
	}
	if in.caller != nil && in.caller != access.Owner {
		args = append(args, "by", in.caller.ID)
	}
	level := slog.LevelInfo
	if err != nil {
		args = append(args, "err", err.Error())
		if status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
			level = slog.LevelError
		}
	}
	in.server.opts.Log.Log(ctx, level, "request", args...)
}

// foreign counts and times a call that was answered.
func (m *metrics) foreign(call Call, status int, took time.Duration, err error) {
	m.requests.WithLabelValues(call.Protocol, call.Method, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(call.Protocol, call.Method).Observe(took.Seconds())
	if refusal := (*memory.Refusal)(nil); errors.As(err, &refusal) {
		m.refusals.WithLabelValues(refusal.Flag()).Inc()
	}
}

// Describe returns what the HTTP API answers to an error: its status, the name of that, and a
// text for the client. id is that of the call in the log.
func Describe(err error, id string) (code int, status, message string) {
	d := describe(err, id)
	return d.Code, d.Status, d.Message
}
