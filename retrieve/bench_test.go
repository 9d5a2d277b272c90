package retrieve_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/tools"
)

// modelFile has English words, the most frequent first: the pieces of the
// built-in embedder's model. embed/static.go has its layout.
const modelFile = "../embed/distill/static-1.bin"

// functionWords is the number of most frequent words that do not tell the topic
// of a text.
const functionWords = 150

var authors = []string{"Ann", "Ben", "Cleo"}

// chatter makes conversations of English words with their natural frequencies
// (Zipf), so that stems, stop words and vectors cost what they cost in life.
type chatter struct {
	words  []string
	random *rand.Rand
	zipf   *rand.Zipf
	said   []string // all turns
	ended  int      // every so many facts, one that the next fact has superseded; 0 for none
}

func newChatter(b *testing.B) *chatter {
	b.Helper()
	raw, err := os.ReadFile(modelFile)
	if err != nil {
		b.Fatal(err)
	}
	const header = 8 + 6*4
	name, pieces := int(binary.LittleEndian.Uint32(raw[24:])), int(binary.LittleEndian.Uint32(raw[28:]))
	c := &chatter{random: rand.New(rand.NewPCG(1, 2))}
	for w := range strings.Lines(string(raw[header+name:][:pieces])) {
		w = strings.TrimSpace(w)
		if len(w) > 1 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			c.words = append(c.words, w)
		}
	}
	c.zipf = rand.NewZipf(c.random, 1.07, 3, uint64(len(c.words)-1))
	return c
}

// turn is 6 to 22 words, every fifth time a question.
func (c *chatter) turn() string {
	words := make([]string, 6+c.random.IntN(17))
	for i := range words {
		words[i] = c.words[c.zipf.Uint64()]
	}
	end := "."
	if c.random.IntN(5) == 0 {
		end = "?"
	}
	c.said = append(c.said, strings.ToUpper(words[0][:1])+strings.Join(words, " ")[1:]+end)
	return c.said[len(c.said)-1]
}

// topical returns n words that tell the topic of a text: its own words or, if it
// has too few, others.
func (c *chatter) topical(text string, n int) []any {
	var out []any
	for _, w := range strings.Fields(strings.ToLower(strings.Trim(text, ".?"))) {
		if len(out) < n && !slices.Contains(c.words[:functionWords], w) {
			out = append(out, w)
		}
	}
	for len(out) < n {
		out = append(out, c.words[functionWords+c.random.IntN(len(c.words)-functionWords)])
	}
	return out
}

// forms are questions as people ask them, of 6 to 10 words: of somebody and
// three words of a turn.
var forms = []string{
	"When did %s %s %s %s?", "Where did %s go with the %s and %s %s?", "What does %s think of the %s %s %s?",
	"Who told %s about the %s and %s %s?", "Is %s still %s the %s %s?", "How many %s did %s have at the %s last %s?",
}

func (c *chatter) question() string {
	about := c.topical(c.said[c.random.IntN(len(c.said))], 3)
	return fmt.Sprintf(
		forms[c.random.IntN(len(forms))],
		append([]any{authors[c.random.IntN(len(authors))]}, about...)...)
}

// newMemories is a store with n memories, sessions of 30 turns of two or three
// authors, and for every fourth turn a fact that cites it.
func (c *chatter) newMemories(b *testing.B, scope memory.Scope, n int) *sqlitestore.Store {
	b.Helper()
	s := emptyStore(b)
	for from := 0; from < n; from += 1000 {
		var writes []memory.Write
		for i := from; i < min(n, from+1000); i++ {
			m := memory.Memory{
				ID:        fmt.Sprintf("m%d", i),
				Scope:     scope,
				Kind:      memory.KindTurn,
				Timestamp: time.Unix(1_600_000_000+int64(i)*600, 0).UTC(),
				Source: memory.Source{
					SessionID: fmt.Sprintf("s%d", i/38),
					EventIDs:  []string{fmt.Sprintf("e%d", i)},
				},
			}
			if i%5 == 4 {
				last := writes[len(writes)-1].Memory
				m.Kind, m.Timestamp, m.Source = memory.KindFact, last.Timestamp, last.Source
				m.Fact = fmt.Sprintf("%s %s %s %s %s", append([]any{last.Author}, c.topical(last.Fact, 4)...)...)
				if c.ended > 0 && i/5%c.ended == 0 && i+5 < n {
					m.ValidTo, m.SupersededBy = m.Timestamp.Add(time.Hour), fmt.Sprintf("m%d", i+5)
				}
			} else {
				m.Author, m.Fact = authors[c.random.IntN(2+i/38%2)], c.turn()
			}
			writes = append(writes, indexed(b, m))
		}
		if _, err := s.Put(b.Context(), scope, writes); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// resident returns the resident size of the process in MB, or 0 if the system does
// not report it.
func resident() float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err == nil {
				return kb / 1024
			}
		}
	}
	return 0
}

// times are durations of one operation.
type times []time.Duration

func (t *times) since(begin time.Time) { *t = append(*t, time.Since(begin)) }

// ms is a quantile in milliseconds.
func (t times) ms(q float64) float64 {
	sorted := slices.Sorted(slices.Values(t))
	return float64(sorted[int(q*float64(len(sorted)-1))].Nanoseconds()) / 1e6
}

