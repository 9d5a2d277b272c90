package memory

import (
	"context"
	"fmt"
)

// Model identifies how the words, vectors and lookup keys of a store are made.
// They cannot be compared with those of another model, so a store is opened for
// one model and refuses every other.
type Model struct {
	Embedder  string
	Dimension int    // numbers in a vector
	Analyzer  string // version of the analyzer that makes words of text
	// Keys is the version of the lookup keys that facts are compared by to find
	// duplicates and contradictions. They are stored among the words, as
	// hashes. A store written before this field existed has none.
	Keys string
}

// String names the four parts, for messages.
func (m Model) String() string {
	return fmt.Sprintf("embedder %q (%d numbers a vector), analyzer %q and lookup keys %q",
		m.Embedder, m.Dimension, m.Analyzer, m.Keys)
}

// SameEmbedder reports whether vectors of m and o can be compared.
func (m Model) SameEmbedder(o Model) bool {
	return m.Embedder == o.Embedder && m.Dimension == o.Dimension
}

// Remedy says what a user can do about memories that were made with m when a
// start has now.
func (m Model) Remedy(now Model) string {
	const move = "move them with memoryd reembed and the flags of this start"
	if m.Analyzer != now.Analyzer || m.Keys != now.Keys { // versions of the program, which no flag brings back
		return move
	}
	return "start with the -embedder they were made with, or " + move
}

// Move brings the memories of a store to another model while the store is read
// and written. The words and vectors of the other model are made from the
// stored memories and kept beside the present ones, so nothing changes for
// readers and writers until Finish is through. All progress survives a crash: a
// Move of the same store to the same model continues it, in any process that
// may have the store open.
//
// One goroutine at a time calls a Move.
type Move interface {
	// Step shows index some memories that the other model lacks or has at an
	// older revision, and keeps what index makes. It returns how many it took.
	// 0 means that it found none, though some may have been written since. The
	// error is ErrAborted if the move was cancelled.
	Step(ctx context.Context, index Indexer) (int, error)

	// Finish takes Steps until every memory that was ever acknowledged is
	// there, and then makes the other model the store's, at once and for good.
	// From its beginning on, a store open for the old model can be read, but
	// every Put, Delete and Import on it fails with ErrUnavailable. Callers
	// therefore call it when hardly anything is left. If Finish fails, nothing
	// has changed and writes work again.
	Finish(ctx context.Context, index Indexer) error

	// Progress counts the memories, expired ones included, and how many of them
	// the other model has. The counts are rough while others write.
	Progress(ctx context.Context) (done, total int, err error)

	// Reclaim frees some of the space of the old model's words and vectors,
	// once Finish is through, and reports whether there is more. Space that
	// other processes may still search is kept.
	Reclaim(ctx context.Context) (more bool, err error)
}

// Indexer sets the Terms and the Vector of records. A record comes with its
// vector if both models have the same embedder, and always without Terms and
// History.
type Indexer func(ctx context.Context, records []Record) error

// Apply has the indexer set the Terms and the Vector of those records that are
// not deleted. The others have neither.
func (index Indexer) Apply(ctx context.Context, records []Record) error {
	var live []Record
	for _, r := range records {
		if !r.Deleted {
			live = append(live, Record{Memory: r.Memory, Vector: r.Vector})
		}
	}
	if len(live) > 0 {
		if err := index(ctx, live); err != nil {
			return err
		}
	}
	for i := range records {
		r := &records[i]
		if r.Terms, r.Vector = nil, nil; !r.Deleted {
			r.Terms, r.Vector = live[0].Terms, live[0].Vector
			live = live[1:]
		}
	}
	return nil
}

// Movable is a store that can be moved to another model.
type Movable interface {
	Store

	// Model is the model that the store is open for.
	Model() Model

	// Move begins a move, or continues one that has begun. A move to a
	// different model that has begun is cancelled, and what it has made is
	// thrown away.
	Move(ctx context.Context, to Model) (Move, error)

	// CancelMove cancels a move that has begun, if there is one.
	CancelMove(ctx context.Context) error
}
