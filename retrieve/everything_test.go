package retrieve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// traits returns facts that a user told, a day apart, and one that has ended.
func traits() (out []memory.Memory) {
	for i, text := range []string{
		"I keep bees.", "I'm left-handed.", "My brother runs a ferry.", "I can't stand aniseed.", "I teach geography.",
		"I sleep badly at full moon.", "I was raised in Tromsø.", "My knee clicks.", "I swim in the fjord.", "I own a kiln.",
	} {
		m := fact(fmt.Sprint("f", i), "s", fmt.Sprint("t", i), 1+i, "", text)
		m.Author = "user"
		said := turn(fmt.Sprint("t", i), "s", 1+i, "user", text+" And that is that.")
		out = append(out, m, said)
	}
	gone := fact("gone", "s", "t0", 2, "", "I keep two goats.")
	gone.Author = "user"
	return append(out, ended(gone, 5, "f0"))
}

// A question for all that is known of the user is answered with the facts that hold, newest first, as many as are asked
// for, and a context has as many as fit.
func TestEverything(t *testing.T) {
	bob := fact("bob", "", "", 20, "", "I like jazz.")
	bob.Author = "Bob"
	r := remembering(t, append(traits(), bob)...)
	for _, query := range []string{
		"What do you know about me?", "what all do you remember about me", "Tell me everything about myself.", "Who am I?",
		"Tell me about Ann.", "Who is Ann?", "What do you know about the user?", "Please summarize what you have learned about me",
		"Hi, could you list the facts you have stored about me?", "Was habt ihr euch über mich gemerkt?", "Wer bin ich?",
		"Qu'est-ce que vous savez sur moi ?", "¿Qué recuerdas de mí?", "O que você sabe sobre mim?", "Che cosa sai di me?",
		"Wat heb je onthouden over mij?", "Co wiesz o mnie?", "Что ты знаешь обо мне?", "你知道关于我的什么？", "私について何を覚えていますか？",
	} {
		found, err := r.Answer(t.Context(), ann, retrieve.Request{Query: query, TopK: 4, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"f9", "f8", "f7", "f6"}, ids(found.Matches)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
		if found.Confidence < 0.5 {
			t.Errorf("%s: confidence %v", query, found.Confidence)
		}
	}
	all := blockOf(t, r, "What do you know about me?", 1024)
	if len(all.Memories) != 10 || strings.Contains(all.Text, "goats") {
		t.Errorf("a context has %d of 10 facts:\n%s", len(all.Memories), all.Text)
	}
	if few := blockOf(t, r, "What do you know about me?", 100); len(few.Memories) < 3 || few.Tokens > 100 {
		t.Errorf("a small context has %d facts in %d tokens:\n%s", len(few.Memories), few.Tokens, few.Text)
	}
	preload, err := r.Preload(t.Context(), ann, retrieve.Request{Query: "Tell me about myself"}, 1024)
	if err != nil || len(preload.Memories) != 10 {
		t.Errorf("a preload has %d of 10 facts, %v", len(preload.Memories), err)
	}
}

// A question that says more than that, or is about somebody else, asks for something.
func TestNotEverything(t *testing.T) {
	r := remembering(t, traits()...)
	for _, query := range []string{
		"What do you know about me and ferries?", "Who told you about me?", "What do you think about me?", "Tell me about my brother.",
		"What do you know about Bob?", "What do I know about you?", "What does my profile picture show?", "Who am I to judge bees?",
		"Was weißt du über mich und Bienen?", "关于我的蜜蜂你知道什么？", "Tell me about geography", "",
	} {
		if query == "" {
			continue
		}
		found := search(t, r, retrieve.Request{Query: query, TopK: 4})
		if slices.Equal(ids(found), []string{"f9", "f8", "f7", "f6"}) {
			t.Errorf("%s finds everything", query)
		}
	}
}

// The filters of a request hold for everything as well, and where no fact passes them, turns are found.
func TestEverythingFiltered(t *testing.T) {
	given := fact("given", "", "", 25, "", "I am allergic to wasps.")
	given.Author = ""
	r := remembering(t, append(traits(), given)...)
	for _, c := range []struct {
		filter memory.Filter
		want   string
	}{
		{memory.Filter{}, "given f9 f8"},
		{memory.Filter{Until: day(3)}, "f2 f1 f0"},
		{memory.Filter{AsOf: day(3)}, "f2 gone f1"},
		{memory.Filter{Kinds: []memory.Kind{memory.KindFact, memory.KindTurn}, Until: day(2)}, "f1 f0"},
	} {
		found := search(t, r, retrieve.Request{Query: "What do you know about me?", TopK: 3, Filter: c.filter})
		if got := strings.Join(ids(found), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
		}
	}
	turns := memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}
	for _, m := range search(t, r, retrieve.Request{Query: "What do you know about me?", Filter: turns}) {
		if m.Memory.Kind != memory.KindTurn {
			t.Errorf("%s is no turn", m.Memory.ID)
		}
	}
	if found := search(t, remembering(t), retrieve.Request{Query: "Who am I?"}); len(found) > 0 {
		t.Errorf("of nothing, %v", ids(found))
	}
}

// Where one person alone speaks, a list is of that person, whatever the id of the user is. Of two, neither of whom is the
// user by name, it is of neither.
func TestEverythingOfTwo(t *testing.T) {
	if r, scope := speaking(t, "Tove", "Tove"); answer(t, r, scope, "Tell me about Tove.").Confidence < 0.5 ||
		answer(t, r, scope, "Who am I?").Confidence < 0.5 {
		t.Error("of the one who speaks, nothing is listed")
	}
	r, scope := speaking(t, "Tove", "Ines", "Tove", "Ines")
	for _, query := range []string{"What do you know about me?", "Tell me about Tove."} {
		if found := answer(t, r, scope, query); found.Confidence > 0.5 {
			t.Errorf("%s: confidence %v of %v", query, found.Confidence, ids(found.Matches))
		}
	}
}

// A search finds a part of what was said: who spoke little is a person too, and the list is not of the other one.
func TestEverythingOfOneWhoSaidLittle(t *testing.T) {
	authors := []string{"Chat-9", "Ines"}
	for range 2000 {
		authors = append(authors, "Tove")
	}
	for _, authors := range [][]string{authors, authors[1:]} {
		r, scope := speaking(t, authors...)
		for _, m := range answer(t, r, scope, "What do you know about me?").Matches {
			if m.Memory.Author == "Tove" && m.Score > 0.99 {
				t.Fatalf("%s of %s is told of the user", m.Memory.Fact, m.Memory.Author)
			}
		}
	}
}

// speaking is a retriever over facts that people told, and their scope.
func speaking(t *testing.T, authors ...string) (*retrieve.Retriever, memory.Scope) {
	t.Helper()
	s, scope := emptyStore(t), memory.Scope{App: "app", User: "chat-9"}
	var writes []memory.Write
	for i, by := range authors {
		m := fact(fmt.Sprint("f", i), "", "", 1+i, "", fmt.Sprintf("I have %d kayaks.", i))
		m.Scope, m.Author = scope, by
		writes = append(writes, indexed(t, m))
	}
	if _, err := s.Put(t.Context(), scope, writes); err != nil {
		t.Fatal(err)
	}
	return retrieve.New(s, embed.Builtin{}, nil), scope
}
