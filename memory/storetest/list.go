package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// listCases check orders and pages. Ties are the hard part: a page may end
// within memories of one time, and the next page must go on there. See
// [memory.List.Paging].
func listCases() []testCase {
	return []testCase{
		{"Orders", listOrders},
		{"Ties", listTies},
		{"Pages", listPages},
		{"PagesInBytes", listPagesInBytes},
		{"DefaultPageSize", defaultPageSize},
		{"BadToken", badToken},
		{"WritesDuringWalk", writesDuringWalk},
		{"LeavesOut", listLeavesOut},
		{"Deleted", listDeleted},
	}
}

// A list is ordered by one of three times, in either direction. By default the
// memory said last comes first.
func listOrders(b *bank) {
	for i, minute := range []int{3, 1, 4, 2} {
		b.put(write(turn(string(rune('a'+i)), "s", minute, "tea")))
		b.clock.advance(time.Minute)
	}
	changed := turn("b", "s", 1, "coffee")
	b.put(update(changed, 1))
	for _, c := range []struct {
		order memory.Order
		want  []string
	}{
		{memory.Order{}, []string{"c", "a", "d", "b"}},
		{memory.Order{Ascending: true}, []string{"b", "d", "a", "c"}},
		{memory.Order{Field: "timestamp"}, []string{"c", "a", "d", "b"}},
		{memory.Order{Field: "timestamp", Ascending: true}, []string{"b", "d", "a", "c"}},
		{memory.Order{Field: "createTime"}, []string{"d", "c", "b", "a"}},
		{memory.Order{Field: "createTime", Ascending: true}, []string{"a", "b", "c", "d"}},
		{memory.Order{Field: "updateTime"}, []string{"b", "d", "c", "a"}},
		{memory.Order{Field: "updateTime", Ascending: true}, []string{"a", "c", "d", "b"}},
	} {
		for _, size := range []int{0, 1, 2} {
			got := ids(b.list(ann, memory.List{Order: c.order, PageSize: size}))
			b.same(fmt.Sprintf("List by %+v, pages of %d", c.order, size), got, c.want)
		}
	}
}

// Ties of a list are broken by id, byte by byte, in the direction of the list.
// Times a microsecond apart do not tie. Turns of one batch often have the same
// time.
func listTies(b *bank) {
	names := []string{"B", "Z", "_", "a", "b", "é", "日"}
	for _, i := range []int{4, 0, 6, 2, 5, 1, 3} {
		b.put(write(fact(names[i], "tea")))
	}
	later := fact("0", "tea")
	later.Timestamp = start.Add(time.Microsecond)
	b.put(write(later))
	// The names are in order of their bytes; "0" comes later in time.
	up := append(slices.Clone(names), "0")
	down := slices.Clone(up)
	slices.Reverse(down)
	for _, size := range []int{0, 1, 3} {
		b.same("ascending", ids(b.list(ann, memory.List{Order: memory.Order{Ascending: true}, PageSize: size})), up)
		b.same("descending", ids(b.list(ann, memory.List{PageSize: size})), down)
	}
}

// Pages of any size hold each memory exactly once. All but the last are full,
// and the last one has no token, even when it is full. A client that follows
// tokens must neither loop nor miss a memory.
func listPages(b *bank) {
	// Twenty memories share each time, so most pages end within a tie.
	const n = 60
	want := map[string]int{}
	var writes []memory.Write
	for i := range n {
		id := fmt.Sprintf("m%02d", i*7%n)
		want[id] = 1
		writes = append(writes, write(turn(id, "s", i/20, "tea")))
	}
	b.put(writes...)
	for _, size := range []int{1, 7, 20, n - 1, n, n + 1, memory.MaxPageSize} {
		for _, order := range []memory.Order{{}, {Ascending: true}, {Field: "createTime"},
			{Field: "updateTime", Ascending: true}} {
			l := memory.List{Order: order, PageSize: size}
			got, pages := map[string]int{}, 0
			for left := n; left > 0; left -= size {
				page, err := b.store.List(b.Context(), ann, l)
				if err != nil {
					b.Fatalf("List(%+v): %v", l, err)
				}
				pages++
				if len(page.Memories) != min(size, left) {
					b.Errorf("page %d of size %d has %d memories, %d were left", pages, size, len(page.Memories), left)
				}
				for _, m := range page.Memories {
					got[m.ID]++
				}
				if last := left <= size; last != (page.NextPageToken == "") {
					b.Errorf("page %d of size %d: next is %q", pages, size, page.NextPageToken)
				}
				l.PageToken = page.NextPageToken
			}
			b.same(fmt.Sprintf("walk by %+v, pages of %d", order, size), got, want)
		}
	}
}

