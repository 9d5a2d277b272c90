package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// acrossCases check [memory.AppReader]: reads across all users of an app, and of no other.
func acrossCases() []testCase {
	return []testCase{
		{"Lists", acrossLists},
		{"Ties", acrossTies},
		{"Filters", acrossFilters},
		{"Persons", acrossPersons},
		{"Follows", acrossFollows},
		{"Finds", acrossFinds},
		{"Invalid", acrossInvalid},
	}
}

// listApp reads all pages of a list of an app.
func (b *bank) listApp(app string, list memory.List) (out []memory.Memory) {
	b.Helper()
	for {
		page, err := b.store.ListApp(b.Context(), app, list)
		if err != nil {
			b.Fatalf("ListApp(%q): %v", app, err)
		}
		if len(page.Memories) > max(list.PageSize, memory.DefaultPageSize) {
			b.Fatalf("a page has %d memories", len(page.Memories))
		}
		out = append(out, page.Memories...)
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return out
		}
	}
}

// appOrders are the orders of lists.
func appOrders() (out []memory.Order) {
	for _, field := range []string{"", "timestamp", "createTime", "updateTime"} {
		out = append(out, memory.Order{Field: field}, memory.Order{Field: field, Ascending: true})
	}
	return out
}

// acrossOf is what ListApp answers for scopes: the lists of all users of the app, merged.
func acrossOf(b *bank, app string, scopes []memory.Scope, list memory.List) (out []memory.Memory) {
	b.Helper()
	for _, s := range scopes {
		if s.App == app && !s.OfApp() {
			out = append(out, b.list(s, list)...)
		}
	}
	slices.SortFunc(out, func(x, y memory.Memory) int {
		return list.Order.Compare(list.Order.AppCursor(&x), list.Order.AppCursor(&y))
	})
	return out
}

// A list of an app has the memories of all of its users and of no other app, in order,
// however long its pages are.
func acrossLists(b *bank) {
	scopes := fill(b)
	apps := map[string]bool{"none": true, "": true}
	for _, s := range scopes {
		apps[s.App] = true
	}
	for app := range apps {
		for _, order := range appOrders() {
			want := acrossOf(b, app, scopes, memory.List{Order: order})
			for _, size := range []int{0, 1, 7} {
				list := memory.List{Order: order, PageSize: size}
				b.same(fmt.Sprintf("ListApp(%q, %+v)", app, list), b.listApp(app, list), want)
			}
		}
	}
	b.reopen()
	b.same("after a restart", b.listApp("app", memory.List{PageSize: 3}), acrossOf(b, "app", scopes, memory.List{}))
}

// Users that have memories of the same id and the same times follow each other by user,
// also from one page to the next.
func acrossTies(b *bank) {
	var users []string
	for i := range 25 {
		s := memory.Scope{App: "app", User: fmt.Sprintf("u%02d", (i*7)%25)}
		users = append(users, s.User)
		for _, id := range []string{"a", "b"} {
			m := fact(id, "tea")
			m.Scope = s
			b.putIn(s, write(m))
		}
	}
	slices.Sort(users)
	for _, ascending := range []bool{true, false} {
		var want, got []string
		for _, id := range []string{"a", "b"} {
			for _, user := range users {
				want = append(want, id+user)
			}
		}
		if !ascending {
			slices.Reverse(want)
		}
		for _, m := range b.listApp("app", memory.List{Order: memory.Order{Ascending: ascending}, PageSize: 4}) {
			got = append(got, m.ID+m.User)
		}
		b.same("order", got, want)
	}
}

