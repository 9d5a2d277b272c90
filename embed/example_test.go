package embed_test

import (
	"context"
	"fmt"
	"log"

	"github.com/memoryd/memoryd/embed"
)

// The vectors of the built-in embedder have unit length, so that their inner
// product is the cosine: texts with much the same meaning are nearer than others.
func ExampleBuiltin() {
	texts := []string{"I adopted a puppy last spring.", "When did she get her dog?", "When did she get her car?"}
	vectors, err := embed.Vectors(context.Background(), embed.Builtin{}, embed.Document, texts)
	if err != nil {
		log.Fatal(err)
	}
	dog, car := cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2])
	fmt.Println("nearer to the dog:", dog > car)
	// Output: nearer to the dog: true
}

// broken is an embedder that loses the vector of the last text.
type broken struct{ embed.Builtin }

func (b broken) Embed(ctx context.Context, task embed.Task, texts []string) ([][]float32, error) {
	return b.Builtin.Embed(ctx, task, texts[1:])
}

// Vectors checks the answer of an embedder before it is stored or searched with.
func ExampleVectors() {
	_, err := embed.Vectors(context.Background(), broken{}, embed.Query, []string{"green tea", "coffee"})
	fmt.Println(err)
	// Output: embedder "static-2": unavailable: it returned 1 vectors for 2 texts
}
