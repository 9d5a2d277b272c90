package index

// packed is a number, of a slot or of a word, with how often the memory has the word:
// an inverted index is mostly these. The lowest five bits are the frequency. If all are
// set, the memory has the word that often or more, and Index.often knows how often.
//
// There is room for 134 million slots and words: an index takes 200 GB before it has as
// many slots, and 13 GB before it has as many words.
type packed uint32

const (
	freqBits = 5
	manyFreq = 1<<freqBits - 1
)

func pack(number int32, freq int) packed {
	return packed(number)<<freqBits | packed(min(freq, manyFreq))
}

func (p packed) number() int32 { return int32(p >> freqBits) }

// freq is how often the memory has the word, at most manyFreq.
func (p packed) freq() int { return int(p & manyFreq) }

// pair is a memory and a word.
type pair struct{ slot, word int32 }

// freqOf is how often a memory has a word, which one of the two lists says as p.
func (ix *Index) freqOf(p packed, slot, word int32) int {
	if n := p.freq(); n < manyFreq {
		return n
	}
	return ix.often[pair{slot, word}]
}
