package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// filler is a model that fills the profile person by words such as age=30, and takes
// "Forget: TEXT" for a request to forget.
type filler struct{}

func (filler) Model() string { return "test:filler" }

var assigned = regexp.MustCompile(`(\w+)=(\S+)`)

func (filler) Generate(_ context.Context, p extract.Prompt) (extract.Answer, error) {
	facts, values := []any{}, []any{}
	for raw := range strings.Lines(p.Data) {
		var l struct {
			N    int
			Text string
		}
		if json.Unmarshal([]byte(raw), &l) != nil || l.N == 0 {
			continue
		}
		if what, forget := strings.CutPrefix(l.Text, "Forget: "); forget {
			facts = append(facts, map[string]any{"fact": what, "topic": memory.TopicInstructions, "events": []int{l.N},
				"quote": l.Text, "when": "", "confidence": 1, "forget": true})
		}
		for _, m := range assigned.FindAllStringSubmatch(l.Text, -1) {
			values = append(values, map[string]any{"profile": "person", "field": m[1], "value": m[2], "events": []int{l.N},
				"quote": m[0], "confidence": 1})
		}
	}
	raw, err := json.Marshal(map[string]any{"facts": facts, "values": values, "verdicts": []any{}})
	return extract.Answer{Text: string(raw), Usage: extract.Usage{Calls: 1}}, err
}

// person is a configuration with a profile.
const person = `{"profiles":[{"id":"person","schema":{"type":"object","properties":{"age":{"type":"integer"},
	"city":{"type":"string"},"hobbies":{"type":"array","items":{"type":"string"}}}}}]}`

// profile are the values of the profile person, sorted, with the numbers of their revisions.
func (b *bench) profile() (out []string) {
	b.Helper()
	found, err := b.service.Profiles(b.Context(), scope)
	if err != nil {
		b.Fatal(err)
	}
	for field, m := range found["person"] {
		out = append(out, fmt.Sprintf("%s=%s @%d", field, m.Value, m.Revision))
	}
	slices.Sort(out)
	return out
}

