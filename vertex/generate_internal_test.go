package vertex

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A client is told of each memory once, by what the operation as a whole has done to it.
func TestGenerated(t *testing.T) {
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	change := func(action memory.Action, revision int64, with ...func(*memory.Memory)) ingest.Changed {
		m := &memory.Memory{ID: "m", Scope: memory.Scope{App: "1", User: "ann"}, Kind: memory.KindFact, Fact: "f",
			Revision: revision}
		for _, w := range with {
			w(m)
		}
		return ingest.Changed{Action: action, Memory: m}
	}
	ended := func(m *memory.Memory) { m.ValidTo = now.Add(-time.Hour) }
	later := func(m *memory.Memory) { m.ValidTo = now.Add(time.Hour) }
	held := func(m *memory.Memory) { m.State = memory.Quarantined }
	r := Resource{Collection: engines, Engine: "1"}
	for name, tt := range map[string]struct {
		first, last ingest.Changed
		want        memory.Action // "" for nothing
		before      int64         // the previous revision
	}{
		"created":             {change(memory.Created, 1), change(memory.Created, 1), memory.Created, 0},
		"created and changed": {change(memory.Created, 1), change(memory.Updated, 2), memory.Created, 0},
		"created and deleted": {change(memory.Created, 1), change(memory.Deleted, 1), "", 0},
		"created and ended":   {change(memory.Created, 1), change(memory.Updated, 2, ended), "", 0},
		"changed":             {change(memory.Updated, 3), change(memory.Updated, 3), memory.Updated, 2},
		"changed twice":       {change(memory.Updated, 3), change(memory.Updated, 4), memory.Updated, 2},
		"ends later":          {change(memory.Updated, 3), change(memory.Updated, 3, later), memory.Updated, 2},
		"superseded":          {change(memory.Updated, 3), change(memory.Updated, 3, ended), memory.Deleted, 2},
		"deleted":             {change(memory.Deleted, 3), change(memory.Deleted, 3), memory.Deleted, 3},
		"changed and deleted": {change(memory.Updated, 3), change(memory.Deleted, 3), memory.Deleted, 2},
		"held back":           {change(memory.Created, 1), change(memory.Created, 1, held), "", 0},
	} {
		got, ok := (&touched{tt.first, tt.last}).generated(r, now, nil)
		if !ok {
			got.Action = ""
		}
		want := ""
		if tt.before > 0 {
			want = r.revision("m", tt.before)
		}
		if got.Action != tt.want || ok && got.PreviousRevision != want {
			t.Errorf("%s: %q of %q, want %q of %q", name, got.Action, got.PreviousRevision, tt.want, want)
		}
	}
}

// An operation that has failed says why, and one that waits is not done.
func TestOperationStates(t *testing.T) {
	s := &Service{opts: Options{Now: time.Now}}
	r := Resource{Collection: engines, Engine: "1"}
	for state, done := range map[sessionstore.OperationState]bool{sessionstore.Failed: true, sessionstore.Pending: false,
		sessionstore.Running: false} {
		op := &sessionstore.Operation{Request: sessionstore.Request{ID: "id"}, State: state, LastError: "no model"}
		got, err := s.operationOf(t.Context(), r, op, nil)
		if err != nil || got.Done != done || got.Response != nil || (got.Error != nil) != done ||
			done && got.Error.Message != "memories were not made: no model" {
			t.Errorf("%s: %+v, %v", state, got, err)
		}
	}
}

// Equal contents have the same ids in each request, and those that a request has twice have two.
func TestDerivedIDs(t *testing.T) {
	ids := func(in string) (out []string) {
		var c contents
		if err := Decode([]byte(in), &c); err != nil {
			t.Fatal(err)
		}
		events, err := c.native("ann", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			out = append(out, events[i].ID)
		}
		return out
	}
	const yes, no = `{"content": {"role": "user", "parts": [{"text": "Yes."}]}}`, `{"content": {"parts": [{"text": "No."}]}}`
	got := ids(`{"events": [` + yes + `, ` + no + `, ` + yes + `,
		{"content": {"role": "model", "parts": [{"text": "Yes."}]}},
		{"content": {"role": "user", "parts": [{"text": "Yes."}]}, "eventTime": "2026-03-02T00:00:00Z"},
		{"content": {"role": "user", "parts": [{"text": "Yes."}]}, "eventId": "own"}]}`)
	seen := map[string]bool{}
	for _, id := range got {
		if seen[id] {
			t.Errorf("two of %q are equal", got)
		}
		seen[id] = true
	}
	again := ids(`{"events": [` + yes + `, {"content": {"parts": [ {"text":"No."}], "role": "user"}}]}`)
	if again[0] != got[0] || again[1] != got[1] || got[5] != "own" {
		t.Errorf("sent again the ids are %q, and were %q", again, got)
	}
}
