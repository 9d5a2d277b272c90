package embed

import (
	"context"
	"hash/fnv"
	"math"

	"github.com/memoryd/memoryd/internal/analyzer"
)

// The built-in embedder hashes words, and the letters in them, into a vector
// (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning",
// 2009; letter n-grams as in Bojanowski et al., "Enriching Word Vectors with
// Subword Information", 2017). It knows no meanings, but it finds a word
// misspelt, or in another form.
const (
	builtinName      = "hash-1"
	builtinDimension = 256
	shortest         = 3   // letters in an n-gram, word boundaries counted
	longest          = 5   //
	wordWeight       = 1.0 // of a word as a whole
	gramsWeight      = 1.0 // of all n-grams of a word together
	// builtinNoise is three standard deviations of the cosine of two unrelated
	// vectors, 1/sqrt(dimension) each.
	builtinNoise = 3.0 / 16
)

// Builtin is the embedder inside memoryd. The zero value is ready; the same
// text gives the same vector on every machine.
type Builtin struct{}

var _ Embedder = Builtin{}

// Model implements Embedder.
func (Builtin) Model() Model {
	return Model{Name: builtinName, Dimension: builtinDimension, Noise: builtinNoise}
}

// Embed implements Embedder. It fails only if ctx is over.
func (Builtin) Embed(ctx context.Context, _ Task, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = hashText(text)
	}
	return out, nil
}

func hashText(text string) []float32 {
	counts := map[string]int{}
	var order []string // sums in one order, whatever that of the map, are the same to the last bit
	for _, w := range analyzer.Words(text) {
		if counts[w]++; counts[w] == 1 {
			order = append(order, w)
		}
	}
	sum := make([]float64, builtinDimension)
	for _, w := range order {
		weight := math.Sqrt(float64(counts[w])) // the tenth mention adds little
		add(sum, w, weight*wordWeight)
		grams := ngrams("<" + w + ">")
		for _, g := range grams {
			add(sum, g, weight*gramsWeight/math.Sqrt(float64(len(grams))))
		}
	}
	return unit(sum)
}

func ngrams(w string) []string {
	r := []rune(w)
	var out []string
	for n := shortest; n <= longest; n++ {
		for i := 0; i+n <= len(r); i++ {
			out = append(out, string(r[i:i+n]))
		}
	}
	return out
}

// add puts one feature at its place, with its sign, so that features that
// share a place cancel out rather than add up.
func add(sum []float64, feature string, weight float64) {
	h := fnv.New64a()
	h.Write([]byte(feature)) // never fails
	v := h.Sum64()
	if v>>63 == 1 {
		weight = -weight
	}
	sum[v%builtinDimension] += weight
}

func unit(sum []float64) []float32 {
	length := 0.0
	for _, x := range sum {
		length += float64(x * x) // the conversion keeps processors that can from fusing the two steps
	}
	length = math.Sqrt(length)
	out := make([]float32, len(sum))
	if length == 0 {
		return out
	}
	for i, x := range sum {
		out[i] = float32(x / length)
	}
	return out
}
