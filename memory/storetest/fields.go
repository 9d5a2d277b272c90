package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// fieldCases check that a memory comes back as it was written: every field, any
// text, any JSON, times to the microsecond, and sizes up to the limits. They
// fail where a store writes text into a query, folds what it compares, or lets
// a number format round.
func fieldCases() []testCase {
	return []testCase{
		{"RoundTrip", roundTrip},
		{"OddText", oddText},
		{"Metadata", oddMetadata},
		{"Microseconds", microseconds},
		{"FinerClock", finerClock},
		{"FinerTimes", finerTimes},
		{"Largest", largest},
		{"SlicesStayTheCallers", slicesStayTheCallers},
	}
}

// full is a memory with every field set.
func full(id string) memory.Memory {
	return memory.Memory{
		ID: id, Scope: ann, Kind: memory.KindFact, Fact: "likes tea", Author: "Ann",
		DisplayName: "Drinks", Description: "What Ann likes to drink.",
		Topics:    []string{"food", "drink", "food"},
		Timestamp: start.Add(-time.Hour), UTCOffset: "-08:00",
		ValidFrom: start.Add(-2 * time.Hour),
		ValidTo:   start.Add(2 * time.Hour), SupersededBy: "newer", Edited: true,
		EditTime: start.Add(-time.Minute), Labelled: true,
		FromEditTime: start.Add(-2 * time.Minute), ToEditTime: start.Add(-3 * time.Minute),
		ReceiveTime: start.Add(-90 * time.Minute),
		CreateTime:  start, UpdateTime: start, Revision: 1,
		ExpireTime: start.Add(3 * time.Hour), DefaultExpiry: true,
		Evidence: 3, ConfirmedTime: start.Add(-time.Second),
		Trust: memory.TrustExternal, State: memory.Approved, Reason: "it gives orders",
		Source: memory.Source{SessionID: "s", EventIDs: []string{"e2", "e1"}, Quote: "I like tea",
			Passage: &memory.Passage{Document: "s", Title: "Teas", URI: "https://tea.example/a",
				Headings: []string{"A", "B"}, Number: 3, Start: 17, End: 40}},
		Metadata: memory.Metadata{"lang": json.RawMessage(`"en"`)},
	}
}

// Every field that a caller sets comes back unchanged, from every method. A
// field added to Memory fails here until the case covers it.
func roundTrip(b *bank) {
	want := full("m")
	want.Forgotten = []string{"f2", "f1"}
	want.Retracted = []memory.Retraction{{Fact: "drinks tea", Time: start.Add(-time.Minute)}}
	history := memory.Filter{History: true}
	for _, v := range []reflect.Value{reflect.ValueOf(want), reflect.ValueOf(want.Source),
		reflect.ValueOf(want.Scope), reflect.ValueOf(*want.Source.Passage)} {
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			set := name == "Shared" || name == "Profile" // by the API alone; see profileRoundTrip
			if v.Field(i).IsZero() && !set {
				b.Fatalf("the case does not cover field %s", name)
			}
		}
	}
	m := want
	m.CreateTime, m.UpdateTime, m.Revision = time.Time{}, time.Time{}, 0
	b.same("Put", b.put(write(m)), []memory.Memory{want})
	b.same("Get", b.get(ann, "m"), []memory.Memory{want})
	b.same("List", b.list(ann, memory.List{Filter: history}), []memory.Memory{want})
	found := b.search(memory.Query{Filter: history, Terms: []string{"tea"}, Limit: 1})
	b.same("Search", *candidate(b, found, "m").Memory, want)
	b.same("Revisions", b.revisions(ann, "m")[0].Memory, want)
	out := b.try(update(fact("m", "likes coffee"), 0))
	b.same("the current memory of an aborted write", out[0].Memory, want)
}

