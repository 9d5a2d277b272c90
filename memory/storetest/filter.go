package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// filterCases check that a store's own form of a filter is
// [memory.Filter.Match], in lists and in both lists of a search.
func filterCases() []testCase {
	return []testCase{
		{"Fields", filterFields},
		{"Metadata", filterMetadata},
		{"Moments", filterMoments},
		{"DatedInTheFuture", filterDated},
		{"Redated", filterRedated},
	}
}

// at is a time some minutes after the start.
func at(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }

// passes checks that List, and Search by words and by vector, each give exactly
// the wanted memories. All of them must have the word "tea" and a vector along
// axis(0).
func (b *bank) passes(f memory.Filter, want ...string) {
	b.Helper()
	slices.Sort(want)
	got := ids(b.list(ann, memory.List{Filter: f, PageSize: 2}))
	slices.Sort(got)
	b.same(fmt.Sprintf("List(%+v)", f), got, want)
	b.same(fmt.Sprintf("Search(%+v) by words", f),
		foundIDs(b.search(memory.Query{Filter: f, Terms: []string{"tea"}, Limit: 50})), want)
	b.same(fmt.Sprintf("Search(%+v) by vector", f),
		foundIDs(b.search(memory.Query{Filter: f, Vector: axis(0), Limit: 50})), want)
}

// A fact that was dated in the future when it was received is not current before
// that time, and a fact whose clock was somewhat ahead is, as turns are. History
// has all, and AsOf goes by the times alone.
func filterDated(b *bank) {
	memo := func(m memory.Memory, at, received time.Duration) {
		m.Timestamp, m.ReceiveTime = start.Add(at), start.Add(received)
		b.put(embedded(m, axis(0)))
	}
	memo(fact("late", "tea late"), 48*time.Hour, 0)
	memo(fact("ahead", "tea ahead"), memory.MaxSkew, 0)
	memo(fact("come", "tea come"), -time.Hour, -memory.MaxSkew-2*time.Hour)
	later := fact("later", "tea later")
	later.Timestamp = start.Add(72 * time.Hour) // of a client, which said when
	b.put(embedded(later, axis(0)))
	said := turn("said", "s", 0, "tea said")
	said.Timestamp = start.Add(72 * time.Hour)
	b.put(embedded(said, axis(0)))
	b.passes(memory.Filter{}, "ahead", "come", "later", "said")
	b.passes(memory.Filter{History: true}, "ahead", "come", "late", "later", "said")
	b.passes(memory.Filter{AsOf: start.Add(47 * time.Hour)}, "ahead", "come")
	b.passes(memory.Filter{AsOf: start.Add(48 * time.Hour)}, "ahead", "come", "late")
	b.clock.advance(48*time.Hour - time.Microsecond)
	b.passes(memory.Filter{}, "ahead", "come", "later", "said")
	b.clock.advance(time.Microsecond)
	b.passes(memory.Filter{}, "ahead", "come", "late", "later", "said")
}

// A fact whose ValidFrom a client has set is found as of that time, although it was
// said later, and hides no earlier than others. A ValidFrom that was extracted changes
// nothing.
func filterRedated(b *bank) {
	memo := func(id string, from, edited time.Duration) {
		m := fact(id, "tea "+id)
		m.Timestamp, m.Source.EventIDs = start, []string{"e"}
		m.ValidFrom, m.FromEditTime = start.Add(from), start.Add(edited)
		if edited == 0 {
			m.FromEditTime = time.Time{}
		}
		b.put(embedded(m, axis(0)))
	}
	memo("extracted", -24*time.Hour, 0)
	memo("set", -24*time.Hour, time.Hour)
	memo("ahead", 24*time.Hour, time.Hour)
	ahead := fact("dated", "tea dated") // that it is dated in the future no longer counts
	ahead.Timestamp, ahead.ReceiveTime = start.Add(90*24*time.Hour), start
	ahead.ValidFrom, ahead.FromEditTime = start.Add(-time.Hour), start
	b.put(embedded(ahead, axis(0)))
	b.passes(memory.Filter{}, "ahead", "dated", "extracted", "set")
	b.passes(memory.Filter{AsOf: start.Add(-24*time.Hour - time.Microsecond)})
	b.passes(memory.Filter{AsOf: start.Add(-24 * time.Hour)}, "set")
	b.passes(memory.Filter{AsOf: start.Add(-24 * time.Hour), History: true}, "set")
	b.passes(memory.Filter{AsOf: start.Add(-time.Hour)}, "dated", "set")
	b.passes(memory.Filter{AsOf: start}, "ahead", "dated", "extracted", "set")
	b.passes(memory.Filter{AsOf: start, Topics: []string{"none"}})
	b.passes(memory.Filter{Until: start.Add(-time.Hour)})
}

