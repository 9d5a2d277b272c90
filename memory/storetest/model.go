package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// modelCases run the same random calls on the store and on the reference. The
// answers must be the same.
func modelCases() []testCase {
	var cases []testCase
	for seed := range uint64(8) {
		cases = append(cases, testCase{fmt.Sprint("Seed", seed), func(b *bank) { newModel(b, seed).run(400) }})
	}
	return cases
}

// A model is one random sequence of calls. Its choices depend on the seed
// alone.
type model struct {
	*bank
	*rand.Rand
	reference *reference
	sent      map[memory.Scope]map[string]memory.Write // the last write of each memory
	// beforeStep runs before each step, if it is not nil.
	beforeStep func()
}

// modelScopes are the scopes of a sequence. The ids in both are the same.
var modelScopes = []memory.Scope{ann, {App: "app", User: "bob"}}

// newModel begins a sequence with an empty reference.
func newModel(b *bank, seed uint64) *model {
	m := &model{bank: b, Rand: rand.New(rand.NewPCG(seed, 1)), reference: newReference(b.clock.now)}
	m.reference.model = first
	m.sent = map[memory.Scope]map[string]memory.Write{}
	for _, s := range modelScopes {
		m.sent[s] = map[string]memory.Write{}
	}
	return m
}

// run takes steps until an answer differs.
func (m *model) run(steps int) {
	for step := range steps {
		if m.beforeStep != nil {
			m.beforeStep()
		}
		scope := modelScopes[m.IntN(len(modelScopes))]
		// Of twenty steps seven write, two delete or now and then erase, one moves the
		// clock, three list and six search. A few reopen the store.
		switch n := m.IntN(20); {
		case n < 7:
			m.puts(step, scope)
		case n < 9 && m.chance(90):
			m.deletes(step, scope)
		case n < 9:
			m.erases(step, scope)
		case n < 10:
			m.clock.advance(time.Duration(m.IntN(600_000_000)) * time.Microsecond)
		case n < 13:
			m.lists(step, scope)
		case n < 19:
			m.searches(step, scope)
		case m.beforeStep == nil && m.IntN(5) == 0:
			m.reopen()
		}
		// Later answers would differ because of this one.
		if m.Failed() {
			m.FailNow()
		}
	}
	for _, scope := range modelScopes {
		m.reads(scope)
	}
}

// chance is true n times of a hundred.
func (m *model) chance(n int) bool { return m.IntN(100) < n }

// pick gives one element.
func pick[T any](m *model, from []T) T { return from[m.IntN(len(from))] }

// some picks up to n distinct elements.
func some[T any](m *model, from []T, n int) []T {
	var out []T
	for _, i := range m.Perm(len(from))[:m.IntN(n+1)] {
		out = append(out, from[i])
	}
	return out
}

var (
	modelNames    = strings.Fields("f0 f1 f2 f3 f4 f5 f6 t0 t1 t2 t3 t4 t5 t6 t7 t8 t9")
	modelWords    = strings.Fields("tea milk water wine beer rain sun dog cat home")
	modelTopics   = []string{"food", "work", "home", "travel"}
	modelSessions = []string{"s0", "s1", "s2"}
	modelKeys     = []string{"k", "n"}
	modelValues   = []string{`1`, `1.0`, `"1"`, `2`, `true`, `null`, `"go"`, `"\u0067o"`, `[1]`, `{"a":1}`}
)

// metadata is up to n random pairs. The values repeat, so that filters match,
// and some are two spellings of one value.
func (m *model) metadata(n int) memory.Metadata {
	md := memory.Metadata{}
	for _, k := range some(m, modelKeys, n) {
		md[k] = json.RawMessage(pick(m, modelValues))
	}
	return md
}

