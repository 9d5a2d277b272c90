package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// manyChanges is a session store in which every operation has as many changes as a
// test says, in pages of perPage. The first of all is a cost.
type manyChanges struct {
	ingest.Sessions
	pages, perPage, size int

	mu     sync.Mutex
	before func(context.Context) error // called before each page, if it is set
}

// first has f called before each page.
func (m *manyChanges) first(f func(context.Context) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = f
}

func (m *manyChanges) wrap(s ingest.Sessions) ingest.Sessions { m.Sessions = s; return m }

func (m *manyChanges) Changes(
	ctx context.Context, scope memory.Scope, id string, after sessionstore.ChangePosition,
) (page []json.RawMessage, next sessionstore.ChangePosition, err error) {
	m.mu.Lock()
	before := m.before
	m.mu.Unlock()
	if before != nil {
		if err := before(ctx); err != nil {
			return nil, next, err
		}
	}
	if _, err := m.Status(ctx, scope, id); err != nil {
		return nil, next, err
	}
	first := int(after.Number) * m.perPage
	for i := first; i < first+m.perPage; i++ {
		doc := fmt.Appendf(nil, `{"action":"CREATED","memory":{"id":"m%d","kind":"fact","fact":"%s","revision":1}}`, i,
			strings.Repeat("x", m.size))
		if i == 0 {
			doc = []byte(`{"cost":{"calls":3,"factsDropped":2}}`)
		}
		page = append(page, doc)
	}
	if next.Number = after.Number + 1; int(next.Number) == m.pages {
		next = sessionstore.ChangePosition{}
	}
	return page, next, nil
}

// ids are those of the memories that an operation must have, in order.
func (m *manyChanges) ids() (out []string) {
	for i := 1; i < m.pages*m.perPage; i++ {
		out = append(out, fmt.Sprint("m", i))
	}
	return out
}

// TestOperationInParts checks that an operation of more changes than are held at a time
// comes whole: read, waited for, retried and streamed.
func TestOperationInParts(t *testing.T) {
	for _, perPage := range []int{1, 40} { // of one, the first page has a cost alone
		t.Run(fmt.Sprint(perPage), func(t *testing.T) { operationInParts(t, perPage) })
	}
}

func operationInParts(t *testing.T, perPage int) {
	m := &manyChanges{pages: 3, perPage: perPage, size: 100}
	a := start(t, func(s *setup) { s.sessions = m.wrap })
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	same(t, "findable", at(op, "findable"), true)
	id := text(op, "id")
	streamed := a.stream(id)
	for i, got := range []any{op, a.want(200, "GET", "/v1/operations/"+id, nil), streamed[len(streamed)-1],
		a.want(200, "POST", "/v1/operations/"+id+"/retry", nil)} {
		var ids []string
		for _, c := range list(got, "response", "memories") {
			ids = append(ids, text(c, "memory", "id"))
		}
		same(t, fmt.Sprint("memories of answer ", i), ids, m.ids())
		equal(t, "end", []any{at(got, "done"), at(got, "metadata", "state"), at(got, "metadata", "usage", "calls"),
			at(got, "metadata", "factsDropped")}, `[true, "SUCCEEDED", 3, 2]`)
	}
	listed := a.want(200, "GET", scope+"/operations", nil)
	same(t, "response in a list", at(listed, "operations", 0, "response"), nil)
}

// TestOperationUnread checks what a client gets if the changes of its operation cannot
// be read: the events are stored, so that is no error of the request that brought them.
func TestOperationUnread(t *testing.T) {
	m := &manyChanges{pages: 3, perPage: 400, size: 1000}
	broken := fmt.Errorf("%w: %s", memory.ErrUnavailable, secret)
	m.first(func(context.Context) error { return broken })
	a := start(t, func(s *setup) { s.sessions = m.wrap })
	op := a.want(202, "POST", scope+"/memories/ingest?wait=true", talk(t))
	id := text(op, "id")
	a.refused(503, "GET", "/v1/operations/"+id, nil)
	r := a.do("GET", "/v1/operations/"+id, nil, "Accept", "text/event-stream")
	if _, err := checkError(r); err != nil || r.status != 503 {
		t.Errorf("as a stream: status %d, %v", r.status, err)
	}

	var mu sync.Mutex
	pages := 0
	m.first(func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if pages++; pages%2 == 0 { // the second of each answer
			return broken
		}
		return nil
	})
	for _, accept := range []string{"application/json", "text/event-stream"} {
		req, err := http.NewRequest("GET", a.url+"/v1/operations/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		res.Body.Close()
		if !errors.Is(err, io.ErrUnexpectedEOF) || bytes.Contains(raw, []byte("metadata")) {
			t.Errorf("%s: %d bytes end with %v, want an unexpected end", accept, len(raw), err)
		}
	}
}