// Each field of a filter narrows, alone and together with others, in List and
// in Search.
func filterFields(b *bank) {
	memo := func(id string, minute int, session string, topics ...string) memory.Memory {
		m := fact(id, "tea "+id)
		m.Timestamp, m.Source.SessionID, m.Topics = at(minute), session, topics
		return m
	}
	lang := memory.Metadata{"lang": []byte(`"go"`)}
	f1, f2, f3, f4 := memo("f1", -60, "s1", "food"), memo("f2", -50, "s2", "work", "food"),
		memo("f3", -40, "s1", "work"), memo("f4", -30, "")
	f1.Metadata, f2.Metadata = lang, memory.Metadata{"lang": []byte(`"go"`), "n": []byte(`1`)}
	past, soon, plan, brief, gone := memo("past", -40, "s1", "food"), memo("soon", -20, "s1", "food"),
		memo("plan", 60, "s1", "food"), memo("brief", -40, "s1", "food"), memo("gone", -40, "s1", "food")
	past.ValidTo, soon.ValidTo, brief.ExpireTime = at(-10), at(10), at(2)
	past.SupersededBy, soon.SupersededBy, gone.SupersededBy = "plan", "later", "plan"
	t1, t2 := turn("t1", "s1", -60, "tea t1"), turn("t2", "s2", -10, "tea t2")
	t2.Topics, t2.Metadata = []string{"food"}, lang
	for _, m := range []memory.Memory{f1, f2, f3, f4, past, soon, plan, brief, gone, t1, t2} {
		b.put(embedded(m, axis(0)))
	}
	b.remove("gone")
	b.clock.advance(2 * time.Minute)

	facts, turns, both := []memory.Kind{memory.KindFact}, []memory.Kind{memory.KindTurn},
		[]memory.Kind{memory.KindTurn, memory.KindFact}
	for _, c := range []struct {
		filter memory.Filter
		want   []string
	}{
		{memory.Filter{}, []string{"f1", "f2", "f3", "f4", "soon", "plan", "t1", "t2"}},
		{memory.Filter{Kinds: facts}, []string{"f1", "f2", "f3", "f4", "soon", "plan"}},
		{memory.Filter{Kinds: turns}, []string{"t1", "t2"}},
		{memory.Filter{Kinds: both}, []string{"f1", "f2", "f3", "f4", "soon", "plan", "t1", "t2"}},
		{memory.Filter{Kinds: []memory.Kind{"other"}}, nil},
		// Topics are compared whole and exactly, and one of them is enough.
		{memory.Filter{Topics: []string{"food"}}, []string{"f1", "f2", "soon", "plan", "t2"}},
		{memory.Filter{Topics: []string{"work"}}, []string{"f2", "f3"}},
		{memory.Filter{Topics: []string{"work", "food"}}, []string{"f1", "f2", "f3", "soon", "plan", "t2"}},
		{memory.Filter{Topics: []string{"foo", "FOOD", "food "}}, nil},
		// Both bounds include their own time.
		{memory.Filter{Since: at(-30)}, []string{"f4", "soon", "plan", "t2"}},
		{memory.Filter{Until: at(-30)}, []string{"f1", "f2", "f3", "f4", "t1"}},
		{memory.Filter{Since: at(-50), Until: at(-30)}, []string{"f2", "f3", "f4"}},
		{memory.Filter{Since: at(-30), Until: at(-50)}, nil},
		{memory.Filter{SessionID: "s1"}, []string{"f1", "f3", "soon", "plan", "t1"}},
		{memory.Filter{SessionID: "s"}, nil},
		{memory.Filter{Metadata: lang}, []string{"f1", "f2", "t2"}},
		{memory.Filter{Metadata: f2.Metadata}, []string{"f2"}},
		// What was said by then and not superseded by then, whatever holds now.
		{memory.Filter{AsOf: at(-15)}, []string{"f1", "f2", "f3", "f4", "past", "soon", "t1"}},
		{memory.Filter{AsOf: at(-40)}, []string{"f1", "f2", "f3", "past", "t1"}},
		{memory.Filter{AsOf: at(-61)}, nil},
		{memory.Filter{AsOf: at(60)}, []string{"f1", "f2", "f3", "f4", "plan", "t1", "t2"}},
		// Superseded ones too, but neither expired nor deleted ones.
		{memory.Filter{History: true}, []string{"f1", "f2", "f3", "f4", "past", "soon", "plan", "t1", "t2"}},
		{memory.Filter{History: true, SessionID: "s1", Kinds: facts}, []string{"f1", "f3", "past", "soon", "plan"}},
		{memory.Filter{History: true, AsOf: at(-30)}, []string{"f1", "f2", "f3", "f4", "past", "t1"}},
		{memory.Filter{History: true, SupersededBy: "plan"}, []string{"past"}},
		{memory.Filter{SupersededBy: "plan"}, nil},
		{memory.Filter{SupersededBy: "later"}, []string{"soon"}},
		{memory.Filter{SupersededBy: "plan", AsOf: at(-15)}, []string{"past"}},
		// Several fields must hold together.
		{memory.Filter{Kinds: facts, Topics: []string{"food"}}, []string{"f1", "f2", "soon", "plan"}},
		{memory.Filter{Kinds: turns, SessionID: "s1"}, []string{"t1"}},
		{memory.Filter{Topics: []string{"food"}, Metadata: lang, Since: at(-50)}, []string{"f2", "t2"}},
		{memory.Filter{SessionID: "s1", AsOf: at(-15), Topics: []string{"food"}}, []string{"f1", "past", "soon"}},
		{memory.Filter{Kinds: facts, Topics: []string{"work"}, Since: at(-50), Until: at(-50), SessionID: "s2",
			Metadata: lang, AsOf: at(0)}, []string{"f2"}},
	} {
		b.passes(c.filter, c.want...)
	}
}

