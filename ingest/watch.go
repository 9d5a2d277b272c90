package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Update is a state of an operation that all its watchers share, so nobody may
// change it.
type Update struct {
	*sessionstore.Operation

	once    sync.Once
	encoded []byte
	err     error
}

// Encoded returns what encode makes of the operation. Only the first watcher's
// encode is called, as there may be many.
func (u *Update) Encoded(encode func(*sessionstore.Operation) ([]byte, error)) ([]byte, error) {
	u.once.Do(func() { u.encoded, u.err = encode(u.Operation) })
	return u.encoded, u.err
}

// Watcher sees how an operation goes on. It is for one goroutine.
type Watcher struct {
	*watch
	last  *Update
	close func()
}

// Watch begins to watch an operation. All watchers of an operation share one
// reader of it. Watch fails with a memory.Refusal if there are
// Options.MaxWatchers already. The caller must close the Watcher.
func (s *Service) Watch(scope memory.Scope, id string) (*Watcher, error) {
	w, err := s.watches.join(watchKey{scope, id})
	if err != nil {
		return nil, err
	}
	return &Watcher{watch: w, close: sync.OnceFunc(func() { s.watches.leave(w) })}, nil
}

// Next returns the latest state of the operation as soon as that is another one
// than Next returned before. States in between are left out, so a slow watcher
// holds up nobody. After the state that is done the error is io.EOF. Next fails
// when the operation cannot be read, and when ctx ends.
func (w *Watcher) Next(ctx context.Context) (*Update, error) {
	if w.last != nil && w.last.Done() {
		return nil, io.EOF
	}
	for {
		latest, err, changed := w.state()
		switch {
		case latest != nil && latest != w.last:
			w.last = latest
			return latest, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Changes reads a page of what an operation has changed; see
// sessionstore.Operations.
func (s *Service) Changes(
	ctx context.Context, scope memory.Scope, id string, after sessionstore.ChangePosition,
) (page []Changed, next sessionstore.ChangePosition, err error) {
	docs, next, err := s.sessions.Changes(ctx, scope, id, after)
	if err != nil {
		return nil, next, err
	}
	page = make([]Changed, len(docs))
	for i, doc := range docs {
		if err := json.Unmarshal(doc, &page[i]); err != nil {
			return nil, next, fmt.Errorf("operation %s: stored change: %w", id, err)
		}
		docs[i] = nil // page has it
	}
	return page, next, nil
}

// Close ends the watching. It waits for nothing.
func (w *Watcher) Close() { w.close() }

// Wait returns an operation when it is done, or as it is after limit. It returns
// at the limit however long the store takes. With an error, such as that of ctx,
// of the store or a refusal of Watch, it also returns the last state that it has
// seen, if any: the work goes on whatever happens to the waiting. Nobody may
// change the operation that it returns.
func (s *Service) Wait(
	ctx context.Context, scope memory.Scope, id string, limit time.Duration,
) (last *sessionstore.Operation, err error) {
	w, err := s.Watch(scope, id)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	defer fair.Pause(ctx)()
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		update, err := w.Next(waiting)
		switch {
		case err == io.EOF, last != nil && waiting.Err() != nil && ctx.Err() == nil:
			return last, nil
		case err != nil:
			return last, err
		}
		last = update.Operation
	}
}
