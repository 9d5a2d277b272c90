package canonical

import (
	"fmt"
	"strings"
	"testing"
)

// shown is a wish as testdata has it.
func (w Wish) shown() string {
	var out []string
	if w.Everything {
		out = append(out, "everything")
	}
	if w.Statement != "" {
		out = append(out, "that "+w.Statement)
	}
	for _, s := range w.Subjects {
		text := strings.Join(s.words, " ")
		if s.owner != "" {
			text = s.owner + "'s " + text
		}
		if s.own {
			text = "my " + text
		}
		if s.kind != nil {
			text += "*"
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// The first sentence of a line asks to forget the second.
func TestForgetStatement(t *testing.T) {
	for _, line := range lines(t, "forget.txt") {
		sentence, statement := pair(t, line)
		want := Text(statement)
		if w, ok := ForgetRequest(sentence); !ok || w.Statement != want {
			t.Errorf("ForgetRequest(%q) = %q, %v, want %q", sentence, w.shown(), ok, want)
		}
		for _, fact := range []string{sentence, statement} {
			if w := WishOf(fact); w.Statement != want {
				t.Errorf("WishOf(%q) = %q, want %q", fact, w.shown(), want)
			}
		}
	}
}

// Each request names what stands behind the "=": subjects (one of a kind has a star),
// everything, or nothing that is certain.
func TestWishes(t *testing.T) {
	for _, line := range lines(t, "wishes.txt") {
		sentence, want := pair(t, line)
		if w, ok := ForgetRequest(sentence); !ok || w.shown() != want {
			t.Errorf("ForgetRequest(%q) = %q, %v, want %q", sentence, w.shown(), ok, want)
		}
	}
	for fact, want := range map[string]string{
		"Everything": "everything", "everything the assistant knows": "that everything the assistant knows",
		"The user's sister": "my sister", "Judith's sister": "judith's sister", "tea": "tea",
		"The user's salary": "my salary*", "Judith likes tea.": "that judith likes tea",
	} {
		if got := WishOf(fact).shown(); got != want {
			t.Errorf("WishOf(%q) = %q, want %q", fact, got, want)
		}
	}
}

// Sentences that do not ask a memory to forget something.
func TestNoForgetRequest(t *testing.T) {
	for _, sentence := range append(lines(t, "not-forget.txt"), "") {
		if w, ok := ForgetRequest(sentence); ok {
			t.Errorf("ForgetRequest(%q) = %q", sentence, w.shown())
		}
	}
}

// aboutOf are the subject of a request, and the text that is judged with who says it.
func aboutOf(t *testing.T, line string) (s *Subject, text string, v Voice) {
	t.Helper()
	request, text := pair(t, line)
	w, ok := ForgetRequest(request)
	if !ok || len(w.Subjects) != 1 {
		t.Fatalf("ForgetRequest(%q) = %q, %v", request, w.shown(), ok)
	}
	text, v.Other = strings.CutPrefix(text, "> ")
	v.Author = "Judith"
	return &w.Subjects[0], text, v
}

// The text behind each "=" is about the subject of the request before it. A text that
// begins with ">" is said by somebody else, and the author is Judith.
func TestAbout(t *testing.T) {
	examples := lines(t, "about.txt")
	for _, k := range kinds {
		examples = append(examples, k.example)
	}
	for _, line := range examples {
		if s, text, v := aboutOf(t, line); !s.About(text, v) {
			t.Errorf("not about it: %s", line)
		}
	}
	for _, line := range lines(t, "not-about.txt") {
		if s, text, v := aboutOf(t, line); s.About(text, v) {
			t.Errorf("about it: %s", line)
		}
	}
}

// Tables of requests have no word twice, and all are used.
func TestWishTables(t *testing.T) {
	for _, problem := range wishTables.Problems() {
		t.Error(problem)
	}
}

// A long text is judged in time linear in its length.
func TestLongAbout(t *testing.T) {
	w, _ := ForgetRequest("Forget my trip to Rome")
	for _, unit := range []string{"my trip ", "i have trip, ", "salary's ", "trip 's. ", "trip\n"} {
		for range 3 {
			w.Subjects[0].About(strings.Repeat(unit, 1<<16/len(unit)), Voice{})
		}
		ForgetRequest("Please forget " + strings.Repeat(unit, 1<<16/len(unit)))
	}
}

func FuzzForgetRequest(f *testing.F) {
	for _, s := range []string{
		"Forget my sister's birthday", "Delete everything you know about me", "Forget the birthday of my sister",
		"Forget what I said about tea", "Forget my ,", "Forget what is", "Forget all my", "Erase from your memory",
	} {
		f.Add(s, "My sister Ana's birthday is on 3 May")
	}
	f.Fuzz(func(t *testing.T, request, text string) {
		w, ok := ForgetRequest(request)
		if !ok && w.Names() {
			t.Errorf("ForgetRequest(%q) = %q, %v", request, fmt.Sprint(w), ok)
		}
		for i := range w.Subjects {
			w.Subjects[i].About(text, Voice{Author: "Ann"})
			w.Subjects[i].About(text, Voice{Author: "Ann", Other: true})
			w.Subjects[i].Keys()
			w.Subjects[i].Words()
		}
	})
}
