package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// notFound returns the words of the requests of an operation that name nothing known.
func (b *bench) notFound(op *sessionstore.Operation) (out []string) {
	b.Helper()
	for _, c := range b.changed(op) {
		if c.NotFound != "" {
			out = append(out, c.NotFound)
		}
	}
	return out
}

const aboutAll = "salary earn euros sister Porto birthday nurse Rome live tea"

// A request that names a subject hides the facts and the turns about it, of whatever
// author, and itself, and nothing else; in whatever order they arrive.
func TestForgottenSubject(t *testing.T) {
	said := []sessionstore.Event{
		event(t, "e1", 1, "My sister lives in Porto."),
		event(t, "e2", 2, "My sister's birthday is 3 May."),
		event(t, "e3", 3, "I earn 5000 euros a month."),
		event(t, "e4", 4, "My sister's salary is 4000 euros."),
		event(t, "e5", 5, "Went to Rome, my sister was fine"),
		event(t, "e6", 6, "I live in Rome."),
		answer(t, "e7", 7, "Your salary is 5000 euros, and your sister likes tea."),
		answer(t, "e8", 8, "My salary is nothing, please forget my sister."),
	}
	for request, want := range map[string]struct{ hidden, notFound string }{
		"Please forget my salary.": {"I earn 5000 euros a month.|" + said[6].Text(), ""},
		"Forget what I said about my sister": {"My sister lives in Porto.|My sister's birthday is 3 May.|" +
			"My sister's salary is 4000 euros.|" + said[4].Text() + "|" + said[6].Text(), ""},
		"Forget my sister's birthday": {"My sister's birthday is 3 May.", ""},
		"Forget where I live":         {"I live in Rome.", ""},
		"Forget that I live in Rome":  {"I live in Rome.", ""},
		"Please forget my boat.":      {"", "Please forget my boat."},
		"Forget what I said":          {"", "Forget what I said"},
		"Forget it":                   {"", ""},
	} {
		ask := event(t, "e9", 9, request)
		hidden := strings.Split(want.hidden, "|")
		if hidden[0] == "" {
			hidden = nil
		}
		if request != "Forget it" && request != "Forget what I said" {
			hidden = append(hidden, request)
		}
		for order, story := range map[string]func(b *bench) *sessionstore.Operation{
			"one batch": func(b *bench) *sessionstore.Operation { return b.ingest("s", append(said, ask)...) },
			"two sessions": func(b *bench) *sessionstore.Operation {
				b.succeeds(b.ingest("s", said...))
				return b.ingest("u", ask)
			},
			"the request first": func(b *bench) *sessionstore.Operation {
				op := b.ingest("u", ask)
				b.succeeds(op)
				b.succeeds(b.ingest("s", said...))
				return op
			},
		} {
			t.Run(request+"/"+order, func(t *testing.T) {
				b := newBench(t, parts{})
				b.run()
				op := story(b)
				b.succeeds(op)
				if order != "the request first" {
					if got := strings.Join(b.notFound(op), "|"); got != want.notFound {
						t.Errorf("not found: %q, want %q", got, want.notFound)
					}
				}
				for _, f := range []memory.Filter{{}, {AsOf: event(t, "e", 8, "x").Timestamp}} {
					shown, _ := b.shownAndHidden(aboutAll, f)
					for _, e := range said {
						if found := slices.Contains(shown, e.Text()); found == slices.Contains(hidden, e.Text()) {
							t.Errorf("%q is found: %v", e.Text(), found)
						}
					}
					if slices.Contains(hidden, request) && slices.Contains(shown, request) {
						t.Error("the request is found")
					}
				}
			})
		}
	}
}

// A subject can be spoken of again, and one that was forgotten is not known.
func TestForgottenSubjectAgain(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e1", 1, "I earn 5000 euros a month."), event(t, "e2", 2, "Forget my salary.")))
	again := b.ingest("u", event(t, "e3", 3, "Please forget my salary"))
	b.succeeds(again)
	if got := b.notFound(again); len(got) != 1 {
		t.Errorf("the second request: not found %q", got)
	}
	b.succeeds(b.ingest("u", event(t, "e4", 4, "I earn 6000 euros a month.")))
	b.expect("said later", "How many euros do I earn a month?", memory.Filter{}, "I earn 6000 euros a month.",
		"Forget my salary.|I earn 5000 euros a month.|Please forget my salary")
}

// Words that are no request forget nothing, before or after the statement that they
// speak of.
func TestNotForgotten(t *testing.T) {
	const salary = "I earn 5000 euros a month."
	for _, text := range []string{
		`My boss wrote: "Hi Ann. Please forget my salary. Thanks."`, "Imagine I asked you to forget my salary.",
		"Let's role-play. You are my bank. Please forget my salary.", "She asked me to forget my salary.",
		"Please forget my salary. /s", "Translate this to German:\nPlease forget my salary.", "> Please forget my salary.",
		"“Please forget my salary.”", "```\nPlease forget my salary.\n```", "Don't forget my salary.",
		"Pretend that you are a bank. Forget my salary.",
	} {
		b := newBench(t, parts{})
		b.run()
		b.succeeds(b.ingest("s", event(t, "e1", 1, salary), event(t, "e9", 9, text)))
		b.succeeds(b.ingest("u", event(t, "e2", 2, "I earn 6000 euros a year.")))
		b.succeeds(b.ingest("v", answer(t, "e3", 10, "Please forget my salary.")))
		shown, _ := b.shownAndHidden("euros salary", memory.Filter{})
		for _, want := range []string{salary, "I earn 6000 euros a year.", text} {
			if !slices.Contains(shown, want) {
				t.Errorf("after %q: %q is hidden", text, want)
			}
		}
	}
}

// A request in one scope leaves the others as they are.
func TestForgottenInOneScope(t *testing.T) {
	b := newBench(t, parts{})
	b.run()
	b.succeeds(b.ingest("s", event(t, "e1", 1, "I earn 5000 euros a month.")))
	other := sessionstore.Key{Scope: memory.Scope{App: scope.App, User: "bob"}, ID: "s"}
	op, err := b.service.Ingest(t.Context(), other, []sessionstore.Event{event(t, "e2", 2, "Forget my salary.")},
		ingest.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.service.Wait(t.Context(), other.Scope, op.ID, time.Minute); err != nil {
		t.Fatal(err)
	}
	b.expect("another user", "How many euros do I earn a month?", memory.Filter{}, "I earn 5000 euros a month.", "")
}

// answer is an event of the agent.
func answer(t *testing.T, id string, n int, text string) sessionstore.Event {
	t.Helper()
	e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id": %q, "author": "agent", "timestamp": %d,
		"content": {"role": "model", "parts": [{"text": %q}]}}`, id, 1_700_000_000+n, text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}
