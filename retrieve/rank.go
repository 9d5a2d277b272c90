package retrieve

import (
	"cmp"
	"container/heap"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// manySessions is how many sessions make the session part count in full. Where there are
// fewer, each speaks of many things, and which one it is tells little: in scopes of three
// to five long ones, the part in full cost .04 of recall@10.
const manySessions = 30.0

// halfLife is the age, counted back from the newest match, at which a memory
// counts as half as new.
const halfLife = 30 * 24 * time.Hour

// ranked is a candidate with its score and the parts of that score.
type ranked struct {
	*memory.Candidate
	score     float64            // an upper bound until final
	relevance float64            // once the candidates are selected from
	final     bool               // the parts about the kind of memory are in the score
	parts     [partCount]float64 // each 0 to 1

	wording *wording // that it was found with

	outdated   *memory.Outdated
	until      validity  // of outdated words
	newer      []*ranked // that may have taken its place, see changeFirst
	successors []*ranked // that took the place of outdated words
	inherited  float64   // the best score of what no longer holds and is not among the best
}

// cite identifies a turn as facts cite it.
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

// ranking ranks the candidates that a store found for one wording of a question.
type ranking struct {
	weights  [partCount]float64
	themed   float64 // the weight of the theme part, if a candidate has it
	question *question
	terms    []string // of the wording
	noise    float64  // of the embedder
	idf      []float64
	best     float64            // the lexical score that counts as 1
	sessions map[string]float64 // the session part of turns, by session
	named    map[string]bool    // by author, whether the question is about that author
	names    []string           // the words of those authors' names
	alias    []string           // the words of the user's name, if the question has it in the place of "I"
	newest   time.Time          // the timestamp of the newest candidate
	keys     map[cite]float64   // the best lexical part of the facts that cite a turn
	standing map[cite]bool      // the turns that a preference or an instruction cites
	turns    map[cite]*ranked   // the turns in keys
	seen     map[cite]bool      // the turns that better matches cite
	evidence *evidence          // for confidence, once the candidates are ranked
}

// rank returns the n best candidates that pass the filter, and the n best of shared
// knowledge, best first, ties by id, and the weights of the parts. It leaves out candidates that have nothing in
// common with the question.
func (r *Retriever) rank(wordings []*wording, q *question, n int) ([]*ranked, [partCount]float64) {
	named := q.namedAuthors(wordings)
	embedded := slices.ContainsFunc(wordings, func(w *wording) bool { return w.vector != nil })
	sessions := 0
	for _, w := range wordings {
		sessions = max(sessions, w.found.Stats.SessionCount)
	}
	weights := weigh(r.weights, q, named, embedded, anyStands(wordings), sessions)
	names, alias := q.nameWords(named), analyzer.Words(q.name)
	themed := 0.0 // the theme is that of the question, and a word is a better sign
	if !findWords(wordings) {
		themed = r.weights[theme]
	}
	shown := weights
	var rankings [][]*ranked
	for i, w := range wordings {
		if i > 0 {
			themed = 0
		}
		k := &ranking{weights: weights, themed: themed, question: q, terms: w.terms, noise: r.embedder.Model().Noise,
			named: named, names: names, alias: alias,
			keys: map[cite]float64{}, standing: map[cite]bool{}, turns: map[cite]*ranked{}, seen: map[cite]bool{}}
		best := k.rank(w.found, n)
		shown[theme] = max(shown[theme], k.weights[theme])
		for _, c := range best {
			c.wording = w
		}
		w.evidence = k.evidence
		rankings = append(rankings, best)
	}
	return fuse(rankings, q, n), shown
}

// rank returns the n best candidates for one wording and, beside them, the n best of
// shared knowledge.
func (k *ranking) rank(found memory.Found, n int) []*ranked {
	k.idf, k.best = inverseFrequencies(found.Stats, k.terms, k.names, k.alias)
	k.sessions = sessionScores(&found)
	var all []*ranked
	for _, run := range found.Runs {
		if run[0].Memory.Kind.Statement() && k.question.knownThen(&run[0]) {
			all = append(all, k.scoreFact(&run[0]))
		}
	}
	facts := len(all)
	for _, run := range found.Runs {
		if !k.question.asOf.IsZero() {
			later := func(c memory.Candidate) bool { return !k.question.knownThen(&c) }
			run = slices.DeleteFunc(slices.Clone(run), later)
		}
		if len(run) > 0 && run[0].Memory.Kind == memory.KindTurn {
			all = append(all, k.scoreRun(run)...)
		}
	}
	for _, f := range all[:facts] {
		k.inheritFromTurns(f)
	}
	k.themes(all)
	ranks := all
	all = slices.DeleteFunc(slices.Clone(all), func(c *ranked) bool { return !c.Match || !k.related(c) })
	own, shared := apart(all)
	best := k.selectTop(own, n)
	if s := k.succession(found, ranks); s != nil {
		best = s.place(best, n)
	}
	if len(shared) > 0 {
		best = append(best, k.selectTop(shared, n)...)
		slices.SortStableFunc(best, better)
	}
	k.evidence = k.weighEvidence(&found, all)
	return best
}

// anyStands reports whether a candidate is a preference or an instruction.
func anyStands(wordings []*wording) bool {
	return slices.ContainsFunc(wordings, func(w *wording) bool {
		return slices.ContainsFunc(w.found.Runs, func(run []memory.Candidate) bool { return stands(run[0].Memory) })
	})
}

// weigh gives each part that applies to the question its weight. Their sum is 1.
// embedded is false if the question has no vector; stand is whether a candidate stands;
// sessions counts those of the scope.
func weigh(raw [partCount]float64, q *question, named map[string]bool, embedded, stand bool,
	sessions int) (weights [partCount]float64) {
	raw[session] *= min(1, float64(sessions)/manySessions)
	names := false // the question names the author of a candidate
	for _, is := range named {
		names = names || is
	}
	applies := [partCount]bool{
		lexical: true, surroundings: true, reply: true, dense: embedded, near: embedded, session: true, keys: true,
		speaker: names, statement: true, answer: q.wants != anything, standing: stand && q.toAgent,
		times: len(q.periods) > 0, recency: q.present, fresh: true,
	}
	sum := 0.0
	for p, w := range raw {
		if applies[p] {
			weights[p] = w
			sum += w
		}
	}
	for p := range weights {
		weights[p] /= max(sum, 1e-9)
	}
	return weights
}

// selectTop returns the n best. The kind of a memory can only lower a score below
// its relevance, and finding it out means reading the text. So the most relevant
// candidates are read first, and those that can no longer be among the best are
// never read.
func (k *ranking) selectTop(all []*ranked, n int) (out []*ranked) {
	for _, c := range all {
		c.score = k.most(c)
		// A clock that was ahead makes nothing newer, and nor does a document that was stored.
		if said := c.Memory.SaidAt(); said.After(k.newest) && !c.Memory.IsShared() {
			k.newest = said
		}
	}
	left := queue(all)
	heap.Init(&left)
	for len(left) > 0 && !(len(out) == n && out[n-1].score > left[0].score) {
		c := left[0]
		if !c.final {
			k.weighKind(c)
			k.sum(c)
			heap.Fix(&left, 0)
			continue
		}
		heap.Pop(&left)
		k.discountRepeats(c)
		at, _ := slices.BinarySearchFunc(out, c, better)
		out = slices.Insert(out, at, c)
		out = out[:min(len(out), n)]
	}
	return out
}

// queue implements heap.Interface, the best candidate first.
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

// better orders candidates by score, best first, ties by id.
func better(a, b *ranked) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Compare(a.Memory.ID, b.Memory.ID)
}

