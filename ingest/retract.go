package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A fact that the rollback of an operation takes back leaves the turns that tell it, as they
// were said. The turns get the words of the fact in Retracted before the fact goes: if that
// fails, it is tried again, and marks the same turns. A rollback of a rollback marks
// nothing: it brings back what there was, marks too.

// ofRollback reports whether the operation that is undone is a rollback itself.
func (u *undoer) ofRollback() bool {
	return strings.HasPrefix(sessionstore.OperationName(u.operation), rollbackPrefix)
}

// cites are the ids of facts by the turns that they cite.
type cites map[string]map[string][]string // by session and event

func (c cites) add(m *memory.Memory) {
	session := m.Source.SessionID
	for _, event := range m.Source.EventIDs {
		if c[session] == nil {
			c[session] = map[string][]string{}
		}
		c[session][event] = append(c[session][event], m.ID)
	}
}

// turnsOf finds the turns that facts cite, by the ids of the facts.
func (s *Service) turnsOf(ctx context.Context, scope memory.Scope, cites cites) (map[string][]string, error) {
	out := map[string][]string{}
	for _, session := range slices.Sorted(maps.Keys(cites)) {
		turns := memory.Filter{History: true, Kinds: []memory.Kind{memory.KindTurn}, SessionID: session}
		err := each(ctx, s.memories, scope, turns, func(t *memory.Memory) error {
			for _, fact := range cites[session][t.Source.EventID()] {
				out[fact] = append(out[fact], t.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// turnsOf returns the turns that some facts cite.
func (u *undoing) turnsOf(facts []string) map[string][]string {
	out := map[string][]string{}
	for _, id := range facts {
		if turns := u.turns[id]; len(turns) > 0 {
			out[id] = turns
		}
	}
	return out
}

// retracts returns what a fact says that an undoing takes back; "" for nothing.
func (p *pasts) retracts(u *undone) string {
	q := p.read[u.memory.ID]
	if q == nil || !q.touched || !u.memory.Kind.Statement() || p.ofRollback() {
		return ""
	}
	said := q.after.Memory.Fact
	if u.action == memory.Deleted || u.action == memory.Updated && u.memory.Fact != said {
		return said
	}
	return ""
}

// retraction tells which turns a rollback marks.
type retraction struct {
	turns map[string][]string // by the facts that cite them
	at    time.Time
}

// retractTurns notes in turns which of their facts a rollback is about to take back.
func (s *Service) retractTurns(ctx context.Context, w sessionstore.Work, some []undone, r retraction) error {
	facts := map[string][]string{}
	for i := range some {
		if u := &some[i]; !u.done && u.retracts != "" {
			for _, turn := range r.turns[u.memory.ID] {
				facts[turn] = append(facts[turn], u.retracts)
			}
		}
	}
	return s.markTurns(ctx, w, facts, func(m *memory.Memory, fact string) { m.Retract(fact, r.at) })
}

// restoreTurns takes back what retractTurns has noted of facts that another writer has
// changed meanwhile: they are decided on again.
func (s *Service) restoreTurns(ctx context.Context, w sessionstore.Work, refused []*undone, r retraction) error {
	facts := map[string][]string{}
	for _, u := range refused {
		if u.retracts != "" {
			for _, turn := range r.turns[u.memory.ID] {
				facts[turn] = append(facts[turn], u.retracts)
			}
		}
	}
	return s.markTurns(ctx, w, facts, func(m *memory.Memory, fact string) { m.Restore(fact) })
}

// markTurns changes turns for each of some facts. Another writer may change one meanwhile:
// it is read again. One that is gone stays so.
func (s *Service) markTurns(ctx context.Context, w sessionstore.Work, facts map[string][]string,
	mark func(m *memory.Memory, fact string)) error {
	left := slices.Sorted(maps.Keys(facts))
	for range maxRewrites {
		if len(left) == 0 {
			return nil
		}
		turns, err := s.memories.Get(ctx, w.Key.Scope, left)
		if err != nil {
			return err
		}
		var writes []memory.Write
		for i := range turns {
			m := turns[i].Clone()
			for _, fact := range facts[m.ID] {
				mark(&m, fact)
			}
			if !m.SameContent(&turns[i]) {
				writes = append(writes, memory.Write{Memory: m, Expect: m.Revision, Actor: client,
					Operation: w.Request.ID, Life: w.Life()})
			}
		}
		left = nil
		for some := range slices.Chunk(writes, writesTogether) {
			out, err := s.putIndexed(ctx, w.Key.Scope, some)
			if err != nil {
				return err
			}
			for i := range out {
				if errors.Is(out[i].Err, memory.ErrAborted) {
					left = append(left, some[i].Memory.ID)
				}
			}
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: other writers change the turns all the time", memory.ErrUnavailable)
	}
	return nil
}
