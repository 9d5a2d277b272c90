package retrieve_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// manual puts passages into the shared knowledge of ann's app, with ids p0, p1, …
func manual(t *testing.T, s memory.Store, passages ...string) {
	t.Helper()
	shared := memory.Shared(ann.App)
	for from := 0; from < len(passages); from += 100 {
		var writes []memory.Write
		for i, text := range passages[from:min(from+100, len(passages))] {
			writes = append(writes, indexed(t, memory.Memory{ID: fmt.Sprintf("p%d", from+i), Scope: shared,
				Kind: memory.KindFact, Fact: text, Timestamp: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
				Source: memory.Source{SessionID: "manual", Passage: &memory.Passage{Document: "manual", Title: "The manual",
					Headings: []string{"Chapter " + fmt.Sprint((from+i)/10)}, Number: from + i + 1}}}))
		}
		if _, err := s.Put(t.Context(), shared, writes); err != nil {
			t.Fatal(err)
		}
	}
}

// things are what ann's turns and the manual both speak of.
var things = []string{"kettle", "toaster", "blender", "freezer", "oven", "dishwasher", "vacuum", "radiator", "lamp", "fan"}

// library is a store in which ann speaks of each thing once, among much small talk, and a
// manual has so many passages about each thing, and one that tells how to clean it.
func library(t *testing.T, passages int) memory.Store {
	t.Helper()
	var turns []string
	for i, thing := range things {
		turns = append(turns, fmt.Sprintf("s%d/user: My %s is red, a present of aunt Maria.", i, thing))
		for j := range 10 {
			turns = append(turns, fmt.Sprintf("s%d/user: We talked about the weather and number %d.", i, j))
		}
	}
	s := newStore(t, turns...)
	var texts []string
	for _, thing := range things {
		texts = append(texts, "To clean the "+thing+", use warm water and vinegar, then let it dry.")
		for j := range passages {
			texts = append(texts, fmt.Sprintf("The %s has setting %d, which changes how it runs. See table %d.", thing, j, j*7))
		}
	}
	manual(t, s, texts...)
	return s
}

// Neither an agent's own past nor the manual floods the other, whichever has more: a
// question that one of them answers has its answer on top, and one that both speak of has
// both among the first ten.
func TestSharedIsRankedFairly(t *testing.T) {
	for _, passages := range []int{1, 20, 100} {
		r := retrieve.New(library(t, passages), embed.Builtin{}, nil)
		own, told, both := 0, 0, 0
		for _, thing := range things {
			found := func(query string) []memory.Match {
				return search(t, r, retrieve.Request{Query: query, Shared: true})
			}
			if m := found("What color is my " + thing + " from aunt Maria?")[0]; !m.Memory.IsShared() && strings.Contains(m.Memory.Fact, thing) {
				own++
			}
			if m := found("How do I clean the " + thing + " with vinegar?")[0]; m.Memory.IsShared() && strings.Contains(m.Memory.Fact, "clean the "+thing) {
				told++
			}
			has := map[bool]bool{}
			for _, m := range found("What about the " + thing + "?") { // the manual's word on nearly every page
				has[m.Memory.IsShared()] = true
			}
			if has[true] && has[false] {
				both++
			}
		}
		t.Logf("%d passages about each of %d things: %d own answers first, %d of the manual first, %d with both",
			passages, len(things), own, told, both)
		if own < 9 || told < 9 || both < 9 {
			t.Errorf("%d passages about each thing: of 10, own first %d, manual first %d, both %d", passages, own, told, both)
		}
	}
}

// Without Shared nothing of the manual is found, and scores are as if there were none.
func TestSharedIsApart(t *testing.T) {
	plain := newStore(t, talk...)
	with := newStore(t, talk...)
	manual(t, with, "My sister plays the cello in Porto.", "The cello has four strings.")
	for _, query := range []string{"Who plays the cello?", "Where is Porto?"} {
		want := search(t, retrieve.New(plain, embed.Builtin{}, nil), retrieve.Request{Query: query})
		got := search(t, retrieve.New(with, embed.Builtin{}, nil), retrieve.Request{Query: query})
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", query, ids(got), ids(want))
		}
		for i := range got {
			if got[i].Memory.ID != want[i].Memory.ID || got[i].Score != want[i].Score {
				t.Errorf("%s: %v %v, want %v %v", query, got[i].Memory.ID, got[i].Score, want[i].Memory.ID, want[i].Score)
			}
		}
	}
}

// A block has what is shared in a section of its own, which names the document, and each
// line says where in it that is.
func TestSharedInBlocks(t *testing.T) {
	s := newStore(t, talk...)
	manual(t, s, "The cello has four strings: C, G, D and A.", "Keep the bow of the cello dry.")
	r := retrieve.New(s, embed.Builtin{}, nil)
	req := retrieve.Request{Query: "Tell me about the cello.", Shared: true}
	block, err := r.Context(t.Context(), ann, req, 500)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(block.Text, "Shared knowledge, from \"The manual\":\n")
	if !ok || !strings.Contains(before, "My sister plays the cello.") || strings.Contains(after, "sister") ||
		!strings.Contains(after, "(section Chapter 0) The cello has four strings") {
		t.Errorf("the block is\n%s", block.Text)
	}
	block, err = r.Preload(t.Context(), ann, req, 500)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok = strings.Cut(block.Text, "Shared knowledge:\n")
	if !ok || !strings.Contains(before, "My sister plays the cello.") || strings.Contains(after, "sister") ||
		!strings.Contains(after, `(shared knowledge, from "The manual", section Chapter 0) Keep the bow of the cello dry.`) {
		t.Errorf("the block is\n%s", block.Text)
	}
}

// What is shared ends nothing that a user has said, and is ended by nothing.
func TestSharedEndsNothing(t *testing.T) {
	s := newStore(t, "fact/: I live in Porto.", "s1/user: I live in Porto.")
	manual(t, s, "I moved to Rome. I live in Rome now.", "I live in Rome.")
	found := search(t, retrieve.New(s, embed.Builtin{}, nil), retrieve.Request{Query: "Where do I live now?", Shared: true})
	if len(found) != 4 {
		t.Fatalf("found %v", ids(found))
	}
	for _, m := range found {
		if len(m.Newer) > 0 || m.Outdated != nil {
			t.Errorf("%s: newer %v, outdated %v", m.Memory.ID, m.Newer, m.Outdated)
		}
	}
}