// related reports whether a candidate or a turn beside it has anything in common
// with the question. Being in a session that has is not enough.
func (k *ranking) related(c *ranked) bool {
	for _, p := range [...]int{lexical, surroundings, reply, dense, near, keys, theme} {
		if k.weights[p] > 0 && c.parts[p] > 0 {
			return true
		}
	}
	return false
}

// lexical returns the BM25 score of a text as a share of the best. Frequencies
// and length may be fractions, as those of surroundings are.
func (k *ranking) lexical(freqs []float64, length float64) float64 {
	if k.best == 0 {
		return 0
	}
	sum := 0.0
	for i, f := range freqs {
		if f > 0 {
			sum += k.idf[i] * saturate(f, length)
		}
	}
	return sum / k.best
}

// scoreAlone scores a candidate by its own words and meaning. freqs is scratch
// space with room for every word of the query.
func (k *ranking) scoreAlone(c *memory.Candidate, freqs []float64) ranked {
	for i, f := range c.Freqs {
		freqs[i] = float64(f)
	}
	r := ranked{Candidate: c}
	r.parts[lexical] = k.lexical(freqs, float64(c.Length))
	short := brevity(c, full)
	if c.Memory.Kind == memory.KindTurn {
		short = max(short, turnMeaning)
	}
	r.parts[dense] = short*min(max((c.Cosine-k.noise)/(1-k.noise), 0), 1) + (1-short)*r.parts[lexical]
	return r
}

