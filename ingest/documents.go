package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A document is stored as the memories of its passages, and as one more that lists it. That
// one is written first, and says that the document is not complete. Then the passages
// follow that are new or have changed, then those go that the text no longer has, and then
// the vectors follow that were not made at once. A call that is cut off leaves old and new
// passages, and is repeated with the same text: what is done already is not done again.

const (
	// passagesTogether is how many passages are written in one call of a store.
	passagesTogether = 100
	// vectorsTime is how long a call waits for a remote embedder, within the time of a
	// request.
	vectorsTime = 30 * time.Second
)

// DocumentChanges counts what a call has changed of the passages of a document.
type DocumentChanges struct {
	Added   int `json:"added"`
	Changed int `json:"changed"` // the words stayed, and their place or labels did not
	Removed int `json:"removed"`
}

// documentWork is one call of PutDocument.
type documentWork struct {
	*Service
	doc   *Document
	app   string
	now   time.Time
	head  memory.Memory // as it is stored
	want  []memory.Memory
	known map[string]memory.Memory
	out   DocumentChanges
}

// PutDocument stores a document in the shared knowledge of an app, in place of the one of
// its id. One without an id has that of its text: it is stored once, and replaces nothing.
// made is set if there was none. A document that is not Complete then has passages
// without a vector, as the embedder is slow or away: the same call goes on with those.
func (s *Service) PutDocument(ctx context.Context, app string, d Document) (
	out StoredDocument, changes DocumentChanges, made bool, err error) {
	if d, err = s.redact.document(ctx, app, d); err != nil {
		return out, changes, false, err
	}
	if d.ID == "" {
		d.ID = derive("document", app, d.Title, d.URI, d.Text)
	}
	if err := d.validate(); err != nil {
		return out, changes, false, err
	}
	w := &documentWork{Service: s, doc: &d, app: app, now: sessionstore.Micros(s.opts.Now())}
	if w.want, err = d.passages(app, w.now); err != nil {
		return out, changes, false, err
	}
	leave, err := s.turn(ctx, memory.Documents(app))
	if err != nil {
		return out, changes, false, err
	}
	defer leave()
	if made, err = w.put(ctx); err != nil {
		return out, w.out, made, fmt.Errorf("document %q of app %q: %w", d.ID, app, err)
	}
	out, err = storedDocument(&w.head)
	return out, w.out, made, err
}

// document returns a document with its secrets replaced. The id is the client's, and stays.
func (r *Redactor) document(ctx context.Context, app string, d Document) (Document, error) {
	p, err := r.patch(ctx, memory.Shared(app), Patch{Fact: &d.Text, DisplayName: &d.Title, Description: &d.URI,
		Metadata: &d.Metadata})
	if err == nil {
		d.Text, d.Title, d.URI, d.Metadata = *p.Fact, *p.DisplayName, *p.Description, *p.Metadata
	}
	return d, err
}

// put makes what is stored of the document that what is wanted.
func (w *documentWork) put(ctx context.Context) (made bool, err error) {
	before, made, err := w.read(ctx)
	if err != nil {
		return made, err
	}
	changed, gone := w.compare()
	state := w.doc.state(len(w.want))
	same := before != nil && before.Digest == state.Digest
	if same && before.Complete && len(changed) == 0 && len(gone) == 0 {
		return false, nil
	}
	if err := w.room(ctx, gone); err != nil {
		return made, err
	}
	pending := w.pending(before, same, changed)
	state.Embedded = pending[0]
	if err := w.putHead(ctx, state); err != nil {
		return made, err
	}
	if err := w.write(ctx, changed); err != nil {
		return made, err
	}
	if err := w.remove(ctx, gone); err != nil {
		return made, err
	}
	if state.Embedded, err = w.vectors(ctx, pending[1:]); err != nil {
		return made, err
	}
	state.Complete = state.Embedded == state.Passages
	return made, w.putHead(ctx, state)
}

// read reads what is stored of the document: its state, nil if there is none, and its
// passages.
func (w *documentWork) read(ctx context.Context) (before *DocumentState, made bool, err error) {
	scope := memory.Documents(w.app)
	switch history, err := w.memories.Revisions(ctx, scope, w.doc.ID, 0); {
	case errors.Is(err, memory.ErrNotFound):
		made = true
	case err != nil:
		return nil, false, err
	default: // a deleted one is written again, as its next revision
		w.head, made = history[0].Memory, history[0].Action == memory.Deleted
		w.head.Revision = history[0].Revision
		if !made {
			stored, err := storedDocument(&w.head)
			if err != nil {
				return nil, false, err
			}
			before = &stored.DocumentState
		}
	}
	w.known = map[string]memory.Memory{}
	return before, made, each(ctx, w.memories, memory.Shared(w.app), memory.Filter{SessionID: w.doc.ID, History: true},
		func(m *memory.Memory) error {
			w.known[m.ID] = *m
			return nil
		})
}

