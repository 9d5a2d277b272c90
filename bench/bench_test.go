package bench

import (
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// loadOf runs a load against a fake, on a clock of its own.
func loadOf(t *testing.T, f *fake, opts Options) *Report {
	t.Helper()
	b := New("http://memoryd", &opts)
	b.api.http.Transport = f
	r, err := b.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A memoryd that keeps its promises breaks none, whatever kind of request is sent,
// also if it refuses some and if answers get lost.
func TestKept(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.refuse, f.failAfter = true, true
				r := loadOf(t, f, Options{Kind: kind, Rate: 100, Duration: 10 * time.Second, Users: 10, Apps: 3})
				if broken := r.Broken(); len(broken) > 0 {
					t.Errorf("broken: %v %q", broken, r.Verified.Examples)
				}
				sent, refused := 0, 0
				for name, k := range r.Kinds {
					sent += k.Sent
					refused += k.Refused
					if k.Sent != k.OK+k.Refused+k.Errors["503"]+k.Errors["404"] {
						t.Errorf("%s: %+v", name, k)
					}
				}
				// Requests that only prepare data for the reads are not counted.
				if find := r.Kinds["find"].Sent; sent-find != 1000 || refused == 0 {
					t.Errorf("%d requests, %d refused", sent-find, refused)
				}
			})
		})
	}
}

// Each promise that is broken is noticed, and none besides.
func TestBroken(t *testing.T) {
	for name, c := range map[string]struct {
		lie  func(*fake)
		kind string
		want string
	}{
		"lost":          {func(f *fake) { f.lose = true }, "append", "acknowledged and lost"},
		"lost fact":     {func(f *fake) { f.loseFact = true }, "remember", "acknowledged and lost"},
		"doubled":       {func(f *fake) { f.double = true }, "ingest", "stored twice"},
		"doubled turn":  {func(f *fake) { f.doubleMemory = true }, "ingest", "stored twice"},
		"unfindable":    {func(f *fake) { f.hide = true }, "ingest", "not found at the end"},
		"crossed":       {func(f *fake) { f.cross = true }, Mixed, "seen in another scope"},
		"boasted":       {func(f *fake) { f.boast = true }, "ingest", "not found although the answer said so"},
		"never ends":    {func(f *fake) { f.unfinished = true }, "ingest", "memories were not made in time"},
		"answers late":  {func(f *fake) { f.takes = 2 * time.Minute }, "search", ""},
		"lost and sent": {func(f *fake) { f.lose, f.failAfter = true, true }, "ingest", "acknowledged and lost"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				c.lie(f)
				r := loadOf(t, f, Options{Kind: c.kind, Rate: 20, Duration: 20 * time.Second, Users: 5, Drain: time.Second})
				broken := strings.Join(r.Broken(), "; ")
				if c.want == "" && broken != "" || !strings.Contains(broken, c.want) {
					t.Errorf("broken: %q, want %q", broken, c.want)
				}
				var out strings.Builder
				if err := r.Write(&out); err != nil || c.want != "" && len(r.Verified.Examples)+len(r.Verified.CrossedExamples) == 0 && name != "boasted" {
					t.Errorf("%v: no example in\n%s", err, &out)
				}
			})
		})
	}
}

// A latency counts from when a request was due: a memoryd that answers nothing for
// a second shows in all requests of that second, and no request is sent later for it.
func TestOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		begin := time.Now()
		f.stall = func() time.Duration {
			if at := time.Since(begin); at >= 2*time.Second && at < 3*time.Second {
				return 3*time.Second - at
			}
			return 0
		}
		r := loadOf(t, f, Options{Kind: "search", Rate: 100, Duration: 5 * time.Second})
		k := r.Kinds["search"]
		if k.Sent != 500 || len(r.Kinds) != 1 || k.P50 > 5 || k.P99 < 900 || k.Max < 990 || k.Max > 1010 {
			t.Errorf("%+v", k)
		}
		if r.Seconds < 4.9 || r.Seconds > 5.1 {
			t.Errorf("requests arrived for %.1f s", r.Seconds)
		}
	})
}

// Requests that would be one too many at a time are not sent, and counted.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.takes = 10 * time.Second
		r := loadOf(t, f, Options{Kind: "search", Rate: 10, Duration: 5 * time.Second, InFlight: 20})
		if n := r.Kinds["not sent"].Dropped; n != 30 || r.Kinds["search"].Sent != 20 {
			t.Errorf("%d dropped, %+v", n, r.Kinds["search"])
		}
	})
}

