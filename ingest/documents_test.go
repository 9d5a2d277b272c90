package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// paragraphs is a text of paragraphs, each too long to be put together with another one.
func paragraphs(names ...string) string {
	var out []string
	for _, n := range names {
		out = append(out, strings.TrimSpace(strings.Repeat("This is about the "+n+". ", 40)))
	}
	return strings.Join(out, "\n\n")
}

// passagesOf are the passages that the store has of a document, in their order, by id.
func (b *bench) passagesOf(id string) (ids, texts []string) {
	b.Helper()
	page, err := b.memories.List(b.Context(), memory.Shared("app"),
		memory.List{Filter: memory.Filter{SessionID: id, History: true}, PageSize: memory.MaxPageSize})
	if err != nil {
		b.Fatal(err)
	}
	slices.SortFunc(page.Memories, func(x, y memory.Memory) int { return x.Source.Passage.Compare(y.Source.Passage) })
	for _, m := range page.Memories {
		ids = append(ids, m.ID)
		texts = append(texts, fmt.Sprintf("%d %d-%d %.30s", m.Source.Passage.Number, m.Source.Passage.Start,
			m.Source.Passage.End, m.Fact))
	}
	return ids, texts
}

func (b *bench) putDocument(d ingest.Document) (ingest.StoredDocument, ingest.DocumentChanges) {
	b.Helper()
	out, changes, _, err := b.service.PutDocument(b.Context(), "app", d)
	if err != nil {
		b.Fatal(err)
	}
	return out, changes
}

// A document that is replaced keeps the passages whose words stay, with their ids, and the
// same document again changes nothing. Passages that were deleted come back with it.
func TestDocumentReplaced(t *testing.T) {
	b := newBench(t, parts{})
	first := ingest.Document{ID: "d", Title: "Things", Text: paragraphs("kettle", "toaster", "lamp", "lamp")}
	stored, changes := b.putDocument(first)
	if !stored.Complete || stored.Passages != 4 || stored.Embedded != 4 || changes != (ingest.DocumentChanges{Added: 4}) {
		t.Errorf("stored %+v, %+v", stored, changes)
	}
	before, texts := b.passagesOf("d")
	again, changes := b.putDocument(first)
	if changes != (ingest.DocumentChanges{}) || again.Revision != stored.Revision {
		t.Errorf("the same again: %+v, %+v", again, changes)
	}
	second := first
	second.Text = paragraphs("oven", "kettle", "lamp", "lamp")
	if _, changes = b.putDocument(second); changes != (ingest.DocumentChanges{Added: 1, Changed: 3, Removed: 1}) {
		// The lamps are behind a longer or a shorter paragraph now.
		t.Errorf("another text: %+v", changes)
	}
	after, _ := b.passagesOf("d")
	if len(after) != 4 || after[1] != before[0] || after[2] != before[2] || after[3] != before[3] {
		t.Errorf("passages were %v and are %v", before, after)
	}
	b.putDocument(first)
	back, now := b.passagesOf("d")
	if diff := cmp.Diff(before, back); diff != "" {
		t.Errorf("other ids: %s", diff)
	}
	if diff := cmp.Diff(texts, now); diff != "" {
		t.Errorf("other places: %s", diff)
	}
	if err := b.service.DeleteDocument(t.Context(), "app", "d"); err != nil {
		t.Fatal(err)
	}
	if ids, _ := b.passagesOf("d"); len(ids) > 0 {
		t.Errorf("left are %v", ids)
	}
	if _, err := b.service.Document(t.Context(), "app", "d"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a deleted document: %v", err)
	}
	if stored, _, made, err := b.service.PutDocument(t.Context(), "app", first); err != nil || !made || !stored.Complete {
		t.Errorf("stored after it was deleted: %+v, %v, %v", stored, made, err)
	}
	if back, _ = b.passagesOf("d"); !slices.Equal(back, before) {
		t.Errorf("passages were %v and are %v", before, back)
	}
	for _, dryRun := range []bool{true, false} {
		gone, err := b.service.EraseDocument(t.Context(), "app", "d", dryRun)
		if err != nil || gone.Memories != 5 { // the oven too, which was deleted
			t.Errorf("erased %+v, %v", gone, err)
		}
	}
	if _, err := b.service.EraseDocument(t.Context(), "app", "d", false); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("erased again: %v", err)
	}
}

// cutOff is a store whose nth write fails, before or after it took effect.
type cutOff struct {
	memory.Store
	left  *int
	after bool
}

var errCutOff = errors.New("cut off")

func (c cutOff) do(f func() error) error {
	*c.left--
	if *c.left == 0 && !c.after {
		return errCutOff
	}
	err := f()
	if *c.left == 0 {
		return errCutOff
	}
	return err
}

func (c cutOff) Put(ctx context.Context, s memory.Scope, w []memory.Write) (out []memory.Outcome, err error) {
	err = c.do(func() (err error) { out, err = c.Store.Put(ctx, s, w); return err })
	return out, err
}

func (c cutOff) Delete(ctx context.Context, s memory.Scope, r []memory.Removal) (out []memory.Outcome, err error) {
	err = c.do(func() (err error) { out, err = c.Store.Delete(ctx, s, r); return err })
	return out, err
}

