package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// shownAndHidden returns the distinct texts that a search finds, in order, and those that a list
// with history has beside them.
func (b *bench) shownAndHidden(query string, f memory.Filter) (shown, hidden []string) {
	b.Helper()
	matches, err := retrieve.New(b.memories, embed.Builtin{}, nil).Search(b.Context(), scope,
		retrieve.Request{Query: query, Filter: f, TopK: 50})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range matches {
		shown = append(shown, m.Memory.Fact)
	}
	page, err := b.memories.List(b.Context(), scope, memory.List{Filter: memory.Filter{History: true}})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range page.Memories {
		if !slices.Contains(shown, m.Fact) {
			hidden = append(hidden, m.Fact)
		}
	}
	slices.Sort(shown)
	slices.Sort(hidden)
	return slices.Compact(shown), slices.Compact(hidden)
}

// factSaying returns the ID of the fact that holds and has a text.
func (b *bench) factSaying(text string) string {
	b.Helper()
	page, err := b.memories.List(b.Context(), scope, memory.List{Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}}})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range page.Memories {
		if m.Fact == text {
			return m.ID
		}
	}
	b.Fatalf("no fact %q in %+v", text, page.Memories)
	return ""
}

func (b *bench) expect(when, query string, f memory.Filter, wantFound, wantHidden string) {
	b.Helper()
	found, hidden := b.shownAndHidden(query, f)
	for _, c := range []struct{ what, got, want string }{
		{"finds", strings.Join(found, "|"), wantFound}, {"hides", strings.Join(hidden, "|"), wantHidden},
	} {
		want := strings.Split(c.want, "|")
		slices.Sort(want)
		if c.got != strings.Join(want, "|") {
			b.Errorf("%s: %q %s %q, want %q", when, query, c.what, c.got, want)
		}
	}
}

// A fact that a client deletes is told by no turn either: not by the one that it cites,
// not by one that repeats it, as of no time. What else these turns tell is still a
// fact. Lists with history have the turns, and a rollback of the fact brings its turn
// back.
func TestForgottenTurns(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e1", 1, "I earn 5000 euros. I am allergic to peanuts."),
		event(t, "e2", 2, "I love sailing."), event(t, "e3", 3, "I earn 5000 euros.")))
	b.succeeds(b.ingest("u", event(t, "e4", 4, "I earn 5000 euros!")))
	const both = "I earn 5000 euros. I am allergic to peanuts."
	id := b.factSaying("I earn 5000 euros.")
	if err := b.service.Delete(t.Context(), scope, id); err != nil {
		t.Fatal(err)
	}
	for _, f := range []memory.Filter{{}, {AsOf: event(t, "e", 3, "x").Timestamp}} {
		b.expect("deleted", "What do I earn? euros sailing peanuts", f, "I am allergic to peanuts.|I love sailing.",
			both+"|I earn 5000 euros!|I earn 5000 euros.")
	}
	if err := b.service.Delete(t.Context(), scope, id); err == nil {
		t.Error("a second deletion succeeds")
	}
	if _, err := b.service.Rollback(t.Context(), scope, id, 1, ingest.Patch{}); err != nil {
		t.Fatal(err)
	}
	b.expect("rolled back", "What do I earn? euros sailing peanuts", memory.Filter{},
		both+"|I am allergic to peanuts.|I earn 5000 euros.|I love sailing.", "I earn 5000 euros!")
	nuts := b.factSaying("I am allergic to peanuts.")
	for _, fact := range []string{id, nuts} {
		if err := b.service.Delete(t.Context(), scope, fact); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.service.Rollback(t.Context(), scope, id, 1, ingest.Patch{}); err != nil {
		t.Fatal(err)
	}
	b.expect("with another fact forgotten", "What do I earn? euros sailing peanuts", memory.Filter{},
		"I earn 5000 euros.|I love sailing.", both+"|I earn 5000 euros!")
}

// A request in words hides the turns of what it asks to forget, whatever order they
// arrive in, and itself.
func TestForgottenOnRequest(t *testing.T) {
	said, again := event(t, "e1", 1, "I love sailing."), event(t, "e9", 9, "I love sailing.")
	request := event(t, "e5", 5, "Please forget that I love sailing.")
	other := event(t, "e2", 2, "I have a red boat.")
	for name, story := range map[string]func(b *bench){
		"one batch": func(b *bench) { b.succeeds(b.ingest("s", said, other, request)) },
		"a batch each": func(b *bench) {
			b.succeeds(b.ingest("s", said, other))
			b.succeeds(b.ingest("s", request))
		},
		"two sessions": func(b *bench) {
			b.succeeds(b.ingest("s", said, other))
			b.succeeds(b.ingest("u", request))
		},
		"the request first": func(b *bench) {
			b.succeeds(b.ingest("u", request))
			b.succeeds(b.ingest("s", said, other))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, parts{})
			b.run()
			story(b)
			const hidden = "I love sailing.|Please forget that I love sailing."
			b.expect("forgotten", "Do I love sailing with a boat?", memory.Filter{}, "I have a red boat.", hidden)
			b.succeeds(b.ingest("later", again))
			b.expect("said again", "Do I love sailing with a boat?", memory.Filter{},
				"I have a red boat.|I love sailing.", "Please forget that I love sailing.")
		})
	}
}

// A fact that is deleted as its words were taken back hides nothing else, and neither
// does an edit.
func TestDeletedForOtherReasons(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e1", 1, "I love sailing.", `, "invocationId": "i1"`),
		event(t, "e2", 2, "I have a red boat.", `, "invocationId": "i2"`)))
	b.succeeds(b.ingest("u", event(t, "e3", 3, "I love sailing.")))
	b.succeeds(b.ingest("s", event(t, "e4", 4, "", `, "actions": {"rewindBeforeInvocationId": "i2"}`)))
	b.expect("rewound", "sailing boat", memory.Filter{}, "I love sailing.", "")
	text := "I love rowing."
	if _, err := b.service.Update(t.Context(), scope, b.factSaying("I love sailing."), ingest.Patch{Fact: &text}); err != nil {
		t.Fatal(err)
	}
	b.expect("edited", "sailing rowing", memory.Filter{}, "I love rowing.|I love sailing.", "")
}
