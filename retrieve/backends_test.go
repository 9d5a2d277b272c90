package retrieve_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// chat makes up n turns of small talk. Only one thing matters about them: words
// come back next to other words.
func chat(t *testing.T, random *rand.Rand, session string, n int) []sessionstore.Event {
	who := []string{"I", "My sister", "My brother Tom", "We", "My neighbour"}
	did := []string{"love", "bought", "painted", "lost", "found", "sold", "repaired", "talk about", "dream of"}
	what := []string{
		"the old bicycle",
		"a red kite",
		"two cellos",
		"the garden in Porto",
		"three cats",
		"that tiny kitchen",
		"the harbour library",
		"a sailing boat",
		"the green chairs",
		"grandmother's letters",
	}
	when := []string{"", " yesterday", " last summer", " on Friday", " in March", " again", " every morning"}
	pick := func(of []string) string { return of[random.IntN(len(of))] }
	var out []sessionstore.Event
	for i := range n {
		author, role := "user", "user"
		text := fmt.Sprintf("%s %s %s%s.", pick(who), pick(did), pick(what), pick(when))
		if i%3 == 2 {
			author, role = "guide", "model"
			text = fmt.Sprintf("Tell me more about %s%s!", pick(what), pick(when))
		}
		// Some turns share a moment, so that their order is that of their ids.
		doc := fmt.Sprintf(
			`{"id": "e%03d", "author": %q, "timestamp": %d, "content": {"role": %q, "parts": [{"text": %q}]}}`,
			random.IntN(1000)*1000+i,
			author,
			1_750_000_000+i/2*60,
			role,
			text,
		)
		e, err := sessionstore.ParseEvent([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// diary is a conversation in which the user says one thing a day.
func diary(t *testing.T, session string, texts ...string) (out []sessionstore.Event) {
	for i, text := range texts {
		doc := fmt.Sprintf(`{"id": "%s%d", "author": "user", "timestamp": %d, "content": {"role": "user", "parts": [{"text": %q}]}}`,
			session, i, 1_750_000_000+86400*i, text)
		e, err := sessionstore.ParseEvent([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// taken has a service ingest conversations.
func taken(t *testing.T, memories memory.Store, sessions map[string][]sessionstore.Event) {
	t.Helper()
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "sessions.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	store, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	service := ingest.New(store, memories, embed.Builtin{}, rules.New(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { service.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	for id, events := range sessions {
		op, err := service.Ingest(ctx, sessionstore.Key{Scope: ann, ID: id}, events, ingest.RequestOptions{})
		if err == nil {
			op, err = service.Wait(ctx, ann, op.ID, time.Minute)
		}
		if err != nil || op.State != sessionstore.Succeeded {
			t.Fatalf("%s: %+v, %v", id, op, err)
		}
	}
}

// Every backend ranks alike: the same memories in the same places, with the
// same parts of their scores, and the same confidence for the same reasons.
func TestBackendsRankAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	sessions := map[string][]sessionstore.Event{}
	for i := range 12 {
		id := fmt.Sprint("s", i)
		sessions[id] = chat(t, random, id, 10+random.IntN(40))
	}
	sessions["moves"] = diary(t, "moves", "I live in Lisbon.", "The garden in Porto is lovely.", "I moved to Porto.",
		"I work at the harbour library.", "I live in Berlin now.", "I work at a bicycle shop.")
	embedded := emptyStore(t)
	model := embed.Builtin{}.Model()
	remote, err := qdrantstore.Open(
		t.Context(),
		qdranttest.Start(t).URL(t),
		qdrantstore.Model{
			Embedder:  model.Name,
			Dimension: model.Dimension,
			Analyzer:  analyzer.Name,
		},
		&qdrantstore.Options{Exact: true, Timeout: time.Minute},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remote.Close() })
	stores := []memory.Store{embedded, remote}
	for _, s := range stores {
		taken(t, s, sessions)
	}
	requests := []retrieve.Request{
		{Query: "cellos", Filter: memory.Filter{Kinds: []memory.Kind{memory.KindFact}}},
		{Query: "kite", Filter: memory.Filter{SessionID: "s3"}},
		{
			Query:  "bicycle in March",
			Filter: memory.Filter{Since: time.Unix(1_750_000_300, 0), Until: time.Unix(1_750_000_900, 0)},
		},
		{Query: "garden", Filter: memory.Filter{Topics: []string{memory.TopicPreferences}}},
		{Query: "letters", TopK: 50, MinScore: 0.2},
		{Query: "Where do I live?"},
		{Query: "Lisbon", Filter: memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}},
		{Query: "Where did I work before?"},
	}
	for range 40 {
		e := sessions[fmt.Sprint("s", random.IntN(12))]
		words := strings.Fields(e[random.IntN(len(e))].Text())
		random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		requests = append(
			requests,
			retrieve.Request{Query: strings.Join(words[:min(len(words), 1+random.IntN(5))], " ")},
		)
	}
	found, outdated := 0, 0
	confident := map[float64]bool{}
	for _, req := range requests {
		req.Explain = true
		var answers [2][]memory.Match
		var whole [2]retrieve.Answer
		for i, s := range stores {
			if whole[i], err = retrieve.New(s, embed.Builtin{}, nil).Answer(t.Context(), ann, req); err != nil {
				t.Fatal(err)
			}
			answers[i] = whole[i].Matches
		}
		if a, b := whole[0].Confidence, whole[1].Confidence; a != b {
			t.Errorf("%q: the confidence is %v in one, %v in the other", req.Query, a, b)
		}
		if d := cmp.Diff(whole[0].Signs, whole[1].Signs, cmpopts.EquateApprox(0, 1e-4)); d != "" {
			t.Errorf("%q: the signs are others in the other:\n%s", req.Query, d)
		}
		confident[whole[0].Confidence] = true
		if fmt.Sprint(ids(answers[0])) != fmt.Sprint(ids(answers[1])) {
			t.Errorf("%q: %v in one, %v in the other", req.Query, ids(answers[0]), ids(answers[1]))
			continue
		}
		for i, a := range answers[0] {
			b := answers[1][i]
			if d := cmp.Diff(a.Outdated, b.Outdated); d != "" {
				t.Errorf("%q: %s is outdated otherwise in the other:\n%s", req.Query, a.Memory.ID, d)
			}
			if a.Outdated != nil {
				outdated++
			}
			for p := range a.Explain.Parts {
				if x, y := a.Explain.Parts[p].Value, b.Explain.Parts[p].Value; math.Abs(x-y) > 1e-4 {
					t.Errorf(
						"%q: %s of %s is %v in one, %v in the other",
						req.Query,
						a.Explain.Parts[p].Name,
						a.Memory.ID,
						x,
						y,
					)
				}
			}
			found++
		}
	}
	if outdated < 5 {
		t.Errorf("only %d outdated matches to compare", outdated)
	}
	if found < 200 {
		t.Errorf("only %d matches to compare", found)
	}
	if len(confident) < 20 {
		t.Errorf("only %d values of confidence to compare", len(confident))
	}
}
