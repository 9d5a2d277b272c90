package sessiontest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// filterCases are the promises about lists with a filter or an order, and about
// Store.Find.
func filterCases() []testCase {
	return []testCase{
		{"passes what it matches", filterMatches},
		{"before the limit", filterPages},
		{"refuses bad ones", filterRefused},
		{"orders", orderLists},
		{"order moves with updates", orderMoves},
		{"tokens of other lists", filterTokens},
		{"finds by id", findByID},
		{"finds no more", findGone},
	}
}

// some makes sessions of two users that differ in all that filters compare.
func (f *fixture) some() (all []sessionstore.Session) {
	for i := range 12 {
		scope := ann
		if i%3 == 0 {
			scope = bob
		}
		d := sessionstore.Details{DisplayName: fmt.Sprintf("Talk %d", i), Labels: map[string]string{
			"half": fmt.Sprint(i / 6), "n": fmt.Sprint(i)}}
		if i%2 == 0 {
			d.Labels["even"] = "true"
			d.ExpireTime = f.now().Add(time.Duration(i+10) * time.Hour)
		}
		f.createWith(session(scope, fmt.Sprintf("s%02d", i)), d,
			f.saidAt("e1", f.now().Add(-time.Duration(i)*time.Minute)))
		f.clock.advance(time.Second)
	}
	return f.listApp("shop", 0)
}

// filters are expressions over each field and operator, some of which no session passes.
func filters(all []sessionstore.Session) []memory.Where {
	is := func(field string, op memory.Op, v memory.Value) memory.Cmp {
		return memory.Cmp{Field: field, Op: op, Value: v}
	}
	label := func(key string, op memory.Op, v memory.Value) memory.Cmp {
		return memory.Cmp{Field: "labels", Key: key, Op: op, Value: v}
	}
	middle, number := all[5], memory.Value{}
	if n, err := memory.Number("7"); err == nil {
		number = n
	}
	even := label("even", memory.OpEqual, memory.Bool(true))
	return []memory.Where{
		is("id", memory.OpEqual, memory.Text("s03")), is("userId", memory.OpEqual, memory.Text("bob")),
		is("displayName", memory.OpEqual, memory.Text("Talk 4")),
		is("displayName", memory.OpHas, memory.Text("talk 1")),
		is("displayName", memory.OpNot, memory.Text("Talk 4")),
		is("createTime", memory.OpLess, memory.Time(middle.CreateTime)),
		is("createTime", memory.OpEqual, memory.Time(middle.CreateTime)),
		is("updateTime", memory.OpAtLeast, memory.Time(middle.LastUpdateTime)),
		is("lastUpdateTime", memory.OpMore, memory.Time(middle.LastUpdateTime)),
		is("expireTime", memory.OpHas, memory.Anything()),
		is("expireTime", memory.OpNot, memory.Time(middle.CreateTime)),
		label("half", memory.OpEqual, memory.Text("1")), label("n", memory.OpEqual, number),
		label("even", memory.OpHas, memory.Anything()), even, label("none", memory.OpNot, memory.Text("x")),
		label("none", memory.OpEqual, memory.Text("")),
		memory.Not{Where: even}, memory.And{even, label("half", memory.OpEqual, memory.Text("0"))},
		memory.Or{is("id", memory.OpEqual, memory.Text("s01")), is("id", memory.OpEqual, memory.Text("s10"))},
		memory.Or{}, memory.And{},
	}
}

// A list with a filter has the sessions that Session.Match passes, in the order of the
// list, with all that a list has of them.
func filterMatches(f *fixture) {
	all := f.some()
	matched := 0
	for _, where := range filters(all) {
		var ofAll, ofAnn []sessionstore.Session
		for _, s := range all {
			if s.Match(where) {
				ofAll = append(ofAll, s)
				if s.User == ann.User {
					ofAnn = append(ofAnn, s)
				}
			}
		}
		if matched += len(ofAll); len(ofAll) == len(all) {
			matched -= len(all)
		}
		list := sessionstore.List{Where: where}
		f.equal("ListApp of "+where.String(), f.walkList(list, true), ofAll)
		f.equal("List of "+where.String(), f.walkList(list, false), ofAnn)
		list.NoState = true
		for _, s := range f.walkList(list, true) {
			f.equal("state that was not asked for", s.State, sessionstore.State(nil))
		}
	}
	if matched < 30 {
		f.t.Errorf("all filters together pass %d sessions: they show little", matched)
	}
}

