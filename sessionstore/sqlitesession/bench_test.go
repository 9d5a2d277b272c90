package sqlitesession_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

func benchStore(b *testing.B) *sqlitesession.Store {
	b.Helper()
	db, err := sqlitedb.Open(filepath.Join(b.TempDir(), "memoryd.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	s, err := sqlitesession.New(db, nil)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func benchEvent(b *testing.B, n int) sessionstore.Event {
	b.Helper()
	e, err := sessionstore.ParseEvent(fmt.Appendf(nil,
		`{"id": "e%d", "invocationId": "i", "author": "user", "timestamp": %d,
		"content": {"role": "user", "parts": [{"text": "I went to the market and bought apples, pears and a melon."}]},
		"actions": {"stateDelta": {"last": %d}}}`, n, 1_700_000_000+n, n))
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// fill makes a session of n events.
func fill(b *testing.B, s *sqlitesession.Store, key sessionstore.Key, n int) {
	b.Helper()
	if _, err := s.Create(b.Context(), key, sessionstore.Create{}); err != nil {
		b.Fatal(err)
	}
	for from := 0; from < n; from += 1000 {
		var events []sessionstore.Event
		for i := from; i < min(n, from+1000); i++ {
			events = append(events, benchEvent(b, i))
		}
		if _, err := s.Append(b.Context(), key, events, sessionstore.Append{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend appends one event, durably, to sessions of several lengths:
// the times should be alike.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			s := benchStore(b)
			key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "u"}, ID: "s"}
			fill(b, s, key, n)
			for i := 0; b.Loop(); i++ {
				if _, err := s.Append(b.Context(), key, []sessionstore.Event{benchEvent(b, n+i)},
					sessionstore.Append{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppendTogether is 16 writers on sessions of their own: the commits
// are shared.
func BenchmarkAppendTogether(b *testing.B) {
	s := benchStore(b)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "u"}}
		made, err := s.Create(b.Context(), key, sessionstore.Create{})
		if err != nil {
			b.Error(err)
			return
		}
		for i := 0; pb.Next(); i++ {
			if _, err := s.Append(b.Context(), made.Key, []sessionstore.Event{benchEvent(b, i)},
				sessionstore.Append{}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkGetLast20 reads the last 20 events of sessions of several lengths:
// the times should be alike.
func BenchmarkGetLast20(b *testing.B) {
	for _, n := range []int{20, 1_000, 100_000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			s := benchStore(b)
			key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "u"}, ID: "s"}
			fill(b, s, key, n)
			for b.Loop() {
				if got, err := s.Get(b.Context(), key, sessionstore.Get{NumRecent: 20}); err != nil ||
					len(got.Events) != 20 {
					b.Fatal(len(got.Events), err)
				}
			}
		})
	}
}

// BenchmarkAppendMany appends 10,000 events in one call, with state that each of them
// changes and without. held-ms is how long the one writer was held for it.
func BenchmarkAppendMany(b *testing.B) {
	for _, keep := range []bool{true, false} {
		b.Run(fmt.Sprintf("state=%t", !keep), func(b *testing.B) {
			var held []float64
			for b.Loop() {
				b.StopTimer()
				s := benchStore(b)
				key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "u"}, ID: "s"}
				var events []sessionstore.Event
				for i := range 10_000 {
					events = append(events, benchEvent(b, i))
				}
				b.StartTimer()
				if _, err := s.Append(b.Context(), key, events,
					sessionstore.Append{Create: true, KeepState: keep}); err != nil {
					b.Fatal(err)
				}
				held = append(held, float64(s.DB().Writes().Slowest.Microseconds())/1000)
			}
			b.ReportMetric(slices.Min(held), "held-ms-min")
			slices.Sort(held)
			b.ReportMetric(held[len(held)/2], "held-ms-p50")
		})
	}
}

// BenchmarkRequest appends one event with a request for memories, as an ingestion does, for
// one of 1,000 users, and finishes none.
func BenchmarkRequest(b *testing.B) {
	s := benchStore(b)
	for i := 0; b.Loop(); i++ {
		scope := memory.Scope{App: "a", User: fmt.Sprint("u", i%1000)}
		_, err := s.Append(b.Context(), sessionstore.Key{Scope: scope, ID: "s"}, []sessionstore.Event{benchEvent(b, i)},
			sessionstore.Append{Create: true, Request: &sessionstore.Request{ID: sessionstore.OperationID(scope, fmt.Sprint(i))}})
		if err != nil {
			b.Fatal(err)
		}
	}
}
