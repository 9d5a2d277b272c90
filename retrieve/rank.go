package retrieve

import (
	"cmp"
	"container/heap"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// The constants of BM25 where a session is the text: its length is in turns,
// and counts in full, as long sessions have a bit of everything.
const (
	sessionK1   = 2.0
	sessionMean = 20.0 // turns; an ordinary session
)

// halfLife is how much older than the newest match a memory is that counts half
// as new.
const halfLife = 30 * 24 * time.Hour

// ranked is a candidate with its score and what that is made of.
type ranked struct {
	*memory.Candidate
	score float64            // at most that, until it is whole
	whole bool               // the parts of kind are weighed too
	parts [partCount]float64 // each 0 to 1
}

// cite is a turn as facts cite it.
type cite struct{ session, event string }

func citesOf(m *memory.Memory) iter.Seq[cite] {
	return func(yield func(cite) bool) {
		for _, e := range m.Source.EventIDs {
			if !yield(cite{m.Source.SessionID, e}) {
				return
			}
		}
	}
}

// ranking is the work on one answer of a store.
type ranking struct {
	weights  [partCount]float64
	question *question
	noise    float64 // of the embedder
	idf      []float64
	best     float64 // of a lexical score
	sessions map[string]float64
	named    map[string]bool // authors, whether the question means them
	newest   time.Time       // when the last of those ranked was said
	keys     map[cite]float64
	turns    map[cite]*ranked // those in keys
	seen     map[cite]bool    // what better matches rest on
}

// rank gives the n best candidates that pass the filter, best first, ties by
// id, and the weights. It leaves out what has nothing in common with the
// question. Embedded is false if there was no vector to ask with.
func (r *Retriever) rank(found memory.Found, q *question, embedded bool, n int) ([]*ranked, [partCount]float64) {
	k := &ranking{question: q, noise: r.embedder.Model().Noise, named: map[string]bool{}, keys: map[cite]float64{},
		turns: map[cite]*ranked{}, seen: map[cite]bool{}}
	k.weigh(r.weights, found.Runs, embedded)
	k.idf, k.best = rarity(found.Stats)
	k.sessions = sessionScores(found.Stats)
	var all []*ranked
	for _, run := range found.Runs {
		if run[0].Memory.Kind == memory.KindFact && q.heard(&run[0]) {
			all = append(all, k.fact(&run[0]))
		}
	}
	facts := len(all)
	for _, run := range found.Runs {
		if !q.asOf.IsZero() {
			run = slices.DeleteFunc(slices.Clone(run), func(c memory.Candidate) bool { return !q.heard(&c) })
		}
		if len(run) > 0 && run[0].Memory.Kind == memory.KindTurn {
			all = append(all, k.run(run)...)
		}
	}
	for _, f := range all[:facts] {
		k.citing(f)
	}
	all = slices.DeleteFunc(all, func(c *ranked) bool { return !c.Match || !k.related(c) })
	return k.top(all, n), k.weights
}

// weigh gives weights to the parts that apply to the question, of sum 1.
func (k *ranking) weigh(raw [partCount]float64, runs [][]memory.Candidate, embedded bool) {
	meant := false
	for _, run := range runs {
		for i := range run {
			author := run[i].Memory.Author
			if _, known := k.named[author]; !known {
				k.named[author] = k.question.means(author)
				meant = meant || k.named[author]
			}
		}
	}
	applies := [partCount]bool{
		lexical: true, surroundings: true, reply: true, dense: embedded, near: embedded, session: true, keys: true,
		speaker: meant, statement: true, answer: k.question.wants != anything, times: len(k.question.periods) > 0, recency: k.question.present, fresh: true,
	}
	sum := 0.0
	for p, w := range raw {
		if applies[p] {
			k.weights[p] = w
			sum += w
		}
	}
	for p := range k.weights {
		k.weights[p] /= max(sum, 1e-9)
	}
}

// top is the n best. What kind of memory it is makes no more of a candidate than
// its relevance, and takes reading it: only of those that may be among the best
// it is told, the most relevant first.
func (k *ranking) top(all []*ranked, n int) (out []*ranked) {
	for _, c := range all {
		c.score = k.relevance(c) * (1 + 1e-9) // rounding adds less
		if c.Memory.Timestamp.After(k.newest) {
			k.newest = c.Memory.Timestamp
		}
	}
	left := queue(all)
	heap.Init(&left)
	for len(left) > 0 && !(len(out) == n && out[n-1].score > left[0].score) {
		c := left[0]
		if !c.whole {
			k.kind(c)
			k.sum(c)
			heap.Fix(&left, 0)
			continue
		}
		heap.Pop(&left)
		k.stale(c)
		at, _ := slices.BinarySearchFunc(out, c, better)
		out = slices.Insert(out, at, c)
		out = out[:min(len(out), n)]
	}
	return out
}

// queue is a heap, the best candidate first.
type queue []*ranked

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return better(q[i], q[j]) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*ranked)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func better(a, b *ranked) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Compare(a.Memory.ID, b.Memory.ID)
}

