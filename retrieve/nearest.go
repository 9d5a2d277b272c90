package retrieve

import (
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// Nearest orders the facts that a store found for a text and its vector, the
// nearest first, ties by id. It scores them as Search does, but only by the parts
// that a fact has without the turns around it: its words and its meaning. noise is
// that of the embedder; see [embed.Model].
func Nearest(found memory.Found, noise float64) []memory.Memory {
	k := &ranking{weights: rawWeights(nil, nil), noise: noise, keys: map[cite]float64{}, standing: map[cite]bool{}}
	k.idf, k.best = inverseFrequencies(found.Stats, nil, nil, nil)
	var all []*ranked
	for _, run := range found.Runs {
		if run[0].Memory.Kind.Statement() {
			c := k.scoreFact(&run[0])
			k.inheritFromTurns(c)
			c.score = k.relevance(c)
			all = append(all, c)
		}
	}
	slices.SortFunc(all, better)
	out := make([]memory.Memory, len(all))
	for i, c := range all {
		out[i] = c.Memory.Clone()
	}
	return out
}
