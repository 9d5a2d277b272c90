package memory

import (
	"context"
	"fmt"
)

// Model is what the words and vectors of a store are made with. They cannot be
// compared with those of another one.
type Model struct {
	Embedder  string
	Dimension int // numbers in a vector
	Analyzer  string
}

func (m Model) String() string {
	return fmt.Sprintf("embedder %q (%d numbers a vector) and analyzer %q", m.Embedder, m.Dimension, m.Analyzer)
}

// Move carries the memories of a store over to another model, while the store
// is read and written. What they are found by there is made of what is stored,
// and kept beside what they are found by here: until Finish is through nothing
// has changed for anybody. Whatever is done survives a crash, and a Move of the
// same store to the same model goes on behind it, in any process that may have
// the store open.
//
// One goroutine at a time calls a Move.
type Move interface {
	// Step has index take some memories that are not there as they are here, and
	// keeps what it makes. It gives how many it took; 0 if it found none, though
	// some may have been written since. ErrAborted if the move was given up.
	Step(ctx context.Context, index Indexer) (int, error)

	// Finish takes Steps until everything that was ever acknowledged is there,
	// and makes the other model the store's, at once and for good. From its
	// beginning on whoever has the store open for the old model can read, but
	// every Put, Delete and Import fails with ErrUnavailable; so it is called
	// when hardly anything is left. Where it fails nothing has changed, and
	// writing goes on.
	Finish(ctx context.Context, index Indexer) error

	// Progress is how many memories there are, expired ones included, and how
	// many of them are there; roughly, while others write.
	Progress(ctx context.Context) (done, total int, err error)

	// Tidy gives back some of the room that the old model's words and vectors
	// took, once Finish is through, and reports whether there is more. Those that
	// other processes may still search stay.
	Tidy(ctx context.Context) (more bool, err error)
}

// Indexer gives records the Terms and the Vector they are to be found by. A
// record has its vector already if both models have the same embedder; it has
// no Terms and no History.
type Indexer func(ctx context.Context, records []Record) error

// Movable is a store that can be moved to another model.
type Movable interface {
	Store

	// Model is the one that the store is open for.
	Model() Model

	// Move begins a move, or goes on with one that has begun. A move to yet
	// another model is given up, and what there is of it thrown away.
	Move(ctx context.Context, to Model) (Move, error)

	// Stay gives up a move that has begun, if there is one.
	Stay(ctx context.Context) error
}

// SameEmbedder reports whether vectors of m and o can be compared.
func (m Model) SameEmbedder(o Model) bool {
	return m.Embedder == o.Embedder && m.Dimension == o.Dimension
}

// Remedy is what to do about memories that were made with m where a start has
// now.
func (m Model) Remedy(now Model) string {
	const move = "move them with memoryd reembed and the flags of this start"
	if m.Analyzer != now.Analyzer { // of another version, which no flag brings back
		return move
	}
	return "start with the -embedder they were made with, or " + move
}
