package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// fusedConfigs leads the reads of configurations through a fuse too.
type fusedConfigs struct{ fusedSessions }

func (f fusedConfigs) Config(ctx context.Context, app string) (doc json.RawMessage, revision int64, err error) {
	return doc, revision, f.blow(func() error { doc, revision, err = f.Sessions.Config(ctx, app); return err })
}

// configured stores the configuration of the app of a bench.
func (b *bench) configured(doc string) {
	b.Helper()
	if _, err := b.sessions.PutConfig(b.Context(), scope.App, json.RawMessage(doc), sessionstore.AnyRevision); err != nil {
		b.Fatal(err)
	}
}

// Whichever call fails, the reading of the configuration included, facts have the topics
// and the lifetimes that the configuration says: no memory is made by the defaults.
func TestConfiguredWhateverFails(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	play := func(f *fuse) []memory.Memory {
		b := newBench(t, parts{
			sessions: func(s ingest.Sessions) ingest.Sessions { return fusedConfigs{fusedSessions{s, f}} },
			memories: func(s memory.Store) memory.Store { return fusedMemories{s, f} },
			opts:     ingest.Options{Now: func() time.Time { return now }},
		})
		b.configured(`{"managedTopics":{"USER_PREFERENCES":false},"ttl":{"created":"1h","updated":"2h"}}`)
		b.run()
		for session, said := range [][2]string{{"My dog is called Rex.", "I love green tea."},
			{"My dog is called Rex.", "I live in Porto."}} {
			name := fmt.Sprint(session)
			send := func() (*sessionstore.Operation, error) {
				return b.service.Ingest(t.Context(), key(name), []sessionstore.Event{
					event(t, name+"a", 2*session, said[0]), event(t, name+"b", 2*session+1, said[1])},
					ingest.RequestOptions{Zone: time.UTC, Flush: true})
			}
			op, err := send()
			if err != nil { // the configuration was not read, and nothing is stored
				op, err = send()
			}
			if err != nil {
				t.Fatal(err)
			}
			b.succeeds(op)
		}
		return b.all()
	}
	want := play(&fuse{})
	lives := map[string]time.Duration{}
	for _, m := range want {
		if m.Kind == memory.KindFact {
			lives[m.Fact] = m.ExpireTime.Sub(now)
		}
	}
	if diff := cmp.Diff(map[string]time.Duration{"My dog is called Rex.": 2 * time.Hour, "I live in Porto.": time.Hour},
		lives); diff != "" {
		t.Fatalf("undisturbed (-want +got):\n%s", diff)
	}
	for _, after := range []bool{false, true} {
		for n := 1; ; n += sparse {
			f := &fuse{left: n, after: after}
			if diff := cmp.Diff(want, play(f)); diff != "" {
				t.Fatalf("call %d failed, after its effect %v (-undisturbed +failed):\n%s", n, after, diff)
			}
			if f.left > 0 {
				break // no call failed: all have had their turn
			}
		}
	}
}

// Facts that the fallback finds while a model gives no answer heed the topics that are
// off, and the lifetime.
func TestConfiguredFallback(t *testing.T) {
	r := &reader{}
	r.set(memory.ErrUnavailable)
	opts := ingest.Options{MaxAttempts: 1, Fallback: rules.New()}
	b := newBench(t, parts{extractor: extract.NewModel(r, nil), opts: opts})
	b.configured(`{"managedTopics":{"USER_PREFERENCES":false},"ttl":{"created":"1h"}}`)
	b.run()
	b.done(b.ingest("s", event(t, "e1", 1, "My dog is called Rex."), event(t, "e2", 2, "I love green tea.")))
	facts := b.all(memory.KindFact)
	if len(facts) != 1 || facts[0].Fact != "My dog is called Rex." || !facts[0].DefaultExpiry {
		t.Errorf("provisional facts %+v", facts)
	}
}
