package embed

import (
	"context"
	_ "embed"
	"sync"
)

// The model is made by the scripts beside it; distill/README.md tells of what.
//
//go:embed distill/static-1.bin
var builtinFile []byte

// loadBuiltin reads the model in this binary once, when first needed.
var loadBuiltin = sync.OnceValues(func() (*static, error) { return readStatic(builtinFile) })

// builtin is the model once it is known to be whole. A binary whose model is
// damaged can do nothing useful, and no caller but the first could mend it.
func builtin() *static {
	m, err := loadBuiltin()
	if err != nil {
		panic("embed: the model in this binary: " + err.Error())
	}
	return m
}

// Builtin is the embedder inside memoryd: a vector for each piece of a word,
// learned from a sentence encoder, and a text's is their sum. It knows English;
// of other languages in Latin letters it knows what they share with English, and
// a text in another script has the zero vector: words alone find it. The zero
// value is ready; the same text gives the same vector on every machine. It reads
// the first 32 KiB of a text.
type Builtin struct{}

var _ Embedder = Builtin{}

// Check fails if the model in this binary is damaged, or of another version than
// its reader: all else of Builtin panics then.
func (Builtin) Check() error {
	_, err := loadBuiltin()
	return err
}

// Model implements Embedder.
func (Builtin) Model() Model {
	m := builtin()
	return Model{Name: m.name, Dimension: m.dimension, Noise: m.noise}
}

// Embed implements Embedder. It fails only if ctx is over.
func (Builtin) Embed(ctx context.Context, _ Task, texts []string) ([][]float32, error) {
	m := builtin()
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = m.vector(text)
	}
	return out, nil
}
