package redissession

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Claim implements sessionstore.Progress.
func (s *Store) Claim(ctx context.Context, owner string, ttl time.Duration, limit int) ([]sessionstore.Work, error) {
	if limit <= 0 {
		return nil, nil
	}
	out, err := s.claim(ctx, owner, ttl, limit)
	for i := range out {
		s.notify.Changed(out[i].Key)
	}
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("claim work: %w", err)
	}
	return out, nil // the caller has to work on these, even if a later claim failed
}

func (s *Store) claim(ctx context.Context, owner string, ttl time.Duration, limit int) (
	out []sessionstore.Work, err error) {
	due, err := s.dueScopes(ctx, limit)
	if err != nil {
		return nil, err
	}
	var failed error
	for len(due) > 0 && len(out) < limit {
		some := due[:min(len(due), limit-len(out))]
		due = due[len(some):]
		calls := make([]call, len(some))
		for i, d := range some {
			calls[i] = call{claimScript, scopePrefix(scopeOf(d.scope)),
				[]any{d.scope, owner, s.clock(), ttl.Microseconds()}}
		}
		for i, a := range s.together(ctx, calls...) {
			w := replyOf(a.value)
			if a.err != nil || len(w) == 0 { // another process was faster
				failed = cmp.Or(failed, a.err) // of one scope: the others go on
				continue
			}
			work, err := workOf(scopeOf(some[i].scope), w)
			if err != nil {
				failed = cmp.Or(failed, err)
				continue
			}
			out = append(out, work)
		}
	}
	return out, failed
}

// workOf reads the answer of claim.lua.
func workOf(scope memory.Scope, w reply) (sessionstore.Work, error) {
	request, session, err := sessionstore.ReadRequest(w.text(5), w.text(1), []byte(w.text(9)))
	work := sessionstore.Work{Key: sessionstore.Key{Scope: scope, ID: session}, Ref: w.text(0), Done: w.num(2),
		Requested: w.num(3), Attempts: int(w.num(4)), Request: request, Rewinds: w.text(6) == "1", PlanTo: w.num(8),
		Overlap: sessionstore.ReadTrigger(w.text(11)).Overlap}
	asked := w.list(10)
	for i := 0; i+1 < len(asked); i += 2 {
		work.Asked = append(work.Asked, sessionstore.Asked{Operation: asked.text(i), Last: asked.num(i + 1)})
	}
	if plan := w.text(7); plan != "" {
		work.Plan = json.RawMessage(plan)
	}
	return work, err
}

// orAborted is ErrAborted if a script answers that it changed nothing.
func orAborted(v any, err error) error {
	if n, _ := v.(int64); err == nil && n == 0 {
		return memory.ErrAborted
	}
	return err
}

// Renew implements sessionstore.Progress.
func (s *Store) Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error {
	err := orAborted(s.runOn(ctx, s.side, renewScript, scopePrefix(scope), name(scope), owner, s.clock(),
		ttl.Microseconds()))
	if err != nil {
		return fmt.Errorf("renew lease on app %q, user %q: %w", scope.App, scope.User, err)
	}
	return nil
}

// Events implements sessionstore.Progress.
func (s *Store) Events(ctx context.Context, work sessionstore.Work, after int64, limit int) (
	out []sessionstore.NumberedEvent, err error) {
	if limit <= 0 {
		return nil, nil
	}
	v, err := s.run(ctx, eventsScript, scopePrefix(work.Key.Scope), work.Ref, after, limit)
	if err != nil {
		return nil, work.Key.Wrap("read events", err)
	}
	for i, doc := range replyOf(v).texts() {
		e, err := sessionstore.ReadEvent([]byte(doc))
		if err != nil {
			return nil, work.Key.Wrap("read events", err)
		}
		out = append(out, sessionstore.NumberedEvent{Seq: after + 1 + int64(i), Event: e}) // there are no gaps
	}
	return out, nil
}

// Save implements sessionstore.Progress.
func (s *Store) Save(ctx context.Context, work sessionstore.Work, to int64, plan json.RawMessage) error {
	err := orAborted(s.run(ctx, saveScript, scopePrefix(work.Key.Scope), work.Ref, work.Done, work.Attempts, to,
		[]byte(plan)))
	if err != nil {
		return work.Key.Wrap("save the plan", err)
	}
	return nil
}

// Finish implements sessionstore.Progress.
func (s *Store) Finish(ctx context.Context, work sessionstore.Work, to int64, changes []sessionstore.Change) error {
	scope := work.Key.Scope
	args := []any{name(scope), work.Ref, work.Done, work.Attempts, to, s.clock(), s.expired()}
	for _, c := range changes {
		args = append(args, c.Seq, []byte(c.Doc))
	}
	v, err := s.run(ctx, finishScript, scopePrefix(scope), args...)
	s.notify.Changed(work.Key)
	if err := orAborted(v, err); err != nil {
		return work.Key.Wrap("finish work", err)
	}
	s.counts.Succeeded(reply{v}.num(0) - 1)
	return nil
}

// Fail implements sessionstore.Progress.
func (s *Store) Fail(ctx context.Context, work sessionstore.Work, cause string, retry time.Time) error {
	due := ""
	if !retry.IsZero() {
		due = micros(retry)
	}
	scope := work.Key.Scope
	v, err := s.run(ctx, failScript, scopePrefix(scope), name(scope), work.Ref, work.Done, work.Attempts, cause,
		due, s.clock())
	s.notify.Changed(work.Key)
	if err := orAborted(v, err); err != nil {
		return work.Key.Wrap("record a failure", err)
	}
	if retry.IsZero() {
		s.counts.Failed(reply{v}.num(0) - 1)
	}
	return nil
}
