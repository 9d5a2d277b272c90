package sqlitesession

import (
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// ask stores an event in a session of a scope, and requests memories of it.
func ask(t testing.TB, s *Store, scope memory.Scope) {
	t.Helper()
	e, err := sessionstore.ParseEvent([]byte(`{"id":"e","author":"user","content":{"parts":[{"text":"hello"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := &sessionstore.Request{ID: sessionstore.OperationID(scope, "o")}
	_, err = s.Append(t.Context(), sessionstore.Key{Scope: scope, ID: "s"}, []sessionstore.Event{e},
		sessionstore.Append{Create: true, Request: r})
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB) *Store {
	t.Helper()
	db, err := sqlitedb.Open(sqlitedb.Memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With more apps than one claim looks at, the claims go round all of them.
func TestClaimsGoRound(t *testing.T) {
	s := open(t)
	s.maxApps = 3
	const apps = 8
	for i := range apps {
		for u := range 10 {
			ask(t, s, memory.Scope{App: fmt.Sprint("app", i), User: fmt.Sprint("u", u)})
		}
	}
	seen := map[string]int{}
	for range apps {
		works, err := s.Claim(t.Context(), "me", time.Minute, 1)
		if err != nil || len(works) != 1 {
			t.Fatalf("claimed %+v, %v", works, err)
		}
		seen[works[0].Key.App]++
	}
	// Three, three and two of them: a claim in each part in turn.
	if len(seen) != apps {
		t.Errorf("the first %d claims are of %v", apps, seen)
	}
	n := apps
	for {
		works, err := s.Claim(t.Context(), "me", time.Minute, 4)
		if err != nil {
			t.Fatal(err)
		}
		if n += len(works); len(works) == 0 {
			break
		}
	}
	if n != 10*apps {
		t.Errorf("%d of %d scopes were claimed", n, 10*apps)
	}
}

// A claim takes as long as there are apps with work, however many scopes they have.
func BenchmarkClaim(b *testing.B) {
	for _, shape := range []struct{ apps, users int }{{1, 100}, {1, 20_000}, {100, 100}, {1000, 5}} {
		b.Run(fmt.Sprintf("%d apps of %d users", shape.apps, shape.users), func(b *testing.B) {
			s := open(b)
			for a := range shape.apps {
				for u := range shape.users {
					ask(b, s, memory.Scope{App: fmt.Sprint("app", a), User: fmt.Sprint("u", u)})
				}
			}
			for b.Loop() {
				works, err := s.Claim(b.Context(), "me", time.Microsecond, 4)
				if err != nil || len(works) != 4 {
					b.Fatalf("claimed %d, %v", len(works), err)
				}
			}
		})
	}
}
