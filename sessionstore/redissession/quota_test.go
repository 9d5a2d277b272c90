package redissession_test

import (
	"errors"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/quota"
	"github.com/memoryd/memoryd/quota/quotatest"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// quotas runs the suite of counters on a Redis, which flush empties before each case.
func quotas(t *testing.T, url string, flush func(testing.TB)) {
	quotatest.Run(t, func(t *testing.T) quotatest.Harness {
		flush(t)
		return quotatest.Harness{
			Open: func(t *testing.T, now func() time.Time) quota.Counter {
				s := open(t, url, &redissession.Options{Now: now})
				t.Cleanup(func() { s.Close() })
				return s
			},
			Settle: func(c quota.Counter) { c.(*redissession.Store).WaitLeaving() },
		}
	})
}

func TestQuotas(t *testing.T) {
	r := redistest.Start(t)
	quotas(t, r.URL(), r.Flush)
	t.Run("a process dies", func(t *testing.T) { r.Flush(t); diedWithPlaces(t, r.URL()) })
	t.Run("sessions expire", func(t *testing.T) { r.Flush(t); expiredMakesRoom(t, r.URL()) })
	t.Run("Redis restarts", func(t *testing.T) {
		r.Flush(t)
		s := open(t, r.URL(), nil)
		defer s.Close()
		gates := []quota.Gate{{Name: "app/rate/", Every: time.Hour, Size: 1}, {Name: "app/places/", Size: 1}}
		if full, _, err := s.Pass(t.Context(), "shop", "1", gates); full != -1 || err != nil {
			t.Fatal(full, err)
		}
		r.Kill()
		r.Run(t)
		for i := range gates {
			if full, _, err := s.Pass(t.Context(), "shop", "2", gates[i:i+1]); full != 0 || err != nil {
				t.Errorf("%s: full %d, %v", gates[i].Name, full, err)
			}
		}
	})
}

func TestQuotasOnCluster(t *testing.T) {
	c := redistest.StartCluster(t)
	quotas(t, c.URL(), c.Flush)
}

// The places of a process that died are free again after PlaceTime, by the clock of
// Redis.
func diedWithPlaces(t *testing.T, url string) {
	now := time.Now()
	s := open(t, url, &redissession.Options{Now: func() time.Time { return now }})
	defer s.Close()
	room := []quota.Gate{{Name: "user/places/ann", Size: 1}}
	for _, c := range []struct {
		id   string
		full int
		then time.Duration
	}{{"of one that dies", -1, quota.PlaceTime - time.Second}, {"early", 0, time.Second}, {"later", -1, 0}} {
		if full, _, err := s.Pass(t.Context(), "shop", c.id, room); full != c.full || err != nil {
			t.Errorf("%s: full %d, %v", c.id, full, err)
		}
		now = now.Add(c.then)
	}
}

// A session that has expired makes room for another one.
func expiredMakesRoom(t *testing.T, url string) {
	ctx := t.Context()
	s := open(t, url, &redissession.Options{MaxSessions: 2})
	defer s.Close()
	create := func(id string) error {
		key := sessionstore.Key{Scope: memory.Scope{App: "shop", User: "ann"}, ID: id}
		_, err := s.Create(ctx, key, sessionstore.Create{})
		return err
	}
	if err := errors.Join(create("1"), create("2")); err != nil {
		t.Fatal(err)
	}
	if err := create("3"); !errors.Is(err, memory.ErrExhausted) {
		t.Errorf("a third session: %v", err)
	}
	c := redissession.Client(s)
	all, err := c.Keys(ctx, "memoryd:*:session:*").Result()
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if err := c.Del(ctx, all[0]).Err(); err != nil { // as Redis does at its time
		t.Fatal(err)
	}
	if err := create("3"); err != nil {
		t.Errorf("in the place of one that has expired: %v", err)
	}
	if err := create("4"); !errors.Is(err, memory.ErrExhausted) {
		t.Errorf("one more: %v", err)
	}
}

// What a request pays on a Redis for limits of all kinds: one call.
func BenchmarkPass(b *testing.B) {
	s := open(b, redistest.Start(b).URL(), nil)
	defer s.Close()
	var gates []quota.Gate
	for _, of := range []string{"key", "app", "user"} {
		gates = append(gates, quota.Gate{Name: of + "/rate/a", Every: 100 * time.Microsecond, Size: 10_000},
			quota.Gate{Name: of + "/places/a", Size: 10})
	}
	for b.Loop() {
		if _, _, err := s.Pass(b.Context(), "shop", "1", gates); err != nil {
			b.Fatal(err)
		}
	}
}
