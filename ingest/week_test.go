package ingest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// day is a day in seconds.
const day = 86_400

// week is a week of one person's statements to two agents whose clocks differ, as
// they arrive: late, twice, and not in order.
func week(t testing.TB) (requests []func(*bench) *sessionstore.Operation) {
	send := func(session string, events ...sessionstore.Event) {
		requests = append(requests, func(b *bench) *sessionstore.Operation { return b.ingest(session, events...) })
	}
	send("phone", event(t, "p1", 0*day, "I live in Porto."), event(t, "p2", 0*day+60, "My favourite colour is blue."))
	send("desk", event(t, "d5", 5*day, "My favourite colour is red."),
		event(t, "d3", 3*day-120, "I don't eat meat anymore."))
	send("phone", event(t, "p1", 0*day, "I live in Porto."), event(t, "p4", 4*day, "I love sailing."))
	send("desk", event(t, "d1", 1*day, "I really love sailing!"), event(t, "d2", 2*day, "I eat meat."))
	send("phone", event(t, "p6", 6*day, "Please forget that I love sailing."),
		event(t, "p3", 3*day, "My favourite colour is green now."))
	send("desk", event(t, "d6", 6*day+60, "I moved to Lisbon."), event(t, "d7", 6*day+90, "I live in Porto."),
		event(t, "d8", 7*day, "My sister is a nurse."))
	return requests
}

// afterWeek are the facts that are remembered of it.
var afterWeek = []string{
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

// The week is remembered as it should be, whichever call of a batch fails, before
// or after it took effect.
func TestWeek(t *testing.T) {
	model := func() extract.Extractor {
		r := &reader{}
		r.verdict("I don't eat meat anymore.", extract.Create, "", "", "I eat meat.")
		r.verdict("Please forget that I love sailing.", extract.Nothing, "", "") // a model that takes it for a fact
		return extract.NewModel(forgetting{r}, nil)
	}
	for name, extractor := range map[string]func() extract.Extractor{
		"rules": func() extract.Extractor { return rules.New() }, "model": model,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, after := range []bool{false, true} {
				for n := 1; ; n += sparse {
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
					if diff := cmp.Diff(afterWeek, b.history()); diff != "" {
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

// The environment of a process of TestWeekKilled: the number of the call at which
// it is killed, and the path of its database.
const (
	killAtEnv = "MEMORYD_TEST_KILL_AT"
	killInEnv = "MEMORYD_TEST_KILL_IN"
)

// The week is remembered as it should be in a process that is killed after any
// call of its batches, and started again.
func TestWeekKilled(t *testing.T) {
	t.Parallel()
	killed := true
	for n := 1; killed; n += sparse {
		file := filepath.Join(t.TempDir(), "memoryd.db")
		live := func(at int) (killed bool) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestWeekLived$")
			cmd.Env = append(os.Environ(), killInEnv+"="+file, fmt.Sprint(killAtEnv, "=", at))
			out, err := cmd.CombinedOutput()
			if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != -1) {
				t.Fatalf("killed at call %d: %v\n%s", at, err, out)
			}
			return err != nil
		}
		if killed = live(n); killed {
			live(0)
		}
		if diff := cmp.Diff(afterWeek, newBench(t, parts{file: file}).history()); diff != "" {
			t.Fatalf("killed after call %d (-want +got):\n%s", n, diff)
		}
		if !killed && n < 12 {
			t.Fatalf("a week has only %d calls?", n)
		}
	}
}

// TestWeekLived is the process of TestWeekKilled. It sends the whole week, also if
// it was killed before, and lives until the memories are made.
func TestWeekLived(t *testing.T) {
	file := os.Getenv(killInEnv)
	if file == "" {
		return
	}
	at, err := strconv.Atoi(os.Getenv(killAtEnv))
	if err != nil {
		t.Fatal(err)
	}
	f := &fuse{left: at, after: true, blown: func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // until the process is killed
	}}
	b := newBench(t, parts{file: file,
		sessions: func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
		memories: func(s memory.Store) memory.Store { return fusedMemories{s, f} },
	})
	b.run()
	for _, request := range week(t) {
		b.succeeds(request(b))
	}
}