// walkList walks the pages of a list: of ann, or of the app.
func (f *fixture) walkList(list sessionstore.List, app bool) []sessionstore.Session {
	f.t.Helper()
	return f.walk(list.PageSize, func(l sessionstore.List) (sessionstore.Page, error) {
		list.PageToken = l.PageToken
		if app {
			return f.ListApp(f.t.Context(), "shop", list)
		}
		return f.List(f.t.Context(), ann, list)
	})
}

// A filter counts before the limit of a page: pages are full, and together they have
// each session once.
func filterPages(f *fixture) {
	all := f.some()
	for i, where := range filters(all) {
		if i%5 != 4 { // the pages of one list take many calls
			continue
		}
		for _, order := range orders() {
			whole := sessionstore.List{Where: where, Order: order}
			for _, app := range []bool{true, false} {
				want := keysOf(f.walkList(whole, app))
				for _, size := range []int{1, 2, 5} {
					some := whole
					some.PageSize = size
					f.equal(fmt.Sprintf("%v by %d of %v", order, size, where), keysOf(f.walkList(some, app)), want)
				}
				first := whole
				first.PageSize = max(1, len(want)-1)
				page, err := f.first(first, app)
				if err != nil || len(page.Sessions) != min(first.PageSize, len(want)) {
					f.t.Errorf("the first page of %d of %v has %d sessions, %v", len(want), where,
						len(page.Sessions), err)
				}
			}
		}
	}
}

// first reads the first page of a list.
func (f *fixture) first(list sessionstore.List, app bool) (sessionstore.Page, error) {
	if app {
		return f.ListApp(f.t.Context(), "shop", list)
	}
	return f.List(f.t.Context(), ann, list)
}

// An expression with a field that sessions do not have, or a value that it does not
// take, is ErrInvalid.
func filterRefused(f *fixture) {
	for _, bad := range []memory.Where{
		memory.Cmp{Field: "fact", Op: memory.OpEqual, Value: memory.Text("x")},
		memory.Cmp{Field: "state", Op: memory.OpEqual, Value: memory.Text("x")},
		memory.Cmp{Field: "id", Key: "k", Op: memory.OpEqual, Value: memory.Text("x")},
		memory.Cmp{Field: "labels", Op: memory.OpEqual, Value: memory.Text("x")},
		memory.Cmp{Field: "createTime", Op: memory.OpEqual, Value: memory.Text("x")},
		memory.Cmp{Field: "displayName", Op: memory.OpLess, Value: memory.Text("x")},
		memory.Cmp{Field: "id", Op: memory.OpEqual},
		memory.Not{},
	} {
		for _, app := range []bool{true, false} {
			_, err := f.first(sessionstore.List{Where: bad}, app)
			f.isA(fmt.Sprintf("a list of %+v", bad), err, memory.ErrInvalid)
		}
	}
}

func orders() []sessionstore.Order {
	return []sessionstore.Order{{}, {Ascending: true}, {Updated: true}, {Updated: true, Ascending: true}}
}

// A list may be by creation or by last update, newest or oldest first.
func orderLists(f *fixture) {
	f.some()
	for _, order := range orders() {
		for _, app := range []bool{true, false} {
			got := f.walkList(sessionstore.List{Order: order, NoState: true}, app)
			f.equal("sessions", len(got), map[bool]int{true: 12, false: 8}[app])
			if !slices.IsSortedFunc(got, func(a, b sessionstore.Session) int {
				by := a.CreateTime.Compare(b.CreateTime)
				if order.Updated {
					by = a.LastUpdateTime.Compare(b.LastUpdateTime)
				}
				if order.Ascending {
					return by
				}
				return -by
			}) {
				f.t.Errorf("%+v, app %t: %v", order, app, sessionIDs(got))
			}
		}
	}
}