// brevity is 1 for a memory of up to so many words, and that number by its length for a
// longer one. A long text speaks of many things: its one vector is close to many questions,
// some time or name is always in it, and little of it is about the turns beside it.
func brevity(c *memory.Candidate, words int) float64 {
	return min(1, float64(words)/float64(max(c.Length, 1)))
}

// turnMeaning is what the vector of a long turn counts at least: it is made of the first words, which say what the turn
// is about.
const turnMeaning = 0.8

// Words of a memory, as Candidate.Length counts them, up to which it counts in full: by
// its vector and as an answer, and as a neighbour. Turns of people's talk are shorter. In
// long messages to an assistant, vectors in full cost .04 of recall@10, and long neighbours
// in full .02.
const (
	full          = 40
	fullNeighbour = 20
)

// scoreFact scores a fact alone, and records it as a key of the turns it cites.
func (k *ranking) scoreFact(c *memory.Candidate) *ranked {
	r := k.scoreAlone(c, make([]float64, len(k.idf)))
	for at := range citesOf(c.Memory) {
		k.keys[at] = max(k.keys[at], r.parts[lexical])
		if stands(c.Memory) {
			k.standing[at] = true
		}
	}
	return &r
}

// stands reports whether a memory is a preference of the user or an instruction.
func stands(m *memory.Memory) bool {
	return slices.Contains(m.Topics, memory.TopicPreferences) || slices.Contains(m.Topics, memory.TopicInstructions)
}

