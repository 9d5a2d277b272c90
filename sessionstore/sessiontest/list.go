package sessiontest

import (
	"fmt"
	"slices"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// listCases are the promises of Store.List and Store.ListApp, and of their
// pages.
func listCases() []testCase {
	return []testCase{
		{"sessions without events", listSessions},
		{"nothing", listNothing},
		{"one user's", listScope},
		{"one app's", listApp},
		{"pages", listPages},
		{"changes between pages", listChanges},
		{"page size", listPageSize},
		{"page token", listPageToken},
		{"sessions aside", listAside},
	}
}

// A list has the merged state and the time of each session, and no events. The
// newest created is first, whatever was updated since. A list is for choosing a
// session: with events it would be too large, and an order by update would move
// while pages are read.
func listSessions(f *fixture) {
	for i := range 3 {
		f.clock.advance(time.Second)
		f.create(session(ann, fmt.Sprintf("s%d", i)), fmt.Sprintf(`{"n":%d,"user:u":1,"app:a":1}`, i), f.said("e1"))
	}
	created := f.now()
	f.clock.advance(time.Second)
	f.append(session(ann, "s1"), f.sets("e2", `{"user:u":2,"app:b":2,"temp:t":1}`))
	want := []sessionstore.Session{
		{Key: session(ann, "s2"), State: f.state(`{"n":2,"user:u":2,"app:a":1,"app:b":2}`), CreateTime: created,
			LastUpdateTime: created},
		{Key: session(ann, "s1"), State: f.state(`{"n":1,"user:u":2,"app:a":1,"app:b":2}`),
			CreateTime: created.Add(-time.Second), LastUpdateTime: f.now()},
		{Key: session(ann, "s0"), State: f.state(`{"n":0,"user:u":2,"app:a":1,"app:b":2}`),
			CreateTime: created.Add(-2 * time.Second), LastUpdateTime: created.Add(-2 * time.Second)},
	}
	f.equal("List", f.list(ann, 0), want)
	f.equal("ListApp", f.listApp("shop", 0), want)
}

// A list of nothing is an empty page. New users have no sessions, and that is
// no error.
func listNothing(f *fixture) {
	page, err := f.List(f.t.Context(), ann, sessionstore.List{})
	if err != nil || len(page.Sessions) != 0 || page.NextPageToken != "" {
		f.t.Errorf("List gives %+v, %v", page, err)
	}
	page, err = f.ListApp(f.t.Context(), "shop", sessionstore.List{})
	if err != nil || len(page.Sessions) != 0 || page.NextPageToken != "" {
		f.t.Errorf("ListApp gives %+v, %v", page, err)
	}
}

// List reads one user of one app. A prefix or a pattern that matches another
// scope would show it.
func listScope(f *fixture) {
	f.create(session(ann, "s1"), `{}`)
	f.create(session(bob, "s2"), `{}`)
	f.create(session(memory.Scope{App: "bank", User: "ann"}, "s3"), `{}`)
	f.equal("ann's", sessionIDs(f.list(ann, 0)), []string{"s1"})
	f.equal("bob's", sessionIDs(f.list(bob, 0)), []string{"s2"})
	f.equal("of a user without sessions", sessionIDs(f.list(memory.Scope{App: "shop", User: "%"}, 0)), []string(nil))
}

// ListApp reads all users of one app, each session with its own user's state.
// This is the one read across users, for administrators.
func listApp(f *fixture) {
	f.create(session(ann, "s1"), `{"user:name":"Ann"}`)
	f.clock.advance(time.Second)
	f.create(session(bob, "s1"), `{"user:name":"Bob","app:a":1}`)
	f.clock.advance(time.Second)
	f.create(session(memory.Scope{App: "shop2", User: "ann"}, "s1"), `{"user:name":"another Ann"}`)
	got := f.listApp("shop", 0)
	f.equal("keys", keysOf(got), []sessionstore.Key{session(bob, "s1"), session(ann, "s1")})
	f.hasState("bob's", got[0].State, `{"user:name":"Bob","app:a":1}`)
	f.hasState("ann's", got[1].State, `{"user:name":"Ann","app:a":1}`)
	f.equal("sessions of another app", len(f.listApp("shop2", 0)), 1)
	f.equal("sessions of no app", len(f.listApp("sho", 0)), 0)
}

// keysOf returns the keys of sessions, in order.
func keysOf(sessions []sessionstore.Session) (out []sessionstore.Key) {
	for _, s := range sessions {
		out = append(out, s.Key)
	}
	return out
}

// Walking the pages returns each session exactly once, in one order, even if
// all were made at one moment. Creation times alone do not order sessions that
// an import makes together.
func listPages(f *fixture) {
	var made []string
	for i := range 25 {
		id := fmt.Sprintf("s%02d", i)
		made = append(made, id)
		f.create(session(ann, id), `{}`)
		f.create(session(bob, id), `{}`)
	}
	whole, wholeApp := f.list(ann, 0), f.listApp("shop", 0)
	sorted := sessionIDs(whole)
	slices.Sort(sorted)
	f.equal("sessions", sorted, made)
	f.equal("sessions of the app", len(wholeApp), 50)
	for _, size := range []int{1, 2, 7, 24, 25, 26, memory.MaxPageSize} {
		f.equal(fmt.Sprintf("List by %d", size), keysOf(f.list(ann, size)), keysOf(whole))
		f.equal(fmt.Sprintf("ListApp by %d", size), keysOf(f.listApp("shop", size)), keysOf(wholeApp))
	}
}

// Sessions made or deleted while the pages are walked neither hide nor repeat
// the others. Long lists are read while the app runs.
func listChanges(f *fixture) {
	var want []string
	for i := range 12 {
		f.clock.advance(time.Second)
		f.create(session(ann, fmt.Sprintf("s%02d", i)), `{}`)
	}
	seen := map[string]int{}
	for token, n := "", 0; ; n++ {
		page, err := f.List(f.t.Context(), ann, sessionstore.List{PageSize: 3, PageToken: token})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, s := range page.Sessions {
			seen[s.ID]++
		}
		if n == 0 { // s11, s10 and s09 were shown
			f.delete(session(ann, "s10"))
			f.delete(session(ann, "s09"))
			f.delete(session(ann, "s08"))
		}
		f.clock.advance(time.Second)
		f.create(session(ann, fmt.Sprintf("new%d", n)), `{}`)
		f.append(session(ann, "s00"), f.said(fmt.Sprintf("e%d", n)))
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	for i := range 12 {
		if i != 8 {
			want = append(want, fmt.Sprintf("s%02d", i))
		}
	}
	for _, id := range want {
		f.equal("times shown: "+id, seen[id], 1)
	}
	f.equal("times shown: s08, deleted before its page", seen["s08"], 0)
}

// A page has PageSize sessions, or the default number. A size out of range is
// ErrInvalid. Without a bound one call could read all of a large store.
func listPageSize(f *fixture) {
	for i := range memory.DefaultPageSize + 1 {
		f.create(session(ann, fmt.Sprintf("s%d", i)), `{}`)
	}
	for size, want := range map[int]int{0: memory.DefaultPageSize, 1: 1,
		memory.DefaultPageSize + 1: memory.DefaultPageSize + 1} {
		page, err := f.List(f.t.Context(), ann, sessionstore.List{PageSize: size})
		if err != nil || len(page.Sessions) != want ||
			(page.NextPageToken == "") != (want == memory.DefaultPageSize+1) {
			f.t.Errorf("page size %d gives %d sessions, next page %q, %v", size, len(page.Sessions), page.NextPageToken,
				err)
		}
	}
	for _, size := range []int{-1, memory.MaxPageSize + 1} {
		_, err := f.List(f.t.Context(), ann, sessionstore.List{PageSize: size})
		f.isA(fmt.Sprintf("List by %d", size), err, memory.ErrInvalid)
		_, err = f.ListApp(f.t.Context(), "shop", sessionstore.List{PageSize: size})
		f.isA(fmt.Sprintf("ListApp by %d", size), err, memory.ErrInvalid)
		_, _, err = f.Operations(f.t.Context(), ann, sessionstore.List{PageSize: size})
		f.isA(fmt.Sprintf("Operations by %d", size), err, memory.ErrInvalid)
	}
}

// A malformed page token, or one of another list, is ErrInvalid. A token is
// input from outside; it must not become an offset into another user's list.
func listPageToken(f *fixture) {
	invalid := func(token string) {
		f.t.Helper()
		_, err := f.List(f.t.Context(), bob, sessionstore.List{PageToken: token})
		f.isA(fmt.Sprintf("List, token %q", token), err, memory.ErrInvalid)
		_, err = f.ListApp(f.t.Context(), "shop", sessionstore.List{PageToken: token})
		f.isA(fmt.Sprintf("ListApp, token %q", token), err, memory.ErrInvalid)
		_, _, err = f.Operations(f.t.Context(), bob, sessionstore.List{PageToken: token})
		f.isA(fmt.Sprintf("Operations, token %q", token), err, memory.ErrInvalid)
	}
	for _, token := range []string{"no token!", "%", " ", "\x00", "😀", "-1", "1.5", "../x", "5", "zz"} {
		invalid(token)
	}
	for i := range 4 {
		f.create(session(bob, fmt.Sprintf("s%d", i)), `{}`)
		f.create(session(ann, fmt.Sprintf("s%d", i)), `{}`)
	}
	page, err := f.List(f.t.Context(), ann, sessionstore.List{PageSize: 2})
	if err != nil {
		f.t.Fatal(err)
	}
	invalid(page.NextPageToken)
}

// Sessions aside are left out by a list with NoAside, and none of its pages is shorter for them: many
// clients take a short page for the last one. Ids that only look like theirs are others.
func listAside(f *fixture) {
	var want []sessionstore.Key
	for i := range 24 {
		f.clock.advance(time.Second)
		key := session(ann, fmt.Sprint("s", i))
		switch {
		case i%4 == 0 && i%8 == 0:
			key.Scope = bob
		case i%4 == 0:
			key.ID = fmt.Sprint([]string{"~streams~", "~contents", "~CONTENTS~"}[i%3], i)
		case i%2 == 0:
			key.ID = fmt.Sprint(sessionstore.StreamPrefix, i)
		default:
			key.ID = fmt.Sprint(sessionstore.ContentsPrefix, i)
		}
		if f.create(key, `{}`); i%4 == 0 {
			want = append(want, key)
		}
	}
	of := func(scope memory.Scope) (out []sessionstore.Key) {
		for _, key := range want {
			if scope.User == "" || key.Scope == scope {
				out = append(out, key)
			}
		}
		return out
	}
	all := memory.Cmp{Field: "labels", Key: "none", Op: memory.OpNot, Value: memory.Text("x")}
	for _, list := range []sessionstore.List{{}, {Order: sessionstore.Order{Ascending: true}}, {NoState: true},
		{Order: sessionstore.Order{Updated: true}}, {Order: sessionstore.Order{Updated: true, Ascending: true}},
		{Where: all}} {
		for _, scope := range []memory.Scope{ann, bob, {App: "shop"}} {
			for _, size := range []int{2, 0} {
				list := list
				list.NoAside, list.PageSize = true, size
				want := of(scope)
				if !list.Order.Ascending {
					slices.Reverse(want)
				}
				what := fmt.Sprintf("%+v of %v", list, scope)
				var got []sessionstore.Key
				for more := true; more; more = list.PageToken != "" {
					read := func() (sessionstore.Page, error) { return f.List(f.t.Context(), scope, list) }
					if scope.User == "" {
						read = func() (sessionstore.Page, error) { return f.ListApp(f.t.Context(), scope.App, list) }
					}
					page, err := read()
					if err != nil {
						f.t.Fatalf("%s: %v", what, err)
					}
					if list.PageToken = page.NextPageToken; list.PageToken != "" && len(page.Sessions) != size {
						f.t.Errorf("%s: a page of %d sessions", what, len(page.Sessions))
					}
					got = append(got, keysOf(page.Sessions)...)
				}
				f.equal(what, got, want)
			}
		}
	}
	f.equal("a list of all", len(f.listApp("shop", 0)), 24)
}