// A list without a page size has pages of DefaultPageSize.
func defaultPageSize(b *bank) {
	var writes []memory.Write
	for i := range memory.DefaultPageSize + 1 {
		writes = append(writes, write(fact(fmt.Sprint("m", i), "tea")))
	}
	b.put(writes...)
	page, err := b.store.List(b.Context(), ann, memory.List{})
	if err != nil || len(page.Memories) != memory.DefaultPageSize || page.NextPageToken == "" {
		b.Errorf("the first page has %d memories, next %q, error %v", len(page.Memories), page.NextPageToken, err)
	}
}

// A token that no list gave is ErrInvalid. Guessing what it means could show a
// page twice.
func badToken(b *bank) {
	b.put(write(fact("a", "tea")), write(fact("b", "tea")))
	page, err := b.store.List(b.Context(), ann, memory.List{PageSize: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, token := range []string{"x", "1", "!", "{}", "bm9uc2Vuc2U", "bm9uc2Vuc2U=", page.NextPageToken + "x!",
		"\x00", "' OR 1=1"} {
		if _, err := b.store.List(b.Context(), ann, memory.List{PageSize: 1, PageToken: token}); !errors.Is(err,
			memory.ErrInvalid) {
			b.Errorf("List with token %q: error %v, want ErrInvalid", token, err)
		}
	}
}

// A memory that is not written while a client goes through the pages is on
// exactly one, whatever else is created, changed and deleted meanwhile,
// including the last one seen. Ingestion goes on while an export or a page of a
// console is read.
func writesDuringWalk(b *bank) {
	for _, order := range []memory.Order{{}, {Ascending: true}, {Field: "updateTime"},
		{Field: "updateTime", Ascending: true}} {
		s := memory.Scope{App: "app", User: fmt.Sprint(order)}
		put := func(id string, minute int, expect int64) {
			m := turn(id, "s", minute, fmt.Sprint("tea ", expect))
			m.Scope = s
			b.clock.advance(time.Minute)
			b.putIn(s, update(m, expect))
		}
		want := map[string]int{}
		for i := range 20 {
			id := fmt.Sprintf("m%02d", i)
			put(id, i*2, 0)
			want[id] = 1
		}
		got := map[string]int{}
		l := memory.List{Order: order, PageSize: 3}
		for step := 0; ; step++ {
			page, err := b.store.List(b.Context(), s, l)
			if err != nil {
				b.Fatal(err)
			}
			for _, m := range page.Memories {
				got[m.ID]++
			}
			if l.PageToken = page.NextPageToken; l.PageToken == "" {
				break
			}
			last := page.Memories[len(page.Memories)-1].ID
			delete(want, last)
			if _, err := b.store.Delete(b.Context(), s, []memory.Removal{{ID: last}}); err != nil {
				b.Fatal(err)
			}
			put(fmt.Sprint("new", step), step*7+1, 0)
			if unseen := "m10"; got[unseen] == 0 && want[unseen] == 1 {
				put(unseen, 20, 1)
				delete(want, unseen)
			}
		}
		for id := range want {
			if got[id] != 1 {
				b.Errorf("walk by %+v: %q shows up %d times", order, id, got[id])
			}
		}
	}
}

// A list leaves out deleted and expired memories.
func listLeavesOut(b *bank) {
	brief := fact("brief", "tea")
	brief.ExpireTime = start.Add(time.Hour)
	b.put(write(brief), write(fact("gone", "tea")), write(fact("kept", "tea")))
	b.remove("gone")
	b.clock.advance(time.Hour - time.Microsecond)
	b.same("List just before expiry", ids(b.list(ann, memory.List{})), []string{"kept", "brief"})
	b.clock.advance(time.Microsecond)
	b.same("List at expiry", ids(b.list(ann, memory.List{})), []string{"kept"})
}

// A page ends before a memory with which it would have more than MaxListBytes, and
// the next one goes on there. Without it 1,000 long memories would be one answer of
// 80 MB.
func listPagesInBytes(b *bank) {
	const n = memory.MaxListBytes/memory.MaxFact + 10
	var want []string
	for i := range n {
		id := fmt.Sprintf("m%03d", i)
		want = append(want, id)
		b.put(write(turn(id, "s", i, strings.Repeat("tea ", memory.MaxFact/4))))
	}
	list := memory.List{PageSize: memory.MaxPageSize, Order: memory.Order{Ascending: true}}
	page, err := b.store.List(b.Context(), ann, list)
	if err != nil {
		b.Fatal(err)
	}
	bytes := int64(0)
	for i := range page.Memories {
		bytes += page.Memories[i].Bytes()
	}
	if bytes > memory.MaxListBytes || bytes < memory.MaxListBytes-memory.MaxFact-1000 || page.NextPageToken == "" {
		b.Errorf("a page has %d memories of %d bytes, next page %q", len(page.Memories), bytes, page.NextPageToken)
	}
	b.same("all pages", ids(b.list(ann, list)), want)
}

// A list of deleted memories has those alone, as they last were, with when and by whom they
// were deleted: superseded ones too, until the deletion expires or the memory comes back.
// Another scope's, expired and erased ones are not among them.
func listDeleted(b *bank) {
	over := fact("over", "milk")
	over.ValidTo, over.SupersededBy = start, "kept"
	brief := fact("brief", "cocoa")
	brief.ExpireTime = start.Add(time.Minute)
	b.put(write(fact("a", "tea")), write(turn("b", "s", 1, "coffee")), write(over), write(fact("kept", "water")),
		write(brief), write(fact("erased", "wine")), write(fact("back", "juice")), write(fact("aged", "beer")))
	remove := func(r memory.Removal) {
		b.Helper()
		b.clock.advance(time.Hour)
		if out, err := b.store.Delete(b.Context(), ann, []memory.Removal{r}); err != nil || !out[0].Changed {
			b.Fatalf("delete %s: %+v, %v", r.ID, out, err)
		}
	}
	for i, id := range []string{"over", "a", "b", "erased", "back"} {
		remove(memory.Removal{ID: id, Actor: fmt.Sprint("actor", i), Operation: "op-" + id})
	}
	remove(memory.Removal{ID: "aged", RevisionExpireTime: b.clock.now().Add(90 * time.Minute)})
	list := func(l memory.List) (out []string) {
		b.Helper()
		for l.Deleted = true; ; {
			page, err := b.store.List(b.Context(), ann, l)
			if err != nil || len(page.Deletions) != len(page.Memories) {
				b.Fatalf("%d memories, %d deletions, %v", len(page.Memories), len(page.Deletions), err)
			}
			for i, m := range page.Memories {
				d := page.Deletions[i]
				if !d.Time.Equal(m.UpdateTime) {
					b.Errorf("%s was deleted at %v and changed at %v", m.ID, d.Time, m.UpdateTime)
				}
				out = append(out, m.ID+" "+d.Actor+" "+d.Operation)
			}
			if l.PageToken = page.NextPageToken; l.PageToken == "" {
				return out
			}
		}
	}
	newest := memory.Order{Field: "updateTime"}
	b.same("before a deletion expires", list(memory.List{Order: newest})[0], "aged  ")
	b.clock.advance(time.Hour)
	if _, err := b.store.Erase(b.Context(), ann, memory.Erasure{IDs: []string{"erased"}}); err != nil {
		b.Fatal(err)
	}
	b.put(update(fact("back", "juice"), 2))
	want := []string{"b actor2 op-b", "a actor1 op-a", "over actor0 op-over"}
	for _, size := range []int{0, 1, 2} {
		b.same("newest first", list(memory.List{Order: newest, PageSize: size}), want)
	}
	turns := memory.Filter{Kinds: []memory.Kind{memory.KindTurn}}
	b.same("of a kind", list(memory.List{Order: newest, Filter: turns}), want[:1])
	after := memory.Cmp{Field: memory.FieldUpdateTime, Op: memory.OpMore,
		Value: memory.Time(start.Add(90 * time.Minute))}
	b.same("since a time", list(memory.List{Order: newest, Filter: memory.Filter{Where: after}}), want[:2])
	page, err := b.store.List(b.Context(), memory.Scope{App: "app", User: "bob"}, memory.List{Deleted: true})
	if err != nil || len(page.Memories) != 0 {
		b.Errorf("of another scope: %+v, %v", page, err)
	}
}
