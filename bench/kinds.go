package bench

import (
	"context"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"
)

// Mixed is the kind of requests that agents make together.
const Mixed = "mixed"

// kind is one kind of request.
type kind struct {
	name   string
	weight int // in a mixed load
	// send sends one request for a scope, and returns its answer. The name that it
	// returns is that of what it really sent: a session must be created before it
	// can be appended to.
	send func(b *Bench, ctx context.Context, s *scope, r *rand.Rand) (string, answer)
}

// kinds are the kinds of requests. The weights of a mixed load are a guess at a
// chat: each turn is appended or ingested, and one or two reads go before it.
func kinds() []kind {
	return []kind{
		{"ingest", 20, (*Bench).ingest},
		{"append", 15, (*Bench).append},
		{"search", 25, (*Bench).search},
		{"context", 10, (*Bench).context},
		{"preload", 10, (*Bench).preload},
		{"get", 8, (*Bench).get},
		{"list", 4, (*Bench).list},
		{"remember", 4, (*Bench).remember},
		{"operation", 2, (*Bench).operation},
		{"wait", 2, (*Bench).wait},
	}
}

// Kinds are the kinds of requests that Options.Kind may name.
func Kinds() []string {
	out := []string{Mixed}
	for _, k := range kinds() {
		out = append(out, k.name)
	}
	return out
}

// choose picks a kind of request for one arrival.
func choose(name string, r *rand.Rand) kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i]
	}
	sum := 0
	for _, k := range all {
		sum += k.weight
	}
	x := r.IntN(sum)
	for _, k := range all {
		if x -= k.weight; x < 0 {
			return k
		}
	}
	return all[0]
}

// maxTurns bounds the turns of one request to ingest.
const maxTurns = 3

// again is how many acknowledged turns in a hundred are sent again, as clients do
// that did not get the answer: they must not be stored twice.
const again = 5

// ingestBody makes the next request to ingest of a scope: new turns, those that had
// no answer, and now and then one that had.
func (b *Bench) ingestBody(s *scope, r *rand.Rand) ([]*turn, map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := "i" + letters(len(s.turns)/turnsPerSession)
	var turns []*turn
	if len(s.unanswered) > 0 {
		session = s.unanswered[0].session
	}
	s.unanswered = slices.DeleteFunc(s.unanswered, func(t *turn) bool {
		if t.session == session {
			turns = append(turns, t)
			return true
		}
		return false
	})
	for range 1 + r.IntN(maxTurns) {
		turns = append(turns, s.add(b.run, r, session, true))
	}
	if r.IntN(100) < again {
		if t := s.turns[r.IntN(len(s.turns))]; t.session == session && t.acked {
			turns = append(turns, t)
		}
	}
	events := make([]any, len(turns))
	for i, t := range turns {
		events[i] = t.event()
	}
	return turns, map[string]any{"sessionId": session, "events": events}
}

// ingest posts turns and remembers what was acknowledged.
func (b *Bench) ingest(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	a, _ := b.ingestTurns(ctx, s, r, "")
	return "ingest", a
}

// wait is ingest with wait=true: it is answered when the memories are made.
func (b *Bench) wait(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	a, _ := b.ingestTurns(ctx, s, r, "?wait=true")
	return "wait", a
}

// findShare is how many ingests in a hundred are followed by a search for their
// last turn.
const findShare = 20

func (b *Bench) ingestTurns(ctx context.Context, s *scope, r *rand.Rand, query string) (answer, *turn) {
	turns, body := b.ingestBody(s, r)
	a := b.api.do(ctx, "POST", s.path+"/memories/ingest"+query, body)
	last := turns[len(turns)-1]
	if !a.ok() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, t := range turns {
			if !t.acked {
				s.unanswered = append(s.unanswered, t)
			}
		}
		return a, last
	}
	var op struct {
		ID       string
		Findable *bool
	}
	a.into(&op)
	s.acknowledge(turns, op.ID)
	if query == "" && r.IntN(100) < findShare {
		b.find(ctx, s, last, op.Findable)
	}
	return a, last
}

