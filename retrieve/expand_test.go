package retrieve_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// guesser is an expander that a test scripts; it keeps the queries.
type guesser struct {
	guess func(ctx context.Context) ([]string, error)
	asked []string
}

func (*guesser) Name() string { return "test:guesser" }

func (g *guesser) Expand(ctx context.Context, query string) ([]string, error) {
	g.asked = append(g.asked, query)
	return g.guess(ctx)
}

func guesses(texts ...string) *guesser {
	return &guesser{guess: func(context.Context) ([]string, error) { return texts, nil }}
}

// A search takes an expander's guesses together with the question, and explains a match
// by the guess. It does so only if the request asks for it and has one wording.
func TestExpand(t *testing.T) {
	const question = "What must she not eat?"
	s := newStore(t, talk...)
	plain := retrieve.New(s, embed.Builtin{}, nil)
	g := guesses("I am allergic to peanuts.")
	r := retrieve.New(s, embed.Builtin{}, &retrieve.Options{Expander: g})
	req := retrieve.Request{Query: question, Expand: true, Explain: true}

	got := search(t, r, req)
	want := search(t, plain, retrieve.Request{Query: question, Queries: []string{question + " I am allergic to peanuts."}, Explain: true})
	if ids := ids(got); ids[0] != "m7" || got[0].Explain.Query != "I am allergic to peanuts." {
		t.Errorf("found %v, the first by %q", ids, got[0].Explain.Query)
	}
	for i := range got {
		got[i].Explain.Query, want[i].Explain.Query = "", ""
	}
	if diff := gocmp.Diff(want, got); diff != "" || !slices.Equal(g.asked, []string{question}) {
		t.Errorf("asked %q, found (-want +got):\n%s", g.asked, diff)
	}
	block, err := r.Context(t.Context(), ann, retrieve.Request{Query: question, Expand: true}, 200)
	if err != nil || !strings.Contains(block.Text, "peanuts") || len(g.asked) != 2 {
		t.Errorf("asked %d times, %v: %s", len(g.asked), err, block.Text)
	}

	for name, req := range map[string]retrieve.Request{
		"not asked for": {Query: question},
		"worded":        {Query: question, Queries: []string{"eating"}, Expand: true},
		"worded once":   {Queries: []string{question}, Expand: true},
		"a document":    {Query: strings.Repeat("x ", 1025), Expand: true},
	} {
		if diff := gocmp.Diff(search(t, plain, req), search(t, r, req)); diff != "" || len(g.asked) != 2 {
			t.Errorf("%s: asked %d times, found (-without +with):\n%s", name, len(g.asked), diff)
		}
	}
	if _, err := r.Search(t.Context(), ann, retrieve.Request{Query: " ", Expand: true}); err == nil || len(g.asked) != 2 {
		t.Errorf("a blank query: %v, asked %d times", err, len(g.asked))
	}
}

// Guesses that cannot be searched are left out, as are those beyond the third. A guess
// in the past tense does not turn a question about the present round.
func TestExpandGuesses(t *testing.T) {
	s := newStore(t, talk...)
	plain := retrieve.New(s, embed.Builtin{}, nil)
	const question = "What must she not eat?"
	for name, texts := range map[string][]string{
		"none":     nil,
		"unusable": {"", " \n", question, "\xff peanuts", strings.Repeat("peanuts ", 126)},
		"beyond":   {"", "", "", "I am allergic to peanuts."},
	} {
		r := retrieve.New(s, embed.Builtin{}, &retrieve.Options{Expander: guesses(texts...)})
		req := retrieve.Request{Query: question, Expand: true, Explain: true}
		if diff := gocmp.Diff(search(t, plain, req), search(t, r, req)); diff != "" {
			t.Errorf("%s (-without +with):\n%s", name, diff)
		}
	}
	home := emptyStore(t)
	var writes []memory.Write
	for _, m := range moved() {
		writes = append(writes, indexed(t, m))
	}
	if _, err := home.Put(t.Context(), ann, writes); err != nil {
		t.Fatal(err)
	}
	r := retrieve.New(home, embed.Builtin{}, &retrieve.Options{Expander: guesses("I used to live in Berlin.")})
	if got := order(search(t, r, retrieve.Request{Query: "Where do I live?", Expand: true})); !strings.HasPrefix(got, "f2 t1(20 f2) ") {
		t.Error(got)
	}
}

// If the expander fails, a search answers as it would without one, and logs each
// failure once.
func TestExpandFails(t *testing.T) {
	s := newStore(t, talk...)
	req := retrieve.Request{Query: "What does Ann's sister play?", Explain: true, Expand: true}
	want := search(t, retrieve.New(s, embed.Builtin{}, nil), req)
	for name, c := range map[string]struct {
		err   error
		asked int // in two searches
	}{
		"away": {memory.ErrUnavailable, 1}, "refuses": {extract.ErrRefused, 2}, "unreadable": {extract.ErrUnreadable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				g := &guesser{guess: func(context.Context) ([]string, error) { return []string{"peanuts"}, c.err }}
				opts := &retrieve.Options{Expander: g, Log: slog.New(slog.NewTextHandler(&log, nil))}
				r := retrieve.New(s, embed.Builtin{}, opts)
				for range 2 {
					if diff := gocmp.Diff(want, search(t, r, req)); diff != "" {
						t.Errorf("found (-without +with):\n%s", diff)
					}
				}
				n := strings.Count(log.String(), "search without the expander")
				if n != c.asked || len(g.asked) != c.asked || !strings.Contains(log.String(), "test:guesser") ||
					strings.Contains(log.String(), "sister") {
					t.Errorf("asked %d times, and %d lines in the log, want %d:\n%s", len(g.asked), n, c.asked, &log)
				}
			})
		})
	}
}

// A search waits for an expander for a limited time, and the searches after it not at
// all, for a while. A caller who leaves meanwhile does not open the breaker.
func TestExpandHangs(t *testing.T) {
	s := newStore(t, talk...)
	req := retrieve.Request{Query: "What does Ann's sister play?", Expand: true}
	want := ids(search(t, retrieve.New(s, embed.Builtin{}, nil), req))
	synctest.Test(t, func(t *testing.T) {
		g := &guesser{guess: func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		r := retrieve.New(s, embed.Builtin{}, &retrieve.Options{Expander: g})
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if found, err := r.Search(gone, ann, req); err != context.Canceled {
			t.Errorf("a caller who left: %v, %v", ids(found), err)
		}
		for i, c := range []struct {
			pause time.Duration
			asked int
			took  time.Duration
		}{{0, 2, 3 * time.Second}, {0, 2, 0}, {9 * time.Second, 2, 0}, {time.Second, 3, 3 * time.Second}} {
			time.Sleep(c.pause)
			begin := time.Now()
			got := ids(search(t, r, req))
			if took := time.Since(begin); !slices.Equal(want, got) || len(g.asked) != c.asked || took != c.took {
				t.Errorf("search %d: %v, asked %d times, took %v", i, got, len(g.asked), took)
			}
		}
	})
}
