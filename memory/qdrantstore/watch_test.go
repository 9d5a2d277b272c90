package qdrantstore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

// A collection that is older than before, gone, or another one is noticed by a look,
// logged once, and told until it is back.
func TestWatch(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := qdranttest.Start(t)
	s, err := Open(ctx, server.URL(t), Model{Embedder: "e", Dimension: 4, Analyzer: "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	look := func(want string) {
		t.Helper()
		out.Reset()
		for range 2 {
			if s.Look(ctx, log) {
				t.Fatal("the memories have moved")
			}
		}
		err := s.Check(ctx)
		if want == "" {
			if err != nil || out.Len() > 0 {
				t.Errorf("a healthy collection: %v, %s", err, out.String())
			}
			return
		}
		if damage := (*memory.Damage)(nil); !errors.As(err, &damage) || !strings.Contains(damage.Error(), want) ||
			!strings.Contains(damage.Error(), "memoryd rebuild") {
			t.Errorf("check: %v, want %q and the remedy", err, want)
		}
		said := strings.Count(out.String(), "Qdrant has lost memories")
		if said != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("the log says it %d times, want once %q: %s", said, want, out.String())
		}
	}
	look("")
	put := func(id string) {
		t.Helper()
		scope := memory.Scope{App: "app", User: "ann"}
		w := memory.Write{Actor: "test", Memory: memory.Memory{ID: id, Scope: scope, Kind: memory.KindFact, Fact: id,
			Timestamp: time.Unix(1_700_000_000, 0)}}
		if _, err := s.Put(ctx, scope, []memory.Write{w}); err != nil {
			t.Fatal(err)
		}
		if err := s.renew(ctx); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	restore := server.Backup(t)
	if err := s.renew(ctx); err != nil { // nothing was written: an older copy has lost nothing
		t.Fatal(err)
	}
	restore()
	look("")
	put("b")
	newest := server.Backup(t)
	restore()
	look("is older")
	newest()
	look("")
	if err := s.client.DeleteCollection(ctx, s.collection); err != nil {
		t.Fatal(err)
	}
	look("is gone")
	other, err := Open(ctx, "qdrant://"+server.Addr+"?collection="+s.set.collection, s.model, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	look("another collection")
	if other.Look(ctx, log); other.Check(ctx) != nil {
		t.Errorf("the other one: %v", other.Check(ctx))
	}
}

// companion is sessions that keep how far memories had got.
type companion struct {
	seen  string
	want  []string // what Expect was told
	beats map[string]int64
}

func (c *companion) Seen() ([]byte, error) { return []byte(c.seen), nil }

func (c *companion) Expect(_ context.Context, seen []byte) error {
	c.want = append(c.want, string(seen))
	return nil
}

func (c *companion) Remember(_ context.Context, collection string, beat int64) error {
	c.beats[collection] = beat
	return nil
}

func (c *companion) Remembered(_ context.Context, collection string) (int64, bool, error) {
	beat, known := c.beats[collection]
	return beat, known && beat == 0, nil
}

// A collection that is restored from an older copy while no process runs is noticed
// by the next one, until that is accepted. It tells the sessions how far they had got.
func TestAccompany(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := qdranttest.Start(t)
	url, c := server.URL(t), &companion{beats: map[string]int64{}}
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	opened := func() *Store {
		t.Helper()
		s, err := Open(ctx, url, Model{Embedder: "e", Dimension: 4, Analyzer: "a"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if err := s.Accompany(ctx, c); err != nil {
			t.Fatal(err)
		}
		return s
	}
	renew := func(s *Store, seen string) {
		t.Helper()
		c.seen = seen
		if err := s.renew(ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.renew(ctx); err != nil { // changes nothing
			t.Fatal(err)
		}
	}
	s := opened()
	late := opened() // a process that renews seldom
	renew(s, "one")
	restore := server.Backup(t)
	renew(s, "two")
	if is, seen, err := s.readWitness(ctx); err != nil || string(seen) != "two" || is != c.beats[s.collection] {
		t.Errorf("the collection has %d and %q (%v), the sessions %d", is, seen, err, c.beats[s.collection])
	}
	renew(late, "three")
	if s.Look(ctx, log); s.Check(ctx) != nil {
		t.Error(s.Check(ctx))
	}

	restore()
	after := opened()
	if want := []string{"", "", "one"}; !slices.Equal(c.want, want) {
		t.Errorf("the sessions were told %q, want %q", c.want, want)
	}
	for _, s := range []*Store{after, s, late} {
		for range 2 {
			if s.Look(ctx, log); s.Check(ctx) == nil {
				t.Error("an older collection is taken for whole")
			}
		}
	}
	if n := strings.Count(out.String(), "is older"); n != 3 {
		t.Errorf("three processes say it %d times:\n%s", n, out.String())
	}
	c.beats[s.collection] = 0 // accepted
	for _, s := range []*Store{after, s, late} {
		if s.Look(ctx, log); s.Check(ctx) != nil {
			t.Error(s.Check(ctx))
		}
	}
	renew(late, "four")
	if s := opened(); s.Check(ctx) != nil {
		t.Error(s.Check(ctx))
	}
}

// renewing is a companion that another process tells of the collection while it is asked.
type renewing struct {
	companion
	renew func()
}

func (r *renewing) Remembered(ctx context.Context, collection string) (int64, bool, error) {
	r.renew()
	return r.companion.Remembered(ctx, collection)
}

// A process that starts while another one renews finds nothing lost.
func TestAccompanyWhileRenewed(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), qdranttest.Start(t).URL(t)
	c := &renewing{companion: companion{beats: map[string]int64{}}, renew: func() {}}
	var stores [2]*Store
	for i := range stores {
		s, err := Open(ctx, url, Model{Embedder: "e", Dimension: 4, Analyzer: "a"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores[i] = s
	}
	if err := stores[0].Accompany(ctx, c); err != nil {
		t.Fatal(err)
	}
	c.renew = func() {
		c.seen += "more"
		if err := stores[0].renew(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := stores[1].Accompany(ctx, c); err != nil {
		t.Fatal(err)
	}
	if c.beats[stores[1].collection] == 0 {
		t.Error("nothing was renewed")
	}
	if err := stores[1].Check(ctx); err != nil {
		t.Error(err)
	}
}

// slow is a companion that does not answer until it may.
type slow struct {
	companion
	asked, answer chan struct{}
}

func (s *slow) Remember(context.Context, string, int64) error {
	s.asked <- struct{}{}
	<-s.answer
	return nil
}

// Health does not wait for a call that Watch makes.
func TestCheckBesideWatch(t *testing.T) {
	t.Parallel()
	server := qdranttest.Start(t)
	s, err := Open(t.Context(), server.URL(t), Model{Embedder: "e", Dimension: 4, Analyzer: "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &slow{companion{seen: "one"}, make(chan struct{}), make(chan struct{})}
	if err := s.Accompany(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { s.Watch(ctx, slog.New(slog.DiscardHandler)) })
	<-c.asked
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	close(c.answer)
	cancel()
	watching.Wait()
}