// A filter holds for each memory, and the memories of a page all pass it.
func acrossFilters(b *bank) {
	users := []string{"ann", "bob", "cy"}
	for i, user := range users {
		for j := range 6 {
			m := fact(fmt.Sprint("m", j), "tea")
			m.Scope = memory.Scope{App: "app", User: user}
			m.Timestamp = at(10*i + j)
			m.Source = memory.Source{SessionID: fmt.Sprint("s", j%2), EventIDs: []string{"e"}}
			m.Topics = []string{fmt.Sprint("topic", j%3)}
			m.Metadata = memory.Metadata{"n": []byte(fmt.Sprint(j))}
			if j == 5 {
				m.ValidTo = start.Add(-time.Hour)
			}
			b.putIn(m.Scope, write(m))
		}
	}
	cmp := func(field string, op memory.Op, v memory.Value) memory.Where {
		return memory.Cmp{Field: field, Op: op, Value: v}
	}
	for name, f := range map[string]struct {
		filter memory.Filter
		want   int
	}{
		"all":      {memory.Filter{}, 15},
		"history":  {memory.Filter{History: true}, 18},
		"session":  {memory.Filter{SessionID: "s1"}, 6},
		"topics":   {memory.Filter{Topics: []string{"topic0", "topic1"}}, 12},
		"turns":    {memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}, 0},
		"until":    {memory.Filter{Until: at(10)}, 6},
		"since":    {memory.Filter{Since: at(13)}, 7},
		"metadata": {memory.Filter{Metadata: memory.Metadata{"n": []byte("2")}}, 3},
		"id":       {memory.Filter{Where: cmp(memory.FieldID, memory.OpEqual, memory.Text("m3"))}, 3},
		"not id":   {memory.Filter{Where: cmp(memory.FieldID, memory.OpNot, memory.Text("m3"))}, 12},
		"user":     {memory.Filter{Where: cmp(memory.FieldUser, memory.OpEqual, memory.Text("bob"))}, 5},
		"not user": {memory.Filter{Where: cmp(memory.FieldUser, memory.OpNot, memory.Text("bob"))}, 10},
		"users":    {memory.Filter{Where: cmp(memory.FieldUser, memory.OpMatches, pattern("^(a|c)"))}, 10},
		"time": {memory.Filter{Where: cmp(memory.FieldTimestamp, memory.OpLess, memory.Time(at(12)))},
			7},
	} {
		got := b.listApp("app", memory.List{Filter: f.filter, PageSize: 2})
		if len(got) != f.want {
			b.Errorf("%s: %d memories, want %d", name, len(got), f.want)
		}
		for _, m := range got {
			if !f.filter.Match(&m, b.clock.now()) {
				b.Errorf("%s: %+v does not pass", name, m)
			}
		}
	}
}

// A list of one person has the memories of all users that are the person's, and of no other, in every
// order and however long its pages are.
func acrossPersons(b *bank) {
	scopes := []memory.Scope{ann, {App: "other", User: "ann"}, {App: "other", User: "~user_id=ann"}}
	for _, user := range []string{"Ann", "user_id=ann", "~user_id=ann", "~a=b&user_id=ann", "~user_id=ann&z=",
		"~user_id=anna", "~auser_id=ann", "~a=user_id=ann", "~a=b&user_id=bob", "~", "~team=x", "bob",
		"~user_id=%C3%BC&z=y", "ü&user_id=ann", "~a=ü&user_id=ann", "~user_id=bob&user_id=ann"} {
		scopes = append(scopes, memory.Scope{App: "app", User: user})
	}
	for i, s := range scopes {
		for j := range 4 {
			m := fact(fmt.Sprint("m", j), "tea")
			m.Scope, m.Timestamp = s, at(j%2*10+i%3)
			b.putIn(s, write(m))
			b.clock.advance(time.Second)
		}
		b.erase(s, memory.Erasure{IDs: []string{"m3"}})
	}
	for p, want := range map[memory.Person]int{
		{User: "ann", Part: "user_id=ann"}: 5, {User: "ann"}: 1, {Part: "user_id=bob"}: 2, {User: "~team=x"}: 1,
		{User: "ü", Part: "user_id=%C3%BC"}: 1, {User: "nobody", Part: "user_id=nobody"}: 0, {User: "~"}: 1,
		{User: "user_id=ann"}: 1,
	} {
		of := slices.DeleteFunc(slices.Clone(scopes), func(s memory.Scope) bool { return !p.Is(s.User) })
		for _, order := range appOrders() {
			for _, size := range []int{0, 2} {
				list := memory.List{Filter: memory.Filter{Person: p}, Order: order, PageSize: size}
				got := b.listApp("app", list)
				b.same(fmt.Sprintf("ListApp(%+v)", list), got, acrossOf(b, "app", of, memory.List{Order: order}))
				if len(got) != 3*want {
					b.Errorf("%+v has %d memories, want %d", p, len(got), 3*want)
				}
			}
		}
	}
}

