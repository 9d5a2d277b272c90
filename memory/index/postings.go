package index

// postings are the lists of an inverted index: which slots have a word, in order, dead ones too. Most words of a scope
// are in one memory alone, so that they have no list of their own.
type postings struct {
	firsts []packed   // by number of a word, the first slot that has it
	places []int32    // by number of a word, the place of its list in lists and 1; 0 if one slot has it
	lists  [][]packed // of words in several slots, the first one too
	bytes  int64      // of the lists
}

// add adds a slot to those that have a word. The number of a new word is the next one.
func (p *postings) add(word int32, slot packed) {
	if int(word) == len(p.firsts) {
		p.firsts, p.places = append(p.firsts, slot), append(p.places, 0)
		return
	}
	place := p.places[word]
	if place == 0 {
		p.lists = append(p.lists, []packed{p.firsts[word], slot})
		p.places[word] = int32(len(p.lists))
		p.bytes += 2 * packedBytes
		return
	}
	list := &p.lists[place-1]
	before := cap(*list)
	*list = append(*list, slot)
	p.bytes += packedBytes * int64(cap(*list)-before)
}

// of returns the slots that have a word.
func (p *postings) of(word int32) []packed {
	if place := p.places[word]; place > 0 {
		return p.lists[place-1]
	}
	return p.firsts[word : word+1 : word+1]
}

// size is what the postings take, in bytes.
func (p *postings) size() int64 {
	return packedBytes*int64(cap(p.firsts)) + 4*int64(cap(p.places)) + listHeadBytes*int64(cap(p.lists)) + p.bytes
}
