package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
)

var (
	oldModel = memory.Model{Embedder: "vendor:old", Dimension: 4, Analyzer: "words-1"}
	newModel = memory.Model{Embedder: "new", Dimension: 2, Analyzer: "words-1"}
	moveUser = memory.Scope{App: "app", User: "ann"}
)

func open(t *testing.T, url string, m memory.Model) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, m, &Options{Exact: true, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func noted(id string, n int64) memory.Write {
	return memory.Write{Expect: n, Actor: "client", Terms: memory.Terms{"old": 1}, Vector: []float32{1, 0, 0, 0},
		Memory: memory.Memory{ID: id, Scope: moveUser, Kind: memory.KindFact, Fact: fmt.Sprint(id, " ", n),
			Timestamp: time.Unix(1_700_000_000, 0).UTC()}}
}

func fill(t *testing.T, s *Store, n int) {
	t.Helper()
	var writes []memory.Write
	for i := range n {
		writes = append(writes, noted(fmt.Sprint("m", i), 0))
	}
	if _, err := s.Put(t.Context(), moveUser, writes); err != nil {
		t.Fatal(err)
	}
}

func reindex(_ context.Context, records []memory.Record) error {
	for i := range records {
		records[i].Terms, records[i].Vector = memory.Terms{"new": 1}, []float32{0, 1}
	}
	return nil
}

// moveTo moves a store, trying again where another process was at the end of
// the same move.
func moveTo(ctx context.Context, s *Store, to memory.Model) error {
	for {
		m, err := s.Move(ctx, to)
		if err != nil {
			return err
		}
		if err = m.Finish(ctx, reindex); err == nil || !errors.Is(err, memory.ErrAborted) {
			return err
		}
		if d, err := s.manifestOf(ctx, s.collection); err != nil || d.State == retired {
			return err
		}
	}
}

func findNew(t *testing.T, s *Store) int {
	t.Helper()
	found, err := s.Search(t.Context(), moveUser, memory.Query{Terms: []string{"new", "old"}, Vector: []float32{0, 1},
		Limit: 10_000})
	if err != nil || found.Stats.DF[1] > 0 {
		t.Fatalf("%d memories have old words, %v", found.Stats.DF[1], err)
	}
	for _, run := range found.Runs {
		if run[0].Cosine < 0.99 {
			t.Errorf("%q has another vector", run[0].Memory.ID)
		}
	}
	return len(found.Runs)
}

// Several processes write while several others move. Every acknowledged write
// is there after the move. A process that has the old collection open cannot
// write any longer, and the old collection cannot be opened again.
func TestMoveOfManyProcesses(t *testing.T) {
	url := qdranttest.Start(t).URL(t)
	first := open(t, url, oldModel)
	fill(t, first, 200)
	const writers, movers = 6, 2
	var acknowledged [writers]int64
	var writing, moving sync.WaitGroup
	begun := make(chan struct{}, writers)
	for i := range writers {
		s := open(t, url, oldModel)
		writing.Go(func() {
			for n := int64(0); ; n++ {
				out, err := s.Put(t.Context(), moveUser, []memory.Write{noted(fmt.Sprint("w", i), n)})
				if errors.Is(err, memory.ErrUnavailable) {
					// Perhaps only for the moment: it may have taken effect.
					d, derr := s.manifestOf(t.Context(), s.collection)
					if derr != nil || d.State == retired {
						return
					}
					got, gerr := s.Get(t.Context(), moveUser, []string{fmt.Sprint("w", i)})
					if gerr == nil && len(got) == 1 {
						n = got[0].Revision - 1
					} else {
						n = -1
					}
					continue
				}
				if err != nil || out[0].Err != nil {
					t.Errorf("Put: %+v, %v", out, err)
					return
				}
				if acknowledged[i] = n + 1; n == 3 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-begun
	}
	for range movers {
		s := open(t, url, oldModel)
		moving.Go(func() {
			if err := moveTo(t.Context(), s, newModel); err != nil && !errors.Is(err, memory.ErrAborted) {
				t.Error(err)
			}
		})
	}
	moving.Wait()
	writing.Wait()
	s := open(t, url, newModel)
	if s.ID() != first.ID() {
		t.Error("it is another store")
	}
	for i := range writers {
		past, err := s.Revisions(t.Context(), moveUser, fmt.Sprint("w", i), 0)
		if err != nil || len(past) == 0 || past[0].Revision < acknowledged[i] {
			t.Errorf("of %d acknowledged writes there are %d, %v", acknowledged[i], len(past), err)
		}
	}
	if n := findNew(t, s); n != 200+writers {
		t.Errorf("%d memories are found", n)
	}
	if _, err := first.Put(t.Context(), moveUser, []memory.Write{noted("late", 0)}); !errors.Is(err,
		memory.ErrUnavailable) {
		t.Errorf("a write into the old collection: %v", err)
	}
	if got, err := first.Get(t.Context(), moveUser, []string{"m1"}); err != nil || len(got) != 1 {
		t.Errorf("a read from the old collection: %v", err)
	}
	if _, err := Open(t.Context(), url, oldModel, nil); err == nil ||
		!strings.Contains(err.Error(), "memoryd reembed") {
		t.Errorf("the old collection is opened: %v", err)
	}
}

// A write is not acknowledged if a move ends between its parts, whether it
// reaches the collection before that is retired or after.
func TestMoveAmidWrite(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprint("late=", late), func(t *testing.T) {
			url := qdranttest.Start(t).URL(t)
			s := open(t, url, oldModel)
			fill(t, s, 3)
			writer := open(t, url, oldModel)
			meanwhile := func() {
				if err := moveTo(t.Context(), s, newModel); err != nil {
					t.Error(err)
				}
			}
			var once sync.Once
			config := writer.set.config
			config.GrpcOptions = append(config.GrpcOptions, grpc.WithChainUnaryInterceptor(
				func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
					opts ...grpc.CallOption) error {
					writes := strings.HasSuffix(method, "/UpdateBatch")
					if writes && late {
						once.Do(meanwhile)
					}
					err := invoke(ctx, method, req, reply, cc, opts...)
					if writes && !late {
						once.Do(meanwhile)
					}
					return err
				}))
			client, err := qdrant.NewClient(&config)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			writer.client.Close()
			writer.client = client
			if out, err := writer.Put(t.Context(), moveUser,
				[]memory.Write{noted("amid", 0), noted("m1", 1)}); !errors.Is(err, memory.ErrUnavailable) {
				t.Errorf("the write gives %+v, %v", out, err)
			}
			moved := open(t, url, newModel)
			got, err := moved.Get(t.Context(), moveUser, []string{"amid"})
			if err != nil || (len(got) == 0) != late {
				t.Errorf("of it %v, %v is there", got, err)
			}
		})
	}
}

// If a process is cut off between two steps of the end, the next one can
// complete the move. Before the old collection is retired, every process can go
// on with it; afterwards, only with the new one.
func TestMoveCutOff(t *testing.T) {
	for _, at := range []state{draining, retired} {
		t.Run(string(at), func(t *testing.T) {
			url := qdranttest.Start(t).URL(t)
			s := open(t, url, oldModel)
			fill(t, s, 10)
			mv, err := s.Move(t.Context(), newModel)
			if err != nil {
				t.Fatal(err)
			}
			for n := 1; n > 0; {
				if n, err = mv.Step(t.Context(), reindex); err != nil {
					t.Fatal(err)
				}
			}
			was, err := s.manifestOf(t.Context(), s.collection)
			if err != nil {
				t.Fatal(err)
			}
			now := *was
			now.State = at
			if ok, err := s.swap(t.Context(), s.collection, was, &now); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if _, err := s.Put(t.Context(), moveUser, []memory.Write{noted("late", 0)}); !errors.Is(err,
				memory.ErrUnavailable) {
				t.Errorf("a write: %v", err)
			}
			all, err := StoredModels(t.Context(), url, nil)
			want := map[string]memory.Model{s.ID(): oldModel}
			if at == retired {
				want[s.ID()] = newModel
			}
			if diff := cmp.Diff(want, all); err != nil || diff != "" {
				t.Errorf("stored models: %v (-want +got):\n%s", err, diff)
			}
			if at == retired {
				if n := findNew(t, open(t, url, newModel)); n != 10 {
					t.Errorf("%d memories are found", n)
				}
				return
			}
			again := open(t, url, oldModel)
			if _, err := again.Move(t.Context(), newModel); err != nil {
				t.Fatal(err)
			}
			if _, err := again.Put(t.Context(), moveUser, []memory.Write{noted("again", 0)}); err != nil {
				t.Errorf("a write once the move goes on: %v", err)
			}
			if err := moveTo(t.Context(), again, newModel); err != nil {
				t.Fatal(err)
			}
			if n := findNew(t, open(t, url, newModel)); n != 11 {
				t.Errorf("%d memories are found", n)
			}
		})
	}
}

// An empty collection left by a start with the wrong embedder does not block a
// move. A collection with the memories of another store does.
func TestMoveOntoOthers(t *testing.T) {
	url := qdranttest.Start(t).URL(t)
	s := open(t, url, oldModel)
	fill(t, s, 3)
	other := open(t, url, newModel)
	if _, err := other.Put(t.Context(), moveUser, []memory.Write{{Memory: noted("theirs", 0).Memory}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Move(t.Context(), newModel); err == nil || !strings.Contains(err.Error(), "another store") {
		t.Errorf("a move onto the memories of others: %v", err)
	}
	if got, err := other.Get(t.Context(), moveUser, []string{"theirs"}); err != nil || len(got) != 1 {
		t.Errorf("theirs: %v, %v", got, err)
	}
	byMistake := newModel
	byMistake.Embedder = "mistake"
	open(t, url, byMistake)
	if err := moveTo(t.Context(), s, byMistake); err != nil {
		t.Fatal(err)
	}
	if n := findNew(t, open(t, url, byMistake)); n != 3 {
		t.Errorf("%d memories are found", n)
	}
}

// A collection of the first versions, whose manifest names only the store,
// moves too.
func TestMoveFromEarlierVersion(t *testing.T) {
	url := qdranttest.Start(t).URL(t)
	s := open(t, url, oldModel)
	fill(t, s, 3)
	id := uuid.NewString()
	bare := &qdrant.PointStruct{Id: manifestID,
		Payload: map[string]*qdrant.Value{storeField: qdrant.NewValueString(id)},
		Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{})}
	list := &qdrant.PointsUpdateOperation_PointStructList{Points: []*qdrant.PointStruct{bare}}
	if err := s.update(t.Context(), s.collection, qdrant.NewPointsUpdateUpsert(list)); err != nil {
		t.Fatal(err)
	}
	all, err := StoredModels(t.Context(), url, nil)
	was := memory.Model{Embedder: "vendor_old", Dimension: 4, Analyzer: "words-1"}
	if diff := cmp.Diff(map[string]memory.Model{id: was}, all); err != nil || diff != "" {
		t.Fatalf("stored models: %v (-want +got):\n%s", err, diff)
	}
	old := open(t, url, all[id])
	if err := moveTo(t.Context(), old, newModel); err != nil {
		t.Fatal(err)
	}
	moved := open(t, url, newModel)
	if n := findNew(t, moved); n != 3 || moved.ID() != id {
		t.Errorf("%d memories are found in store %s", n, moved.ID())
	}
}
