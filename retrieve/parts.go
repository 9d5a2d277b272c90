package retrieve

import "slices"

// A score is made of parts. The first ones are about what a memory has in
// common with the question; their sum is its relevance. The others, from
// speaker on, are about what kind of memory it is: each is worth as much as the
// relevance where it applies and nothing where it does not, so that no memory
// is found for its kind alone.
const (
	lexical = iota
	surroundings
	reply
	dense
	near
	session
	keys
	speaker
	statement
	answer
	times
	recency
	fresh
	partCount
)

// part is one reason for a score. The weights of those that apply to a question
// are brought to a sum of 1, so that a score means the same whatever is asked.
type part struct {
	name   string
	weight float64
}

// parts are in the order of the constants. The weights were fitted on five long
// annotated conversations by coordinate ascent on the mean of recall@10, nDCG@10
// and reciprocal rank, and then rounded with the bundled conversations of evals in
// view: leaving a conversation out of the fit changes what is found in it little.
// What did not help across conversations is
// not here: reciprocal rank fusion instead of scores, terms fed back from the
// first matches, pairs of neighbouring words, the length of a memory.
var parts = [partCount]part{
	// The memory's words: BM25, as a share of what a memory without end would
	// have that had each of the question's words.
	lexical: {"lexical", 0.10},
	// The same of a turn together with its neighbours, which count less the
	// farther they are (see window): an answer seldom repeats the question.
	surroundings: {"context", 0.30},
	// The lexical part of the turn before, if that asks a question.
	reply: {"reply", 0.13},
	// The meaning: how far the cosine is from the embedder's noise to 1.
	dense: {"dense", 0.13},
	// The dense part of a turn and its neighbours, weighed as in context.
	near: {"near", 0.17},
	// The words of the whole session: BM25 of sessions, with the turns that have
	// a word for its frequency, as a share of the best session's.
	session: {"session", 0.06},
	// The lexical part of the facts that cite the turn: they say in other words
	// what it says. Of a fact, its own words.
	keys: {"facts", 0.16},

	// Said by whom the question names; by the user, where the question says "I".
	speaker: {"speaker", 0.65},
	// It does not ask something itself.
	statement: {"statement", 0.18},
	// It has what the question asks for: a time, or a name.
	answer: {"answer", 0.70},
	// It was said at, or speaks of, the time that the question names.
	times: {"time", 0.20},
	// How new it is, where the question asks for what is so now.
	recency: {"recency", 0.15},
	// A better match does not rest on the same turns.
	fresh: {"diversity", 0.07},
}

// Parts names the parts that a score is made of, each of which Options.Without
// can leave out.
func Parts() []string {
	out := make([]string, partCount)
	for i, p := range parts {
		out[i] = p.name
	}
	return out
}

// rawWeights are the parts' weights without some of them.
func rawWeights(without []string) (out [partCount]float64) {
	for i, p := range parts {
		if !slices.Contains(without, p.name) {
			out[i] = p.weight
		}
	}
	return out
}

// window is how much a neighbour counts in a turn's surroundings, from reach
// turns before to reach after. What was said before counts more than what
// followed.
var window = [2*reach + 1]float64{0.5, 1, 1, 0.5, 0.25}

// reach is how far the window goes.
const reach = 2
