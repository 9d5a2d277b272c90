package embed

import (
	"context"
	_ "embed"
	"sync"
)

// The scripts beside the model make its two files; distill/README.md tells how, and
// from what.
var (
	//go:embed distill/static-1.bin
	builtinFile []byte
	//go:embed distill/lexicon-1.bin
	lexiconFile []byte
	//go:embed distill/NOTICE
	notice string
	//go:embed distill/lexicon-1.LICENSE
	lexiconLicense string
)

// Notices are the attributions and licences of the works that the model in this binary was
// made from. Some of them must be on each copy of it.
func Notices() string { return notice + "\n" + lexiconLicense }

// loadBuiltin reads the model in this binary once, when it is first needed.
var loadBuiltin = sync.OnceValues(func() (*polyglot, error) {
	m, err := readStatic(builtinFile)
	if err != nil {
		return nil, err
	}
	x, err := readLexicon(lexiconFile, len(m.steps))
	if err != nil {
		return nil, err
	}
	return newPolyglot(m, x), nil
})

// builtin returns the model, and panics if it is damaged: such a binary can do nothing
// useful, and no caller can mend it. Callers that want an error use Builtin.Check.
func builtin() *polyglot {
	m, err := loadBuiltin()
	if err != nil {
		panic("embed: the model in this binary: " + err.Error())
	}
	return m
}

// Builtin is the embedder inside memoryd. It has a vector for each piece of a word,
// learned from a sentence encoder; the vector of a text is their sum. A word of
// another language has the vectors of English words with its meaning, so that texts of
// all these languages can be compared: German, Spanish, French, Portuguese, Italian,
// Dutch, Polish, Turkish, Russian, Arabic, Hindi, Japanese, Chinese and Korean. A text in
// another script has the zero vector, and is found by words alone. It reads the first
// 32 KiB of a text. The zero value is ready to use. The same text has the same vector on
// every machine.
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
	return Model{Name: m.lexicon.name, Dimension: m.dimension, Noise: m.noise}
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
