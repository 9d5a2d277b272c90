package injection

import (
	"slices"
	"sync"
)

// misspelled are the words of orders that are mended where two of their letters are swapped, or
// one is missing or doubled: a model reads "ingore yuor instrctions" as it is meant.
var misspelled = []string{"ignore", "disregard", "instructions", "instruction", "guidelines", "previous", "system",
	"prompt", "password", "passwords", "forget", "override", "assistant", "remember", "everything", "secret", "reveal",
	"anweisungen", "ignoriere", "ignorieren", "vorherigen", "instrucciones", "anteriores", "istruzioni", "precedenti",
	"instrucoes", "precedentes", "instructies"}

// Bounds on the letters of a word that is mended.
const (
	leastSpelled = 5
	mostSpelled  = 14
)

// spellings are the words of orders by their letters, see lettersOf.
type spellings struct {
	whole   map[string]string   // by all letters
	missing map[string]string   // by all but one
	ends    [32 * 32 / 8]byte   // bits of the pairs of first and last letters that there are
	known   map[string]struct{} // words that are right as they are
}

var spelled = sync.OnceValue(func() *spellings {
	s := &spellings{whole: map[string]string{}, missing: map[string]string{}, known: map[string]struct{}{
		"ignoree": {}}} // French
	var letters [mostSpelled]byte
	for _, word := range misspelled {
		s.known[word] = struct{}{}
		n := lettersOf(&letters, word)
		s.whole[string(letters[:n])] = word
		for i := 2; i < n; i++ {
			s.missing[string(letters[:i])+string(letters[i+1:n])] = word
		}
		s.ends[endsOf(word)/8] |= 1 << (endsOf(word) % 8)
	}
	return s
})

// endsOf is a number for the first and the last letter of a word.
func endsOf(word string) int { return int(word[0]&31)<<5 | int(word[len(word)-1]&31) }

// lettersOf writes the first and the last letter of a word, and those between in the order of the
// alphabet.
func lettersOf(to *[mostSpelled]byte, word string) int {
	n := len(word)
	to[0], to[1] = word[0], word[n-1]
	copy(to[2:n], word[1:n-1])
	slices.Sort(to[2:n])
	return n
}

// respelled is the word of an order that a word is when it is misspelled, or the word itself. The
// first and the last letter are right: forms of a verb differ at its end.
func respelled(word string) string {
	n := len(word)
	if n < leastSpelled || n > mostSpelled || !isLetters(word) {
		return word
	}
	s := spelled()
	if at := endsOf(word); s.ends[at/8]&(1<<(at%8)) == 0 {
		return word
	}
	if _, right := s.known[word]; right {
		return word
	}
	var letters [mostSpelled]byte
	lettersOf(&letters, word)
	if found := s.whole[string(letters[:n])]; found != "" {
		return found
	}
	if found := s.missing[string(letters[:n])]; found != "" {
		return found
	}
	for i := 2; i < n; i++ {
		var fewer [mostSpelled]byte
		copy(fewer[:], letters[:i])
		copy(fewer[i:], letters[i+1:n])
		if found := s.whole[string(fewer[:n-1])]; found != "" {
			return found
		}
	}
	return word
}
