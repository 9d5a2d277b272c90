package retrieve

import (
	"cmp"
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
	score float64
	parts [partCount]float64 // each 0 to 1
}

// cite is a turn as facts cite it.
type cite struct{ session, event string }

func citesOf(m *memory.Memory) []cite {
	out := make([]cite, len(m.Source.EventIDs))
	for i, e := range m.Source.EventIDs {
		out[i] = cite{m.Source.SessionID, e}
	}
	return out
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
	keys     map[cite]float64
	turns    map[cite]*ranked
}

// rank scores every candidate that passes the filter, and puts the best first,
// ties by id; it gives the weights too. It leaves out what has nothing in common
// with the question. Embedded is false if there was no vector to ask with.
func (r *Retriever) rank(found memory.Found, q *question, embedded bool) ([]ranked, [partCount]float64) {
	k := &ranking{question: q, noise: r.embedder.Model().Noise, named: map[string]bool{}, keys: map[cite]float64{}, turns: map[cite]*ranked{}}
	k.weigh(r.weights, found.Runs, embedded)
	k.idf, k.best = rarity(found.Stats)
	k.sessions = sessionScores(found.Stats)
	var turns, facts []ranked
	for _, run := range found.Runs {
		if !q.asOf.IsZero() { // nothing said later had been heard yet
			run = slices.DeleteFunc(slices.Clone(run), func(c memory.Candidate) bool { return c.Memory.Timestamp.After(q.asOf) })
		}
		switch {
		case len(run) == 0:
		case run[0].Memory.Kind == memory.KindFact:
			facts = append(facts, k.fact(&run[0]))
		default:
			turns = append(turns, k.run(run)...)
		}
	}
	for i := range turns {
		k.cited(&turns[i])
	}
	for i := range facts {
		k.citing(&facts[i])
	}
	out := slices.DeleteFunc(append(turns, facts...), func(c ranked) bool { return !c.Match || !k.related(&c) })
	k.kinds(out)
	for i := range out {
		k.sum(&out[i])
	}
	slices.SortFunc(out, better)
	if k.weights[fresh] > 0 {
		k.stale(out)
		slices.SortFunc(out, better)
	}
	return out, k.weights
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

func better(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Memory.ID, b.Memory.ID))
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
		sum += k.idf[i] * memory.Saturate(f, length)
	}
	return sum / k.best
}

// own scores a candidate by itself.
func (k *ranking) own(c *memory.Candidate) ranked {
	r := ranked{Candidate: c}
	freqs := make([]float64, len(c.Freqs))
	for i, f := range c.Freqs {
		freqs[i] = float64(f)
	}
	r.parts[lexical] = k.lexical(freqs, float64(c.Length))
	r.parts[dense] = min(max((c.Cosine-k.noise)/(1-k.noise), 0), 1)
	return r
}

// run scores consecutive turns of a session.
func (k *ranking) run(run []memory.Candidate) []ranked {
	out := make([]ranked, len(run))
	for i := range run {
		out[i] = k.own(&run[i])
	}
	freqs := make([]float64, len(k.idf))
	for i := range out {
		clear(freqs)
		var length, cosine, share float64
		for j := max(0, i-reach); j < min(len(run), i+reach+1); j++ {
			w := window[j-i]
			for t, f := range run[j].Freqs {
				freqs[t] += w * float64(f)
			}
			length += w * float64(run[j].Length)
			cosine += w * out[j].parts[dense]
			share += w
		}
		c := &out[i]
		c.parts[surroundings] = k.lexical(freqs, length/share)
		c.parts[near] = cosine / share
		c.parts[session] = k.sessions[c.Memory.Source.SessionID]
		if i > 0 && asks(run[i-1].Memory.Fact) {
			c.parts[reply] = out[i-1].parts[lexical]
		}
		for _, at := range citesOf(&c.Memory) {
			k.turns[at] = c
		}
	}
	return out
}

// fact scores a fact by itself, and notes it as a key of the turns it cites.
func (k *ranking) fact(c *memory.Candidate) ranked {
	r := k.own(c)
	for _, at := range citesOf(&c.Memory) {
		k.keys[at] = max(k.keys[at], r.parts[lexical])
	}
	return r
}

// cited gives a turn what the facts say that cite it.
func (k *ranking) cited(c *ranked) {
	for _, at := range citesOf(&c.Memory) {
		c.parts[keys] = max(c.parts[keys], k.keys[at])
	}
}

// citing gives a fact what surrounds the turn it rests on, the best of them if
// there are several, and half of what the turn itself has, so that both stand
// near each other. One that rests on none is by itself what would surround it.
func (k *ranking) citing(c *ranked) {
	c.parts[keys] = c.parts[lexical]
	var turn [partCount]float64
	rests := false
	for _, at := range citesOf(&c.Memory) {
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
// question.
func (k *ranking) relevance(c *ranked) float64 {
	sum := 0.0
	for p := range speaker {
		sum += k.weights[p] * c.parts[p]
	}
	return sum
}

// kinds tells of each candidate what kind of memory it is.
func (k *ranking) kinds(all []ranked) {
	var newest time.Time
	for _, c := range all {
		if c.Memory.Timestamp.After(newest) {
			newest = c.Memory.Timestamp
		}
	}
	for i := range all {
		c, m := &all[i], &all[i].Memory
		c.parts[speaker] = one(k.named[m.Author])
		c.parts[statement] = one(m.Kind == memory.KindFact || !asks(m.Fact))
		c.parts[answer] = one(k.question.answeredBy(m.Fact))
		c.parts[times] = k.question.timely(m)
		if k.question.present {
			c.parts[recency] = math.Exp2(-float64(newest.Sub(m.Timestamp)) / float64(halfLife))
		}
		c.parts[fresh] = 1
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// sum makes the score: the parts of kind are worth a share of the relevance,
// which is brought to the scale of 0 to 1 first.
func (k *ranking) sum(c *ranked) {
	relevance, share := k.relevance(c), 0.0
	for p := range speaker {
		share += k.weights[p]
	}
	if share > 0 {
		relevance /= share
	}
	c.score = 0
	for p := range c.parts {
		if p >= speaker {
			c.parts[p] *= relevance
		}
		c.score += k.weights[p] * c.parts[p]
	}
	c.score = min(c.score, 1)
}

// stale takes from a match what it gets for being fresh, if all the turns it
// rests on have been seen further up.
func (k *ranking) stale(out []ranked) {
	seen := map[cite]bool{}
	for i := range out {
		c := &out[i]
		old := len(c.Memory.Source.EventIDs) > 0
		for _, at := range citesOf(&c.Memory) {
			old = old && seen[at]
			seen[at] = true
		}
		if old {
			c.score -= k.weights[fresh] * c.parts[fresh]
			c.parts[fresh] = 0
		}
	}
}

// explain says what a score is made of.
func explain(c ranked, weights [partCount]float64, terms []string) *memory.Explain {
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
