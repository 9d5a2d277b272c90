package server

import (
	"slices"

	"github.com/memoryd/memoryd/ingest"
)

// forgetBody is what the response of an operation says of requests to forget, beside
// the memories.
type forgetBody struct {
	// notFound has the words of requests that name nothing known, each once, the first
	// maxNotFound of them.
	notFound []string
}

// maxNotFound bounds notFound: an operation may have thousands of events.
const maxNotFound = 100

// add adds what a page of changes says.
func (b *forgetBody) add(changes []ingest.Changed) {
	for i := range changes {
		words := changes[i].NotFound
		if words != "" && len(b.notFound) < maxNotFound && !slices.Contains(b.notFound, words) {
			b.notFound = append(b.notFound, words)
		}
	}
}

// write writes the fields behind the memories.
func (b *forgetBody) write(out *answer) {
	if len(b.notFound) > 0 {
		out.text(`,"notFound":`)
		out.value(b.notFound)
	}
}