// Text of any language, quotes, wildcards and line ends are plain text in every
// field that has text, and a memory is found under such an id.
func oddText(b *bank) {
	var want []memory.Memory
	var names []string
	for _, s := range []string{
		"it's", `say "tea"`, `100%_[a-z]*?`, `back\slash`, "a'; DROP TABLE memories; --", "tab\tand\nline\r\nend",
		"Grüße, Ελλάδα, 日本語, 👩‍👩‍👧", "e\u0301 is not \u00e9", "\u202eright to left", " spaces around ", "null", "{}",
		"0", "a:b", "\ufffd",
	} {
		id := strings.Map(func(r rune) rune {
			if r < ' ' {
				return '_'
			}
			return r
		}, s)
		m := full(id)
		m.Fact, m.Author, m.Topics = s, s, []string{id, "x" + id}
		m.DisplayName, m.Description = s, s
		m.Source = memory.Source{SessionID: id, EventIDs: []string{id, "x" + id}, Quote: s}
		m.Metadata = memory.Metadata{id: []byte(`"odd"`)}
		want, names = append(want, m), append(names, id)
		w := write(m)
		w.Terms = memory.Terms{s: 1}
		b.put(w)
	}
	b.same("Get", b.get(ann, names...), want)
	for i, m := range want {
		for what, f := range map[string]memory.Filter{
			"topic":    {Topics: []string{names[i]}},
			"session":  {SessionID: names[i]},
			"metadata": {Metadata: m.Metadata},
		} {
			b.same(fmt.Sprintf("List by %s %q", what, names[i]), ids(b.list(ann, memory.List{Filter: f})),
				[]string{names[i]})
		}
		found := b.search(memory.Query{Terms: []string{m.Fact}, Limit: 5})
		b.same(fmt.Sprintf("Search for the term %q", m.Fact), foundIDs(found), []string{names[i]})
	}
}

// Metadata of any JSON comes back as the same values, and the same write again
// is the same content, however the store writes it. A repetition is known by
// its content, so the spelling of JSON must not matter.
func oddMetadata(b *bank) {
	m := fact("m", "likes tea")
	m.Metadata = memory.Metadata{}
	for i, raw := range []string{
		`null`, `true`, `0`, `-0`, `1.0`, `1e2`, `12345678901234567890`, `0.1000`, `""`, `"\u0041\/"`, `"<&>"`,
		`"\u2028"`, "\"\u2028\"", `"\ud83d\ude00"`,
		`{"b": 1, "a" : [ ]}`, `{"a":1,"a":2}`, `[1, 2.0,  "x"]`, `[[[{}]]]`, "{\n\t\"a\": null\n}",
	} {
		m.Metadata[fmt.Sprintf("k%d", i)] = json.RawMessage(raw)
	}
	for _, name := range []string{"a.b", "$", `q"uote`, "a b", "[0]", "é", "#", "k"} {
		m.Metadata[name] = json.RawMessage(`1`)
	}
	stored := b.put(write(m))[0]
	b.same("metadata of Put", stored.Metadata, m.Metadata)
	b.same("metadata of Get", b.get(ann, "m")[0].Metadata, m.Metadata)
	b.same("the same again", b.try(write(m)), []memory.Outcome{{Memory: stored}})
}

// Times are exact to the microsecond over the whole range, and come back in UTC
// whatever their zone was.
func microseconds(b *bank) {
	east := time.FixedZone("east", 5*3600+30*60)
	for i, at := range []time.Time{
		start.Add(time.Microsecond), start.Add(999999 * time.Microsecond),
		start.In(east).Add(123456 * time.Microsecond),
		memory.MinTime, memory.MaxTime.Add(-time.Microsecond), time.Unix(0, 0), time.Unix(-1, 1000),
	} {
		m := fact(fmt.Sprint("m", i), "likes tea")
		m.Timestamp, m.ValidFrom = at, at
		b.put(write(m))
		got := b.get(ann, m.ID)[0]
		b.same("timestamp", got.Timestamp, at)
		b.same("validFrom", got.ValidFrom, at)
		if got.Timestamp.Location() != time.UTC || got.CreateTime.Location() != time.UTC {
			b.Errorf("times come back in %v and %v", got.Timestamp.Location(), got.CreateTime.Location())
		}
		if !got.ValidTo.IsZero() || !got.ExpireTime.IsZero() {
			b.Errorf("times not set come back as %v and %v", got.ValidTo, got.ExpireTime)
		}
	}
}

// A clock finer than microseconds does no harm: the outcome has the times that
// later reads give. The clocks of most systems are finer.
func finerClock(b *bank) {
	b.clock.advance(1234567 * time.Nanosecond)
	stored := b.put(write(fact("m", "likes tea")))
	b.same("Get", b.get(ann, "m"), stored)
	b.same("Revisions", b.revisions(ann, "m")[0].Memory, stored[0])
	if got, want := stored[0].CreateTime, start.Add(1234*time.Microsecond); !got.Equal(want) {
		b.Errorf("created at %v, want %v", got, want)
	}
}