// append appends an event to a session, which it creates first.
func (b *Bench) append(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	s.mu.Lock()
	if len(s.appending) == 0 || r.IntN(turnsPerSession) == 0 {
		s.creating++
		session := "a" + letters(s.creating)
		s.mu.Unlock()
		a := b.api.do(ctx, "POST", s.path+"/sessions",
			map[string]any{"id": session, "state": map[string]any{"mood": "good"}})
		if a.ok() {
			s.mu.Lock()
			s.appending = append(s.appending, session)
			s.mu.Unlock()
		}
		return "create", a
	}
	t := s.add(b.run, r, s.appending[len(s.appending)-1], false)
	s.mu.Unlock()
	a := b.api.do(ctx, "POST", s.path+"/sessions/"+t.session+"/events", t.event())
	if a.ok() {
		s.acknowledge([]*turn{t}, "")
	}
	return "append", a
}

// query returns the words of a search: a turn that is there, or words of none.
func (b *Bench) query(s *scope, r *rand.Rand) string {
	if t := s.acked(r); t != nil && r.IntN(2) == 0 {
		return t.text
	}
	return padding(r, 30)
}

func (b *Bench) search(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	return "search", b.api.do(ctx, "POST", s.path+"/memories/search", map[string]any{"query": b.query(s, r)})
}

func (b *Bench) context(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	return "context", b.api.do(ctx, "POST", s.path+"/memories/context", map[string]any{"query": b.query(s, r)})
}

func (b *Bench) preload(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	body := map[string]any{"args": map[string]any{"query": b.query(s, r)}}
	return "preload", b.api.do(ctx, "POST", s.path+"/tools/preload_memory", body)
}

// get reads the end of a session.
func (b *Bench) get(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	if t := s.acked(r); t != nil {
		return "get", b.api.do(ctx, "GET", s.path+"/sessions/"+t.session+"?numRecentEvents=20", nil)
	}
	return b.list(ctx, s, r)
}

// list reads a page of memories or of sessions.
func (b *Bench) list(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	path := s.path + []string{"/memories", "/sessions"}[r.IntN(2)] + "?pageSize=20"
	return "list", b.api.do(ctx, "GET", path, nil)
}

// remember stores a fact.
func (b *Bench) remember(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	s.mu.Lock()
	// A turn number of its own, so that the marker is one of the fact alone.
	t := s.add(b.run, r, "", false)
	s.mu.Unlock()
	f := &fact{marker: markerOf(b.run, s.index, t.n)}
	a := b.api.do(ctx, "POST", s.path+"/memories", map[string]any{"fact": t.text})
	var stored struct{ ID string }
	if a.into(&stored) {
		f.id = stored.ID
		s.mu.Lock()
		s.facts = append(s.facts, f)
		s.mu.Unlock()
	}
	return "remember", a
}

// operation reads the operation of a session.
func (b *Bench) operation(ctx context.Context, s *scope, r *rand.Rand) (string, answer) {
	if t := s.acked(r); t != nil {
		s.mu.Lock()
		id := s.sessions[t.session]
		s.mu.Unlock()
		return "operation", b.api.do(ctx, "GET", "/v1/operations/"+url.PathEscape(id), nil)
	}
	return b.list(ctx, s, r)
}

// find searches for a turn right after the answer that acknowledged it, and records
// whether it was there. said is what that answer told: whether it can be found.
func (b *Bench) find(ctx context.Context, s *scope, t *turn, said *bool) {
	begin := time.Now()
	found, a := b.finds(ctx, s, t)
	b.records.add("find", a, time.Since(begin))
	if a.ok() {
		b.records.found(found, said)
	}
}

// finds searches for a turn.
func (b *Bench) finds(ctx context.Context, s *scope, t *turn) (bool, answer) {
	marker := markerOf(b.run, s.index, t.n)
	a := b.api.do(ctx, "POST", s.path+"/memories/search", map[string]any{"query": marker, "kinds": []string{"turn"}})
	b.crossed.check(b.run, s.index, a.body)
	return a.has(marker), a
}
