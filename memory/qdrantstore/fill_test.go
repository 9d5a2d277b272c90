package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// Searches of a scope of many memories do not wait until its index is read: Qdrant
// answers them, and they see all writes, until the index does.
func TestSearchesWhileIndexIsRead(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, other := followed(t, url), followed(t, url)
	s.atOnce = 10
	for i := range 30 {
		putWord(t, other, fmt.Sprint("w", i))
	}
	c := &calls{}
	c.record(t, s, url)
	reading, goOn := make(chan struct{}, 100), make(chan struct{})
	c.mu.Lock()
	c.after = func(method string, _ any) {
		if method == "Scroll" {
			reading <- struct{}{}
			<-goOn
		}
	}
	c.mu.Unlock()
	for i := range 3 {
		if got := has(t, s, "w1", "w2"); !slices.Equal(got, []string{"w1", "w2"}) {
			t.Fatal("before the index is read:", got)
		}
		word := fmt.Sprint("x", i)
		putWord(t, other, word)
		if got := has(t, s, word); len(got) != 1 {
			t.Fatal("a write before the index is read:", got)
		}
	}
	<-reading
	if s.cache.Held(followScope) != nil {
		t.Fatal("the index is there before it is read")
	}
	close(goOn)
	s.filler.all.Wait()
	if n := s.CacheStats().Loads; n != 1 {
		t.Errorf("%d readings", n)
	}
	c.take()
	if got := has(t, s, "w1", "x0", "x2"); !slices.Equal(got, []string{"w1", "x0", "x2"}) {
		t.Error("by the index:", got)
	}
	if made := c.take(); !slices.Equal(made, []string{"QueryBatch"}) {
		t.Errorf("by the index: %v", made)
	}
}

// Qdrant's lists answer one search at a time while an index is read, and the others wait for that or for the
// index.
func TestSearchesTakeTurnsWhileIndexIsRead(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s := followed(t, url)
	s.atOnce, s.filler.wait = 0, time.Hour
	putWord(t, s, "w1")
	c := &calls{}
	c.record(t, s, url)
	reading, goOn := make(chan struct{}), make(chan struct{})
	atLists, answer := make(chan struct{}, 100), make(chan struct{})
	begun := sync.OnceFunc(func() { close(reading) })
	c.mu.Lock()
	c.after = func(method string, req any) {
		batch, ok := req.(*qdrant.QueryBatchPoints)
		switch lists := ok && batch.GetQueryPoints()[0].GetUsing() != ""; {
		case method == "Scroll":
			begun()
			<-goOn
		case lists:
			atLists <- struct{}{}
			<-answer
		}
	}
	c.mu.Unlock()
	search := func(ctx context.Context) chan error {
		ended := make(chan error, 1)
		go func() {
			found, err := s.Search(ctx, followScope, memory.Query{Terms: []string{"w1"}, Limit: 1})
			if err == nil && len(found.Runs) != 1 {
				err = fmt.Errorf("found %+v", found)
			}
			ended <- err
		}()
		return ended
	}
	first := search(t.Context())
	<-atLists
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := <-search(short); err == nil || len(atLists) > 0 {
		t.Errorf("a second search has error %v, and asked the lists %d times", err, len(atLists))
	}
	<-reading // as a second search asked for it
	s.filler.wait = time.Millisecond
	late := search(t.Context())
	<-atLists // as its turn does not come
	s.filler.wait = time.Hour
	others := []chan error{search(t.Context()), search(t.Context()), search(t.Context())}
	close(goOn)
	for _, ended := range others {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a search waits for the lists of another one though the index is read")
		}
	}
	if len(atLists) > 0 {
		t.Errorf("Qdrant's lists were asked by %d more searches", len(atLists))
	}
	close(answer)
	for _, ended := range []chan error{first, late} {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A search that is cut off while it waits for its turn leaves no reading that nothing begins.
func TestTurnIsCutOff(t *testing.T) {
	t.Parallel()
	s := followed(t, qdranttest.Start(t).URL(t))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range maxReadings / 2 {
		scope := memory.Scope{App: "app", User: fmt.Sprint(i)}
		s.filler.reading(scope).turn <- struct{}{} // of a search that never ends
		if _, err := s.byLists(over, scope); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	s.filler.all.Wait()
	if n := len(s.filler.scopes); n > 0 {
		t.Errorf("%d readings are left", n)
	}
}

// A search that waits for its turn ends with the store.
func TestTurnEndsWithStore(t *testing.T) {
	t.Parallel()
	s := followed(t, qdranttest.Start(t).URL(t))
	s.filler.wait, s.filler.running = time.Hour, true // nothing is read
	leave, err := s.byLists(t.Context(), followScope)
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() {
		_, err := s.byLists(t.Context(), followScope)
		waits <- err
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("error %v, want that the store is closed", err)
	}
	leave()
}

// Apps take turns with their readings, and one app has not all places.
func TestReadingsOfApps(t *testing.T) {
	t.Parallel()
	f := newFiller()
	var flood int
	for i := range 2 * maxReadings {
		if r := f.reading(memory.Scope{App: "flood", User: fmt.Sprint(i)}); r != nil {
			f.queue.Push(memory.Scope{App: "flood", User: fmt.Sprint(i)}, r)
			flood++
		}
	}
	calm := memory.Scope{App: "calm", User: "u"}
	r := f.reading(calm)
	if flood != maxReadings/2 || r == nil {
		t.Fatalf("one app has %d readings; another one has %v", flood, r)
	}
	f.queue.Push(calm, r)
	for i := range 3 {
		next := f.next(func() {})
		f.end(next, time.Second)
		if next.Scope == calm {
			return
		}
		if i == 2 {
			t.Error("the other app is not among the first three")
		}
	}
}

// The end of a store ends the reading of an index that no search waits for, and a store
// that is closed reads none.
func TestCloseWhileIndexIsRead(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	s := followed(t, url)
	s.atOnce, s.opts.Timeout = 0, time.Hour
	putWord(t, s, "w")
	hung := hang(t, s, url, "Scroll")
	has(t, s, "w")
	<-hung
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the store waits for the reading")
	}
	before := len(hung)
	s.fill(memory.Scope{App: "app", User: "bob"})
	s.filler.all.Wait()
	if more := len(hung) - before; more > 0 || s.filler.running {
		t.Errorf("after the end %d calls were made, and readings go on: %t", more, s.filler.running)
	}
}

// hang has the calls of a method that a store makes hang until they are given up. hung has an
// element for each.
func hang(t *testing.T, s *Store, url, hangs string) (hung chan struct{}) {
	t.Helper()
	set, err := parseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	hung = make(chan struct{}, 100)
	set.config.GrpcOptions = append(set.config.GrpcOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
			opts ...grpc.CallOption) error {
			if path.Base(method) == hangs {
				hung <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		}))
	s.client.Close()
	if s.client, err = qdrant.NewClient(&set.config); err != nil {
		t.Fatal(err)
	}
	return hung
}

