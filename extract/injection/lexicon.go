package injection

import (
	_ "embed"
	"math/bits"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconText string

// class is what words do in a sentence, a bit each; see lexicon.txt.
type class uint64

const (
	override class = 1 << iota
	order
	rule
	told
	prior
	all
	your
	my
	model
	user
	customer
	secret
	hidden
	data
	private
	memoryOf
	stored
	reveal
	send
	deletes
	disable
	safety
	persist
	forever
	standing
	cond
	ask
	recommend
	answer
	neg
	tell
	mute
	secretly
	self
	obey
	void
	free
	jail
	dan
	become
	must
	voc
	act
	person
	are
	how
	and
	filler
	above
	given
	boss
	lifted
	pretend
	decipher
	replies
	onward
	promo
	utter
	iam
	commands
	learn
	may
	// last marks verbs that come behind what they are about.
	last
	// address is an e-mail address or a URL.
	address
)

// classNames are the names of classes in lexicon.txt.
var classNames = map[string]class{
	"override": override, "order": order, "rule": rule, "told": told, "prior": prior, "all": all, "your": your,
	"my": my, "model": model, "user": user, "customer": customer, "secret": secret, "hidden": hidden,
	"data": data, "private": private, "memory": memoryOf, "stored": stored, "reveal": reveal, "send": send,
	"delete": deletes, "disable": disable, "safety": safety, "persist": persist, "forever": forever,
	"standing": standing, "cond": cond, "ask": ask, "recommend": recommend, "answer": answer, "neg": neg, "tell": tell,
	"mute": mute, "secretly": secretly, "self": self, "obey": obey, "void": void, "free": free, "jail": jail,
	"dan":    dan,
	"become": become, "must": must, "voc": voc, "act": act, "person": person,
	"are": are, "how": how, "and": and, "filler": filler,
	"above": above, "given": given, "boss": boss, "lifted": lifted, "pretend": pretend, "decode": decipher,
	"replies": replies, "onward": onward, "promo": promo, "utter": utter, "iam": iam, "commands": commands,
	"learn": learn, "may": may,
	"last": last,
}

// verbs are the classes of words that can be the order of a sentence.
const verbs = override | reveal | send | deletes | disable | persist | recommend | answer | act

// term is a term of the lexicon behind its first word.
type term struct {
	rest  []string // the words that follow; one that ends in a star is a beginning
	class class
}

// lexicon has the terms by their first word.
type lexicon struct {
	words map[string][]term // whole words
	stems map[string][]term // beginnings of words
	// lengths are those of the stems in bytes, a bit each, by the pair of bytes that they
	// begin with, mixed into one.
	lengths [256]uint32
	// unspaced are terms of scripts without spaces, of up to unspacedMost characters.
	unspaced     map[string]class
	unspacedMost int
}

// terms reads the lexicon when it is needed first.
var terms = sync.OnceValue(func() *lexicon { return parseLexicon(lexiconText, classNames) })

// parseLexicon reads lines such as "override last: unut, yok say*", whose classes have
// these names.
func parseLexicon(text string, classNames map[string]class) *lexicon {
	l := &lexicon{words: map[string][]term{}, stems: map[string][]term{},
		unspaced: map[string]class{}}
	for line := range strings.Lines(text) {
		names, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		var c class
		for name := range strings.FieldsSeq(names) {
			bit, known := classNames[name]
			if !known {
				panic("injection: no class " + name)
			}
			c |= bit
		}
		for entry := range strings.SplitSeq(list, ",") {
			l.add(strings.TrimSpace(entry), c)
		}
	}
	return l
}

func (l *lexicon) add(entry string, c class) {
	words := strings.Fields(fold(entry))
	if len(words) == 0 {
		return
	}
	if strings.ContainsFunc(words[0], isUnspaced) {
		name := strings.TrimSuffix(strings.Join(words, ""), "*")
		l.unspaced[name] |= c
		l.unspacedMost = max(l.unspacedMost, utf8.RuneCountInString(name))
		return
	}
	if stem, is := strings.CutSuffix(words[0], "*"); is {
		l.stems[stem] = append(l.stems[stem], term{words[1:], c})
		if len(stem) < 2 || len(stem) > 31 {
			panic("injection: the stem " + stem + " is too short or too long")
		}
		l.lengths[stem[0]*7+stem[1]] |= 1 << len(stem)
		return
	}
	l.words[words[0]] = append(l.words[words[0]], term{words[1:], c})
}

// find returns the classes of the terms that begin with the word at i, and how many words
// the longest has after it.
func (l *lexicon) find(words []word, i int) (c class, span int) {
	match := func(list []term) {
		for _, t := range list {
			if t.fits(words[i+1:]) {
				c |= t.class
				span = max(span, len(t.rest))
			}
		}
	}
	text := words[i].text
	match(l.words[text])
	if len(text) >= 2 {
		for lengths := l.lengths[text[0]*7+text[1]]; lengths != 0; lengths &= lengths - 1 {
			if n := bits.TrailingZeros32(lengths); n <= len(text) {
				match(l.stems[text[:n]])
			}
		}
	}
	if verb := withoutClitic(text); verb != "" {
		for _, t := range l.words[verb] {
			if len(t.rest) == 0 {
				c |= t.class & verbs
			}
		}
	}
	return c, span
}

// clitics are pronouns that Spanish and Italian write at the end of an order: "mándala".
var clitics = []string{"glielo", "gliela", "selos", "selas", "selo", "sela", "melo", "mela", "los", "las", "les", "lo",
	"la", "le", "li", "gli", "me", "mi", "ne"}

// withoutClitic returns an order without the pronouns at its end; "" if it has none.
func withoutClitic(word string) string {
	for _, c := range clitics {
		if verb, is := strings.CutSuffix(word, c); is && len(verb) > 3 {
			return verb
		}
	}
	return ""
}

// fits reports whether words begin with the rest of t.
func (t *term) fits(words []word) bool {
	if len(t.rest) > len(words) {
		return false
	}
	for i, want := range t.rest {
		if words[i].starts != 0 && words[i].starts != '\'' {
			return false
		}
		stem, is := strings.CutSuffix(want, "*")
		if got := words[i].text; got != stem && !(is && strings.HasPrefix(got, stem)) {
			return false
		}
	}
	return true
}