// vector is a random direction, of unit length as stores expect.
func (m *model) vector() []float32 {
	v, square := make([]float64, Dimension), 0.0
	for i := range v {
		v[i] = m.NormFloat64()
		square += v[i] * v[i]
	}
	out := make([]float32, Dimension)
	for i := range v {
		out[i] = float32(v[i] / math.Sqrt(square))
	}
	return out
}

// write is a random write of one memory. Most expect the right revision. Some
// are the last one again, or the last one with a vector.
func (m *model) write(scope memory.Scope, id string) memory.Write {
	if w, ok := m.sent[scope][id]; ok && m.chance(20) {
		if w.Vector == nil && m.chance(50) {
			w.Vector = m.vector()
		}
		return w
	}
	var text []string
	for range 1 + m.IntN(12) {
		text = append(text, pick(m, modelWords))
	}
	mem := memory.Memory{
		ID: id, Scope: scope, Kind: memory.KindFact, Fact: strings.Join(text, " "),
		Author:      pick(m, []string{"", "Ann"}),
		Evidence:    pick(m, []int{0, 2}),
		DisplayName: pick(m, []string{"", "Drinks"}), Description: pick(m, []string{"", "of tea"}),
		Topics: some(m, modelTopics, 2), Timestamp: at(m.IntN(30)), Metadata: m.metadata(2),
		Source: memory.Source{SessionID: pick(m, modelSessions), EventIDs: []string{"e" + id}},
	}
	if id[0] == 't' {
		mem.Kind = memory.KindTurn
	}
	if strings.HasSuffix(id, "6") && id[0] == 'f' {
		mem.Kind, mem.Profile = memory.KindProfile, &memory.Profile{SchemaID: "person", Field: "drink",
			Value: json.RawMessage(strconv.Quote(text[0]))}
	}
	now := m.clock.now()
	if m.chance(15) {
		mem.ExpireTime = now.Add(time.Duration(m.IntN(3600)) * time.Second)
	}
	if m.chance(15) {
		mem.ValidTo, mem.SupersededBy = at(m.IntN(60)), pick(m, modelNames)
	}
	mem.Edited = m.chance(5)
	if m.chance(5) {
		mem.Forgotten = []string{pick(m, modelNames)}
	}
	mem.Trust = pick(m, []memory.Trust{"", memory.TrustUser, memory.TrustAgent, memory.TrustExternal})
	if m.chance(10) {
		mem.State = pick(m, []memory.State{memory.Quarantined, memory.Approved, memory.Rejected})
	}
	if mem.Kind == memory.KindFact && m.chance(50) { // a fact of turns
		mem.Source.EventIDs = []string{"e" + pick(m, modelNames)}
	}
	w := write(mem)
	w.Actor, w.Operation = pick(m, []string{"client", "rules"}), pick(m, []string{"", "op"})
	if m.chance(80) {
		w.Vector = m.vector()
	}
	if rec := m.reference.scopes[scope][id]; rec != nil {
		w.Expect = int64(len(rec.history))
	}
	if m.chance(20) {
		w.Expect = max(0, w.Expect+int64(m.IntN(4)-2))
	}
	m.sent[scope][id] = w
	return w
}

// puts writes some memories to both stores. What an aborted write shows of an
// expired memory is the store's choice.
func (m *model) puts(step int, scope memory.Scope) {
	var writes []memory.Write
	for _, id := range some(m, modelNames, 6) {
		writes = append(writes, m.write(scope, id))
	}
	want, err := m.reference.Put(m.Context(), scope, writes)
	if err != nil {
		m.Fatal(err)
	}
	got := m.tryIn(scope, writes...)
	for i := range want {
		if want[i].Err != nil && !want[i].Memory.Live(m.clock.now()) {
			want[i].Memory, got[i].Memory = memory.Memory{}, memory.Memory{}
		}
		m.same(fmt.Sprintf("step %d: Put of %+v", step, writes[i]), got[i], want[i])
	}
}