// Wherever a call is cut off, the document is listed as not complete, and the same call
// again makes what it would have made.
func TestDocumentCutOff(t *testing.T) {
	var names []string
	for i := range 150 { // more than one call of the store
		names = append(names, fmt.Sprint("thing ", i))
	}
	first := ingest.Document{ID: "d", Text: paragraphs(names...)}
	second := ingest.Document{ID: "d", Text: paragraphs(append(names[20:], "oven")...)}
	plain := newBench(t, parts{})
	plain.putDocument(first)
	plain.putDocument(second)
	wantIDs, wantTexts := plain.passagesOf("d")
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			left := 0
			b := newBench(t, parts{memories: func(s memory.Store) memory.Store { return cutOff{s, &left, after} }})
			b.putDocument(first)
			left = n
			_, _, _, err := b.service.PutDocument(t.Context(), "app", second)
			if err == nil {
				if n < 5 {
					t.Errorf("only %d writes", n)
				}
				break
			}
			if d, err := b.service.Document(t.Context(), "app", "d"); err != nil ||
				d.Complete && d.Passages == 131 && !after {
				t.Errorf("cut off at %d: %+v, %v", n, d, err)
			}
			stored, _ := b.putDocument(second)
			ids, texts := b.passagesOf("d")
			if !stored.Complete || !slices.Equal(ids, wantIDs) || !slices.Equal(texts, wantTexts) {
				t.Errorf("cut off at %d (after %v): %+v\n%s", n, after, stored, cmp.Diff(wantTexts, texts))
			}
		}
	}
}

// leaving is an embedder that leaves the process, and fails from its nth call on.
type leaving struct {
	embed.Builtin
	calls *int
}

func (r leaving) Model() embed.Model {
	m := r.Builtin.Model()
	m.Remote = true
	return m
}

func (r leaving) Embed(ctx context.Context, task embed.Task, texts []string) ([][]float32, error) {
	if *r.calls--; *r.calls < 0 {
		return nil, errors.New("away")
	}
	return r.Builtin.Embed(ctx, task, texts)
}

// While a remote embedder is away a document is found by its words, and the same call goes
// on where it ended.
func TestDocumentWithoutEmbedder(t *testing.T) {
	calls := 1
	b := newBench(t, parts{embedder: leaving{calls: &calls}})
	var names []string
	for i := range 150 {
		names = append(names, fmt.Sprint("thing ", i))
	}
	d := ingest.Document{ID: "d", Text: paragraphs(names...)}
	vectors := func() (n int) {
		err := b.memories.Export(t.Context(), func(r memory.Record) error {
			if r.Memory.IsShared() && r.Vector != nil {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	stored, changes := b.putDocument(d)
	if stored.Complete || stored.Embedded != 100 || changes.Added != 150 || vectors() != 100 {
		t.Errorf("stored %+v, %+v, %d vectors", stored, changes, vectors())
	}
	calls = 10
	stored, changes = b.putDocument(d)
	if !stored.Complete || stored.Embedded != 150 || changes != (ingest.DocumentChanges{}) || vectors() != 150 || calls != 9 {
		t.Errorf("stored %+v, %+v, %d vectors, %d calls left", stored, changes, vectors(), calls)
	}
}

func TestDocumentRefused(t *testing.T) {
	b := newBench(t, parts{opts: ingest.Options{SharedLimits: ingest.Limits{Memories: 2}}})
	for want, d := range map[string]ingest.Document{
		"text is empty":           {ID: "d", Text: " \n"},
		"text has 1048577 bytes":  {ID: "d", Text: strings.Repeat("x", ingest.MaxDocument+1)},
		"document id":             {ID: "a/b", Text: "x"},
		"mimeType":                {ID: "d", Text: "x", MimeType: "application/pdf"},
		"title":                   {ID: "d", Text: "x", Title: strings.Repeat("x", 257)},
		"metadata":                {ID: "d", Text: "x", Metadata: memory.Metadata{"a": []byte(`"` + strings.Repeat("x", 3000) + `"`)}},
		"-shared-memories":        {ID: "d", Text: paragraphs("a", "b", "c")},
		"topics[0] is empty":      {ID: "d", Text: "x", Topics: []string{""}},
		"uri is not UTF-8":        {ID: "d", Text: "x", URI: strings.Repeat("x", 3000)},
		"text is not valid UTF-8": {ID: "d", Text: "\xff"},
	} {
		_, _, _, err := b.service.PutDocument(t.Context(), "app", d)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if all, _, err := b.service.Documents(t.Context(), "app", 0, ""); err != nil || len(all) > 0 {
		t.Errorf("refused documents are listed: %v, %v", all, err)
	}
}

// A document of a megabyte is stored and found within the time of a request.
func TestLargeDocument(t *testing.T) {
	b := newBench(t, parts{})
	var text strings.Builder
	for i := 0; text.Len() < ingest.MaxDocument-2000; i++ {
		fmt.Fprintf(&text, "## Part %d\n\n%s\n\n", i, strings.Repeat(fmt.Sprintf("Part %d tells of one more thing in some words. ", i), 15))
	}
	began := time.Now()
	stored, _ := b.putDocument(ingest.Document{ID: "d", Text: text.String()})
	t.Logf("%d bytes, %d passages in %v", stored.Bytes, stored.Passages, time.Since(began).Round(time.Millisecond))
	if !stored.Complete || stored.Passages < 1000 {
		t.Errorf("stored %+v", stored)
	}
}