// A list follows what is changed, deleted, brought back, erased and expired.
func acrossFollows(b *bank) {
	scopes := []memory.Scope{ann, {App: "app", User: "bob"}}
	check := func(when string, want ...string) {
		b.Helper()
		for _, order := range appOrders() {
			list := memory.List{Order: order, PageSize: 2}
			b.same(when, b.listApp("app", list), acrossOf(b, "app", scopes, memory.List{Order: order}))
		}
		var got []string
		for _, m := range b.listApp("app", memory.List{}) {
			got = append(got, m.User+" "+m.ID)
		}
		slices.Sort(got)
		b.same(when, got, want)
	}
	for i, s := range scopes {
		for j := range 3 {
			m := fact(fmt.Sprint("m", j), "tea")
			m.Scope, m.Timestamp = s, at(10*j+i)
			if j == 2 {
				m.ExpireTime = start.Add(time.Hour)
			}
			b.putIn(s, write(m))
			b.clock.advance(time.Second)
		}
	}
	check("at first", "ann m0", "ann m1", "ann m2", "bob m0", "bob m1", "bob m2")
	moved := fact("m0", "tea")
	moved.Timestamp = at(100)
	b.put(update(moved, 1))
	b.remove("m1")
	check("after a change and a deletion", "ann m0", "ann m2", "bob m0", "bob m1", "bob m2")
	b.put(update(fact("m1", "milk"), 2))
	b.erase(scopes[1], memory.Erasure{IDs: []string{"m0"}})
	check("after an erasing", "ann m0", "ann m1", "ann m2", "bob m1", "bob m2")
	b.clock.advance(2 * time.Hour)
	check("after an expiry", "ann m0", "ann m1", "bob m1")
	b.erase(ann, memory.Erasure{All: true})
	check("without ann", "bob m1")
	b.reopen()
	check("after a restart", "bob m1")
}

// An id is found at all users of the app that have it, by user.
func acrossFinds(b *bank) {
	scopes := fill(b)
	found := func(app, id string) (out []string) {
		b.Helper()
		all, err := b.store.FindApp(b.Context(), app, id)
		if err != nil {
			b.Fatalf("FindApp(%q, %q): %v", app, id, err)
		}
		for _, m := range all {
			out = append(out, m.App+"/"+m.ID+"/"+m.User)
		}
		return out
	}
	for _, app := range []string{"a", "app", "APP", "none"} {
		var want []string
		for _, s := range scopes {
			if s.App == app && !s.OfApp() {
				want = append(want, s.App+"/m/"+s.User)
			}
		}
		slices.SortFunc(want, strings.Compare)
		b.same("found", found(app, "m"), want)
		b.same("deleted", found(app, "gone"), []string(nil))
		b.same("never there", found(app, "never"), []string(nil))
		var users []string
		for _, w := range want {
			users = append(users, strings.TrimPrefix(w, app+"/m/"))
		}
		b.same("users of it", owners(b, app, "m"), users)
		b.same("users of a deleted one", owners(b, app, "gone"), users)
		b.same("users of none", owners(b, app, "never"), []string(nil))
	}
	expires := fact("expires", "tea")
	expires.ExpireTime = start.Add(time.Hour)
	b.put(write(expires))
	b.same("before it expires", found("app", "expires"), []string{"app/expires/ann"})
	b.clock.advance(2 * time.Hour)
	b.same("expired", found("app", "expires"), []string(nil))
	b.same("users of an expired one", owners(b, "app", "expires"), []string{"ann"})
	b.erase(memory.Scope{App: "app", User: "ann"}, memory.Erasure{IDs: []string{"expires"}})
	b.same("users of an erased one", owners(b, "app", "expires"), []string(nil))
}

// owners are the users who have or had a memory of an id.
func owners(b *bank, app, id string) []string {
	b.Helper()
	users, err := b.store.OwnersApp(b.Context(), app, id)
	if err != nil {
		b.Fatalf("OwnersApp(%q, %q): %v", app, id, err)
	}
	return append([]string(nil), users...)
}

// A list of an app takes the page sizes, orders and tokens of other lists.
func acrossInvalid(b *bank) {
	b.put(write(fact("a", "tea")), write(fact("b", "tea")))
	page, err := b.store.ListApp(b.Context(), "app", memory.List{PageSize: 1})
	if err != nil || page.NextPageToken == "" {
		b.Fatalf("a page: %+v, error %v", page, err)
	}
	for name, list := range map[string]memory.List{
		"size":            {PageSize: memory.MaxPageSize + 1},
		"order":           {Order: memory.Order{Field: "id"}},
		"token":           {PageToken: "x"},
		"another's token": {PageToken: page.NextPageToken, Order: memory.Order{Ascending: true}},
	} {
		if _, err := b.store.ListApp(b.Context(), "app", list); !errors.Is(err, memory.ErrInvalid) {
			b.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
}
