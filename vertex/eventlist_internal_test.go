package vertex

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// A session that has more than an answer may have is read in pages, in every order and by every filter,
// and a page has no more bytes than that, or one event. Without pages it is refused, and the message
// says what to do.
func TestEventsOfALongSession(t *testing.T) {
	db, err := sqlitedb.Open(sqlitedb.Memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store, err := sqlitesession.New(db, nil)
	if err != nil {
		t.Fatal(err)
	}
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
