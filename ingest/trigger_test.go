package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// waits checks that an operation waits for its trigger, and that the turns of its events
// can be found meanwhile.
func (b *bench) waits(op *sessionstore.Operation, turns int) {
	b.Helper()
	got, err := b.sessions.Status(b.Context(), scope, op.ID)
	if err != nil {
		b.Fatal(err)
	}
	if !op.Findable || got.State != sessionstore.Pending || got.DueTime.IsZero() {
		b.Errorf("operation %+v, findable %v: want one that waits", got, op.Findable)
	}
	if n := len(b.all(memory.KindTurn)); n != turns {
		b.Errorf("%d turns while the facts wait, want %d", n, turns)
	}
	if facts := b.facts(); len(facts) > 0 {
		b.Errorf("facts %q are made before the trigger fires", facts)
	}
}

// Facts wait for the trigger of the app's configuration, and turns do not.
func TestTriggerOfApp(t *testing.T) {
	b := newBench(t, parts{})
	b.configured(`{"triggers":{"events":3}}`)
	b.run()
	first := b.ingest("s", event(t, "e1", 1, "My dog is called Rex."))
	b.waits(first, 1)
	second := b.ingest("s", event(t, "e2", 2, "I live in Porto."))
	if second.ID != first.ID {
		t.Error("two operations wait in one session")
	}
	b.waits(second, 2)
	b.ingest("s", event(t, "e3", 3, "Good morning!"))
	b.succeeds(first)
	if diff := cmp.Diff([]string{"I live in Porto.", "My dog is called Rex."}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"CREATED My dog is called Rex.", "CREATED I live in Porto."}, b.changes(first)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// The trigger of a request is kept with the session, and counts in place of the app's. A
// request for a session, and one that flushes, wait for none.
func TestTriggerOfSession(t *testing.T) {
	var offset atomic.Int64
	b := newBench(t, parts{now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }})
	b.configured(`{"triggers":{"events":2}}`)
	b.run()
	idle := &sessionstore.Trigger{Idle: time.Hour}
	op := b.ingestWith("s", ingest.RequestOptions{Trigger: idle}, event(t, "e1", 1, "My dog is called Rex."))
	b.ingest("s", event(t, "e2", 2, "Good morning!"))
	b.waits(op, 2)
	offset.Store(int64(2 * time.Hour))
	b.succeeds(op)

	op = b.ingest("s", event(t, "e3", 3, "I live in Porto."))
	now, err := b.service.AddSession(t.Context(), key("s"), ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.succeeds(now)
	b.succeeds(op)
	op = b.ingest("s", event(t, "e4", 4, "I love green tea."))
	b.succeeds(b.ingestWith("s", ingest.RequestOptions{Flush: true}))
	b.succeeds(op)
	if n := len(b.facts()); n != 3 {
		t.Errorf("facts %q", b.facts())
	}
	b.ingest("s", event(t, "e5", 5, "I play chess."), event(t, "e6", 6, "Good evening!"))
	if n := len(b.facts()); n != 3 {
		t.Errorf("a flush has ended the trigger of the session: facts %q", b.facts())
	}
	_, err = b.service.Ingest(t.Context(), key("s"), nil, ingest.RequestOptions{Trigger: &sessionstore.Trigger{Count: -1}})
	if !isInvalid(err) {
		t.Errorf("a trigger that is none gives %v", err)
	}
}

// Where the app says so, events that are only appended ask for memories. They keep their
// state, and are stored also where there is no room for more memories.
func TestTriggerAppends(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{Limits: ingest.Limits{Memories: 3}}})
	b.run()
	if _, err := b.sessions.Create(t.Context(), key("s"), sessionstore.Create{}); err != nil {
		t.Fatal(err)
	}
	n := 0
	appends := func(text string) sessionstore.Appended {
		t.Helper()
		n++
		done, err := b.service.Append(t.Context(), key("s"), []sessionstore.Event{event(t, fmt.Sprint("e", n), n, text,
			fmt.Sprintf(`,"actions":{"stateDelta":{"n":%d}}`, n))})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if op := appends("My dog is called Rex.").Operation; op != nil {
		t.Errorf("without a trigger: operation %+v", op)
	}
	b.reconfigured(`{"triggers":{"events":3,"appends":true}}`)
	op := appends("Good morning!").Operation
	b.waits(op, 2)
	appends("How are you?")
	b.succeeds(op)
	if diff := cmp.Diff([]string{"My dog is called Rex."}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if op := appends("I live in Porto.").Operation; op != nil {
		t.Errorf("without room: operation %+v", op)
	}
	s, err := b.sessions.Get(t.Context(), key("s"), sessionstore.Get{NumRecent: -1})
	if err != nil || len(s.Events) != 4 || string(s.State["n"]) != "4" {
		t.Errorf("session %+v, %v", s, err)
	}
}

// patientConfigs are sessions whose configurations take longer to read than anybody waits who has a time limit.
type patientConfigs struct{ ingest.Sessions }

func (s patientConfigs) Config(ctx context.Context, app string) (json.RawMessage, int64, error) {
	if _, limited := ctx.Deadline(); limited {
		<-ctx.Done()
		return nil, 0, context.Cause(ctx)
	}
	return s.Sessions.Config(ctx, app)
}

// A request waits until its app tells the trigger, however slowly: as of an app without one, facts would be made at once,
// and those of appended events would wait for another request.
func TestSlowConfiguration(t *testing.T) {
	b := newBench(t, parts{sessions: func(s ingest.Sessions) ingest.Sessions { return patientConfigs{s} }})
	b.configured(`{"triggers":{"events":9,"appends":true}}`)
	if _, err := b.sessions.Create(t.Context(), key("s"), sessionstore.Create{}); err != nil {
		t.Fatal(err)
	}
	events := func(id string) []sessionstore.Event {
		return []sessionstore.Event{event(t, id, 1, "My dog is called Rex.")}
	}
	done, err := b.service.Append(t.Context(), key("s"), events("e1"))
	if err != nil || done.Operation == nil {
		t.Errorf("%+v, %v: want an operation", done, err)
	}
	op, err := b.service.Ingest(t.Context(), key("s"), events("e2"), ingest.RequestOptions{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.sessions.Status(t.Context(), scope, op.ID); err != nil || got.DueTime.IsZero() {
		t.Errorf("operation %+v, %v: want one that waits", got, err)
	}
}

// reconfigured is configured for an app whose configuration was read already.
func (b *bench) reconfigured(doc string) {
	b.Helper()
	var c appconfig.Config
	err := json.Unmarshal([]byte(doc), &c)
	if err == nil {
		_, err = b.service.Configs().Put(b.Context(), scope.App, &c, sessionstore.AnyRevision)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// recorder is an extractor that notes what precedes each batch.
type recorder struct {
	rules.Extractor
	before chan []string
}

func (r *recorder) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	var ids []string
	for _, turn := range b.Before {
		ids = append(ids, turn.EventID)
	}
	r.before <- ids
	return r.Extractor.Extract(ctx, b)
}

// The extractor is shown as many of the events before a batch as the overlap says: that of
// the session's trigger, else the app's, else its own number.
func TestOverlap(t *testing.T) {
	for want, c := range map[int]struct {
		config string
		own    *sessionstore.Trigger
	}{
		4: {},
		2: {config: `{"triggers":{"overlap":2}}`},
		6: {config: `{"triggers":{"overlap":2}}`, own: &sessionstore.Trigger{Count: 9, Overlap: 6}},
	} {
		r := &recorder{before: make(chan []string, 9)}
		b := newBench(t, parts{extractor: r})
		if c.config != "" {
			b.configured(c.config)
		}
		b.run()
		for batch := range 2 {
			var events []sessionstore.Event
			for i := range 9 {
				n := 9*batch + i + 1
				events = append(events, event(t, fmt.Sprintf("e%02d", n), n, "Good morning!"))
			}
			b.succeeds(b.ingestWith("s", ingest.RequestOptions{Trigger: c.own}, events...))
		}
		if first := <-r.before; len(first) != 0 {
			t.Errorf("%q precede the first batch", first)
		}
		before := <-r.before
		if len(before) != want || before[want-1] != "e09" {
			t.Errorf("with %+v, %q precede the second batch, want the last %d", c, before, want)
		}
	}
}

// The options of each request hold for its events, though others wait before and after: those that go
// by a trigger too.
func TestOptionsOfEach(t *testing.T) {
	b := newBench(t, parts{})
	by := func(who string) ingest.RequestOptions {
		return ingest.RequestOptions{Metadata: memory.Metadata{"by": json.RawMessage(`"` + who + `"`)},
			Labels: memory.Labels{"by": who}}
	}
	later := by("trigger")
	later.Trigger = &sessionstore.Trigger{Count: 100}
	flush := by("flush")
	flush.Flush = true
	ops := []*sessionstore.Operation{
		b.ingestWith("s", ingest.RequestOptions{}, event(t, "e1", 1, "I live in Porto.")),
		b.ingestWith("s", ingest.RequestOptions{}, event(t, "e2", 2, "My dog is called Rex.")),
		b.ingestWith("s", by("ann"), event(t, "e3", 3, "I am allergic to peanuts.")),
		b.ingestWith("s", later, event(t, "e4", 4, "I work as a nurse.")),
		b.ingestWith("s", flush, event(t, "e5", 5, "My favourite colour is blue.")),
	}
	b.run()
	for _, op := range ops {
		b.succeeds(op)
	}
	want := map[string]string{"I live in Porto.": "", "My dog is called Rex.": "", "I am allergic to peanuts.": "ann",
		"I work as a nurse.": "trigger", "My favourite colour is blue.": "flush"}
	got := map[string]string{}
	for _, m := range b.all(memory.KindFact) {
		var who string
		_ = json.Unmarshal(m.Metadata["by"], &who) // some have none
		got[m.Fact] = who
		revisions, err := b.memories.Revisions(b.Context(), scope, m.ID, 0)
		if err != nil || revisions[0].Labels["by"] != who {
			t.Errorf("%q by %q has the labels %v, %v", m.Fact, who, revisions[0].Labels, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the metadata of facts (-want +got):\n%s", diff)
	}
}