// deletes removes some memories, among them one that never was.
func (m *model) deletes(step int, scope memory.Scope) {
	var removals []memory.Removal
	for _, id := range some(m, append([]string{"never"}, modelNames...), 2) {
		removals = append(removals, memory.Removal{ID: id, Expect: int64(m.IntN(4)), Actor: "client"})
	}
	want, err := m.reference.Delete(m.Context(), scope, removals)
	if err != nil {
		m.Fatal(err)
	}
	got, err := m.store.Delete(m.Context(), scope, removals)
	if err != nil || len(got) != len(removals) {
		m.Fatalf("step %d: Delete gave %d outcomes for %d, error %v", step, len(got), len(removals), err)
	}
	for i := range want {
		m.same(fmt.Sprintf("step %d: Delete of %+v", step, removals[i]), unnumbered(got[i]), unnumbered(want[i]))
	}
}

// erases erases some memories, or those of a session or of an event.
func (m *model) erases(step int, scope memory.Scope) {
	session := pick(m, modelSessions)
	which := memory.Erasure{Sessions: ofSession(session)}
	switch m.IntN(6) {
	case 0:
		which = memory.Erasure{All: true}
	case 1, 2:
		which.Sessions[session] = []string{"e" + pick(m, modelNames), "e" + pick(m, modelNames)}
	case 3:
		which.IDs = some(m, modelNames, 2)
	case 4:
		which = memory.Erasure{IDs: append(some(m, modelNames, 3), "never")}
	}
	want, err := m.reference.Erase(m.Context(), scope, which)
	if err != nil {
		m.Fatal(err)
	}
	m.same(fmt.Sprintf("step %d: Erase of %+v", step, which), m.erase(scope, which), want)
}

// unnumbered is the outcome of a removal without the revision and the time,
// which a store may show as of before the deletion or after it.
func unnumbered(o memory.Outcome) memory.Outcome {
	if o.Err == nil {
		o.Memory.Revision, o.Memory.UpdateTime = 0, time.Time{}
	}
	return o
}

// filter is a random filter. Each field is set now and then, so that most
// filters let something through.
func (m *model) filter() memory.Filter {
	var f memory.Filter
	if m.chance(25) {
		f.Kinds = some(m, memory.Kinds(), 2)
	}
	if m.chance(25) {
		f.Topics = some(m, modelTopics, 2)
	}
	if m.chance(15) {
		f.Since = at(m.IntN(30))
	}
	if m.chance(15) {
		f.Until = at(m.IntN(30))
	}
	if m.chance(25) {
		f.SessionID = pick(m, modelSessions)
	}
	if m.chance(25) {
		f.Metadata = m.metadata(2)
	}
	if m.chance(25) {
		f.AsOf = at(m.IntN(60))
	}
	if m.chance(15) {
		f.History = true
		if m.chance(30) {
			f.SupersededBy = pick(m, modelNames)
		}
	}
	if m.chance(25) {
		f.Where = m.where(2)
	}
	return f
}

// lists compares all pages of a list with the reference's single page.
func (m *model) lists(step int, scope memory.Scope) {
	l := memory.List{Filter: m.filter(), PageSize: 1 + m.IntN(8)}
	l.Hidden = m.chance(20)
	if m.chance(20) {
		l.State = pick(m, []memory.State{memory.Quarantined, memory.Approved, memory.Rejected})
	}
	l.Order = memory.Order{Field: pick(m, []string{"", "timestamp", "createTime", "updateTime"}),
		Ascending: m.chance(50)}
	got := m.list(scope, l)
	l.PageSize = len(modelNames)
	want, err := m.reference.List(m.Context(), scope, l)
	if err != nil {
		m.Fatal(err)
	}
	m.same(fmt.Sprintf("step %d: List(%+v)", step, l), got, want.Memories)
}

