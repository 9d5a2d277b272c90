package injection

import (
	"math/bits"
	"unicode/utf8"
)

// buckets is how many features the learned judge tells apart. Features that share a
// bucket share their weight.
const buckets = 1 << 18

// features collects the features of one sentence, each once.
type features struct {
	// list has the buckets of the features, in the order in which they were found.
	list []uint32
	// seen has a bit for each bucket, so that a word that is repeated counts once: else an
	// attack could drown in harmless words, or a harmless text in one word.
	seen [buckets / 64]uint64
}

// reset forgets the features.
func (f *features) reset() {
	for _, at := range f.list {
		f.seen[at/64] = 0
	}
	f.list = f.list[:0]
}

// add adds the feature of a hash.
func (f *features) add(hash uint64) {
	hash ^= hash >> 29
	hash *= 0xbf58476d1ce4e5b9 // the finalizer of SplitMix64
	at := uint32(hash>>32) % buckets
	if f.seen[at/64]&(1<<(at%64)) == 0 {
		f.seen[at/64] |= 1 << (at % 64)
		f.list = append(f.list, at)
	}
}

// Kinds of features. Each has a hash of its own to begin with.
const (
	// kindWord is a word of the folded text.
	kindWord = iota + 1
	// kindPair is a word and the one before it.
	kindPair
	// kindSkip is a word and the last but one before it.
	kindSkip
	// kindFirst is a word that begins a clause, as the verb of an order does.
	kindFirst
	// kindFirstWith is such a word in a sentence that names a user or a model.
	kindFirstWith
	// kindBegin is the first letters of a long word: its forms share them.
	kindBegin
	// kindEnd is the last letters of a long word: the forms of orders share them.
	kindEnd
	// kindRune is a character of a script without spaces.
	kindRune
	// kindRunes is two such characters.
	kindRunes
	// kindRuneTriple is three such characters.
	kindRuneTriple
	// kindClass is a class of the lexicon.
	kindClass
	// kindClasses is two classes, in the order in which the sentence has them first.
	kindClasses
	// kindOpening is a class of a word that begins a clause.
	kindOpening
	// kindMark is a mark of the whole sentence: how it ends, and its length.
	kindMark
	// kindWithUser is a word in a sentence that names a user or a model.
	kindWithUser
	// kindLead are signs before the sentence, as marks of comments are.
	kindLead
	// kindGram is four letters within a word: words of one root, and misspelled ones,
	// share most of them.
	kindGram
	// kindIdea is an idea of ideas.txt.
	kindIdea
	// kindIdeas is two ideas.
	kindIdeas
	// kindThree is three ideas.
	kindThree
	// kindIdeaClass is an idea and a class.
	kindIdeaClass
)