// Whichever call of a batch fails, before or after it took effect, values have the same
// revisions as without, and the operation reports them once.
func TestValuesWhateverFails(t *testing.T) {
	const never = 1 << 30
	play := func(f *fuse) (profile []string, turns []memory.Memory, told []string, blown bool) {
		f.left += never // not before the second batch
		b := newBench(t, parts{
			sessions:  func(s ingest.Sessions) ingest.Sessions { return fusedSessions{s, f} },
			memories:  func(s memory.Store) memory.Store { return fusedMemories{s, f} },
			extractor: extract.NewModel(filler{}, nil),
		})
		b.configured(person)
		stop := b.run()
		b.succeeds(b.ingest("s", event(t, "a", 1, "age=30 hobbies=chess")))
		stop()
		f.wait(-never)
		op := b.ingest("t", event(t, "b", 2, "age=31 city=Porto"), event(t, "c", 3, "Forget: my hobbies"))
		b.run()
		op = b.succeeds(op)
		blown = f.wait(never)
		told = b.changes(op)
		slices.Sort(told)
		return b.profile(), b.all(memory.KindTurn), told, blown
	}
	profile, turns, told, _ := play(&fuse{left: 1 << 20})
	if diff := cmp.Diff([]string{"age=31 @2", `city="Porto" @1`}, profile); diff != "" {
		t.Fatalf("undisturbed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"CREATED City: Porto", "DELETED Hobbies: chess", "UPDATED Age: 31"}, told); diff != "" {
		t.Fatalf("undisturbed, the operation (-want +got):\n%s", diff)
	}
	for n := 1; ; n += sparse {
		// Each call fails in one of the two ways: the cases of facts have both of each.
		f := &fuse{left: n, after: n%2 == 0}
		p, all, changes, blown := play(f)
		if diff := cmp.Diff(profile, p) + cmp.Diff(turns, all) + cmp.Diff(told, changes); diff != "" {
			t.Fatalf("call %d failed, after its effect %v (-undisturbed +failed):\n%s", n, f.after, diff)
		}
		if !blown { // no call failed: all have had their turn
			if n < 8 {
				t.Fatalf("a batch has only %d calls?", n)
			}
			return
		}
	}
}

// wait has the fuse fail some calls later, and reports whether it has blown.
func (f *fuse) wait(calls int) (blown bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	blown = f.left <= 0
	f.left += calls
	return blown
}

// meddler calls a function before the first values of profiles are written.
type meddler struct {
	memory.Store
	first *func()
}

func (m meddler) Put(ctx context.Context, s memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	does := *m.first
	if does != nil && slices.ContainsFunc(writes, func(w memory.Write) bool { return w.Memory.Kind == memory.KindProfile }) {
		*m.first = nil
		does()
	}
	return m.Store.Put(ctx, s, writes)
}

// A value that another writer stores between the plan of a batch and its writing stays, if
// it is a client's or was said later. One that was said before gives way, and what a client
// did beside the value stays.
func TestValueMeanwhile(t *testing.T) {
	thirty := json.RawMessage("30")
	for name, c := range map[string]struct {
		second int // of an extracted value that another writer stores; 0 for none
		patch  *ingest.Patch
		want   string
	}{
		"a client's value":   {patch: &ingest.Patch{Value: &thirty}, want: "age=30 @2"},
		"a client's labels":  {patch: &ingest.Patch{Topics: &[]string{"T"}}, want: "age=31 @3"},
		"said later":         {second: 20, want: "age=40 @2"},
		"said before":        {second: 5, want: "age=31 @3"},
		"of the same second": {second: 10, want: "age=40 @2"}, // event x is behind b
	} {
		t.Run(name, func(t *testing.T) {
			var first func()
			b := newBench(t, parts{
				memories:  func(s memory.Store) memory.Store { return meddler{s, &first} },
				extractor: extract.NewModel(filler{}, nil),
			})
			b.configured(person)
			b.run()
			b.succeeds(b.ingest("s", event(t, "a", 1, "age=29")))
			stored, err := b.service.Profiles(t.Context(), scope)
			if err != nil {
				t.Fatal(err)
			}
			m := stored["person"]["age"]
			first = func() {
				if c.patch != nil {
					if _, err := b.service.Update(t.Context(), scope, m.ID, *c.patch); err != nil {
						t.Error(err)
					}
					return
				}
				other := m.Clone()
				other.Profile.Value, other.Fact = json.RawMessage("40"), "Age: 40"
				other.Source = memory.Source{SessionID: "x", EventIDs: []string{"x"}, Quote: "age=40"}
				other.Timestamp = event(t, "x", c.second, "age=40").Timestamp
				out, err := b.memories.Put(t.Context(), scope, []memory.Write{{Memory: other, Expect: 1, Actor: "other"}})
				if err != nil || out[0].Err != nil {
					t.Error(err, out)
				}
			}
			b.succeeds(b.ingest("t", event(t, "b", 10, "age=31")))
			if got := b.profile(); len(got) != 1 || got[0] != c.want {
				t.Errorf("the profile is %q, want %q", got, c.want)
			}
			after, err := b.service.Get(t.Context(), scope, m.ID)
			if err != nil || c.patch != nil && c.patch.Topics != nil && !slices.Equal(after.Topics, []string{"T"}) {
				t.Errorf("the memory is %+v, %v", after, err)
			}
		})
	}
}

// However the events of some sessions are cut into batches, and in whichever order these
// arrive, the last value counts.
func TestValuesInAnyOrder(t *testing.T) {
	orders := [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}, {"b", "a", "c"}}
	texts := map[string]string{"a": "age=30 city=Porto", "b": "age=31", "c": "age=30 city=Porto"}
	for _, order := range orders {
		b := newBench(t, parts{extractor: extract.NewModel(filler{}, nil)})
		b.configured(person)
		b.run()
		for _, id := range slices.Concat(order, order) {
			b.succeeds(b.ingest("s"+id, event(t, id, int(id[0]), texts[id])))
		}
		found, err := b.service.Profiles(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		age, city := found["person"]["age"], found["person"]["city"]
		if string(age.Value) != "30" || string(city.Value) != `"Porto"` || age.Source.EventID() != "c" ||
			city.Source.EventID() != "c" || !age.Timestamp.Equal(time.Unix(1_700_000_000+'c', 0)) {
			t.Errorf("in the order %q: age %+v, city %+v", order, age, city)
		}
	}
}

// A value that is said again after it was deleted lives as long as a new one does, and so
// does one that is said after it has expired.
func TestValueLivesAsLong(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	b := newBench(t, parts{extractor: extract.NewModel(filler{}, nil), now: func() time.Time { return now },
		opts: ingest.Options{Now: func() time.Time { return now }}})
	b.configured(strings.Replace(person, `{"profiles"`, `{"ttl":{"created":"1h"},"profiles"`, 1))
	tell := func(id, text string) memory.Memory {
		t.Helper()
		now = now.Add(time.Minute)
		stop := b.run()
		defer stop()
		b.succeeds(b.ingest("s", event(t, id, int(now.Unix()-1_700_000_000), text)))
		found, err := b.service.Profiles(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		return found["person"]["age"]
	}
	m := tell("a", "age=30")
	if err := b.service.Delete(t.Context(), scope, m.ID); err != nil {
		t.Fatal(err)
	}
	m = tell("b", "age=31")
	if m.Revision != 3 || !m.DefaultExpiry || m.ExpireTime.Before(now.Add(time.Minute)) {
		t.Errorf("after the deletion: %+v", m)
	}
	now = m.ExpireTime.Add(time.Hour)
	m = tell("c", "age=32")
	if string(m.Value) != "32" || !m.DefaultExpiry || m.ExpireTime.Before(now.Add(time.Minute)) {
		t.Errorf("after it had expired: %+v", m)
	}
}