// searches compares a search. The limit is moved off ties, where stores may
// differ.
func (m *model) searches(step int, scope memory.Scope) {
	q := memory.Query{Filter: m.filter(), Terms: some(m, append([]string{"unknown"}, modelWords...), 4),
		Limit: 1 + m.IntN(6), Context: m.IntN(3), Succession: m.chance(50), Bytes: m.chance(50)}
	if m.chance(75) {
		q.Vector = m.vector()
	}
	stats, all := m.reference.measure(scope, q, m.clock.now())
	var scores [4][]float64
	lists := [4][]scored{lexicalOf(all), denseOf(all)}
	lists[2], lists[3] = keysOf(all, &q, m.clock.now())
	for i, list := range lists {
		for _, s := range list {
			if i%2 == 0 {
				scores[i] = append(scores[i], memory.LexicalScore(stats, s.Freqs, s.Length))
			} else {
				scores[i] = append(scores[i], s.Cosine)
			}
		}
	}
	q.Limit = untied(q.Limit, scores)
	want, err := m.reference.Search(m.Context(), scope, q)
	if err != nil {
		m.Fatal(err)
	}
	got := m.searchIn(scope, q)
	m.same(fmt.Sprintf("step %d: Search(%+v)", step, q), joined(got, all), joined(want, all))
}

// untied is the least limit from n on at which no list ends within a tie:
// which of equals a list takes is the store's choice.
func untied(n int, lists [4][]float64) int {
	for {
		tied := false
		for _, scores := range lists {
			tied = tied || n < len(scores) && scores[n-1]-scores[n] < 10*precision
		}
		if !tied {
			return n
		}
		n++
	}
}

// joined is f with runs that only touch joined, as a store may leave them
// apart, and with the runs in order. all are the live memories of the scope.
func joined(f memory.Found, all []scored) memory.Found {
	sessions := map[string][]memory.Memory{}
	for _, s := range all {
		if s.Memory.Kind == memory.KindTurn && len(s.Memory.Forgotten) == 0 {
			sessions[s.Memory.Source.SessionID] = append(sessions[s.Memory.Source.SessionID], *s.Memory)
		}
	}
	found := map[string]memory.Candidate{}
	out := memory.Found{Stats: f.Stats, Succession: f.Succession}
	for _, run := range f.Runs {
		for _, c := range run {
			if c.Memory.Kind == memory.KindTurn {
				found[c.Memory.ID] = c
			} else {
				out.Runs = append(out.Runs, []memory.Candidate{c})
			}
		}
	}
	for _, turns := range sessions {
		slices.SortFunc(turns, func(a, b memory.Memory) int { return memory.CompareTurns(&a, &b) })
		var run []memory.Candidate
		for _, t := range turns {
			if c, ok := found[t.ID]; ok {
				run = append(run, c)
			} else if run != nil {
				out.Runs, run = append(out.Runs, run), nil
			}
		}
		if run != nil {
			out.Runs = append(out.Runs, run)
		}
	}
	return sorted(out)
}

// reads compares all answers of Get and Revisions for a scope.
func (m *model) reads(scope memory.Scope) {
	names := append([]string{"never"}, modelNames...)
	want, err := m.reference.Get(m.Context(), scope, names)
	if err != nil {
		m.Fatal(err)
	}
	m.same("Get", m.get(scope, names...), want)
	for _, id := range names {
		want, wantErr := m.reference.Revisions(m.Context(), scope, id, 0)
		got, err := m.store.Revisions(m.Context(), scope, id, 0)
		if !errors.Is(err, wantErr) {
			m.Fatalf("Revisions(%q): error %v, want %v", id, err, wantErr)
		}
		for _, revisions := range [][]memory.Revision{got, want} {
			for i := range revisions {
				if r := &revisions[i]; r.Action == memory.Deleted {
					r.Memory.Revision, r.Memory.UpdateTime = 0, time.Time{}
				}
			}
		}
		m.same(fmt.Sprintf("Revisions(%q)", id), got, want)
	}
}