// A filter by metadata wants exactly this value under this name: numbers,
// strings, lists and objects are compared as JSON values, however they are
// written.
func filterMetadata(b *bank) {
	values := []string{
		`1`, `1.0`, `10e-1`, `"1"`, `2`, `0`, `-0`, `0.1`, `0.10`, `true`, `"true"`, `false`, `null`, `""`, `"null"`,
		`"Go"`, `"go"`, `"go "`, `"\u0067o"`, `"é"`, `"e\u0301"`, `[1]`, `[ 1.0 ]`, `[1,2]`, `[2,1]`, `[]`, `{}`,
		`{"a":1,"b":[2]}`, `{"b": [2.0], "a": 1}`, `{"a":1}`, `{"a":"1"}`,
		`9007199254740992`, `9007199254740993`, `12345678901234567890`,
	}
	groups := [][]string{{`1`, `1.0`, `10e-1`}, {`0`, `-0`}, {`0.1`, `0.10`}, {`"go"`, `"\u0067o"`}, {`[1]`, `[ 1.0 ]`},
		{`{"a":1,"b":[2]}`, `{"b": [2.0], "a": 1}`}}
	name := func(raw string) string { return "v" + raw }
	b.put(embedded(fact("none", "tea"), axis(0)))
	for _, raw := range values {
		m := fact(name(raw), "tea")
		m.Metadata = memory.Metadata{"k": json.RawMessage(raw), "K": json.RawMessage(`"other"`)}
		b.put(embedded(m, axis(0)))
	}
	for _, raw := range values {
		want := []string{name(raw)}
		for _, g := range groups {
			if slices.Contains(g, raw) {
				want = nil
				for _, same := range g {
					want = append(want, name(same))
				}
			}
		}
		b.passes(memory.Filter{Metadata: memory.Metadata{"k": json.RawMessage(raw)}}, want...)
	}
	b.passes(memory.Filter{Metadata: memory.Metadata{"k": []byte(`3`)}})
	b.passes(memory.Filter{Metadata: memory.Metadata{"missing": []byte(`null`)}})
	b.passes(memory.Filter{Metadata: memory.Metadata{"k": []byte(`1`), "K": []byte(`"else"`)}})
	b.passes(memory.Filter{Metadata: memory.Metadata{"k": []byte(`2`), "K": []byte(`"other"`)}}, name(`2`))
}

// Bounds are exact to the microsecond: Since, Until and AsOf include their own
// time; ValidTo and expiry take effect at theirs.
func filterMoments(b *bank) {
	m, other := fact("m", "tea"), fact("other", "tea")
	m.Timestamp, m.ValidTo = at(0).Add(5*time.Microsecond), at(0).Add(9*time.Microsecond)
	other.Timestamp = at(60)
	b.put(embedded(m, axis(0)), embedded(other, axis(0)))
	micro := func(n int) time.Time { return at(0).Add(time.Duration(n) * time.Microsecond) }
	b.passes(memory.Filter{Until: at(1), Since: micro(5)}, "m")
	b.passes(memory.Filter{Until: at(1), Since: micro(6)})
	b.passes(memory.Filter{Until: micro(5)}, "m")
	b.passes(memory.Filter{Until: micro(4)})
	b.passes(memory.Filter{AsOf: micro(4)})
	b.passes(memory.Filter{AsOf: micro(5)}, "m")
	b.passes(memory.Filter{AsOf: micro(8)}, "m")
	b.passes(memory.Filter{AsOf: micro(9)})
	b.passes(memory.Filter{Since: micro(5).In(time.FixedZone("west", -8*3600)), Until: micro(5)}, "m")
	b.clock.advance(8 * time.Microsecond)
	b.passes(memory.Filter{}, "m", "other")
	b.clock.advance(time.Microsecond)
	b.passes(memory.Filter{}, "other")
	b.passes(memory.Filter{AsOf: micro(8)}, "m")
}