// compare returns the places of the passages that are to be written, and what is known and
// no longer wanted. A passage keeps the time at which it was first stored.
func (w *documentWork) compare() (changed []int, gone []memory.Memory) {
	wanted := map[string]bool{}
	for i := range w.want {
		m := &w.want[i]
		wanted[m.ID] = true
		if known, ok := w.known[m.ID]; ok {
			m.Timestamp, m.Revision = known.Timestamp, known.Revision
			m.EditTime, m.ExpireTime = known.EditTime, known.ExpireTime
			if m.SameContent(&known) {
				continue
			}
		}
		changed = append(changed, i)
	}
	for id, m := range w.known {
		if !wanted[id] {
			gone = append(gone, m)
		}
	}
	slices.SortFunc(gone, func(a, b memory.Memory) int { return a.Source.Passage.Compare(b.Source.Passage) })
	return changed, gone
}

// room refuses a document for which the shared knowledge has no room.
func (w *documentWork) room(ctx context.Context, gone []memory.Memory) error {
	more, bytes := len(w.want)-len(w.known), int64(0)
	for i := range w.want {
		bytes += w.want[i].Bytes()
	}
	for _, m := range w.known {
		bytes -= m.Bytes()
	}
	return w.roomFor(ctx, memory.Shared(w.app), more, bytes)
}

// pending returns how many of the first passages need no vector, and behind that the places
// of those for which vectors are to be made after they are written. An embedder in this
// process makes them before, so that there are none.
func (w *documentWork) pending(before *DocumentState, same bool, changed []int) []int {
	all := len(w.want)
	if !w.embedder.Model().Remote {
		return []int{all}
	}
	var out []int
	switch {
	case before != nil && before.Complete:
		out = changed
	default:
		from := 0
		if same {
			from = min(before.Embedded, all)
		}
		for i := range all {
			if i >= from || slices.Contains(changed, i) {
				out = append(out, i)
			}
		}
	}
	if len(out) == 0 {
		return []int{all}
	}
	return append([]int{out[0]}, out...)
}

// putHead writes what lists the document. It fails with ErrAborted if another call has
// written it since this one has read it.
func (w *documentWork) putHead(ctx context.Context, state DocumentState) error {
	m := w.doc.head(w.app, w.head, state, w.now)
	writes := []memory.Write{{Memory: m, Expect: w.head.Revision, Actor: client}}
	if err := m.Validate(); err != nil {
		return err
	}
	out, err := w.memories.Put(ctx, m.Scope, writes)
	if err == nil {
		err = out[0].Err
	}
	if err == nil {
		w.head = out[0].Memory
	}
	return err
}

// unchanged fails with ErrAborted if another call, of this process or another, has changed
// or erased the document since this one began.
func (w *documentWork) unchanged(ctx context.Context) error {
	now, err := w.memories.Get(ctx, w.head.Scope, []string{w.head.ID})
	if err == nil && (len(now) == 0 || now[0].Revision != w.head.Revision) {
		err = fmt.Errorf("%w: another call has changed the document meanwhile", memory.ErrAborted)
	}
	return err
}

// write writes the passages at some places.
func (w *documentWork) write(ctx context.Context, places []int) error {
	for some := range slices.Chunk(places, passagesTogether) {
		if err := w.unchanged(ctx); err != nil {
			return err
		}
		var writes []memory.Write
		for _, i := range some {
			writes = append(writes, memory.Write{Memory: w.want[i], Expect: w.want[i].Revision, Actor: client})
		}
		if err := w.index(ctx, writes, !w.embedder.Model().Remote); err != nil {
			return err
		}
		for try := 0; len(writes) > 0; try++ {
			out, err := w.memories.Put(ctx, memory.Shared(w.app), writes)
			if err != nil {
				return err
			}
			var again []memory.Write
			for i, o := range out {
				if errors.Is(o.Err, memory.ErrAborted) && try < maxRewrites {
					// It was deleted before, or a client has changed it just now.
					history, err := w.memories.Revisions(ctx, memory.Shared(w.app), writes[i].Memory.ID, 0)
					if err != nil {
						return err
					}
					writes[i].Expect = history[0].Revision
					again = append(again, writes[i])
					continue
				}
				if o.Err != nil {
					return o.Err
				}
				w.wrote(&o)
			}
			writes = again
		}
	}
	return nil
}

// wrote counts a passage that is written.
func (w *documentWork) wrote(o *memory.Outcome) {
	w.want[o.Memory.Source.Passage.Number-1].Revision = o.Memory.Revision
	switch _, known := w.known[o.Memory.ID]; {
	case !o.Changed:
	case known:
		w.out.Changed++
	default:
		w.out.Added++
	}
}

