package ingest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// day is so many seconds.
const day = 86_400

// week is what somebody says in a week, to two agents whose clocks are apart, as
// it arrives: late, twice, and not in order.
func week(t testing.TB) (requests []func(*bench) *sessionstore.Operation) {
	send := func(session string, events ...sessionstore.Event) {
		requests = append(requests, func(b *bench) *sessionstore.Operation { return b.ingest(session, events...) })
	}
	send("phone", event(t, "p1", 0*day, "I live in Porto."), event(t, "p2", 0*day+60, "My favourite colour is blue."))
	send("desk", event(t, "d5", 5*day, "My favourite colour is red."), event(t, "d3", 3*day-120, "I don't eat meat anymore."))
	send("phone", event(t, "p1", 0*day, "I live in Porto."), event(t, "p4", 4*day, "I love sailing."))
	send("desk", event(t, "d1", 1*day, "I really love sailing!"), event(t, "d2", 2*day, "I eat meat."))
	send("phone", event(t, "p6", 6*day, "Please forget that I love sailing."), event(t, "p3", 3*day, "My favourite colour is green now."))
	send("desk", event(t, "d6", 6*day+60, "I moved to Lisbon."), event(t, "d7", 6*day+90, "I live in Porto."), event(t, "d8", 7*day, "My sister is a nurse."))
	return requests
}

// An adversarial week ends as it should, whichever call of the walks fails,
// before or after it took effect.
func TestWeek(t *testing.T) {
	want := []string{
		"I live in Porto. 0 to 518460 by I moved to Lisbon.",
		"My favourite colour is blue. 60 to 259200 by My favourite colour is green now.",
		"I eat meat. 172800 to 259080 by I don't eat meat anymore.",
		"I don't eat meat anymore. 259080",
		"My favourite colour is green now. 259200 to 432000 by My favourite colour is red.",
		"My favourite colour is red. 432000",
		"I moved to Lisbon. 518460 to 518490 by I live in Porto.",
		"I live in Porto. 518490",
		"My sister is a nurse. 604800",
	}
	model := func() extract.Extractor {
		r := &reader{}
		r.verdict("I don't eat meat anymore.", extract.Create, "", "", "I eat meat.")
		r.verdict("Please forget that I love sailing.", extract.Nothing, "", "") // a model that takes it for a fact
		return extract.NewModel(forgetting{r}, nil)
	}
	for name, extractor := range map[string]func() extract.Extractor{"rules": func() extract.Extractor { return extract.NewRules() }, "model": model} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, after := range []bool{false, true} {
				for n := 1; ; n++ {
					f := &fuse{left: n, after: after}
					b := newBench(t, parts{
						extractor: extractor(),
						sessions:  func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
						memories:  func(s memory.Store) memory.Store { return fusedMemories{s, f} },
					})
					stop := b.run()
					var ops []*sessionstore.Operation
					for _, request := range week(t) {
						ops = append(ops, request(b))
					}
					for _, op := range ops {
						b.succeeds(op)
					}
					stop()
					if diff := cmp.Diff(want, b.history()); diff != "" {
						t.Fatalf("call %d failed, after its effect %v (-want +got):\n%s", n, after, diff)
					}
					if f.left > 0 {
						if n < 12 {
							t.Fatalf("a week has only %d calls?", n)
						}
						break
					}
				}
			}
		})
	}
}
