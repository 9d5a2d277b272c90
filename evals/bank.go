package evals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

// Bank is the memories of a dataset, in stores of its own that Close removes.
type Bank struct {
	Filled
	// Reranker orders the best matches of a search again. Defaults to none.
	Reranker retrieve.Reranker
	Reranked int // matches that the reranker sees. Defaults to retrieve's.
	// Expander adds wordings to the question of a search. Defaults to none.
	Expander retrieve.Expander
	dataset  *Dataset
	embedder embed.Embedder
	stores   *stores
}

// Filled says how a dataset became memories, and how much room they take.
type Filled struct {
	Embedder  string  `json:"embedder"`
	Extractor string  `json:"extractor"`
	Events    int     `json:"events"`
	Seconds   float64 `json:"seconds"` // from the first event to the last memory
	Calls     int     `json:"calls"`   // of a model that extracts
	Tokens    int     `json:"tokens"`  // of those, in and out
	Turns     int     `json:"turns"`
	Facts     int     `json:"facts"` // that hold
	History   int     `json:"history"`
	Bytes     int64   `json:"bytes"` // of the file, sessions included
}

// Fill makes memories of a dataset, as a server does when all its conversations
// are posted at once.
func Fill(ctx context.Context, d *Dataset, x extract.Extractor, e embed.Embedder) (b *Bank, err error) {
	filled := Filled{Embedder: e.Model().Name, Extractor: x.Name(), Events: d.events()}
	b = &Bank{dataset: d, embedder: e, Filled: filled}
	if b.stores, err = openStores(ctx, e, nil); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("ingest: %w", err), b.Close())
		}
	}()
	began := time.Now()
	used, err := b.stores.ingest(ctx, x, e, 0, b.ingestAll)
	b.Seconds = time.Since(began).Seconds()
	b.Calls, b.Tokens = used.Calls, used.InputTokens+used.OutputTokens
	if err != nil {
		return b, err
	}
	return b, b.measure(ctx)
}

// Close removes the stores.
func (b *Bank) Close() error { return b.stores.close() }

// ingestAll ingests all sessions, and then waits for the memories of all.
func (b *Bank) ingestAll(ctx context.Context, p *player) error {
	type pending struct {
		key sessionstore.Key
		op  *sessionstore.Operation
	}
	var waiting []pending
	for i := range b.dataset.Conversations {
		c := &b.dataset.Conversations[i]
		for _, s := range c.Sessions {
			key := sessionstore.Key{Scope: b.dataset.scope(c), ID: s.ID}
			op, err := p.take(ctx, key, s.Events)
			if err != nil {
				return fmt.Errorf("%s, session %s: %w", c.Name, s.ID, err)
			}
			waiting = append(waiting, pending{key, op})
		}
	}
	for _, w := range waiting {
		if err := p.wait(ctx, w.key, w.op); err != nil {
			return fmt.Errorf("%s, session %s: %w", w.key.User, w.key.ID, err)
		}
	}
	return nil
}

// measure counts the memories and their bytes.
func (b *Bank) measure(ctx context.Context) error {
	for i := range b.dataset.Conversations {
		list := memory.List{PageSize: memory.MaxPageSize, Filter: memory.Filter{History: true}}
		for {
			page, err := b.stores.Memories.List(ctx, b.dataset.scope(&b.dataset.Conversations[i]), list)
			if err != nil {
				return err
			}
			for j := range page.Memories {
				switch m := &page.Memories[j]; {
				case m.Kind == memory.KindTurn:
					b.Turns++
				case m.ValidTo.IsZero():
					b.Facts++
				default:
					b.History++
				}
			}
			if list.PageToken = page.NextPageToken; list.PageToken == "" {
				break
			}
		}
	}
	var err error
	b.Bytes, err = b.stores.Size(ctx)
	return err
}
