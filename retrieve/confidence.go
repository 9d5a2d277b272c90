package retrieve

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// A score compares the matches of one question. It does not tell whether any of them
// answers it: a question about what was never said, on a topic that was, finds matches
// with high scores. Confidence is the probability that the first match answers. It is a
// logistic regression on few signs, each of which looks at something that a score leaves
// out.

// Answer is the outcome of a search.
type Answer struct {
	Matches []memory.Match // best first
	// Confidence is the probability that the first match answers the question, 0 to 1, to
	// a thousandth. It is 0 if nothing is found. It stays as it is if there are no matches
	// because it is below Request.MinConfidence. TopK and a reranker change it only
	// where they change which match is first.
	Confidence float64
	// Signs are the reasons for Confidence, if the request asks to explain. Its log-odds
	// are the sum of value times weight over the signs; the first is the constant.
	Signs []memory.Part

	text  string    // the wordings that were searched with, one a line
	asked *question // what the query says about the answer
}

// The signs, in the order of the fit.
const (
	constant = iota
	signSpeaker
	signAbout
	signUnsaid
	signRelevance
	signAnswer
	signCount
)

// sign is one reason for confidence. A weight is the log-odds that a value of 1 adds.
type sign struct {
	name   string
	weight float64
}

// signs have weights that "memoryd eval confidence -fit" prints, from five conversations
// of LoCoMo, five chats of REALTALK and ten of BEAM, with questions that nothing answers
// among them. docs/search.md has the curve, and what was tried without effect.
var signs = [signCount]sign{
	constant: {"constant", -3.57},
	// The share of those whom the question names, among the people who tell the most relevant
	// statements: a fact of Ann that is asked of Bob is told by Ann. It is half if the
	// question names none of them, and where one person alone speaks, as a user does to an
	// agent: all is told by that person then, whether it answers or not.
	signSpeaker: {"speaker", 2.95},
	// Where one person alone speaks: the question is about that person. Half where others
	// speak too.
	signAbout: {"about", 1.11},
	// The weight of the question's words that no memory has, as a share of all.
	signUnsaid: {"unsaid", -0.91},
	// The most that any match has in common with the question, as a share of all that it
	// could have.
	signRelevance: {"relevance", 2.09},
	// The first match has the sort of thing that the question asks for: a time, or a name.
	signAnswer: {"answer", 0.42},
}

// Signs returns the names of the signs of confidence, in the order of Answer.Signs.
func Signs() []string {
	out := make([]string, signCount)
	for i, s := range signs {
		out[i] = s.name
	}
	return out
}

// The constants of the signs. They were chosen together with the weights.
const (
	tellers = 16 // matches whose authors are counted
	// telling is the relevance, as a share of the best, by which the weight of an author
	// falls to 1/e.
	telling = 0.1
	// addressed is the weight of a text that says "you": it may be about the other person.
	addressed = 0.3
	// maxAddress is in bytes: so much of a text is read for it.
	maxAddress = 300
)

// evidence is the values that one wording of a question has of the signs, apart from
// those of the first match.
type evidence struct {
	speaker, about, unsaid, relevance float64
}

// weighEvidence reads the signs of all candidates that are related to the question.
func (k *ranking) weighEvidence(found *memory.Found, all []*ranked) *evidence {
	e := &evidence{speaker: 0.5, about: 0.5}
	for _, c := range all {
		e.relevance = max(e.relevance, c.relevance)
	}
	sum := 0.0
	for i, df := range found.Stats.DF {
		sum += k.idf[i]
		if df == 0 {
			e.unsaid += k.idf[i]
		}
	}
	e.unsaid /= max(sum, 1e-9)
	people, named := k.peopleOf(found)
	switch {
	case len(people) == 0: // facts that a client states are about the user
		e.about = indicator(k.question.mine && hasStated(found))
	case len(people) == 1:
		e.about = indicator(named)
	case named:
		e.speaker = k.shareOfNamed(all)
	}
	return e
}

