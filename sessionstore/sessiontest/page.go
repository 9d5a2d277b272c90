package sessiontest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// pageCases are the promises about the size of what Get, List and Events read at a
// time.
func pageCases() []testCase {
	return []testCase{
		{"events in pages", getPages},
		{"events in bytes", getBytes},
		{"the last n in pages", getRecentPages},
		{"as of the first page", getSnapshot},
		{"a session deleted between pages", getDeleted},
		{"page token of a session", getPageToken},
		{"without state", getNoState},
		{"room for a session", getRoom},
		{"lists in bytes", listBytes},
		{"lists without state", listNoState},
		{"room for a list", listRoom},
		{"walks in bytes", eventsBytes},
	}
}

// long is an event with a text of so many bytes.
func (f *fixture) long(id string, bytes int, at time.Time) sessionstore.Event {
	f.t.Helper()
	return f.event(fmt.Sprintf(
		`{"id":%q,"author":"user","timestamp":%q,"content":{"role":"user","parts":[{"text":%q}]}}`, id,
		sessionstore.FormatTime(at), strings.Repeat("x", bytes)))
}

// page reads one page of a session.
func (f *fixture) page(key sessionstore.Key, get sessionstore.Get) *sessionstore.Session {
	f.t.Helper()
	s, err := f.Get(f.t.Context(), key, get)
	if err != nil {
		f.t.Fatalf("Get(%v, %+v): %v", key, get, err)
	}
	return s
}

// pages reads all pages of a session, and returns the ids of each.
func (f *fixture) pages(key sessionstore.Key, get sessionstore.Get) (out [][]string) {
	f.t.Helper()
	for {
		page := f.page(key, get)
		out = append(out, eventIDs(page.Events))
		if page.NextPageToken == "" {
			return out
		}
		get.PageToken = page.NextPageToken
	}
}

// The pages of a session hold each event once, in the order of Get, and have
// PageSize events except the last one. Events of one moment must neither be hidden
// nor be shown twice where a page ends between them.
func getPages(f *fixture) {
	key, at := session(ann, "s1"), f.now()
	f.create(key, `{"k":1}`)
	var ids []string
	for i := range 7 {
		ids = append(ids, fmt.Sprintf("e%d", i))
		f.append(key, f.saidAt(ids[i], at.Add(time.Duration(i/3)*time.Second)))
	}
	for _, size := range []int{1, 2, 3, 6, 7, 8, sessionstore.MaxPageEvents} {
		var got []string
		pages := f.pages(key, sessionstore.Get{NumRecent: -1, PageSize: size})
		for i, page := range pages {
			if len(page) > size || len(page) < size && i < len(pages)-1 || len(page) == 0 {
				f.t.Errorf("page %d of size %d has %d events", i, size, len(page))
			}
			got = append(got, page...)
		}
		f.equal(fmt.Sprintf("pages of %d", size), got, ids)
	}
	for _, size := range []int{-1, sessionstore.MaxPageEvents + 1} {
		_, err := f.Get(f.t.Context(), key, sessionstore.Get{NumRecent: -1, PageSize: size})
		f.isA(fmt.Sprintf("Get by %d", size), err, memory.ErrInvalid)
	}
}

// A page ends before an event with which its events would have more than PageBytes.
// An event that is larger has a page of its own. So the memory that reading a
// session takes does not grow with the session.
func getBytes(f *fixture) {
	key, at := session(ann, "s1"), f.now()
	const third = sessionstore.PageBytes / 3
	f.create(key, `{}`)
	for i, size := range []int{third, third, third, 2 * sessionstore.PageBytes, 10, 10} {
		f.append(key, f.long(fmt.Sprintf("e%d", i), size, at.Add(time.Duration(i)*time.Second)))
	}
	f.equal("pages", f.pages(key, sessionstore.Get{NumRecent: -1}),
		[][]string{{"e0", "e1"}, {"e2"}, {"e3"}, {"e4", "e5"}})
	f.equal("the last 4", f.pages(key, sessionstore.Get{NumRecent: 4}), [][]string{{"e2"}, {"e3"}, {"e4", "e5"}})
}

// NumRecent and After choose the events, and pages divide them: an event appended
// between two pages does not move the first of the last n.
func getRecentPages(f *fixture) {
	key, at := session(ann, "s1"), f.now()
	f.create(key, `{}`)
	for i := range 6 {
		f.append(key, f.saidAt(fmt.Sprintf("e%d", i), at.Add(time.Duration(i)*time.Second)))
	}
	get := sessionstore.Get{NumRecent: 4, After: at.Add(3 * time.Second), PageSize: 2}
	f.equal("pages", f.pages(key, get), [][]string{{"e3", "e4"}, {"e5"}})
	get.After = time.Time{}
	first := f.page(key, get)
	f.append(key, f.saidAt("e6", at.Add(6*time.Second)))
	get.PageToken = first.NextPageToken
	f.hasEvents("first", first.Events, "e2", "e3")
	f.hasEvents("second", f.page(key, get).Events, "e4", "e5")
}