// BenchmarkSearch asks questions in scopes of several sizes, without superseded facts
// and where every third fact is. Quantiles want
// some hundred searches: -benchtime 500x. The resident size is that of the whole
// test process, smaller scopes before larger ones.
func BenchmarkSearch(b *testing.B) {
	for _, of := range []struct{ n, ended int }{{700, 0}, {700, 3}, {10_000, 0}, {10_000, 3}, {100_000, 0}} {
		n := of.n
		b.Run(fmt.Sprintf("memories=%d/ended=%d", n, of.ended), func(b *testing.B) {
			c := newChatter(b)
			c.ended = of.ended
			scope := memory.Scope{App: "a", User: "u"}
			r := retrieve.New(c.newMemories(b, scope, n), embed.Builtin{}, nil)
			find(b, r, scope, c.question()) // reads the scope from the file
			var took times
			for b.Loop() {
				query := c.question()
				begin := time.Now()
				find(b, r, scope, query)
				took.since(begin)
			}
			b.ReportMetric(took.ms(0.5), "p50-ms")
			b.ReportMetric(took.ms(0.95), "p95-ms")
			b.ReportMetric(took.ms(0.99), "p99-ms")
			b.ReportMetric(resident(), "resident-MB")
		})
	}
}

// BenchmarkPreload measures what a turn waits for in a scope of 10,000 memories: the
// preload of a question, with its block.
func BenchmarkPreload(b *testing.B) {
	c := newChatter(b)
	scope := memory.Scope{App: "a", User: "u"}
	late := 0
	box := tools.New(
		retrieve.New(c.newMemories(b, scope, 10_000), embed.Builtin{}, nil),
		nil,
		&tools.Options{Preloaded: func(o tools.Outcome, _ time.Duration) {
			if o != tools.Found {
				late++
			}
		}},
	)
	var took times
	preload := func() {
		query := c.question()
		begin := time.Now()
		if _, err := box.Preload(b.Context(), scope, query); err != nil {
			b.Fatal(query, err)
		}
		took.since(begin)
	}
	preload() // reads the scope from the file, and is late perhaps
	took, late = nil, 0
	for b.Loop() {
		preload()
	}
	b.ReportMetric(took.ms(0.5), "p50-ms")
	b.ReportMetric(took.ms(0.95), "p95-ms")
	b.ReportMetric(took.ms(0.99), "p99-ms")
	b.ReportMetric(float64(late), "without")
}

func find(b *testing.B, r *retrieve.Retriever, scope memory.Scope, query string) {
	found, err := r.Search(b.Context(), scope, retrieve.Request{Query: query})
	if err != nil || len(found) == 0 {
		b.Fatal(query, len(found), err)
	}
}

// BenchmarkParts reports where the time of a search goes in a scope of 10,000
// memories, in milliseconds at the median: first step by step, then how much
// longer a search takes with each part of ranking than without it. Each question is
// asked in all these ways, in changing order, and they are compared question by
// question. A cost that several parts share counts for none of them, since words,
// vectors and neighbours are read without any of these parts too.
func BenchmarkParts(b *testing.B) {
	c := newChatter(b)
	scope := memory.Scope{App: "a", User: "u"}
	store := &observed{Store: c.newMemories(b, scope, 10_000)}
	whole := retrieve.New(store, embed.Builtin{}, nil)
	took := map[string]*times{}
	var ways []func(query string, q memory.Query)
	way := func(name string, do func(query string, q memory.Query)) {
		t := &times{}
		took[name] = t
		ways = append(ways, func(query string, q memory.Query) {
			begin := time.Now()
			do(query, q)
			t.since(begin)
		})
	}
	way("all", func(query string, _ memory.Query) { find(b, whole, scope, query) })
	for _, name := range retrieve.Parts() {
		without := retrieve.New(store, embed.Builtin{}, &retrieve.Options{Without: []string{name}})
		way(name, func(query string, _ memory.Query) { find(b, without, scope, query) })
	}
	way("embed", func(query string, _ memory.Query) {
		if _, err := (embed.Builtin{}).Embed(b.Context(), embed.Query, []string{query}); err != nil {
			b.Fatal(err)
		}
	})
	for name, change := range map[string]func(*memory.Query){
		"store":              func(*memory.Query) {},
		"store, no sessions": func(q *memory.Query) { q.Sessions = false },
		"hits":               func(q *memory.Query) { q.Sessions, q.Context, q.Cited = false, 0, false },
		"lists":              func(q *memory.Query) { q.Sessions, q.Context, q.Cited, q.Limit = false, 0, false, 1 },
	} {
		way(name, func(_ string, q memory.Query) {
			change(&q)
			if _, err := store.Store.Search(b.Context(), scope, q); err != nil {
				b.Fatal(err)
			}
		})
	}
	for b.Loop() {
		query := c.question()
		find(b, whole, scope, query)
		q := store.query
		for _, i := range c.random.Perm(len(ways)) {
			ways[i](query, q)
		}
	}
	report := func(metric, with string, without ...string) {
		paid := slices.Clone(*took[with])
		for _, w := range without {
			for i, t := range *took[w] {
				paid[i] -= t
			}
		}
		b.ReportMetric(paid.ms(0.5), metric+"-ms")
	}
	report("search", "all")
	report("search:embed", "embed")
	report("search:lists", "lists")
	report("search:hits", "hits", "lists")
	report("search:neighbours", "store, no sessions", "hits")
	report("search:sessions", "store", "store, no sessions")
	report("search:rank", "all", "embed", "store")
	for _, name := range retrieve.Parts() {
		report("part:"+name, "all", name)
	}
}

// observed is a store that keeps the last query.
type observed struct {
	memory.Store
	query memory.Query
}

func (o *observed) PrepareSearch(ctx context.Context, scope memory.Scope) memory.PreparedSearch {
	search := o.Store.PrepareSearch(ctx, scope)
	return func(ctx context.Context, q memory.Query) (memory.Found, error) {
		o.query = q
		return search(ctx, q)
	}
}
