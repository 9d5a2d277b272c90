package ingest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

var scope = memory.Scope{App: "app", User: "ann"}

func key(id string) sessionstore.Key { return sessionstore.Key{Scope: scope, ID: id} }

// bench is a Service with real stores in a file of its own.
type bench struct {
	*testing.T
	sessions *sqlitesession.Store
	memories *sqlitestore.Store
	service  *ingest.Service
	close    func() // the file
}

// parts are replacements of the parts of a bench. Those left out are the real ones.
type parts struct {
	sessions  func(ingest.Sessions) ingest.Sessions
	memories  func(memory.Store) memory.Store
	embedder  embed.Embedder
	extractor extract.Extractor
	opts      ingest.Options
	file      string           // of the database; defaults to a new one
	now       func() time.Time // of the sessions; defaults to time.Now
	clock     func() time.Time // of the memories; defaults to time.Now
	// together writes into both stores in one step. It defaults to the real one if both
	// stores are real, and to none otherwise.
	together func(ingest.Together) ingest.Together
}

func newBench(t *testing.T, p parts) *bench {
	t.Helper()
	if p.file == "" {
		p.file = filepath.Join(t.TempDir(), "memoryd.db")
	}
	db, err := sqlitedb.Open(p.file, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, close: sync.OnceFunc(func() { db.Close() })}
	t.Cleanup(b.close)
	if b.sessions, err = sqlitesession.New(db, &sqlitesession.Options{Now: p.now}); err != nil {
		t.Fatal(err)
	}
	if b.memories, err = sqlitestore.New(db, model(), &sqlitestore.Options{Now: p.clock}); err != nil {
		t.Fatal(err)
	}
	var sessions ingest.Sessions = b.sessions
	if p.sessions != nil {
		sessions = p.sessions(sessions)
	}
	var memories memory.Store = b.memories
	if p.memories != nil {
		memories = p.memories(memories)
	}
	if p.embedder == nil {
		p.embedder = embed.Builtin{}
	}
	if p.extractor == nil {
		p.extractor = rules.New()
	}
	if p.opts.Backoff == nil {
		p.opts.Backoff = func(int) time.Duration { return time.Millisecond }
	}
	if p.opts.Poll == 0 {
		p.opts.Poll = 5 * time.Millisecond
	}
	switch {
	case p.together != nil:
		p.opts.Together = p.together(assembly.Together(b.sessions, b.memories))
	case p.sessions == nil && p.memories == nil: // as memoryd runs with one file
		p.opts.Together = assembly.Together(b.sessions, b.memories)
	}
	b.service = ingest.New(sessions, memories, p.embedder, p.extractor, &p.opts)
	return b
}

// model names how the memories of a bench are indexed.
func model() memory.Model {
	m := embed.Builtin{}.Model()
	return memory.Model{Embedder: m.Name, Dimension: m.Dimension, Analyzer: analyzer.Name, Keys: canonical.Version}
}

// run processes requests until the test is over or stop is called.
func (b *bench) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { b.service.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	b.Cleanup(stop)
	return stop
}

