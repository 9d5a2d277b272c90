package index

import "hash/maphash"

// vocabulary numbers the words of an index, from 0 in the order in which they come. A map of strings would take twice
// to three times the room of the words: this has them in one piece, and a table of numbers alone.
//
// It has room for 4 GiB of words. The memories that have them take several times as much.
type vocabulary struct {
	text  []byte   // the words, one after another
	ends  []uint32 // by number, where a word ends in text
	table []int32  // a number and 1, from where the hash of its word points; 0 for none
}

// word returns the word of a number.
func (v *vocabulary) word(number int32) []byte {
	from := uint32(0)
	if number > 0 {
		from = v.ends[number-1]
	}
	return v.text[from:v.ends[number]]
}

// find returns the number of a word; noWord for none.
func (v *vocabulary) find(word string) int32 {
	if len(v.table) == 0 {
		return noWord
	}
	return v.table[v.place(word)] - 1
}

// number returns the number of a word, which it makes if the word is new.
func (v *vocabulary) number(word string) int32 {
	if 4*len(v.ends) >= 3*len(v.table) {
		v.grow()
	}
	at := v.place(word)
	if v.table[at] != 0 {
		return v.table[at] - 1
	}
	v.text = append(v.text, word...)
	v.ends = append(v.ends, uint32(len(v.text)))
	v.table[at] = int32(len(v.ends))
	return int32(len(v.ends)) - 1
}

// place is where the number of a word is in the table, or belongs.
func (v *vocabulary) place(word string) uint64 {
	mask := uint64(len(v.table) - 1)
	at := maphash.String(seed, word) & mask
	for v.table[at] != 0 && string(v.word(v.table[at]-1)) != word {
		at = (at + 1) & mask
	}
	return at
}

// grow doubles the table.
func (v *vocabulary) grow() {
	v.table = make([]int32, max(16, 2*len(v.table)))
	mask := uint64(len(v.table) - 1)
	for number := range int32(len(v.ends)) {
		at := maphash.Bytes(seed, v.word(number)) & mask
		for v.table[at] != 0 {
			at = (at + 1) & mask
		}
		v.table[at] = number + 1
	}
}

// bytes is what the vocabulary takes.
func (v *vocabulary) bytes() int64 {
	return int64(cap(v.text)) + 4*int64(cap(v.ends)) + 4*int64(cap(v.table))
}
