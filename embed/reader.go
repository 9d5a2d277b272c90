package embed

import "math"

// Reader reads the words of one text by the rows of the built-in model, for models that look at words in their order
// and not at the sum of a whole text. It is for one goroutine.
type Reader struct {
	in tongue
	s  sum
}

// Reader returns a reader of the words of a text, which tells their language from all of it. It reads the first 32 KiB
// of the text.
func (Builtin) Reader(text string) *Reader {
	p := builtin()
	return &Reader{in: p.tongueOf(tokens(text[:min(len(text), longestText)])), s: sum{polyglot: p}}
}

// Rows calls found with the rows of a word, and with the weight of each; not at all for a word that the model does not
// know. Most words have one to four rows.
func (r *Reader) Rows(word string, found func(row int, weight float32)) {
	r.s.found = found
	for _, t := range tokens(word[:min(len(word), longestText)]) {
		if t.script != symbol {
			r.s.token(r.in, t)
		}
	}
}

// NumRows is how many rows the model has: those of Reader.Rows are from 0 to it.
func (Builtin) NumRows() int { return len(builtin().steps) }

// Row writes a row at unit length into a slice of the model's dimension, and returns its length before. A row of length
// 0 stays zero.
func (Builtin) Row(row int, into []float32) (length float32) {
	m := builtin()
	numbers := m.rows[row*m.dimension:][:m.dimension]
	squares := 0 // of integers, so that it is the same on every machine
	for _, n := range numbers {
		squares += int(int8(n)) * int(int8(n))
	}
	if squares == 0 {
		clear(into)
		return 0
	}
	size := math.Sqrt(float64(squares))
	for i, n := range numbers {
		into[i] = float32(float64(int8(n)) / size)
	}
	return float32(float64(m.steps[row]) * size)
}