// event is one turn of the user, n seconds into the conversation.
func event(t testing.TB, id string, n int, text string, more ...string) sessionstore.Event {
	t.Helper()
	doc := fmt.Sprintf(`{"id": %q, "author": "user", "timestamp": %d, "content": %q%s}`,
		id, 1_700_000_000+n, text, strings.Join(more, ""))
	e, err := sessionstore.ParseEvent([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (b *bench) ingest(session string, events ...sessionstore.Event) *sessionstore.Operation {
	b.Helper()
	return b.ingestWith(session, ingest.RequestOptions{}, events...)
}

func (b *bench) ingestWith(
	session string, opts ingest.RequestOptions, events ...sessionstore.Event,
) *sessionstore.Operation {
	b.Helper()
	op, err := b.service.Ingest(b.Context(), key(session), events, opts)
	if err != nil {
		b.Fatal(err)
	}
	return op
}

// done waits for an operation.
func (b *bench) done(op *sessionstore.Operation) *sessionstore.Operation {
	b.Helper()
	out, err := b.service.Wait(b.Context(), scope, op.ID, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	if !out.Done() {
		b.Fatalf("operation is still %+v", out)
	}
	return out
}

func (b *bench) succeeds(op *sessionstore.Operation) *sessionstore.Operation {
	b.Helper()
	out := b.done(op)
	if out.State != sessionstore.Succeeded {
		b.Fatalf("operation is %s: %s", out.State, out.LastError)
	}
	return out
}

// all is every memory of the scope, without the times that differ from run to run.
func (b *bench) all(kinds ...memory.Kind) []memory.Memory {
	b.Helper()
	list := memory.List{PageSize: memory.MaxPageSize, Filter: memory.Filter{Kinds: kinds}}
	page, err := b.memories.List(b.Context(), scope, list)
	if err != nil {
		b.Fatal(err)
	}
	for i := range page.Memories {
		page.Memories[i].CreateTime, page.Memories[i].UpdateTime = time.Time{}, time.Time{}
	}
	slices.SortFunc(page.Memories, func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) })
	return page.Memories
}

// facts are the texts of the facts, sorted.
func (b *bench) facts() []string {
	b.Helper()
	out := []string{}
	for _, m := range b.all(memory.KindFact) {
		out = append(out, m.Fact)
	}
	slices.Sort(out)
	return out
}

// changed is what an operation reports.
func (b *bench) changed(op *sessionstore.Operation) (out []ingest.Changed) {
	b.Helper()
	for after, more := (sessionstore.ChangePosition{}), true; more; more = after != (sessionstore.ChangePosition{}) {
		page, next, err := b.service.Changes(b.Context(), scope, op.ID, after)
		if err != nil {
			b.Fatal(err)
		}
		out, after = append(out, page...), next
	}
	return out
}

// changes are the changes of memories that an operation reports, as "ACTION fact".
func (b *bench) changes(op *sessionstore.Operation) (out []string) {
	b.Helper()
	for _, c := range b.changed(op) {
		if c.Memory != nil {
			out = append(out, string(c.Action)+" "+c.Memory.Fact)
		}
	}
	return out
}

// costOf is the cost that an operation reports.
func (b *bench) costOf(op *sessionstore.Operation) (out ingest.Cost) {
	b.Helper()
	for _, c := range b.changed(op) {
		if c.Cost != nil {
			out = *c.Cost
		}
	}
	return out
}

// errBroken is the error of the fakes below.
var errBroken = errors.New("broken on purpose")

// fuse fails the nth call that goes through it, and no other, before or after the
// call has taken effect.
type fuse struct {
	mu    sync.Mutex
	left  int
	after bool
	blown func() // called then, if it is set
}

func (f *fuse) blow(call func() error) error {
	f.mu.Lock()
	f.left--
	now := f.left == 0
	f.mu.Unlock()
	if now && !f.after {
		return errBroken
	}
	err := call()
	if now && f.blown != nil {
		f.blown()
	}
	if now {
		return errBroken
	}
	return err
}

// fusedMemories and fusedSessions lead the calls of a batch through a fuse.
type fusedMemories struct {
	memory.Store
	*fuse
}

func (f fusedMemories) Get(ctx context.Context, s memory.Scope, ids []string) (out []memory.Memory, err error) {
	return out, f.blow(func() error { out, err = f.Store.Get(ctx, s, ids); return err })
}

func (f fusedMemories) Put(ctx context.Context, s memory.Scope, w []memory.Write) (out []memory.Outcome, err error) {
	return out, f.blow(func() error { out, err = f.Store.Put(ctx, s, w); return err })
}

func (f fusedMemories) Delete(
	ctx context.Context, s memory.Scope, r []memory.Removal,
) (out []memory.Outcome, err error) {
	return out, f.blow(func() error { out, err = f.Store.Delete(ctx, s, r); return err })
}

func (f fusedMemories) List(ctx context.Context, s memory.Scope, l memory.List) (out memory.Page, err error) {
	return out, f.blow(func() error { out, err = f.Store.List(ctx, s, l); return err })
}

func (f fusedMemories) Search(ctx context.Context, s memory.Scope, q memory.Query) (out memory.Found, err error) {
	return out, f.blow(func() error { out, err = f.Store.Search(ctx, s, q); return err })
}

func (f fusedMemories) Revisions(ctx context.Context, s memory.Scope, id string, before int64) (
	out []memory.Revision, err error) {
	return out, f.blow(func() error { out, err = f.Store.Revisions(ctx, s, id, before); return err })
}

func (f fusedMemories) ChangedBy(ctx context.Context, s memory.Scope, operation, from string) (
	ids []string, next string, err error) {
	return ids, next, f.blow(func() error { ids, next, err = f.Store.ChangedBy(ctx, s, operation, from); return err })
}

type fusedSessions struct {
	ingest.Sessions
	*fuse
}

func (f fusedSessions) Events(
	ctx context.Context, w sessionstore.Work, after int64, limit int,
) (out []sessionstore.NumberedEvent, err error) {
	return out, f.blow(func() error { out, err = f.Sessions.Events(ctx, w, after, limit); return err })
}

func (f fusedSessions) Save(ctx context.Context, w sessionstore.Work, to int64, plan json.RawMessage) error {
	return f.blow(func() error { return f.Sessions.Save(ctx, w, to, plan) })
}

func (f fusedSessions) Finish(ctx context.Context, w sessionstore.Work, to int64, c []sessionstore.Change) error {
	return f.blow(func() error { return f.Sessions.Finish(ctx, w, to, c) })
}

// fusedTogether leads the steps of a request through a fuse.
type fusedTogether struct {
	ingest.Together
	*fuse
}

func (f fusedTogether) AppendTurns(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append, turn ingest.TurnWriter) (out sessionstore.Appended, left sessionstore.Work, err error) {
	return out, left, f.blow(func() error {
		out, left, err = f.Together.AppendTurns(ctx, key, events, how, turn)
		return err
	})
}

func (f fusedTogether) PutTurns(ctx context.Context, left sessionstore.Work, turn ingest.TurnWriter) (
	out sessionstore.Work, err error) {
	return out, f.blow(func() error { out, err = f.Together.PutTurns(ctx, left, turn); return err })
}

func isInvalid(err error) bool { return errors.Is(err, memory.ErrInvalid) }