// An append, an update and a restore move a session to its place in a list by update, and
// what is deleted, erased or has expired is in none. Sessions of one time are each on
// one page.
func orderMoves(f *fixture) {
	for i := range 9 {
		f.create(session(ann, fmt.Sprint("s", i)), `{}`)
		f.create(session(bob, fmt.Sprint("b", i)), `{}`)
	}
	updated := sessionstore.List{Order: sessionstore.Order{Updated: true}}
	for _, size := range []int{1, 4, 18, 19} {
		updated.PageSize = size
		ids := sessionIDs(f.walkList(updated, true))
		slices.Sort(ids)
		f.equal(fmt.Sprint("all of one time, by ", size), ids, []string{"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7",
			"b8",
			"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"})
	}
	f.clock.advance(time.Second)
	f.append(session(ann, "s3"), f.said("e1"))
	f.clock.advance(time.Second)
	name := "named"
	f.update(session(ann, "s5"), sessionstore.Patch{DisplayName: &name})
	err := f.Restore(f.t.Context(), sessionstore.SessionRecord{Key: session(ann, "s7"),
		LastUpdateTime: f.now().Add(time.Second)})
	if err != nil {
		f.t.Fatal(err)
	}
	updated.PageSize = 3
	page, err := f.first(updated, false)
	if err != nil {
		f.t.Fatal(err)
	}
	f.equal("newest", sessionIDs(page.Sessions), []string{"s7", "s5", "s3"})
	f.delete(session(ann, "s7"))
	soon := f.now().Add(time.Second)
	f.update(session(ann, "s3"), sessionstore.Patch{ExpireTime: &soon})
	if _, err := f.EraseSession(f.t.Context(), session(ann, "s5"), false); err != nil {
		f.t.Fatal(err)
	}
	f.clock.advance(time.Second)
	for _, app := range []bool{true, false} {
		for _, gone := range f.walkList(updated, app) {
			if slices.Contains([]string{"s3", "s5", "s7"}, gone.ID) {
				f.t.Errorf("%s is listed", gone.ID)
			}
		}
	}
	if _, err := f.EraseUser(f.t.Context(), bob, false); err != nil {
		f.t.Fatal(err)
	}
	f.equal("sessions left", len(f.walkList(updated, true)), 6)
}

// A token is one of its list, with its filter and its order.
func filterTokens(f *fixture) {
	all := f.some()
	label := func(key string) memory.Where {
		return memory.Cmp{Field: "labels", Key: key, Op: memory.OpHas, Value: memory.Anything()}
	}
	lists := []sessionstore.List{{Where: filters(all)[4]}, {Where: label("half")}, {Where: label("n")}}
	for _, order := range orders() {
		lists = append(lists, sessionstore.List{Order: order})
	}
	for i, from := range lists {
		from.PageSize = 2
		page, err := f.first(from, false)
		if err != nil || page.NextPageToken == "" {
			f.t.Fatalf("list %d: token %q, %v", i, page.NextPageToken, err)
		}
		for j, to := range lists {
			to.PageToken = page.NextPageToken
			if _, err := f.first(to, false); i == j && err != nil {
				f.t.Errorf("list %d with its own token: %v", i, err)
			} else if i != j {
				f.isA(fmt.Sprintf("list %d with a token of list %d", j, i), err, memory.ErrInvalid)
			}
			_, err := f.first(to, true)
			f.isA("the list of the app with a token of ann's", err, memory.ErrInvalid)
		}
	}
}

// Find tells the users of an app that have a session of an id.
func findByID(f *fixture) {
	for _, key := range []sessionstore.Key{session(bob, "s1"), session(ann, "s1"), session(ann, "s10"),
		session(ann, "s"),
		session(memory.Scope{App: "shop2", User: "ann"}, "s1"), session(memory.Scope{App: "shop", User: "s1"}, "u"),
		session(ann, "日 0")} {
		f.create(key, `{}`)
	}
	for id, want := range map[string][]sessionstore.Key{
		"s1":  {session(ann, "s1"), session(bob, "s1")},
		"s10": {session(ann, "s10")},
		"日 0": {session(ann, "日 0")},
		"u":   {session(memory.Scope{App: "shop", User: "s1"}, "u")},
		"s2":  nil, "ann": nil, "S1": nil, "%": nil, "日 ": nil,
	} {
		got, err := f.Find(f.t.Context(), "shop", id)
		slices.SortFunc(got, func(a, b sessionstore.Key) int { return strings.Compare(a.User, b.User) })
		if err != nil {
			f.t.Errorf("Find(%q): %v", id, err)
		}
		f.equal("found by "+id, got, want)
	}
	got, err := f.Find(f.t.Context(), "sho", "s1")
	if err != nil || len(got) != 0 {
		f.t.Errorf("Find in another app: %v, %v", got, err)
	}
}

// Find does not find what was deleted, was erased or has expired, nor a one-shot session.
func findGone(f *fixture) {
	f.create(session(ann, "deleted"), `{}`)
	f.create(session(ann, "erased"), `{}`)
	f.expiring(session(ann, "expired"))
	f.expiring(session(ann, "removed"))
	f.askOneShot(session(ann, "once"), f.said("e1"))
	f.delete(session(ann, "deleted"))
	if _, err := f.EraseSession(f.t.Context(), session(ann, "erased"), false); err != nil {
		f.t.Fatal(err)
	}
	f.clock.advance(time.Hour)
	for i, id := range []string{"deleted", "erased", "expired", "removed", "once"} {
		if i == 3 {
			f.expire()
		}
		if got, err := f.Find(f.t.Context(), "shop", id); err != nil || len(got) != 0 {
			f.t.Errorf("Find(%q) gives %v, %v", id, got, err)
		}
	}
}