// Times of a memory finer than microseconds are cut, not rounded, and the same
// write again is still a repetition. Rounding up could move a time into the
// future, or past another one.
func finerTimes(b *bank) {
	m := full("m")
	for _, t := range []*time.Time{&m.Timestamp, &m.ValidFrom, &m.ValidTo, &m.ExpireTime,
		&m.FromEditTime, &m.ToEditTime, &m.ConfirmedTime} {
		*t = t.Add(1999 * time.Nanosecond)
	}
	stored := b.put(write(m))[0]
	if got, want := stored.Timestamp, full("m").Timestamp.Add(time.Microsecond); !got.Equal(want) {
		b.Errorf("timestamp %v, want %v", got, want)
	}
	b.same("Get", b.get(ann, "m"), []memory.Memory{stored})
	b.same("the same again", b.try(write(m)), []memory.Outcome{{Memory: stored}})
}

// A memory may be as large as Validate allows in every field, and a call may
// have a thousand memories. A store that sends a call in one message needs room
// for it.
func largest(b *bank) {
	m := fact(strings.Repeat("ü", memory.MaxID/2), strings.Repeat("tea ", memory.MaxFact/4))
	m.DisplayName = strings.Repeat("n", memory.MaxDisplayName)
	m.Description = strings.Repeat("d", memory.MaxDescription)
	for i := range memory.MaxTopics {
		m.Topics = append(m.Topics, fmt.Sprintf("%0*d", memory.MaxID, i))
	}
	m.Metadata = memory.Metadata{"k": json.RawMessage(`"` + strings.Repeat("x", memory.MaxMetadata-3) + `"`)}
	if err := m.Validate(); err != nil {
		b.Fatal(err)
	}
	stored := b.put(write(m))
	b.same("Get", b.get(ann, m.ID), stored)
	found := b.search(memory.Query{Terms: []string{"tea"}, Limit: 1})
	b.same("length", candidate(b, found, m.ID).Length, memory.MaxFact/4)

	var many []memory.Write
	var names []string
	var removals []memory.Removal
	for i := range 1000 {
		names = append(names, fmt.Sprintf("m%04d", i))
		many = append(many, write(fact(names[i], fmt.Sprintf("fact %d", i))))
		removals = append(removals, memory.Removal{ID: names[i]})
	}
	b.put(many...)
	b.same("Get of a thousand", ids(b.get(ann, names...)), names)
	for _, o := range b.tryRemove(removals...) {
		if o.Err != nil || !o.Changed {
			b.Fatalf("Delete among a thousand: changed %v, error %v", o.Changed, o.Err)
		}
	}
	b.same("Get of a thousand deleted", ids(b.get(ann, names...)), []string(nil))
}

// Slices and maps passed in stay the caller's, and those returned are the
// caller's: later changes to them do not reach the store. An index in memory
// that keeps what it was given would change with it.
func slicesStayTheCallers(b *bank) {
	spoil := func(m memory.Memory) {
		m.Topics[0], m.Source.EventIDs[0] = "spoilt", "spoilt"
		m.Metadata["lang"][1] = 'X'
		m.Metadata["more"] = json.RawMessage(`1`)
	}
	want := full("m")
	w := embedded(full("m"), axis(0))
	q := memory.Query{Terms: []string{"tea", "spoilt"}, Vector: axis(0), Limit: 5}
	// A store with an index in memory has built it now, so that the writes
	// below change it.
	b.search(q)
	stored := b.put(w)
	spoil(w.Memory)
	w.Vector[0], w.Vector[1] = 0, 1
	w.Terms["spoilt"] = 1
	spoil(stored[0])
	b.same("Get", b.get(ann, "m"), []memory.Memory{want})
	spoil(b.get(ann, "m")[0])
	spoil(b.list(ann, memory.List{})[0])
	spoil(b.revisions(ann, "m")[0].Memory)
	b.same("Get after all", b.get(ann, "m"), []memory.Memory{want})
	b.same("Search after all", b.search(q), memory.Found{
		Stats: memory.Stats{Docs: 1, DF: []int{1, 0}},
		Runs:  [][]memory.Candidate{{{Memory: &want, Freqs: []int{1, 0}, Length: 2, Cosine: 1, Match: true}}},
	})
}