// TestOperationHeld checks that what the process holds of the answers with a large
// operation is bounded, however many clients read them slowly.
func TestOperationHeld(t *testing.T) {
	m := &manyChanges{pages: 48, perPage: 1000, size: 950} // 1 MB a page
	// There is room for each page at which some clients stop, as the buffers of their sockets are full, and
	// for the next ones. With less room the last client waits until those have had their time, 46 s.
	const room = 64 << 20
	a := start(t, func(s *setup) { s.server.MaxAnswers, s.sessions = room, m.wrap })
	id := text(a.want(202, "POST", scope+"/memories/ingest", talk(t)), "id")
	for done := false; !done; {
		done, _ = at(a.want(200, "GET", scope+"/operations", nil), "operations", 0, "done").(bool)
	}
	before := heldBytes()
	for i := range 60 { // all together would be sent 2.9 GB
		conn, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		accept := []string{"application/json", "text/event-stream"}[i%2]
		fmt.Fprintf(conn, "GET /v1/operations/%s HTTP/1.1\r\nHost: %s\r\nAccept: %s\r\n\r\n", id, a.addr, accept)
	}
	// One more reads all of it meanwhile.
	r := a.do("GET", "/v1/operations/"+id, nil)
	same(t, "status", r.status, 200)
	same(t, "memories", bytes.Count(r.raw, []byte(`"CREATED"`)), len(m.ids()))
	size := uint64(cap(r.raw))
	if now := heldBytes(); now > before+size+3*room {
		t.Errorf("%d MB are held, of which %d MB by the client, and %d MB were before", now>>20, size>>20, before>>20)
	}
	runtime.KeepAlive(r)
}

// TestSharedPage checks that an answer goes on when the one has gone that was reading
// the page for both.
func TestSharedPage(t *testing.T) {
	m := &manyChanges{pages: 2, perPage: 5, size: 10}
	a := start(t, func(s *setup) { s.sessions = m.wrap })
	id := text(a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t)), "id")
	reads := make(chan struct{}, 100)
	var once sync.Once
	m.first(func(ctx context.Context) (err error) {
		reads <- struct{}{}
		once.Do(func() {
			<-ctx.Done()
			err = context.Cause(ctx)
		})
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	get := func(ctx context.Context) (reply, error) {
		req, err := http.NewRequestWithContext(ctx, "GET", a.url+"/v1/operations/"+id, nil)
		if err != nil {
			return reply{}, err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return reply{}, err
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		return reply{status: res.StatusCode, raw: raw}, err
	}
	var clients sync.WaitGroup
	clients.Go(func() {
		if r, err := get(ctx); err == nil {
			t.Errorf("the client that left has status %d", r.status)
		}
	})
	<-reads
	for range 10 {
		clients.Go(func() {
			if r, err := get(t.Context()); err != nil || r.status != 200 || bytes.Count(r.raw, []byte(`"CREATED"`)) != 9 {
				t.Errorf("status %d, %v: %s", r.status, err, r.raw)
			}
		})
	}
	cancel()
	clients.Wait()
	// The room comes back. Pages that were shared are kept for a second.
	for end := time.Now().Add(time.Minute); !strings.Contains(string(a.do("GET", "/metrics", nil).raw),
		`memoryd_bytes_in_flight{of="answers"} 0`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the room is not given back")
		}
	}
}

// TestPageKept checks that a page which answers have shared is not read again by one
// that comes right after them, and is given back soon.
func TestPageKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &manyChanges{pages: 1, perPage: 5, size: 10}
		srv := build(t, func() {}, func(s *setup) { s.sessions = m.wrap })
		done, err := parse(ingestWaiting(t.Context(), t, srv, talk(t)).Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		get := func(path string) string {
			r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
			r.Host = "localhost"
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, r)
			return w.Body.String()
		}
		path := "/v1/operations/" + text(done, "id")
		reads := 0
		m.first(func(context.Context) error {
			reads++
			time.Sleep(time.Second) // on the clock of the bubble: both come meanwhile
			return nil
		})
		var both sync.WaitGroup
		both.Go(func() { get(path) })
		both.Go(func() { get(path) })
		both.Wait()
		get(path)
		if reads != 1 {
			t.Errorf("%d reads for two answers at once and one after them", reads)
		}
		time.Sleep(time.Minute)
		const none = "\n" + `memoryd_bytes_in_flight{of="answers"} 0` + "\n"
		if !strings.Contains(get("/metrics"), none) {
			t.Error("the room is not given back")
		}
		get(path)
		get(path)
		if reads != 3 {
			t.Errorf("%d reads, with two answers that shared none", reads)
		}
	})
}
