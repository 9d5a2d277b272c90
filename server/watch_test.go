package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore"
)

// slowSessions is a session store whose reads of operations do something else
// first.
type slowSessions struct {
	ingest.Sessions
	first  func(context.Context) error
	shared bool // with other processes, by what Subscribe says
}

func (s *slowSessions) wrap(all ingest.Sessions) ingest.Sessions { s.Sessions = all; return s }

func (s *slowSessions) Status(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	if err := s.first(ctx); err != nil {
		return nil, err
	}
	return s.Sessions.Status(ctx, scope, id)
}

func (s *slowSessions) Changes(
	ctx context.Context, scope memory.Scope, id string, after sessionstore.ChangePosition,
) ([]json.RawMessage, sessionstore.ChangePosition, error) {
	if err := s.first(ctx); err != nil {
		return nil, after, err
	}
	return s.Sessions.Changes(ctx, scope, id, after)
}

func (s *slowSessions) Subscribe(scope memory.Scope, changed func(string)) (bool, func()) {
	all, cancel := s.Sessions.Subscribe(scope, changed)
	return all && !s.shared, cancel
}

// ingestWaiting sends a request with wait=true without a network, so that it can
// be in a bubble of synctest.
func ingestWaiting(ctx context.Context, t *testing.T, srv *server.Server, body any) *httptest.ResponseRecorder {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, "POST", scope+"/memories/ingest?wait=true", bytes.NewReader(raw))
	r.Host = "localhost"
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	return w
}

// TestWaitEnds checks that a request whose events are stored is answered 202 with
// the state that is known, no later than a second after the limit of 30, whatever
// its store does meanwhile.
func TestWaitEnds(t *testing.T) {
	const limit = 31 * time.Second
	for _, c := range []struct {
		name   string
		shared bool
		store  func(began time.Time) func(context.Context) error
		leave  time.Duration // when the client does, or the server stops
		stop   bool
	}{
		{name: "nothing happens", store: func(time.Time) func(context.Context) error {
			return func(context.Context) error { return nil }
		}},
		{name: "polls", shared: true, store: func(time.Time) func(context.Context) error {
			return func(context.Context) error { return nil }
		}},
		{name: "the store hangs", shared: true, store: func(time.Time) func(context.Context) error {
			return func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		}},
		{name: "the store hangs and heeds no context", shared: true, store: func(time.Time) func(context.Context) error {
			return func(context.Context) error { time.Sleep(time.Minute); return nil }
		}},
		{name: "every read takes 4 seconds", shared: true, store: func(time.Time) func(context.Context) error {
			return func(context.Context) error { time.Sleep(4 * time.Second); return nil }
		}},
		{name: "the store hangs later", shared: true, store: func(began time.Time) func(context.Context) error {
			return func(ctx context.Context) error {
				if time.Since(began) > 29*time.Second {
					<-ctx.Done()
				}
				return ctx.Err()
			}
		}},
		{name: "the store fails", shared: true, store: func(time.Time) func(context.Context) error {
			return func(context.Context) error { return fmt.Errorf("%w: %s", memory.ErrUnavailable, secret) }
		}},
		{name: "the store fails later", shared: true, store: func(began time.Time) func(context.Context) error {
			return func(ctx context.Context) error {
				if time.Since(began) > 10*time.Second {
					return errors.New(secret)
				}
				return nil
			}
		}},
		{name: "the client leaves", leave: time.Second, store: func(time.Time) func(context.Context) error {
			return func(context.Context) error { return nil }
		}},
		{name: "the server stops", leave: time.Second, stop: true, store: func(time.Time) func(context.Context) error {
			return func(context.Context) error { return nil }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, began := newGate(), time.Now()
				sessions := &slowSessions{first: c.store(began), shared: c.shared}
				srv := build(t, func() { close(g.open) },
					func(s *setup) { s.extractor, s.sessions = g, sessions.wrap })
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.leave > 0 {
					end := cancel
					if c.stop {
						end = srv.Stop
					}
					time.AfterFunc(c.leave, end)
				}
				w := ingestWaiting(ctx, t, srv, talk(t))
				if took := time.Since(began); took > limit || c.leave > 0 && took > c.leave+time.Second {
					t.Errorf("answered after %v", took)
				}
				v, err := parse(w.Body.Bytes())
				state := text(v, "metadata", "state")
				if err != nil || w.Code != http.StatusAccepted || state != "PENDING" && state != "RUNNING" ||
					text(v, "id") == "" || strings.Contains(w.Body.String(), secret) {
					t.Errorf("status %d, %v: %s", w.Code, err, w.Body)
				}
			})
		})
	}
}

// TestWaitCountsFromTheRequest checks that the time which a request took to be
// stored is part of its wait.
func TestWaitCountsFromTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, began := newGate(), time.Now()
		srv := build(t, func() { close(g.open) }, func(s *setup) {
			s.extractor = g
			s.sessions = func(all ingest.Sessions) ingest.Sessions { return lateAppend{all} }
		})
		w := ingestWaiting(t.Context(), t, srv, talk(t))
		if took := time.Since(began); w.Code != http.StatusAccepted || took > 31*time.Second {
			t.Errorf("status %d after %v: %s", w.Code, took, w.Body)
		}
	})
}

// lateAppend is a session store that is slow to store events.
type lateAppend struct{ ingest.Sessions }

func (l lateAppend) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append) (sessionstore.Appended, error) {
	time.Sleep(20 * time.Second)
	return l.Sessions.Append(ctx, key, events, how)
}

// hangingAppend is a session store whose appends hang until their context ends, before
// or after the events are stored.
type hangingAppend struct {
	ingest.Sessions
	stored bool
	after  time.Duration // how long an append takes before that
}

