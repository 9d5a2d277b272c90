package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A request to forget everything changes nothing until a client confirms it. The
// confirmation is an operation of its own: its event is in a one-shot session, and a
// worker forgets what was said before the request. So nothing is lost if the process
// dies, and what arrives later but was said before is forgotten as it arrives: the turn
// of the request has the mark.

// ConfirmTTL is how long a request to forget everything can be confirmed.
const ConfirmTTL = 7 * 24 * time.Hour

// ErrLapsed is the error of a confirmation that comes later than that.
var ErrLapsed = errors.New("the request has lapsed")

// Confirmation is a request to forget everything that waits to be confirmed.
type Confirmation struct {
	// Request has the words, and when they were said. It is stored as no memory.
	Request memory.Memory `json:"request"`
	// ExpireTime is when the request lapses.
	ExpireTime time.Time `json:"expireTime"`
}

// Swept counts what was forgotten.
type Swept struct {
	Facts int `json:"facts"` // with the values of profiles
	Turns int `json:"turns"`
}

// confirmRole is the role of an event that is a confirmation. No turn has it.
const confirmRole = "confirm"

// Confirm has everything forgotten that was said before the request which the operation
// id read, and returns the operation that does it. A second call returns the same one.
// ErrNotFound if there is no such operation, ErrInvalid if it is not done or asks for
// nothing to be confirmed, ErrLapsed after ConfirmTTL.
func (s *Service) Confirm(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	own := sessionstore.OperationID(scope, derive("confirm", id))
	op, err := s.sessions.Status(ctx, scope, own)
	if !errors.Is(err, memory.ErrNotFound) {
		return op, err
	}
	c, err := s.confirmation(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	if !s.opts.Now().Before(c.ExpireTime) {
		return nil, lapsed(c.ExpireTime)
	}
	e, err := c.event(sessionstore.Micros(s.opts.Now()))
	if err != nil {
		return nil, err
	}
	key := sessionstore.Key{Scope: scope, ID: "confirm-" + uuid.NewString()}
	done, err := s.sessions.Append(ctx, key, []sessionstore.Event{e},
		sessionstore.Append{OneShot: true, Request: &sessionstore.Request{
			ID: own, Forget: true, Traceparent: tracing.Parent(ctx)}})
	if errors.Is(err, memory.ErrExists) { // another call was faster
		return s.sessions.Status(ctx, scope, own)
	}
	if err != nil {
		return nil, err
	}
	s.wake()
	return done.Operation, nil
}

func lapsed(at time.Time) error {
	return fmt.Errorf("%w at %s, and nothing was forgotten: ask again", ErrLapsed, at.UTC().Format(time.RFC3339))
}

// confirmation returns the latest request to forget everything that an operation read.
func (s *Service) confirmation(ctx context.Context, scope memory.Scope, id string) (*Confirmation, error) {
	op, err := s.sessions.Status(ctx, scope, id)
	if errors.Is(err, memory.ErrNotFound) {
		// Operations are readable about as long as a request can be confirmed. The id
		// tells when it was made.
		name, _, _ := strings.Cut(sessionstore.OperationName(id), optionsMark)
		if u, parsed := uuid.Parse(name); parsed == nil && u.Version() == 7 {
			at := time.Unix(u.Time().UnixTime()).Add(ConfirmTTL)
			if !s.opts.Now().Before(at) {
				return nil, lapsed(at)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if op.State != sessionstore.Succeeded {
		return nil, fmt.Errorf("%w: operation %q is %s: it can be confirmed when it has succeeded",
			memory.ErrInvalid, id, op.State)
	}
	var latest *Confirmation
	for after, more := (sessionstore.ChangePosition{}), true; more; more = after != (sessionstore.ChangePosition{}) {
		var page []Changed
		if page, after, err = s.Changes(ctx, scope, id, after); err != nil {
			return nil, err
		}
		for i := range page {
			latest = Later(latest, page[i].Confirm)
		}
	}
	if latest == nil {
		return nil, fmt.Errorf("%w: operation %q has nothing to confirm", memory.ErrInvalid, id)
	}
	return latest, nil
}

// Later is the one of two confirmations whose request was said later. Either may be nil.
func Later(a, b *Confirmation) *Confirmation {
	if a == nil || b != nil && consolidate.Chronological(&a.Request, &b.Request) < 0 {
		return b
	}
	return a
}

// event makes an event of a confirmation.
func (c *Confirmation) event(at time.Time) (sessionstore.Event, error) {
	doc, err := json.Marshal(map[string]any{
		"id": "confirm", "author": client, "timestamp": sessionstore.FormatTime(at),
		"content":        map[string]any{"role": confirmRole, "parts": []any{map[string]any{"text": c.Request.Fact}}},
		"customMetadata": map[string]any{"confirm": c},
	})
	if err != nil {
		return sessionstore.Event{}, err
	}
	return sessionstore.ParseEvent(doc)
}

// forgetEverything does the work of a confirmation. It counts first and stores the
// counts, so that a repetition tells the same.
func (s *Service) forgetEverything(ctx context.Context, w sessionstore.Work) (to int64, err error) {
	events, err := s.sessions.Events(ctx, w, w.Done, 1)
	if err != nil {
		return 0, err
	}
	if len(events) == 0 {
		return 0, memory.ErrAborted
	}
	e := &events[0]
	var doc struct {
		CustomMetadata struct{ Confirm *Confirmation }
	}
	if err := json.Unmarshal(e.Doc, &doc); err != nil {
		return 0, err
	}
	c := doc.CustomMetadata.Confirm
	if c == nil || e.Content.Role != confirmRole || c.Request.Scope != w.Key.Scope {
		return 0, fmt.Errorf("%w: the event is no confirmation of this scope", memory.ErrInvalid)
	}
	var p plan
	if _, err := p.restore(w); err != nil {
		return 0, err
	}
	b := &batch{work: w, key: w.Key, last: e.Seq}
	if p.Swept == nil {
		p = plan{Decided: true, Swept: &Swept{}}
		if err := s.eachSaidBefore(ctx, &c.Request, p.Swept.count); err != nil {
			return 0, err
		}
		if err := s.savePlan(ctx, b, p); err != nil {
			return 0, err
		}
	}
	if err := s.sweep(ctx, w, &c.Request); err != nil {
		return 0, err
	}
	change, err := json.Marshal(Changed{Swept: p.Swept})
	if err != nil {
		return 0, err
	}
	return e.Seq, s.sessions.Finish(ctx, w, e.Seq, []sessionstore.Change{{Seq: e.Seq, Doc: change}})
}

func (c *Swept) count(m *memory.Memory) error {
	if m.Kind == memory.KindTurn {
		c.Turns++
	} else {
		c.Facts++
	}
	return nil
}

// eachSaidBefore calls do with the memories of a scope that a request to forget
// everything is about: those said before it that are not forgotten yet, and its own turn.
func (s *Service) eachSaidBefore(
	ctx context.Context, request *memory.Memory, do func(*memory.Memory) error,
) error {
	return each(ctx, s.memories, request.Scope, memory.Filter{History: true}, func(m *memory.Memory) error {
		own := m.Kind == memory.KindTurn && m.Source.SessionID == request.Source.SessionID &&
			m.Source.EventID() == request.Source.EventID() && !slices.Contains(m.Forgotten, request.ID)
		if own || len(m.Forgotten) == 0 && consolidate.Chronological(m, request) < 0 {
			return do(m)
		}
		return nil
	})
}

// maxSweeps bounds how often what is left is forgotten: another writer may change a
// memory at the same time.
const maxSweeps = 20

// sweep forgets what was said before a request, until nothing is left.
func (s *Service) sweep(ctx context.Context, w sessionstore.Work, request *memory.Memory) error {
	for range maxSweeps {
		var facts []memory.Removal
		var turns []memory.Write
		left := false
		flush := func() error {
			left = left || len(facts)+len(turns) > 0
			if err := s.forgetThese(ctx, w.Key.Scope, facts, turns); err != nil {
				return err
			}
			facts, turns = facts[:0], turns[:0]
			return nil
		}
		err := s.eachSaidBefore(ctx, request, func(m *memory.Memory) error {
			if m.Kind.Statement() {
				facts = append(facts, memory.Removal{ID: m.ID, Actor: client, Operation: w.Request.ID})
			} else {
				hidden := m.Clone()
				hidden.Forgotten = append(hidden.Forgotten, request.ID)
				turns = append(turns, memory.Write{Memory: hidden, Expect: m.Revision, Actor: client,
					Operation: w.Request.ID})
			}
			if len(facts)+len(turns) == writesTogether {
				return flush()
			}
			return nil
		})
		if err == nil {
			err = flush()
		}
		if err != nil || !left {
			return err
		}
	}
	return fmt.Errorf("%w: other writers change the memories all the time", memory.ErrUnavailable)
}

// forgetThese deletes facts and hides turns. A turn that has changed since is left.
func (s *Service) forgetThese(
	ctx context.Context, scope memory.Scope, facts []memory.Removal, turns []memory.Write,
) error {
	if len(facts) > 0 {
		if _, err := s.memories.Delete(ctx, scope, facts); err != nil {
			return err
		}
	}
	if len(turns) == 0 {
		return nil
	}
	if err := s.index(ctx, turns, !s.embedder.Model().Remote); err != nil {
		return err
	}
	_, err := s.memories.Put(ctx, scope, turns)
	return err
}