// All pages show the events that the session had when the first was read, also if
// others are appended meanwhile, with a time before or behind the place of the page.
func getSnapshot(f *fixture) {
	key, at := session(ann, "s1"), f.now()
	f.create(key, `{}`)
	for i := range 4 {
		f.append(key, f.saidAt(fmt.Sprintf("e%d", i), at.Add(time.Duration(i)*time.Second)))
	}
	get := sessionstore.Get{NumRecent: -1, PageSize: 2}
	get.PageToken = f.page(key, get).NextPageToken
	f.append(key, f.saidAt("early", at.Add(-time.Second)), f.saidAt("between", at.Add(2500*time.Millisecond)),
		f.saidAt("late", at.Add(time.Hour)))
	last := f.page(key, get)
	f.hasEvents("second page", last.Events, "e2", "e3")
	f.equal("token of the last page", last.NextPageToken, "")
	f.equal("a later read", len(f.get(key).Events), 7)
}

// A page of a session that was deleted meanwhile is ErrNotFound, and one of a
// successor of its id ErrInvalid. A reader must not take a part for the whole, or
// the events of two sessions for one.
func getDeleted(f *fixture) {
	key := session(ann, "s1")
	get := sessionstore.Get{NumRecent: -1, PageSize: 1}
	f.create(key, `{}`, f.said("e1"), f.said("e2"))
	get.PageToken = f.page(key, get).NextPageToken
	f.delete(key)
	_, err := f.Get(f.t.Context(), key, get)
	f.isA("Get of a deleted session", err, memory.ErrNotFound)
	f.create(key, `{}`, f.said("e1"), f.said("e2"))
	_, err = f.Get(f.t.Context(), key, get)
	f.isA("Get of its successor", err, memory.ErrInvalid)
}