// remove deletes passages.
func (w *documentWork) remove(ctx context.Context, gone []memory.Memory) error {
	for some := range slices.Chunk(gone, memory.MaxPageSize) {
		if err := w.unchanged(ctx); err != nil {
			return err
		}
		n, err := w.deletePassages(ctx, w.app, some)
		if w.out.Removed += n; err != nil {
			return err
		}
	}
	return nil
}

// deletePassages deletes passages, and returns how many it has deleted.
func (s *Service) deletePassages(ctx context.Context, app string, gone []memory.Memory) (n int, err error) {
	var removals []memory.Removal
	for i := range gone {
		removals = append(removals, memory.Removal{ID: gone[i].ID, Actor: client})
	}
	out, err := s.memories.Delete(ctx, memory.Shared(app), removals)
	for i := range out {
		if out[i].Changed {
			n++
		}
	}
	return n, err
}

// vectors makes the vectors of the passages at some places, as far as the embedder does in
// time, and returns how many of the first passages have one then.
func (w *documentWork) vectors(ctx context.Context, places []int) (embedded int, err error) {
	within, cancel := context.WithTimeoutCause(ctx, vectorsTime, errEmbedder)
	defer cancel()
	for some := range slices.Chunk(places, passagesTogether) {
		if err := w.unchanged(ctx); err != nil {
			return 0, err
		}
		var writes []memory.Write
		for _, i := range some {
			m := w.want[i]
			writes = append(writes, memory.Write{Memory: m, Expect: m.Revision, Actor: client})
		}
		if err := w.index(within, writes, true); err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			w.opts.Log.Warn("passages of a document have no vectors yet: post it again", "app", w.app,
				"document", w.doc.ID, "passages", len(w.want)-some[0], "err", err)
			return some[0], nil
		}
		if _, err := w.memories.Put(ctx, memory.Shared(w.app), writes); err != nil {
			return 0, err
		}
	}
	return len(w.want), nil
}

// Document reads what is stored of a document; ErrNotFound if there is none of that id.
func (s *Service) Document(ctx context.Context, app, id string) (StoredDocument, error) {
	m, err := s.Get(ctx, memory.Documents(app), id)
	if err != nil {
		return StoredDocument{}, err
	}
	return storedDocument(&m)
}

// Documents reads a page of the documents of an app, those first that were stored last.
func (s *Service) Documents(ctx context.Context, app string, pageSize int, pageToken string) (
	out []StoredDocument, nextPageToken string, err error) {
	page, err := s.memories.List(ctx, memory.Documents(app), memory.List{PageSize: pageSize, PageToken: pageToken})
	if err != nil {
		return nil, "", err
	}
	for i := range page.Memories {
		d, err := storedDocument(&page.Memories[i])
		if err != nil {
			return nil, "", err
		}
		out = append(out, d)
	}
	return out, page.NextPageToken, nil
}

// DeleteDocument deletes a document with its passages. Their revisions stay.
func (s *Service) DeleteDocument(ctx context.Context, app, id string) error {
	leave, err := s.turn(ctx, memory.Documents(app))
	if err != nil {
		return err
	}
	defer leave()
	if _, err := s.Get(ctx, memory.Documents(app), id); err != nil {
		return err
	}
	var gone []memory.Memory
	err = each(ctx, s.memories, memory.Shared(app), memory.Filter{SessionID: id, History: true},
		func(m *memory.Memory) error {
			gone = append(gone, memory.Memory{ID: m.ID})
			return nil
		})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(gone, memory.MaxPageSize) {
		if _, err := s.deletePassages(ctx, app, some); err != nil {
			return err
		}
	}
	_, err = s.memories.Delete(ctx, memory.Documents(app), []memory.Removal{{ID: id, Actor: client}})
	return err
}

// EraseDocument erases a document with its passages and their history, deleted or not;
// ErrNotFound if it never was. It does not count what lists the document.
func (s *Service) EraseDocument(ctx context.Context, app, id string, dryRun bool) (out Erased, err error) {
	if !dryRun {
		leave, err := s.turn(ctx, memory.Documents(app))
		if err != nil {
			return out, err
		}
		defer leave()
	}
	if _, err := s.memories.Revisions(ctx, memory.Documents(app), id, 0); err != nil {
		return out, err
	}
	erased, err := s.memories.Erase(ctx, memory.Shared(app), memory.Erasure{Sessions: map[string][]string{id: nil},
		DryRun: dryRun})
	if out.add(sessionstore.Erased{}, erased); err != nil || dryRun {
		return out, err
	}
	_, err = s.memories.Erase(ctx, memory.Documents(app), memory.Erasure{IDs: []string{id}})
	return out, err
}