// hashOf is FNV-1a over a kind and a text.
func hashOf(kind uint64, text string) uint64 {
	h := uint64(14695981039346656037) ^ kind*0x9e3779b97f4a7c15
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// both mixes two hashes, in their order: the pair of b and a has another hash.
func both(a, b uint64) uint64 { return a*0x9e3779b97f4a7c15 + bits.RotateLeft64(b, 31) }

// maxRunes is how many characters of scripts without spaces it looks at.
const maxRunes = 400

// maxJudged is how many words of a sentence the learned judge looks at.
const maxJudged = 120

// of collects the features of a sentence: its words and their neighbours, how words begin
// and end, the classes of the lexicon and their order, and the words that open clauses.
func (f *features) of(s *sentence, folded string) {
	f.reset()
	f.runes(folded[:after(folded, maxRunes)])
	words := s.words
	if len(words) > maxJudged {
		words = words[:maxJudged]
	}
	about := s.classes & (user | model)
	var before, earlier uint64
	for i := range words {
		w := &words[i]
		h := f.word(w)
		if i == 0 || w.starts == '.' || w.starts == '\n' {
			before, earlier = 1, 1
		}
		f.add(both(h+kindPair, before))
		f.add(both(h+kindSkip, earlier))
		if w.starts != 0 && w.starts != '\'' {
			f.add(h + kindFirst)
			f.add(both(h+kindFirstWith, uint64(about)))
			f.each(w.class, func(c uint64) { f.add(both(kindOpening, c)) })
		}
		if about != 0 {
			f.add(h + kindWithUser)
		}
		before, earlier = h, before
	}
	f.classes(words)
	f.ideas(ideasOf(words, folded), s.classes)
	if s.lead != "" {
		f.add(hashOf(kindLead, s.lead))
	}
	if s.addressed {
		f.add(hashOf(kindMark, "addressed"))
	}
	if n := len(words); n > 0 {
		f.add(both(kindMark, uint64(words[n-1].ends)))
		f.add(both(kindMark<<8, uint64(bits.Len(uint(n)))))
	}
}

// word adds the features of a word and returns its hash.
func (f *features) word(w *word) uint64 {
	text := w.text
	switch {
	case w.class&address != 0:
		text = "@" // an attack has an address of its own each time
	case isNumber(text):
		text = "0"
	}
	h := hashOf(kindWord, text)
	f.add(h)
	if n := utf8.RuneCountInString(text); n > 5 {
		f.add(hashOf(kindBegin, text[:after(text, 4)]))
		f.add(hashOf(kindEnd, text[after(text, n-3):]))
		if n > 7 {
			f.add(hashOf(kindBegin, text[:after(text, 6)]))
		}
		f.grams(text)
	}
	return h
}

// gram is how many letters a piece of a word has.
const gram = 4

// grams adds the pieces of a word, but the first one, which kindBegin has.
func (f *features) grams(text string) {
	var starts [maxGrams + gram]int
	n := 0
	for i := range text {
		if n == len(starts) {
			break
		}
		starts[n] = i
		n++
	}
	for i := 1; i+gram < n; i++ {
		f.add(hashOf(kindGram, text[starts[i]:starts[i+gram]]))
	}
}

// maxGrams is how many pieces of a word are looked at.
const maxGrams = 16

// classes adds the classes of a sentence, and which of them stand before which others.
func (f *features) classes(words []word) {
	var order [64]uint64
	n := 0
	seen := class(0)
	for i := range words {
		f.each(words[i].class&^seen, func(c uint64) {
			f.add(both(kindClass, c))
			for _, b := range order[:n] {
				f.add(both(both(kindClasses, b), c))
			}
			order[n] = c
			n++
		})
		seen |= words[i].class
	}
}

// ideas adds ideas, two and three of them that stand together, and each with the classes of
// the sentence. Their order says little, as languages differ in it.
func (f *features) ideas(found, classes class) {
	for a := found; a != 0; a &= a - 1 {
		i := uint64(bits.TrailingZeros64(uint64(a)))
		f.add(both(kindIdea, i))
		for b := a & (a - 1); b != 0; b &= b - 1 {
			two := both(i, uint64(bits.TrailingZeros64(uint64(b))))
			f.add(both(kindIdeas, two))
			f.each(b&(b-1), func(c uint64) { f.add(both(both(kindThree, two), c)) })
		}
		f.each(classes&ideaClasses, func(c uint64) { f.add(both(both(kindIdeaClass, i), c)) })
	}
}

// ideaClasses are classes that tell more of a sentence beside an idea.
const ideaClasses = neg | must | cond | send | reveal | persist | recommend | act | override | order | rule | tell |
	data | private | secret | address | self | standing | answer | deletes | disable | pretend | your

// each calls do with the number of each class.
func (f *features) each(c class, do func(uint64)) {
	for ; c != 0; c &= c - 1 {
		do(uint64(bits.TrailingZeros64(uint64(c))))
	}
}

// runes adds single characters of scripts without spaces, pairs and triples of them.
func (f *features) runes(text string) {
	var a, b uint64
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if !isUnspaced(r) {
			a, b = 0, 0
			continue
		}
		c := uint64(r)
		f.add(both(kindRune, c))
		f.add(both(both(kindRunes, b), c))
		f.add(both(both(both(kindRuneTriple, a), b), c))
		a, b = b, c
	}
}

func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// after is where the first n characters of a text end.
func after(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
