package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/pool"
)

// readers is how many requests verify what was acknowledged at a time.
const readers = 8

// verifier compares what memoryd holds with what it has acknowledged.
type verifier struct {
	b  *Bench
	mu sync.Mutex
	v  Verified
}

// verify waits for memoryd to finish its work, and then reads everything that was
// acknowledged. Both have the time of Options.Drain.
func (b *Bench) verify(ctx context.Context) error {
	v := &verifier{b: b}
	defer func() { b.report.Verified = v.v }()
	var sessions, turns, facts []func(context.Context)
	for _, s := range b.scopes {
		s.mu.Lock()
		for session := range s.sessions {
			sessions = append(sessions, func(ctx context.Context) { v.drain(ctx, s, session) })
			turns = append(turns, func(ctx context.Context) { v.session(ctx, s, session) })
		}
		if len(s.sessions) > 0 {
			turns = append(turns, func(ctx context.Context) { v.memories(ctx, s) })
		}
		for _, t := range s.turns {
			if t.acked {
				v.v.Writes++
				turns = append(turns, func(ctx context.Context) { v.turn(ctx, s, t) })
			}
		}
		for _, f := range s.facts {
			v.v.Writes++
			facts = append(facts, func(ctx context.Context) { v.fact(ctx, s, f) })
		}
		s.mu.Unlock()
	}
	b.all(ctx, "drain", sessions)
	b.all(ctx, "verify", append(turns, facts...))
	return ctx.Err()
}

// all calls functions, some at a time, within the time of Options.Drain.
func (b *Bench) all(ctx context.Context, stage string, calls []func(context.Context)) {
	within, cancel := context.WithTimeout(ctx, b.opts.Drain)
	defer cancel()
	var done atomic.Int64
	work := pool.New().WithMaxGoroutines(readers)
	shown := time.Now()
	for _, call := range calls {
		work.Go(func() {
			call(within)
			done.Add(1)
		})
		if time.Since(shown) >= time.Second {
			shown = time.Now()
			b.opts.Progress(Step{Stage: stage, Done: done.Load(), Total: int64(len(calls)), Note: b.sampler.note()})
		}
	}
	work.Wait()
	b.opts.Progress(Step{Stage: stage, Done: done.Load(), Total: int64(len(calls)), Note: b.sampler.note()})
}

// insist repeats a request until it has an answer that is no refusal and no failure
// of the moment, or until ctx is over.
func (b *Bench) insist(ctx context.Context, method, path string, body any) answer {
	for {
		a := b.api.do(ctx, method, path, body)
		passing := a.err != nil || a.refused() || a.status >= http.StatusInternalServerError
		if !passing || !sleepUntil(ctx, time.Now().Add(200*time.Millisecond)) {
			return a
		}
	}
}

// add counts a finding, and keeps the first ones as examples.
func (v *verifier) add(count *int, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if *count++; *count <= maxExample {
		v.v.Examples = append(v.v.Examples, fmt.Sprintf(format, args...))
	}
}

// drain asks for the memories of a session and waits until they are made.
func (v *verifier) drain(ctx context.Context, s *scope, session string) {
	for {
		a := v.b.insist(ctx, "POST", s.path+"/sessions/"+session+"/memories?wait=true", nil)
		var op struct{ Done bool }
		if a.into(&op) && op.Done {
			return
		}
		if ctx.Err() != nil || a.err == nil && a.status >= 400 && a.status < 500 {
			v.add(&v.v.Unfinished, "%s, session %s: memories are not made: %s %.200s", s.path, session, a.class(),
				a.body)
			return
		}
	}
}

// session checks that a session has every acknowledged turn, and none twice.
func (v *verifier) session(ctx context.Context, s *scope, session string) {
	a := v.b.insist(ctx, "GET", s.path+"/sessions/"+session, nil)
	v.b.crossed.check(v.b.run, s.index, a.body)
	var got struct{ Events []struct{ ID string } }
	if a.status != http.StatusNotFound && !a.into(&got) {
		v.add(&v.v.Unverified, "%s, session %s: cannot be read: %s %.200s", s.path, session, a.class(), a.body)
		return
	}
	seen := map[string]int{}
	for _, e := range got.Events {
		seen[e.ID]++
	}
	for _, t := range s.of(session) {
		switch n := seen[t.id()]; {
		case n == 0 && t.acked:
			v.add(&v.v.Lost, "%s, session %s: event %s is not there", s.path, session, t.id())
		case n > 1:
			v.add(&v.v.Doubled, "%s, session %s: event %s is there %d times", s.path, session, t.id(), n)
		}
	}
}

// of returns the turns of a session.
func (s *scope) of(session string) (out []*turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.turns {
		if t.session == session {
			out = append(out, t)
		}
	}
	return out
}

// memories checks that no turn and no fact of a turn is a memory twice.
func (v *verifier) memories(ctx context.Context, s *scope) {
	seen := map[string]int{}
	for token := ""; ; {
		a := v.b.insist(ctx, "GET", s.path+"/memories?pageSize=1000&pageToken="+url.QueryEscape(token), nil)
		v.b.crossed.check(v.b.run, s.index, a.body)
		var page struct {
			Memories []struct {
				Kind, Fact string
				Source     struct {
					SessionID string
					EventIDs  []string
				}
			}
			NextPageToken string
		}
		if !a.into(&page) {
			v.add(&v.v.Unverified, "%s: memories cannot be listed: %s %.200s", s.path, a.class(), a.body)
			return
		}
		for _, m := range page.Memories {
			if len(m.Source.EventIDs) > 0 {
				key := fmt.Sprintf("%s of events %s of session %s: %s", m.Kind, m.Source.EventIDs,
					m.Source.SessionID, m.Fact)
				if seen[key]++; seen[key] == 2 {
					v.add(&v.v.Doubled, "%s: twice: %s", s.path, key)
				}
			}
		}
		if token = page.NextPageToken; token == "" {
			return
		}
	}
}

// turn checks that a search finds a turn.
func (v *verifier) turn(ctx context.Context, s *scope, t *turn) {
	for {
		found, a := v.b.finds(ctx, s, t)
		switch {
		case found:
			return
		case a.ok():
			v.add(&v.v.Unfindable, "%s, session %s: event %s is not found: %s", s.path, t.session, t.id(), t.text)
			return
		case !sleepUntil(ctx, time.Now().Add(200*time.Millisecond)):
			v.add(&v.v.Unverified, "%s: no search: %s %.200s", s.path, a.class(), a.body)
			return
		}
	}
}

// fact checks that a fact is stored.
func (v *verifier) fact(ctx context.Context, s *scope, f *fact) {
	a := v.b.insist(ctx, "GET", s.path+"/memories/"+f.id, nil)
	switch {
	case a.has(f.marker):
	case a.ok() || a.status == http.StatusNotFound:
		v.add(&v.v.Lost, "%s: fact %s is not there: %.200s", s.path, f.id, a.body)
	default:
		v.add(&v.v.Unverified, "%s: fact %s cannot be read: %s %.200s", s.path, f.id, a.class(), a.body)
	}
}