// The scenarios run through, and their figures have the bounds that memoryd means
// to keep.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios() {
		if s.name == "ceiling" {
			continue // of what a fake does not have: a size
		}
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.takes = 50 * time.Millisecond
				b := New("http://memoryd", &Options{Clients: 5, Batch: 4, Users: 50, Events: 200, Duration: 5 * time.Second})
				b.api.http.Transport = f
				r, err := b.Scenario(t.Context(), s.name)
				if err != nil || len(r.Broken()) > 0 || len(r.Figures) < 4 {
					t.Errorf("%v, %v, %v", err, r.Broken(), r.Figures)
				}
				bounded := 0
				for _, x := range r.Figures {
					if x.Least != nil || x.Most != nil {
						bounded++
					}
				}
				if bounded == 0 {
					t.Error("no figure has a bound")
				}
			})
		})
	}
	b := New("http://memoryd", nil)
	if _, err := b.Scenario(t.Context(), "nonsense"); !errors.Is(err, errScenario) {
		t.Error(err)
	}
}

// A turn that is not found breaks the promise unless its answer said so before.
func TestNotFound(t *testing.T) {
	r := newRecords()
	yes, no := true, false
	for _, said := range []*bool{nil, &yes, &no} {
		r.found(true, said)
		r.found(false, said)
	}
	if want := (Findable{Checked: 6, NotAtOnce: 3, Untold: 2, SaidLater: 2, SaidFindable: 1}); r.find != want {
		t.Errorf("%+v, want %+v", r.find, want)
	}
}

// The scenario of streams tells whether they slow an operation down.
func TestStreamsSlowDown(t *testing.T) {
	for slowed, want := range map[bool]float64{false: 1, true: .5} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.slowed = slowed
			b := New("http://memoryd", &Options{Clients: 3, Events: 20, Duration: 10 * time.Second})
			b.api.http.Transport = f
			r, err := b.Scenario(t.Context(), "streams")
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range r.Figures {
				switch {
				case x.Name == "streams that were open, of 3" && x.Value != 3:
					t.Errorf("%v streams were open", x.Value)
				case x.Name == "progress with streams to without" &&
					(math.Abs(x.Value-want) > .05 || x.Met() == slowed):
					t.Errorf("slowed %t: %+v", slowed, x)
				}
			}
		})
	}
}

// Two runs of a seed send the same texts, but for the name of the run.
func TestSeed(t *testing.T) {
	texts := func() string {
		r := rand.New(rand.NewPCG(1, 2))
		return sentence(r, "it") + padding(r, 100)
	}
	if a, b := texts(), texts(); a != b {
		t.Errorf("%q, then %q", a, b)
	}
}

// A marker is recognised in its scope and in every other one.
func TestMarkers(t *testing.T) {
	run := newRun()
	seen := map[string]bool{}
	for scope := range 40 {
		for turn := range 100 {
			m := markerOf(run, scope, turn)
			if seen[m] {
				t.Fatalf("%s twice", m)
			}
			seen[m] = true
			var c crossings
			c.check(run, scope, []byte(`{"fact": "I love `+m+`."}`))
			if n, _ := c.count(); n != 0 {
				t.Errorf("%s does not belong to scope %d", m, scope)
			}
			c.check(run, scope+1, []byte(m))
			c.check("other", scope, []byte(m))
			if n, _ := c.count(); n != 2 {
				t.Errorf("%s belongs to other scopes", m)
			}
		}
	}
}

// Busy users are busier than others, unless all are the same.
func TestPicker(t *testing.T) {
	for _, uniform := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		p := newPicker(100, uniform)
		n := [100]int{}
		for range 100_000 {
			n[p.pick(r)]++
		}
		if first, last := n[0], n[99]; uniform && first > 2*last || !uniform && first < 20*last || last == 0 {
			t.Errorf("uniform %v: %d for the first and %d for the last", uniform, first, last)
		}
	}
}

// A disk with more room than may be filled is left alone in the end.
func TestFill(t *testing.T) {
	dir := t.TempDir()
	if err := fill(t.Context(), dir, 3<<20, time.Hour); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v is left: %v", files, err)
	}
	if err := fill(t.Context(), filepath.Join(dir, "none"), 1, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// While memoryd is started again there is no process to stall: the id 0 would stop
// the test and what has started it.
func TestStallNothing(t *testing.T) {
	b := &Bench{opts: Options{Process: &Process{}}}
	if pids := b.stalled(); len(pids) > 0 {
		t.Errorf("the processes %d would be stopped", pids)
	}
}

// Faults that are not possible are refused before anything is sent.
func TestFaultsRefused(t *testing.T) {
	for _, f := range []Faults{{Kill: time.Second}, {Stall: time.Second}} {
		b := New("http://memoryd", &Options{Faults: f, Duration: time.Millisecond, Rate: 1})
		if _, err := b.Load(t.Context()); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}
