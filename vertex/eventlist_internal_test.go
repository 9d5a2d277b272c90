package vertex

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// newSessions opens a store of sessions that a test has for itself.
func newSessions(t *testing.T) sessionstore.Store {
	db, err := sqlitedb.Open(sqlitedb.Memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	store, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A session that has more than an answer may have is read in pages, in every order and by every filter,
// and a page has no more bytes than that, or one event. Without pages it is refused, and the message
// says what to do.
func TestEventsOfALongSession(t *testing.T) {
	store := newSessions(t)
	key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "ann"}, ID: "s"}
	var events []sessionstore.Event
	const many, long, most = 40, 10_000, 50_000
	for i := range many {
		bytes := long
		if i == 7 {
			bytes = 2 * most
		}
		e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id":"e%d","author":%q,"timestamp":%d,"content":{"parts":[{"text":%q}]}}`,
			i, []string{"ann", "agent"}[i%2], 1_700_000_000+i, strings.Repeat("x", bytes)))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if _, err := store.Create(t.Context(), key, sessionstore.Create{Events: events}); err != nil {
		t.Fatal(err)
	}
	for _, filter := range []string{"", "author=ann", "author=agent OR author=ann"} {
		where, err := aip160.Parse(filter, eventFields())
		if err != nil {
			t.Fatal(err)
		}
		for _, descending := range []bool{false, true} {
			list := func(size int, token string) (eventList, error) {
				l := eventList{sessions: store, key: key, size: size, most: most, where: where, descending: descending}
				err := l.read(t.Context(), token)
				return l, err
			}
			if _, err := list(0, ""); !errors.Is(err, memory.ErrExhausted) || !strings.Contains(err.Error(), "pageSize") {
				t.Errorf("%q at once: %v", filter, err)
			}
			seen := map[string]bool{}
			for token, more := "", true; more; more = token != "" {
				l, err := list(20, token)
				if err != nil {
					t.Fatal(err)
				}
				if l.bytes > most && len(l.events) > 1 || len(l.events) == 0 {
					t.Errorf("%q: a page of %d events has %d bytes", filter, len(l.events), l.bytes)
				}
				for _, e := range l.events {
					if seen[e.ID] {
						t.Errorf("%q: %s is on two pages", filter, e.ID)
					}
					seen[e.ID] = true
				}
				token = l.next
			}
			want := many
			if filter == "author=ann" {
				want = many / 2
			}
			if len(seen) != want {
				t.Errorf("%q, descending %v: %d events", filter, descending, len(seen))
			}
		}
	}
}

// changing has a session change before its nth Get. n counts down, below 0 too.
type changing struct {
	sessionstore.Store
	n      int
	change func()
}

// Get implements sessionstore.Store.
func (c *changing) Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	if c.n--; c.n == 0 {
		c.change()
	}
	return c.Store.Get(ctx, key, get)
}

// A list from the newest event on ends also if an older one than all comes meanwhile, and if the session
// is deleted and made again: none of the events that it looks for is there then.
func TestEventsChangeWhileListed(t *testing.T) {
	key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "ann"}, ID: "s"}
	for what, many := range map[string]int{"an older event": 11, "another session": 3} {
		t.Run(what, func(t *testing.T) {
			store := newSessions(t)
			add := func(second int) {
				e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"author":"ann","timestamp":%d}`, second))
				if err != nil {
					t.Fatal(err)
				}
				_, err = store.Append(t.Context(), key, []sessionstore.Event{e}, sessionstore.Append{Create: true})
				if err != nil {
					t.Fatal(err)
				}
			}
			for i := range 10 {
				add(1_700_000_000 + i)
			}
			change := func() {
				if what == "another session" {
					if err := store.Delete(t.Context(), key); err != nil {
						t.Fatal(err)
					}
					add(1_600_000_002)
					add(1_600_000_001)
				}
				add(1_600_000_000)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			l := eventList{sessions: &changing{Store: store, n: 2, change: change}, key: key, most: maxEvents,
				descending: true}
			if err := l.read(ctx, ""); err != nil || len(l.events) != many {
				t.Errorf("%d events, %v", len(l.events), err)
			}
		})
	}
}

// A page behind an event that is not there ends: the session was deleted and made again since.
func TestEventsOfAnotherSession(t *testing.T) {
	key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "ann"}, ID: "s"}
	store := newSessions(t)
	var events []sessionstore.Event
	for i := range 250 {
		e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"author":"ann","timestamp":%d}`, 1_700_000_000+i))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if _, err := store.Append(t.Context(), key, events, sessionstore.Append{Create: true}); err != nil {
		t.Fatal(err)
	}
	l := eventList{sessions: store, key: key, size: 5, most: maxEvents, descending: true}
	err := l.read(t.Context(), eventPlace{ID: "gone", N: 5}.token())
	if err != nil || len(l.events) > 0 || l.next != "" {
		t.Errorf("%d events, next %q, %v", len(l.events), l.next, err)
	}
}

// A filter that few events pass takes few calls of the store: 20,000 events are 200 windows of 100.
func TestEventsOfARareFilter(t *testing.T) {
	key := sessionstore.Key{Scope: memory.Scope{App: "a", User: "ann"}, ID: "s"}
	store := newSessions(t)
	for part := range 20 {
		var events []sessionstore.Event
		for i := range 1000 {
			author := "ann"
			if part == 0 && i == 7 {
				author = "bob"
			}
			e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"author":%q,"timestamp":%d}`, author,
				1_700_000_000+1000*part+i))
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		if _, err := store.Append(t.Context(), key, events, sessionstore.Append{Create: true}); err != nil {
			t.Fatal(err)
		}
	}
	where, err := aip160.Parse(`author="bob"`, eventFields())
	if err != nil {
		t.Fatal(err)
	}
	calls := &changing{Store: store}
	l := eventList{sessions: calls, key: key, size: 5, most: maxEvents, where: where, descending: true}
	if err := l.read(t.Context(), ""); err != nil || len(l.events) != 1 || calls.n < -30 {
		t.Errorf("%d events in %d calls, %v", len(l.events), -calls.n, err)
	}
}