// A token is for the session that it came from; any other text is ErrInvalid.
func getPageToken(f *fixture) {
	get := sessionstore.Get{NumRecent: -1, PageSize: 1}
	for _, key := range []sessionstore.Key{session(ann, "s1"), session(ann, "s2"), session(bob, "s1")} {
		f.create(key, `{}`, f.said("e1"), f.said("e2"))
	}
	good := f.page(session(ann, "s1"), get).NextPageToken
	list, err := f.List(f.t.Context(), ann, sessionstore.List{PageSize: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, token := range []string{"no token!", "%", " ", "\x00", "-1", good + "A", list.NextPageToken} {
		get.PageToken = token
		_, err := f.Get(f.t.Context(), session(ann, "s1"), get)
		f.isA(fmt.Sprintf("token %q", token), err, memory.ErrInvalid)
	}
	get.PageToken = good
	for _, key := range []sessionstore.Key{session(ann, "s2"), session(bob, "s1")} {
		_, err := f.Get(f.t.Context(), key, get)
		f.isA("token of another session", err, memory.ErrInvalid)
	}
}

// NoState leaves out the state, which the pages behind the first would repeat.
func getNoState(f *fixture) {
	key := session(ann, "s1")
	f.create(key, `{"k":1,"user:u":1,"app:a":1}`, f.said("e1"))
	got := f.page(key, sessionstore.Get{NumRecent: -1, NoState: true})
	f.hasEvents("events", got.Events, "e1")
	if got.State != nil {
		f.t.Errorf("the state is %v, want none", got.State)
	}
}

// A Get without room for the state and one event fails with NoRoom, which tells how
// much it takes, and succeeds with that. A caller that has to wait for room reads
// nothing until it has it.
func getRoom(f *fixture) {
	key := session(ann, "s1")
	f.create(key, fmt.Sprintf(`{"k":%q,"user:k":%q,"app:k":%q}`, strings.Repeat("x", 20_000),
		strings.Repeat("y", 30_000), strings.Repeat("z", 40_000)),
		f.long("e1", 50_000, f.now()), f.long("e2", 5_000, f.now()))
	get := sessionstore.Get{NumRecent: -1, Room: 100_000}
	s, err := f.Get(f.t.Context(), key, get)
	full := (*sessionstore.NoRoom)(nil)
	if s != nil || !errors.As(err, &full) || full.Bytes < 140_000 || full.Bytes > 142_000 {
		f.t.Fatalf("Get gives %v, %v; want NoRoom of 140,000 bytes and a little", s, err)
	}
	get.Room = full.Bytes
	page := f.page(key, get)
	f.hasEvents("with that room", page.Events, "e1")
	f.equal("keys", len(page.State), 3)
	get.PageToken, get.NoState = page.NextPageToken, true
	f.hasEvents("behind it", f.page(key, get).Events, "e2")
	f.equal("pages without state", f.pages(key, sessionstore.Get{NumRecent: -1, NoState: true, Room: 51_000}),
		[][]string{{"e1"}, {"e2"}})
}

// A page of a list ends before a session with which it would have more than
// List.Room bytes. The state of the user and of the app counts for each session, as
// an answer repeats it.
func listBytes(f *fixture) {
	for i := range 6 {
		f.create(session(ann, fmt.Sprintf("s%d", i)), fmt.Sprintf(`{"k":%q}`, strings.Repeat("x", 10_000)))
		f.create(session(bob, fmt.Sprintf("s%d", i)), `{}`)
	}
	f.append(session(ann, "s0"), f.sets("e1", fmt.Sprintf(`{"user:k":%q,"app:k":%q}`, strings.Repeat("y", 5_000),
		strings.Repeat("z", 15_000))))
	list := sessionstore.List{Room: 65_000}
	page, err := f.List(f.t.Context(), ann, list)
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("first page", sessionIDs(page.Sessions), []string{"s5", "s4"}) // of 30,000 bytes each, and a little
	f.equal("keys", len(page.Sessions[1].State), 3)
	list.PageToken = page.NextPageToken
	if page, err = f.List(f.t.Context(), ann, list); err != nil {
		f.t.Fatal(err)
	}
	f.equal("second page", sessionIDs(page.Sessions), []string{"s3", "s2"})

	list = sessionstore.List{Room: 65_000, PageSize: 5}
	var sizes []int
	var keys []sessionstore.Key
	for {
		page, err := f.ListApp(f.t.Context(), "shop", list)
		if err != nil {
			f.t.Fatal(err)
		}
		sizes, keys = append(sizes, len(page.Sessions)), append(keys, keysOf(page.Sessions)...)
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			break
		}
	}
	f.equal("pages of the app", sizes, []int{3, 2, 2, 2, 2, 1}) // in turn bob's, of 15,000, and ann's
	f.equal("sessions of the app", keys, keysOf(f.listApp("shop", 0)))
}

// NoState leaves out all state, and only PageSize ends a page of such a list.
func listNoState(f *fixture) {
	for i := range 6 {
		f.create(session(ann, fmt.Sprintf("s%d", i)), fmt.Sprintf(`{"k":%q,"app:k":1}`, strings.Repeat("x", 10_000)))
	}
	list := sessionstore.List{Room: 20_000, NoState: true}
	page, err := f.List(f.t.Context(), ann, list)
	if err != nil {
		f.t.Fatal(err)
	}
	app, err := f.ListApp(f.t.Context(), "shop", list)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, s := range append(page.Sessions, app.Sessions...) {
		if s.State != nil || s.LastUpdateTime.IsZero() {
			f.t.Errorf("session %s has state %v and time %v", s.ID, s.State, s.LastUpdateTime)
		}
	}
	f.equal("sessions", []int{len(page.Sessions), len(app.Sessions)}, []int{6, 6})
}

// A list without room for its first session fails with NoRoom, which tells how much
// that takes, and succeeds with it.
func listRoom(f *fixture) {
	f.create(session(ann, "s0"), fmt.Sprintf(`{"app:k":%q}`, strings.Repeat("x", 20_000)))
	f.create(session(ann, "s1"), `{}`)
	list := func(what string, list func(sessionstore.List) (sessionstore.Page, error)) {
		page, err := list(sessionstore.List{Room: 10_000})
		full := (*sessionstore.NoRoom)(nil)
		if len(page.Sessions) > 0 || !errors.As(err, &full) || full.Bytes < 20_000 || full.Bytes > 21_000 {
			f.t.Fatalf("%s gives %v, %v; want NoRoom of 20,000 bytes and a little", what, page, err)
		}
		if page, err = list(sessionstore.List{Room: full.Bytes}); err != nil {
			f.t.Fatal(err)
		}
		f.equal(what, sessionIDs(page.Sessions), []string{"s1"})
	}
	list("List", func(l sessionstore.List) (sessionstore.Page, error) { return f.List(f.t.Context(), ann, l) })
	list("ListApp", func(l sessionstore.List) (sessionstore.Page, error) { return f.ListApp(f.t.Context(), "shop", l) })
}

// Events ends before an event with which it would have read more than WalkBytes,
// and reads a larger one alone.
func eventsBytes(f *fixture) {
	key := session(ann, "s1")
	const third = sessionstore.WalkBytes / 3
	f.ask(key, f.long("e1", third, f.now()), f.long("e2", third, f.now()), f.long("e3", third, f.now()))
	f.ask(key, f.long("e4", sessionstore.WalkBytes+1, f.now()), f.long("e5", 10, f.now()))
	work := f.claimOne(key)
	var got [][]string
	for after := int64(0); after < 5; {
		events, err := f.Events(f.t.Context(), work, after, 100)
		if err != nil || len(events) == 0 {
			f.t.Fatal(events, err)
		}
		var ids []string
		for _, e := range events {
			ids = append(ids, e.ID)
			after = e.Seq
		}
		got = append(got, ids)
	}
	f.equal("walk", got, [][]string{{"e1", "e2"}, {"e3"}, {"e4"}, {"e5"}})
}