// related reports whether a candidate, or what is right beside it, has anything
// in common with the question; being of a session that has is not enough.
func (k *ranking) related(c *ranked) bool {
	for _, p := range [...]int{lexical, surroundings, reply, dense, near, keys} {
		if k.weights[p] > 0 && c.parts[p] > 0 {
			return true
		}
	}
	return false
}

// rarity is the weight of each of the query's words, and what a memory would
// score that had every one of them without end: the score that counts as 1.
func rarity(s memory.Stats) (idf []float64, best float64) {
	for _, df := range s.DF {
		w := memory.IDF(s.Docs, df)
		idf = append(idf, w)
		best += w * (memory.BM25K1 + 1)
	}
	return idf, best
}

// sessionScores ranks sessions by the words that their turns have.
func sessionScores(s memory.Stats) map[string]float64 {
	df := make([]int, len(s.DF)) // sessions that have each word
	for _, in := range s.Sessions {
		for i, n := range in.DF {
			if n > 0 {
				df[i]++
			}
		}
	}
	idf := make([]float64, len(df))
	for i, n := range df {
		idf[i] = math.Log(1 + (float64(s.SessionCount)-float64(n)+0.5)/(float64(n)+0.5))
	}
	out := make(map[string]float64, len(s.Sessions))
	most := 0.0
	for id, in := range s.Sessions {
		sum := 0.0
		for i, n := range in.DF {
			if n == 0 {
				continue
			}
			f := float64(n)
			sum += idf[i] * f * (sessionK1 + 1) / (f + sessionK1*float64(in.Turns)/sessionMean)
		}
		out[id] = sum
		most = max(most, sum)
	}
	for id := range out {
		out[id] /= most
	}
	return out
}

// lexical is BM25 as a share of the best. Frequencies and length need not be
// whole.
func (k *ranking) lexical(freqs []float64, length float64) float64 {
	if k.best == 0 {
		return 0
	}
	sum := 0.0
	for i, f := range freqs {
		if f > 0 {
			sum += k.idf[i] * memory.Saturate(f, length)
		}
	}
	return sum / k.best
}

// own scores a candidate by itself. It uses freqs, which has room for every word.
func (k *ranking) own(c *memory.Candidate, freqs []float64) ranked {
	for i, f := range c.Freqs {
		freqs[i] = float64(f)
	}
	r := ranked{Candidate: c}
	r.parts[lexical] = k.lexical(freqs, float64(c.Length))
	r.parts[dense] = min(max((c.Cosine-k.noise)/(1-k.noise), 0), 1)
	return r
}

// fact scores a fact by itself, and notes it as a key of the turns it cites.
func (k *ranking) fact(c *memory.Candidate) *ranked {
	r := k.own(c, make([]float64, len(k.idf)))
	for at := range citesOf(&c.Memory) {
		k.keys[at] = max(k.keys[at], r.parts[lexical])
	}
	return &r
}

