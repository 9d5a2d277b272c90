package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// story is a conversation with facts, small talk, a repetition, and a statement
// that is taken back.
func story(t testing.TB) []sessionstore.Event {
	return []sessionstore.Event{
		event(t, "e1", 1, "I live in Porto.", `, "invocationId": "i1"`),
		event(t, "e2", 2, "Thanks!", `, "invocationId": "i1"`),
		event(t, "e3", 3, "I am allergic to peanuts. I love sailing.", `, "invocationId": "i2"`),
		event(t, "e4", 4, "I hate Mondays.", `, "invocationId": "i3"`),
		event(t, "e5", 5, "", `, "invocationId": "i4", "actions": {"rewindBeforeInvocationId": "i3"}`),
		event(t, "e6", 6, "I live in Porto.", `, "invocationId": "i5"`),
		event(t, "e7", 7, "My sister is a nurse.", `, "invocationId": "i6"`),
	}
}

var storyFacts = []string{"I am allergic to peanuts.", "I live in Porto.", "I love sailing.", "My sister is a nurse."}

// A conversation becomes turns and facts, each with the events that it rests on.
func TestIngest(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	op := b.succeeds(b.ingest("s", story(t)...))
	if diff := cmp.Diff(storyFacts, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	want := []string{"CREATED I live in Porto.", "CREATED I am allergic to peanuts.", "CREATED I love sailing.",
		"CREATED My sister is a nurse."}
	if diff := cmp.Diff(want, b.changes(op)); diff != "" {
		t.Errorf("the operation's changes (-want +got):\n%s", diff)
	}
	var turns []string
	for _, m := range b.all(memory.KindTurn) {
		turns = append(turns, m.Source.EventIDs[0])
		if m.Source.SessionID != "s" || m.Author != "user" {
			t.Errorf("turn %+v", m)
		}
	}
	slices.Sort(turns)
	if diff := cmp.Diff([]string{"e1", "e2", "e3", "e6", "e7"}, turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	for _, m := range b.all(memory.KindFact) {
		revisions, err := b.memories.Revisions(t.Context(), scope, m.ID, 0)
		if err != nil || len(revisions) != 1 || revisions[0].Actor != "rules" || revisions[0].Operation != op.ID {
			t.Errorf("revisions of %q: %+v, %v", m.Fact, revisions, err)
		}
	}
}

// An answer is read together with the question before it, also where that was ingested before.
func TestAnswerToAnEarlierQuestion(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	asked, err := sessionstore.ParseEvent([]byte(`{"id": "e1", "author": "bot", "timestamp": 1700000001,
		"content": {"role": "model", "parts": [{"text": "Hello! Do you have any allergies?"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", asked))
	b.succeeds(b.ingest("s", event(t, "e2", 2, "Just sesame.")))
	if diff := cmp.Diff([]string{"Do you have any allergies? Just sesame."}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// The same events give the same memories, in any order, in parts and repeated.
func TestAnyOrder(t *testing.T) {
	want := newBench(t, parts{})
	want.run()
	want.succeeds(want.ingest("s", story(t)...))
	for seed := range uint64(10) {
		b := newBench(t, parts{opts: ingest.Options{BatchEvents: 1 + int(seed)%4}})
		random := rand.New(rand.NewPCG(seed, 0))
		// Only the events before the rewind are shuffled.
		events := story(t)
		first := events[:4]
		random.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
		b.run()
		for i := 0; i < len(events); {
			n := 1 + random.IntN(len(events)-i)
			if i < 4 {
				n = min(n, 4-i)
			}
			b.succeeds(b.ingest("s", events[i:i+n]...))
			b.ingest("s", events[:i+n]...) // again
			i += n
		}
		b.succeeds(b.ingest("s", events...))
		// How many revisions a fact has that is said again depends on where batches end.
		ignored := cmpopts.IgnoreFields(memory.Memory{}, "Revision")
		if diff := cmp.Diff(want.all(), b.all(), ignored); diff != "" {
			t.Fatalf("seed %d (-in order +shuffled):\n%s", seed, diff)
		}
	}
}

// Whichever call of a batch fails, before or after it took effect, the batch is
// processed again and gives the same memories, also where its events came one by one and
// waited for a trigger.
func TestEveryCallFailsOnce(t *testing.T) {
	all := &sessionstore.Trigger{Count: len(story(t))}
	want := newBench(t, parts{})
	want.run()
	want.succeeds(want.ingest("s", story(t)...))
	for _, after := range []bool{false, true} {
		for n := 1; ; n += sparse {
			f := &fuse{left: n, after: after}
			b := newBench(t, parts{
				sessions: func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
				memories: func(s memory.Store) memory.Store { return fusedMemories{s, f} },
			})
			var op *sessionstore.Operation
			if n%2 == 0 {
				op = b.ingest("s", story(t)...)
			} else {
				for _, e := range story(t) {
					op = b.ingestWith("s", ingest.RequestOptions{Trigger: all}, e)
				}
			}
			b.run()
			done := b.succeeds(op)
			if diff := cmp.Diff(want.all(), b.all()); diff != "" {
				t.Fatalf("call %d failed, after its effect %v (-undisturbed +failed):\n%s", n, after, diff)
			}
			// If only the answer of Finish was lost, the work is done and is not
			// tried again.
			if got := len(b.changed(done)); got != 4 {
				t.Errorf("call %d failed, after its effect %v: %d changes reported, want 4", n, after, got)
			}
			if f.left > 0 { // no call failed: all have had their turn
				if n < 8 {
					t.Fatalf("a batch has only %d calls?", n)
				}
				break
			}
		}
	}
}

// moody is an extractor that never gives the same answer twice, as a model may.
type moody struct {
	rules.Extractor
	calls atomic.Int64
}

func (m *moody) Extract(_ context.Context, b extract.Batch) (extract.Found, error) {
	n, t := m.calls.Add(1), b.Turns[0]
	return extract.Found{Facts: []extract.Fact{{
		SessionID: t.SessionID, Text: fmt.Sprintf("This is what I say at call %d.", n),
		EventIDs: []string{t.EventID}, Quote: t.Text, Timestamp: t.Timestamp,
	}}}, nil
}

// The facts that an extractor found are stored before they are used, and a retry
// uses these.
func TestPlanIsKept(t *testing.T) {
	for n := 1; n <= 8; n++ {
		f := &fuse{left: n}
		b := newBench(t, parts{
			extractor: &moody{},
			sessions:  func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
			memories:  func(s memory.Store) memory.Store { return fusedMemories{s, f} },
		})
		op := b.ingest("s", event(t, "e1", 1, "one"))
		b.run()
		b.succeeds(op)
		if got := b.facts(); len(got) != 1 {
			t.Errorf("call %d failed: facts %q, want one", n, got)
		}
	}
}

// failing is an extractor that panics until it is mended.
type failing struct {
	rules.Extractor
	mended atomic.Bool
}

func (f *failing) Extract(context.Context, extract.Batch) (extract.Found, error) {
	if f.mended.Load() {
		return extract.Found{}, nil
	}
	panic("extractor fell over")
}

// An operation has failed when its attempts are used up, and says so. Its turns
// are stored, and a retry resumes it.
func TestFailsAndIsRetried(t *testing.T) {
	f := &failing{}
	b := newBench(t, parts{extractor: f, opts: ingest.Options{MaxAttempts: 3}})
	b.run()
	op := b.done(b.ingest("s", event(t, "e1", 1, "one")))
	if op.State != sessionstore.Failed || op.Attempts != 3 || op.LastError == "" {
		t.Errorf("operation %+v", op)
	}
	if n := len(b.all(memory.KindTurn)); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
	f.mended.Store(true)
	if _, err := b.service.Retry(t.Context(), scope, op.ID); err != nil {
		t.Fatal(err)
	}
	b.succeeds(op)
}

// unavailable is a remote embedder that does not answer.
type unavailable struct{ embed.Builtin }

func (unavailable) Model() embed.Model {
	m := embed.Builtin{}.Model()
	m.Remote = true
	return m
}

func (unavailable) Embed(ctx context.Context, _ embed.Task, _ []string) ([][]float32, error) {
	return nil, fmt.Errorf("%w: the embedder does not answer", memory.ErrUnavailable)
}

// absent is a memory store that is unavailable until it is back.
type absent struct {
	memory.Store
	back *atomic.Bool
}

func (a absent) Put(ctx context.Context, scope memory.Scope, w []memory.Write) ([]memory.Outcome, error) {
	if !a.back.Load() {
		return nil, fmt.Errorf("%w: gone for maintenance", memory.ErrUnavailable)
	}
	return a.Store.Put(ctx, scope, w)
}

// Work is not given up while the memory store is unavailable, however often it was
// tried, and goes on by itself when the store is back.
func TestMemoryStoreUnavailable(t *testing.T) {
	var back atomic.Bool
	b := newBench(t, parts{
		memories: func(s memory.Store) memory.Store { return absent{s, &back} },
		opts:     ingest.Options{MaxAttempts: 2},
	})
	b.run()
	op := b.ingest("s", event(t, "e1", 1, "I live in Porto."))
	for {
		now, err := b.sessions.Status(t.Context(), scope, op.ID)
		if err != nil || now.State == sessionstore.Failed {
			t.Fatalf("operation %+v, %v", now, err)
		}
		if now.Attempts > 5 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	back.Store(true)
	b.succeeds(op)
	if diff := cmp.Diff([]string{"I live in Porto."}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// Without the embedder turns are found by words at once, and the operation is
// tried as often as others.
func TestEmbedderUnavailable(t *testing.T) {
	b := newBench(t, parts{embedder: unavailable{}, opts: ingest.Options{MaxAttempts: 2}})
	b.run()
	op := b.done(b.ingest("s", event(t, "e1", 1, "giraffes everywhere")))
	if op.State != sessionstore.Failed {
		t.Errorf("operation %+v", op)
	}
	found, err := b.memories.Search(t.Context(), scope, memory.Query{Terms: []string{"giraff"}, Limit: 5})
	if err != nil || len(found.Runs) != 1 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// Of the same statement in several sessions the one said first stands, whichever
// session arrived first, and a fact that a client gave stands before all.
func TestDuplicatesMerge(t *testing.T) {
	early, late := event(t, "e1", 1, "I live in Porto."), event(t, "e9", 900, "I live in Porto!")
	for name, order := range map[string][]string{"in order": {"early", "late"}, "reversed": {"late", "early"}} {
		b := newBench(t, parts{})
		b.run()
		for _, which := range order {
			b.succeeds(b.ingest(which, map[string]sessionstore.Event{"early": early, "late": late}[which]))
		}
		facts := b.all(memory.KindFact)
		if len(facts) != 1 || facts[0].Source.SessionID != "early" {
			t.Errorf("%s: facts %+v", name, facts)
		}
	}
	b := newBench(t, parts{})
	b.run()
	given, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: "I live in Porto"})
	if err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", early))
	if facts := b.all(memory.KindFact); len(facts) != 1 || facts[0].ID != given.ID {
		t.Errorf("beside a given fact: %+v", facts)
	}
}

// A memory that a client changed or deleted stays so, whatever is ingested again.
func TestClientsWordStands(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", story(t)...))
	var changed, deleted memory.Memory
	for _, m := range b.all() {
		switch m.Fact {
		case "I love sailing.":
			deleted = m
		case "Thanks!":
			changed = m
		}
	}
	text := "Thanks a lot!"
	if _, err := b.service.Update(t.Context(), scope, changed.ID, ingest.Patch{Fact: &text}); err != nil {
		t.Fatal(err)
	}
	if err := b.service.Delete(t.Context(), scope, deleted.ID); err != nil {
		t.Fatal(err)
	}
	before := b.all()
	// The session is posted again after it was deleted: all of it is processed again.
	if err := b.sessions.Delete(t.Context(), key("s")); err != nil {
		t.Fatal(err)
	}
	b.succeeds(b.ingest("s", story(t)...))
	if diff := cmp.Diff(before, b.all()); diff != "" {
		t.Errorf("after ingesting again (-before +after):\n%s", diff)
	}
}

// The memories of a deleted session are still made if they were requested. Another
// session of its name that says something else under the same IDs adds to them.
func TestDeletedSession(t *testing.T) {
	b := newBench(t, parts{})
	op := b.ingest("s", event(t, "e1", 1, "I live in Porto."))
	if err := b.sessions.Delete(t.Context(), key("s")); err != nil {
		t.Fatal(err)
	}
	again := b.ingest("s", event(t, "e1", 1, "I play the cello."))
	b.run()
	b.succeeds(op)
	b.succeeds(again)
	if diff := cmp.Diff([]string{"I live in Porto.", "I play the cello."}, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// Events that Append adds to a session wait until memories of them are requested.
func TestAddSession(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	if _, err := b.sessions.Append(t.Context(), key("s"), story(t), sessionstore.Append{Create: true}); err != nil {
		t.Fatal(err)
	}
	if n := len(b.all()); n != 0 {
		t.Errorf("%d memories before they were requested", n)
	}
	op, err := b.service.AddSession(t.Context(), key("s"), ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if op = b.succeeds(op); op.EventsTotal != 7 || op.EventsDone != 7 {
		t.Errorf("operation %+v", op)
	}
	if diff := cmp.Diff(storyFacts, b.facts()); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	op, err = b.service.AddSession(t.Context(), key("s"), ingest.RequestOptions{})
	if err != nil || op.State != sessionstore.Succeeded || op.EventsTotal != 0 {
		t.Errorf("requested again: %+v, %v", op, err)
	}
}

// Many patches of one memory at a time all succeed.
func TestManyPatches(t *testing.T) {
	b := newBench(t, parts{})
	m, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: "old"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			text := fmt.Sprint("new ", i)
			if _, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Fact: &text}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if m, err = b.service.Get(t.Context(), scope, m.ID); err != nil || m.Revision != 17 {
		t.Errorf("after all: %+v, %v", m, err)
	}
}

// Patches of different fields at the same time do not undo each other.
func TestConcurrentPatches(t *testing.T) {
	b := newBench(t, parts{})
	m, err := b.service.Add(t.Context(), scope, ingest.NewMemory{Fact: "old"})
	if err != nil {
		t.Fatal(err)
	}
	text, topics := "new", []string{"t"}
	errs := make(chan error, 2)
	go func() { _, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Fact: &text}); errs <- err }()
	go func() {
		_, err := b.service.Update(t.Context(), scope, m.ID, ingest.Patch{Topics: &topics})
		errs <- err
	}()
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	m, err = b.service.Get(t.Context(), scope, m.ID)
	if err != nil || m.Fact != "new" || !slices.Equal(m.Topics, topics) || m.Revision != 3 {
		t.Errorf("after both: %+v, %v", m, err)
	}
}

// stalled is an extractor that waits until it is released, or its lease is lost.
type stalled struct {
	rules.Extractor
	begun, release chan struct{}
}

func (s *stalled) Extract(ctx context.Context, _ extract.Batch) (extract.Found, error) {
	select {
	case s.begun <- struct{}{}:
	default:
	}
	select {
	case <-s.release:
		return extract.Found{}, nil
	case <-ctx.Done():
		return extract.Found{}, ctx.Err()
	}
}

// A batch that has begun is finished after a stop.
func TestStopFinishes(t *testing.T) {
	s := &stalled{begun: make(chan struct{}, 1), release: make(chan struct{})}
	b := newBench(t, parts{extractor: s})
	op := b.ingest("s", event(t, "e1", 1, "one"))
	stop := b.run()
	<-s.begun
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	close(s.release)
	<-stopped
	if got, err := b.sessions.Status(t.Context(), scope, op.ID); err != nil || got.State != sessionstore.Succeeded {
		t.Errorf("after the stop: %+v, %v", got, err)
	}
}
