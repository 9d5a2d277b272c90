package check

import (
	"context"
	"errors"
	"hash/maphash"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// An event came no later than its session's last update, and its own time may be any.
func TestMayBeRemoved(t *testing.T) {
	now := time.Now()
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	ahead := now.AddDate(70, 0, 0)
	removed := ago(5)
	for _, c := range []struct {
		name          string
		made, updated time.Time
		said          time.Time
		mayBe         bool
	}{
		{"before the removal", ago(9), ago(1), ago(7), true},
		{"behind the removal", ago(9), ago(1), ago(3), false},
		{"of a session that was made later", ago(4), ago(1), ago(7), false},
		{"dated in the future, of a session that ended before", ago(9), ago(6), ahead, true},
		{"dated in the future, of a session that went on", ago(9), ago(1), ahead, false},
		{"the last of a session, dated in the future", ago(9), ahead, ahead, true},
		{"the last of a later session, dated in the future", ago(4), ahead, ahead, false},
	} {
		s, e := span{c.made, c.updated}, sessionstore.Event{Timestamp: c.said}
		if got := s.mayBeRemoved(removed, e); got != c.mayBe {
			t.Errorf("an event %s: %v", c.name, got)
		}
		if s.mayBeRemoved(time.Time{}, e) {
			t.Errorf("an event %s, and nothing was ever removed", c.name)
		}
	}
}

// purging are memories of which a turn is removed just before it is looked for.
type purging struct {
	Memories
	removed time.Time
}

func (p *purging) Get(context.Context, memory.Scope, []string) ([]memory.Memory, error) {
	return nil, nil
}

func (p *purging) Revisions(context.Context, memory.Scope, string, int64) ([]memory.Revision, error) {
	p.removed = time.Now()
	return nil, memory.ErrNotFound
}

func (p *purging) Removed(context.Context) (time.Time, error) { return p.removed, nil }

// one are sessions of which there is one.
type one struct {
	Sessions
	session sessionstore.Session
}

func (o *one) Get(_ context.Context, key sessionstore.Key, _ sessionstore.Get) (*sessionstore.Session, error) {
	if key != o.session.Key {
		return nil, errors.New("another session")
	}
	return &o.session, nil
}

// A turn that is purged while a check looks for it is not lost.
func TestPurgeMeanwhile(t *testing.T) {
	e, err := sessionstore.ParseEvent([]byte(`{"id":"e","author":"user","timestamp":1700000000,
		"content":{"role":"user","parts":[{"text":"I like tea."}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "ann"}, ID: "s"}
	made := time.Now().Add(-time.Hour)
	c := &checker{memories: &purging{removed: made.Add(-time.Hour)}, seed: maphash.MakeSeed(),
		sessions: &one{session: sessionstore.Session{Key: key, CreateTime: made, LastUpdateTime: made,
			Events: []sessionstore.Event{e}}}}
	lost, err := c.lost(t.Context(), key, map[string][]*memory.Memory{"e": {{}}})
	if err != nil || len(lost) > 0 {
		t.Errorf("lost: %v, %v", lost, err)
	}
}
