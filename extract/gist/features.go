package gist

import (
	"context"
	"math"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/english"
)

// Sizes of the features of a sentence.
const (
	Buckets    = 16384 // of words and pairs of words, by their hash
	Dimension  = 256   // of a vector of the built-in embedder
	VectorStep = 512   // a number of a vector is that many steps of an int8
	maxWords   = 48
)

// The features are few on purpose. Words and pairs tell the form of a sentence, such as "is home now"; the vector
// tells its topic in words that no sentence of the training had. A name is any name, and a number any number, so that
// neither a town nor an age decides. Features that share a bucket share their weights, which costs little at this
// number of them.

// Features are what weights see of a sentence.
type Features struct {
	List   []uint32 // the buckets of its words and pairs, each once
	Vector [Dimension]int8
	seen   [(Buckets + 63) / 64]uint64
}

// Size is what the sum of the weights of words is divided by, so that long statements weigh as short ones.
func Size(list []uint32) float64 { return math.Sqrt(float64(len(list) + few)) }

// few keeps a statement of two words from being decided by one.
const few = 8

// Of collects the features of ws.
func (f *Features) Of(ws english.Words) {
	for _, at := range f.List {
		f.seen[at/64] = 0
	}
	f.List = f.List[:0]
	before := hashOf(0, "^")
	for i, w := range ws {
		h := hashOf(1, plain(ws, i))
		f.add(h)
		f.add(both(h, before))
		if w.Stop != 0 && w.Stop != '\'' {
			before = hashOf(0, "|")
			continue
		}
		before = h
	}
	f.add(both(hashOf(0, "$"), before))
	f.vector(ws)
}

// plain is the word at i as weights see it: a number is any number, and a name that no sentence begins with any name.
func plain(ws english.Words, i int) string {
	w := ws[i]
	switch {
	case english.StartsWithDigit(w.Text):
		return "0"
	case w.Upper && i > 0 && w.Text != "i" && !english.StopWords.Has(w.Text):
		return "N"
	}
	return w.Text
}

// vector sets the vector of ws.
func (f *Features) vector(ws english.Words) {
	list, err := embed.Builtin{}.Embed(context.Background(), embed.Document, []string{ws.String()})
	if err != nil { // the context never ends
		f.Vector = [Dimension]int8{}
		return
	}
	for i, x := range list[0][:Dimension] {
		f.Vector[i] = int8(max(-127, min(127, math.Round(float64(x)*VectorStep))))
	}
}

// add adds the feature of a hash.
func (f *Features) add(hash uint64) {
	hash ^= hash >> 29
	hash *= 0xbf58476d1ce4e5b9 // the finalizer of SplitMix64
	at := uint32(hash>>32) % Buckets
	if f.seen[at/64]&(1<<(at%64)) == 0 {
		f.seen[at/64] |= 1 << (at % 64)
		f.List = append(f.List, at)
	}
}

// hashOf is FNV-1a over a kind and a text.
func hashOf(kind uint64, text string) uint64 {
	h := uint64(14695981039346656037) ^ kind*0x9e3779b97f4a7c15
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// both mixes two hashes, in their order.
func both(a, b uint64) uint64 { return a*0x9e3779b97f4a7c15 + (b<<31 | b>>33) }
