package storetest

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// profileCases check that a store keeps the values of profiles as it keeps facts: as they
// were written, with the values before them, until they are erased.
func profileCases() []testCase {
	return []testCase{
		{"RoundTrip", profileRoundTrip},
		{"Revisions", profileRevisions},
		{"Found", profilesFound},
		{"CitedTurns", profileCites},
		{"Erased", profileErased},
		{"Invalid", profileInvalid},
	}
}

// value is the value of a field of the profile person of ann.
func value(id, field, raw, text string) memory.Memory {
	m := fact(id, text)
	m.Kind = memory.KindProfile
	m.Profile = &memory.Profile{SchemaID: "person", Field: field, Value: json.RawMessage(raw)}
	return m
}

// A value comes back as it was written from every method, after a restart and in another
// store after an export, and what a caller does to it afterwards changes nothing.
func profileRoundTrip(b *bank) {
	for i, raw := range []string{`"it's \"tea\" <&> \u00fc\u2028"`, `-0.5e2`, `12345678901234567890`, `true`, `[]`,
		`["a", 1, false]`} {
		id := string(rune('a' + i))
		want := full(id)
		want.Kind = memory.KindProfile
		want.Profile = &memory.Profile{SchemaID: "a b.ü", Field: "f'\"%", Value: json.RawMessage(raw)}
		history := memory.Filter{History: true}
		m := want
		stored := b.put(write(m))
		m.Value[0], stored[0].Value[0] = 'X', 'X'
		want.Value = json.RawMessage(raw)
		for _, when := range []string{"at first", "after a restart"} {
			b.same(raw+" of Get "+when, b.get(ann, id), []memory.Memory{want})
			list := memory.List{Filter: memory.Filter{History: true,
				Where: is(memory.FieldID, memory.OpEqual, memory.Text(id))}}
			b.same(raw+" of List "+when, b.list(ann, list), []memory.Memory{want})
			found := b.search(memory.Query{Filter: history, Terms: []string{"tea"}, Limit: 20})
			b.same(raw+" of Search "+when, *candidate(b, found, id).Memory, want)
			b.same(raw+" of Revisions "+when, b.revisions(ann, id)[0].Memory, want)
			b.reopen()
		}
		to := b.another(first)
		to.imports(b.export())
		to.same(raw+" after an import", to.get(ann, id), []memory.Memory{want})
	}
}

// A newer value is a revision of the same memory, and the older one stays in its history.
// The same value again, however its JSON is spelled, is no revision.
func profileRevisions(b *bank) {
	b.put(write(value("age", "age", `30`, "age thirty")))
	again := b.try(write(value("age", "age", ` 3.0e1 `, "age thirty")))
	if again[0].Changed || again[0].Err != nil {
		b.Errorf("the same value again: %+v", again[0])
	}
	b.put(update(value("age", "age", `31`, "age more"), 1))
	b.remove("age")
	b.put(update(value("age", "age", `32`, "age tea"), 3))
	var values []string
	for _, r := range b.revisions(ann, "age") {
		values = append(values, string(r.Action)+" "+string(r.Memory.Value))
	}
	b.same("the history", values, []string{"UPDATED 32", "DELETED 31", "UPDATED 31", "CREATED 30"})
}

// Filters tell values of profiles from facts, and those of one schema or field from others.
func profilesFound(b *bank) {
	other := value("other", "age", `1`, "tea")
	other.Profile.SchemaID = "pet"
	b.put(write(fact("fact", "tea")), write(turn("turn", "s", 1, "tea")), write(value("age", "age", `30`, "tea")),
		write(value("name", "name", `"Ann"`, "tea")), write(other))
	equals := func(field, text string) memory.Where { return is(field, memory.OpEqual, memory.Text(text)) }
	for _, c := range []struct {
		filter memory.Filter
		want   []string
	}{
		{memory.Filter{Kinds: []memory.Kind{memory.KindProfile}}, []string{"age", "name", "other"}},
		{memory.Filter{Kinds: []memory.Kind{memory.KindFact}}, []string{"fact"}},
		{memory.Filter{Kinds: []memory.Kind{memory.KindFact, memory.KindProfile}},
			[]string{"age", "fact", "name", "other"}},
		{memory.Filter{Where: equals(memory.FieldKind, "profile")}, []string{"age", "name", "other"}},
		{memory.Filter{Where: equals(memory.FieldSchema, "person")}, []string{"age", "name"}},
		{memory.Filter{Where: equals(memory.FieldField, "age")}, []string{"age", "other"}},
		{memory.Filter{Where: memory.And{equals(memory.FieldSchema, "pet"), equals(memory.FieldField, "age")}},
			[]string{"other"}},
		{memory.Filter{Where: memory.Not{Where: equals(memory.FieldSchema, "person")}},
			[]string{"fact", "other", "turn"}},
	} {
		found := foundIDs(b.search(memory.Query{Filter: c.filter, Terms: []string{"tea"}, Limit: 20}))
		b.same("Search", found, c.want)
		listed := ids(b.list(ann, memory.List{Filter: c.filter}))
		slices.Sort(listed)
		b.same("List", listed, c.want)
	}
}

// A value cites turns as a fact does: see Query.Cited. A search for values alone finds
// them so.
func profileCites(b *bank) {
	b.talk(ann, "s", "a")
	m := value("age", "age", `30`, "tea")
	m.Source = memory.Source{SessionID: "s", EventIDs: []string{"a2"}}
	b.put(write(m))
	b.same("runs", runs(b.search(memory.Query{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindProfile}},
		Terms: []string{"tea"}, Limit: 5, Cited: true})), [][]string{{"a2"}, {"age"}})
}

// The erasing of a session takes a value that the memory had once, with the memory.
func profileErased(b *bank) {
	of := func(session, raw, text string) memory.Memory {
		m := value("age", "age", raw, text)
		m.Source = memory.Source{SessionID: session, EventIDs: []string{"e"}, Quote: text}
		return m
	}
	stays := value("name", "name", `"bergamot"`, "called bergamot")
	stays.Source = memory.Source{SessionID: "t", EventIDs: []string{"e"}}
	b.put(write(of("s", `"oolong"`, "aged oolong")), write(stays))
	b.put(update(of("t", `"sencha"`, "aged sencha"), 1))
	b.same("erased", b.erase(ann, memory.Erasure{Sessions: ofSession("s")}), memory.Erased{Memories: 1, Revisions: 2})
	b.noTrace("age", "aged")
	b.keepsNone("oolong", "sencha")
	b.same("the other value", ids(b.get(ann, "name")), []string{"name"})
}

// A value without its parts, or of the app's shared knowledge, is refused, and so is a
// fact with a value.
func profileInvalid(b *bank) {
	shared := value("m", "age", `1`, "tea")
	shared.Scope = memory.Shared("app")
	wrong := value("m", "age", `1`, "tea")
	wrong.Kind = memory.KindFact
	none := value("m", "age", `1`, "tea")
	none.Profile = nil
	for name, m := range map[string]memory.Memory{"shared": shared, "a fact": wrong, "no value": none,
		"null": value("m", "age", `null`, "tea"), "no field": value("m", "", `1`, "tea")} {
		if _, err := b.store.Put(b.Context(), m.Scope, []memory.Write{write(m)}); !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
}