// scoreRun scores consecutive turns of a session. All facts are scored before.
func (k *ranking) scoreRun(run []memory.Candidate) []*ranked {
	freqs := make([]float64, len(k.idf))
	own := make([]ranked, len(run))
	for i := range run {
		own[i] = k.scoreAlone(&run[i], freqs)
	}
	of := k.sessions[run[0].Memory.Source.SessionID]
	out := make([]*ranked, len(run))
	for i := range own {
		clear(freqs)
		var length, cosine, share float64
		for j := max(0, i-reach); j < min(len(run), i+reach+1); j++ {
			w := window[j-i+reach]
			if j != i {
				w *= brevity(&run[j], fullNeighbour)
			}
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
		if i > 0 && own[i-1].parts[lexical] > 0 && replies(run[i].Memory, run[i-1].Memory) {
			c.parts[reply] = own[i-1].parts[lexical]
		}
		if len(k.keys) > 0 {
			k.takeKey(c)
		}
		out[i] = c
	}
	return out
}

// replies reports whether a turn answers the turn before: one that asks, by another author.
func replies(turn, before *memory.Memory) bool {
	return turn.Author != before.Author && asks(before.Fact)
}

// takeKey gives a turn the best of the facts that cite it.
func (k *ranking) takeKey(c *ranked) {
	for at := range citesOf(c.Memory) {
		if key, ok := k.keys[at]; ok {
			c.parts[keys] = max(c.parts[keys], key)
			k.turns[at] = c
		}
	}
}

// inheritFromTurns gives a fact the surroundings of the turn it cites (the best of
// several), and the mean of its own words and the turn's, so that the two rank
// near each other. For a fact that cites no candidate, its own words stand for
// the surroundings.
func (k *ranking) inheritFromTurns(c *ranked) {
	c.parts[keys] = c.parts[lexical]
	var turn [partCount]float64
	found := false
	for at := range citesOf(c.Memory) {
		if t := k.turns[at]; t != nil {
			found = true
			for p := range turn {
				turn[p] = max(turn[p], t.parts[p])
			}
		}
	}
	if !found {
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

// relevance returns the sum of the parts that are about what a candidate has in
// common with the question, on a scale of 0 to 1.
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

// most sets the relevance of a candidate, and returns a bound of the score that sum
// gives it.
func (k *ranking) most(c *ranked) float64 {
	c.relevance = k.relevance(c)
	return c.relevance * (1 + 1e-9) // rounding adds less
}

// weighKind sets the parts that are about the kind of memory a candidate is.
func (k *ranking) weighKind(c *ranked) {
	m := c.Memory
	c.parts[speaker] = indicator(k.named[m.Author])
	c.parts[statement] = indicator(m.Kind.Statement() || c.Length > full || !asks(m.Fact))
	c.parts[answer] = indicator(k.question.answeredBy(m.Fact)) * brevity(c.Candidate, full)
	c.parts[standing] = indicator(stands(m))
	for at := range citesOf(m) {
		c.parts[standing] = max(c.parts[standing], indicator(k.standing[at]))
	}
	if m.IsShared() { // its time is that of storing it, and it holds now
		c.parts[times], c.parts[recency] = 0, indicator(k.question.present)
	} else {
		c.parts[times] = k.question.timely(m)
		if k.question.present {
			c.parts[recency] = math.Exp2(-float64(k.newest.Sub(m.SaidAt())) / float64(halfLife))
		}
	}
	c.parts[fresh] = 1
}

// indicator is 1 for true and 0 for false.
func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// sum makes the score final, after most. The parts about the kind of memory are worth a
// share of the relevance.
func (k *ranking) sum(c *ranked) {
	c.score, c.final = 0, true
	for p := range c.parts {
		if p >= speaker {
			c.parts[p] *= c.relevance
		}
		c.score += k.weights[p] * c.parts[p]
	}
	c.score = min(c.score, 1)
}

// discountRepeats takes the diversity part from a match if better matches cite
// all the turns that it cites.
func (k *ranking) discountRepeats(c *ranked) {
	repeats := len(c.Memory.Source.EventIDs) > 0
	for at := range citesOf(c.Memory) {
		repeats = repeats && k.seen[at]
		k.seen[at] = true
	}
	if repeats {
		c.score -= k.weights[fresh] * c.parts[fresh]
		c.parts[fresh] = 0
	}
}

// explain lists the parts of a score and the words of the query that matched. several
// is whether there are several wordings.
func explain(c *ranked, weights [partCount]float64, several bool) *memory.Explain {
	out := &memory.Explain{Terms: []string{}}
	if several {
		out.Query = memory.Cut(c.wording.shown, maxExplained)
	}
	for i, p := range parts {
		if weights[i] > 0 {
			out.Parts = append(out.Parts, memory.Part{Name: p.name, Value: c.parts[i], Weight: weights[i]})
		}
	}
	for i, t := range c.wording.terms {
		if c.Freqs[i] > 0 {
			out.Terms = append(out.Terms, t)
		}
	}
	return out
}

// maxExplained bounds the wording in an explanation, in bytes: up to a hundred matches
// repeat it.
const maxExplained = 200