// A search that counts a scope of many memories while another one has its index read in the
// background does not wait for that reading.
func TestSearchBesideFill(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	s, other := followed(t, url), followed(t, url)
	s.atOnce = 10
	for i := range 30 {
		putWord(t, other, fmt.Sprint("w", i))
	}
	c := &calls{}
	c.record(t, s, url)
	counted, filling, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() {
		close(counted)
		<-filling
	})
	c.mu.Lock()
	c.after = func(method string, _ any) {
		switch method {
		case "Count":
			first()
		case "Scroll":
			<-goOn
		}
	}
	c.mu.Unlock()
	found := make(chan []string, 1)
	go func() { found <- has(t, s, "w1") }()
	<-counted
	s.fill(followScope)
	close(filling)
	select {
	case got := <-found:
		if len(got) != 1 {
			t.Error(got)
		}
	case <-time.After(time.Minute):
		t.Error("the search waits for the index")
	}
	close(goOn)
}

// A reading in the background ends if Qdrant does not answer one of its calls.
func TestFillWithoutAnswer(t *testing.T) {
	t.Parallel()
	url := qdranttest.Start(t).URL(t)
	for _, hangs := range []string{"Count", "QueryBatch"} {
		testFillWithoutAnswer(t, url, hangs)
	}
}

func testFillWithoutAnswer(t *testing.T, url, hangs string) {
	s := followed(t, url)
	putWord(t, s, "w")
	s.atOnce, s.opts.Timeout = 0, 100*time.Millisecond
	hang(t, s, url, hangs)
	s.fill(followScope)
	ended := make(chan struct{})
	go func() {
		s.filler.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Errorf("the reading does not end though %s does not answer", hangs)
	}
}

// A search that is cut off while its index is read leaves nothing that calls a closed store.
func TestCutOffWhileIndexIsRead(t *testing.T) {
	t.Parallel()
	q := qdranttest.Start(t)
	url := q.URL(t)
	putWord(t, followed(t, url), "w")
	for range 100 {
		s := followed(t, url)
		ctx, cut := context.WithCancel(t.Context())
		_, err := s.load(ctx, followScope, func([]*index.Entry) int64 {
			cut()
			return 1 << 62 // more than there is room for
		})
		if err == nil {
			t.Fatal("an index without room is read")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