// run scores consecutive turns of a session, when all facts are scored.
func (k *ranking) run(run []memory.Candidate) []*ranked {
	freqs := make([]float64, len(k.idf))
	own := make([]ranked, len(run))
	for i := range run {
		own[i] = k.own(&run[i], freqs)
	}
	of := k.sessions[run[0].Memory.Source.SessionID]
	out := make([]*ranked, len(run))
	for i := range own {
		clear(freqs)
		var length, cosine, share float64
		for j := max(0, i-reach); j < min(len(run), i+reach+1); j++ {
			w := window[j-i+reach]
			for t, f := range run[j].Freqs {
				freqs[t] += w * float64(f)
			}
			length += w * float64(run[j].Length)
			cosine += w * own[j].parts[dense]
			share += w
		}
		c := &own[i]
		c.parts[surroundings] = k.lexical(freqs, length/share)
		c.parts[near] = cosine / share
		c.parts[session] = of
		if i > 0 && own[i-1].parts[lexical] > 0 && asks(run[i-1].Memory.Fact) {
			c.parts[reply] = own[i-1].parts[lexical]
		}
		for at := range citesOf(&c.Memory) {
			if key, ok := k.keys[at]; ok {
				c.parts[keys] = max(c.parts[keys], key)
				k.turns[at] = c
			}
		}
		out[i] = c
	}
	return out
}

// citing gives a fact what surrounds the turn it rests on, the best of them if
// there are several, and half of what the turn itself has, so that both stand
// near each other. One that rests on none is by itself what would surround it.
func (k *ranking) citing(c *ranked) {
	c.parts[keys] = c.parts[lexical]
	var turn [partCount]float64
	rests := false
	for at := range citesOf(&c.Memory) {
		if t := k.turns[at]; t != nil {
			rests = true
			for p := range turn {
				turn[p] = max(turn[p], t.parts[p])
			}
		}
	}
	if !rests {
		c.parts[surroundings], c.parts[session] = c.parts[lexical], c.parts[lexical]
		c.parts[near] = c.parts[dense]
		return
	}
	for _, p := range [...]int{surroundings, reply, near, session} {
		c.parts[p] = turn[p]
	}
	for _, p := range [...]int{lexical, dense} {
		c.parts[p] = (c.parts[p] + turn[p]) / 2
	}
}

// relevance is the sum of the parts that a candidate has in common with the
// question, on the scale of 0 to 1.
func (k *ranking) relevance(c *ranked) float64 {
	sum, share := 0.0, 0.0
	for p := range speaker {
		sum += k.weights[p] * c.parts[p]
		share += k.weights[p]
	}
	if share > 0 {
		sum /= share
	}
	return sum
}

// kind tells what kind of memory a candidate is.
func (k *ranking) kind(c *ranked) {
	m := &c.Memory
	c.parts[speaker] = one(k.named[m.Author])
	c.parts[statement] = one(m.Kind == memory.KindFact || !asks(m.Fact))
	c.parts[answer] = one(k.question.answeredBy(m.Fact))
	c.parts[times] = k.question.timely(m)
	if k.question.present {
		c.parts[recency] = math.Exp2(-float64(k.newest.Sub(m.Timestamp)) / float64(halfLife))
	}
	c.parts[fresh] = 1
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// sum makes the score: the parts of kind are worth a share of the relevance.
func (k *ranking) sum(c *ranked) {
	relevance := k.relevance(c)
	c.score, c.whole = 0, true
	for p := range c.parts {
		if p >= speaker {
			c.parts[p] *= relevance
		}
		c.score += k.weights[p] * c.parts[p]
	}
	c.score = min(c.score, 1)
}

// stale takes from a match what it gets for being fresh, if better ones rest on
// all the turns that it rests on.
func (k *ranking) stale(c *ranked) {
	old := len(c.Memory.Source.EventIDs) > 0
	for at := range citesOf(&c.Memory) {
		old = old && k.seen[at]
		k.seen[at] = true
	}
	if old {
		c.score -= k.weights[fresh] * c.parts[fresh]
		c.parts[fresh] = 0
	}
}

// explain says what a score is made of.
func explain(c *ranked, weights [partCount]float64, terms []string) *memory.Explain {
	out := &memory.Explain{Terms: []string{}}
	for i, p := range parts {
		if weights[i] > 0 {
			out.Parts = append(out.Parts, memory.Part{Name: p.name, Value: c.parts[i], Weight: weights[i]})
		}
	}
	for i, t := range terms {
		if c.Freqs[i] > 0 {
			out.Terms = append(out.Terms, t)
		}
	}
	return out
}
