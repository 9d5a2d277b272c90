package embed

import (
	"context"
	_ "embed"
	"sync"
)

// The scripts beside the model make it; distill/README.md tells how, and from what.
//
//go:embed distill/static-1.bin
var builtinFile []byte

// loadBuiltin reads the model in this binary once, when it is first needed.
var loadBuiltin = sync.OnceValues(func() (*static, error) { return readStatic(builtinFile) })

// builtin returns the model, and panics if it is damaged: such a binary can do nothing
// useful, and no caller can mend it. Callers that want an error use Builtin.Check.
func builtin() *static {
	m, err := loadBuiltin()
	if err != nil {
		panic("embed: the model in this binary: " + err.Error())
	}
	return m
}

// Builtin is the embedder inside memoryd. It has a vector for each piece of a word,
// learned from a sentence encoder; the vector of a text is their sum. It knows
// English, and of other languages in Latin letters the words they share with
// English. A text in another script has the zero vector, and is found by words
// alone. It reads the first 32 KiB of a text. The zero value is ready to use. The
// same text has the same vector on every machine.
type Builtin struct{}

var _ Embedder = Builtin{}

// Check returns an error if the model in this binary is damaged, or of a version that
// this code cannot read. All other methods panic then.
func (Builtin) Check() error {
	_, err := loadBuiltin()
	return err
}

// Model implements Embedder.
func (Builtin) Model() Model {
	m := builtin()
	return Model{Name: m.name, Dimension: m.dimension, Noise: m.noise}
}

// Embed implements Embedder. Its only error is that of ctx.
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