// peopleOf returns the authors of candidates, and of those around them, who are people:
// neither an agent, nor one of its tools, nor a document. The one who asks is "user", as
// whom or by whose id it was said. named is whether the question is about one of them.
func (k *ranking) peopleOf(found *memory.Found) (people []string, named bool) {
	for _, run := range found.Runs {
		for i := range run {
			m := run[i].Memory
			if !isPerson(m) {
				continue
			}
			author := m.Author
			if k.question.isUser(author) {
				author = "user"
			}
			if !slices.Contains(people, author) {
				people = append(people, author)
			}
			named = named || k.named[m.Author]
		}
	}
	return people, named
}

// hasStated reports whether a candidate, or one around it, is a fact that a client states.
func hasStated(found *memory.Found) bool {
	for _, run := range found.Runs {
		for i := range run {
			m := run[i].Memory
			if m.Author == "" && m.Trust.Source() == memory.TrustUser && !m.IsShared() {
				return true
			}
		}
	}
	return false
}

// isPerson reports whether a person said a memory. A fact that a client states has no
// author.
func isPerson(m *memory.Memory) bool {
	return m.Author != "" && m.Trust.Source() == memory.TrustUser && !m.IsShared()
}

// shareOfNamed returns how much of the relevant matches those say whom the question
// names. Questions among the matches tell nothing, and an agent is no other person.
func (k *ranking) shareOfNamed(all []*ranked) float64 {
	var first []*ranked // the most relevant, in an order that is the same on every backend
	for _, c := range all {
		if len(first) == tellers && c.relevance < first[tellers-1].relevance {
			continue // as most
		}
		at, _ := slices.BinarySearchFunc(first, c, func(a, b *ranked) int {
			return cmp.Or(cmp.Compare(b.relevance, a.relevance), cmp.Compare(a.Memory.ID, b.Memory.ID))
		})
		first = slices.Insert(first, at, c)
		first = first[:min(len(first), tellers)]
	}
	var named, sum float64
	for _, c := range first {
		if asks(c.Memory.Fact) || !isPerson(c.Memory) {
			continue
		}
		w := math.Exp((c.relevance/max(first[0].relevance, 1e-9) - 1) / telling)
		if addresses(c.Memory.Fact) {
			w *= addressed
		}
		sum += w
		if k.named[c.Memory.Author] {
			named += w
		}
	}
	if sum == 0 {
		return 0 // nothing but questions tells nothing
	}
	return named / sum
}

// addresses reports whether a text says "you".
func addresses(text string) bool {
	text = memory.Cut(text, maxAddress)
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return secondPerson.in(plainWords(text), text)
		}
	}
	// Most texts are ASCII, and a search reads a dozen: their words need no room.
	var word [maxPronoun]byte
	n := 0
	for i := 0; i <= len(text); i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i] | 0x20 // a letter in lower case, and no letter out of anything else
		}
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			if n < len(word) {
				word[n] = c
			}
			n++
		case n > 0:
			if n <= len(word) && secondPerson.words.Has(string(word[:n])) {
				return true
			}
			n = 0
		}
	}
	return false
}

// maxPronoun is in bytes: no pronoun of the second person that is in ASCII is longer.
const maxPronoun = 12

// weigh sets how likely first answers, which ranks first after all. It returns whether
// that is enough for the request.
func (a *Answer) weigh(first *ranked, req *Request) bool {
	values := signsOf(first)
	a.Confidence = confidence(values)
	if req.Explain {
		a.Signs = explainConfidence(values)
	}
	return a.Confidence >= req.MinConfidence
}

// signsOf returns the values of the signs for the matches of a search, of which first
// ranks first after all.
func signsOf(first *ranked) (out [signCount]float64) {
	e := first.wording.evidence
	out[constant], out[signSpeaker], out[signAbout], out[signUnsaid] = 1, e.speaker, e.about, e.unsaid
	out[signRelevance], out[signAnswer] = e.relevance, indicator(first.parts[answer] > 0)
	return out
}

// confidence is the probability that signs speak for, rounded so that all backends agree.
func confidence(values [signCount]float64) float64 {
	sum := 0.0
	for i, v := range values {
		sum += signs[i].weight * v
	}
	return math.Round(1000/(1+math.Exp(-sum))) / 1000
}

// explainConfidence returns signs as parts.
func explainConfidence(values [signCount]float64) (out []memory.Part) {
	for i, v := range values {
		out = append(out, memory.Part{Name: signs[i].name, Value: v, Weight: signs[i].weight})
	}
	return out
}