func (h hangingAppend) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append) (out sessionstore.Appended, err error) {
	time.Sleep(h.after)
	if !h.stored {
		<-ctx.Done()
		return out, ctx.Err()
	}
	out, err = h.Sessions.Append(ctx, key, events, how)
	<-ctx.Done()
	return out, err
}

// lateBody is a body that a client begins to send after some time.
type lateBody struct {
	io.Reader
	after time.Duration
}

func (b *lateBody) Read(p []byte) (int, error) {
	time.Sleep(b.after)
	b.after = 0
	return b.Reader.Read(p)
}

// TestWaitWhileStoring checks the end of a request with wait=true whose store hangs
// before there is anything to wait for: events that are stored are acknowledged within
// the time of the wait, and so is a failure to store them. A body that came late has
// time to be stored.
func TestWaitWhileStoring(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  hangingAppend
		body   time.Duration // when it comes
		status int
		limit  time.Duration
	}{
		{"stored", hangingAppend{stored: true}, 0, 202, 31 * time.Second},
		{"stored late", hangingAppend{stored: true, after: 29 * time.Second}, 0, 202, 31 * time.Second},
		{"not stored", hangingAppend{}, 0, 503, 31 * time.Second},
		{"stored, a late body", hangingAppend{stored: true, after: 9 * time.Second}, 35 * time.Second, 202, 46 * time.Second},
		{"not stored, a late body", hangingAppend{}, 35 * time.Second, 503, 46 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, began := newGate(), time.Now()
				srv := build(t, func() { close(g.open) }, func(s *setup) {
					s.extractor = g
					s.sessions = func(all ingest.Sessions) ingest.Sessions { c.store.Sessions = all; return c.store }
				})
				raw, err := json.Marshal(talk(t))
				if err != nil {
					t.Fatal(err)
				}
				r := httptest.NewRequestWithContext(t.Context(), "POST", scope+"/memories/ingest?wait=true",
					&lateBody{bytes.NewReader(raw), c.body})
				r.Host = "localhost"
				w := httptest.NewRecorder()
				srv.ServeHTTP(w, r)
				if took := time.Since(began); w.Code != c.status || took > c.limit {
					t.Errorf("status %d after %v: %s", w.Code, took, w.Body)
				}
			})
		})
	}
}

// TestMaxWatchers checks that a stream beyond what one user may have of the places is
// refused in words that name the limit and its flag, that a request that waits is stored and answered at
// once, and that a place is free again when a stream has ended.
func TestMaxWatchers(t *testing.T) {
	g := newGate()
	a := start(t, func(s *setup) { s.extractor, s.ingest.MaxWatchers = g, 8 })
	op := a.want(202, "POST", scope+"/memories/ingest", talk(t))
	path := "/v1/operations/" + text(op, "id")
	a.watch(text(op, "id"), func() {
		a.watch(text(op, "id"), func() {
			r := a.do("GET", path, nil, "Accept", "text/event-stream")
			message, err := checkError(r)
			if err != nil || r.status != 429 || r.header.Get("Retry-After") == "" ||
				!strings.Contains(message, "-max-watchers") || !strings.Contains(message, "6 of 8 places") {
				t.Errorf("status %d, %v: %s", r.status, err, r.raw)
			}
			a.want(200, "GET", path, nil)
			waited := a.want(202, "POST", scope+"/sessions/talk/memories?wait=true", nil)
			same(t, "done", at(waited, "done"), false)
			close(g.open)
		})
	})
	if got := a.stream(text(op, "id")); at(got[len(got)-1], "done") != true {
		t.Errorf("after the others have ended: %v", got)
	}
}

// sharedWriter is the connection of one stream. It notes where in memory the states
// lie that the server writes before the operation is done.
type sharedWriter struct {
	*httptest.ResponseRecorder
	states []*byte
}

// Write implements http.ResponseWriter.
func (w *sharedWriter) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("data: ")) && bytes.Contains(p, []byte(`"done":false`)) {
		w.states = append(w.states, unsafe.SliceData(p))
	}
	return w.ResponseRecorder.Write(p)
}

// TestStreamsShareBytes checks that each state of an operation is encoded once,
// however many streams of it there are: all of them write the same bytes, not equal
// ones. Nothing is left of the streams when they have ended.
func TestStreamsShareBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		srv := build(t, func() {}, func(s *setup) { s.extractor = g })
		request := func(method, path, accept string, body any) *sharedWriter {
			raw, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(raw))
			r.Host = "localhost"
			r.Header.Set("Accept", accept)
			w := &sharedWriter{ResponseRecorder: httptest.NewRecorder()}
			srv.ServeHTTP(w, r)
			return w
		}
		begun, err := parse(request("POST", scope+"/memories/ingest", "", talk(t)).Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		const streams = 100
		var all [streams]*sharedWriter
		var open sync.WaitGroup
		for i := range all {
			open.Go(func() { all[i] = request("GET", "/v1/operations/"+text(begun, "id"), "text/event-stream", nil) })
		}
		time.Sleep(time.Minute) // on the clock of the bubble: all have seen that it runs
		close(g.open)
		open.Wait()
		for i, w := range all {
			if len(w.states) == 0 || w.states[len(w.states)-1] != all[0].states[len(all[0].states)-1] ||
				!bytes.Contains(w.Body.Bytes(), []byte(`"done":true`)) {
				t.Fatalf("stream %d wrote states at %v, the first one at %v: %d %s", i, w.states, all[0].states, w.Code, w.Body)
			}
		}
		left := request("GET", "/metrics", "", nil).Body.String()
		for _, line := range []string{"memoryd_watchers 0", "memoryd_watched_operations 0"} {
			if !slices.Contains(strings.Split(left, "\n"), line) {
				t.Errorf("lacks %q", line)
			}
		}
	})
}
