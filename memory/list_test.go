package memory

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// orders are all that a list can have.
func orders() (out []Order) {
	for _, field := range []string{"", "timestamp", "createTime", "updateTime"} {
		out = append(out, Order{Field: field}, Order{Field: field, Ascending: true})
	}
	return out
}

func TestOrderCursor(t *testing.T) {
	m := Memory{ID: "m", Timestamp: noon, CreateTime: noon.Add(time.Second), UpdateTime: noon.Add(time.Minute)}
	for _, o := range orders() {
		want := map[string]time.Time{"createTime": m.CreateTime, "updateTime": m.UpdateTime}[o.Field]
		if want.IsZero() {
			want = m.Timestamp
		}
		if c := o.Cursor(&m); c.At != want.UnixMicro() || c.ID != "m" || c.Order != o {
			t.Errorf("%+v: cursor %+v", o, c)
		}
	}
}

func TestOrderCompare(t *testing.T) {
	want := []Cursor{{At: 1, ID: "b"}, {At: 2, ID: "B"}, {At: 2, ID: "a"}, {At: 2, ID: "é"}, {At: 3, ID: "a"}}
	got := []Cursor{want[3], want[1], want[4], want[0], want[2]}
	slices.SortFunc(got, Order{Ascending: true}.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("ascending: %v", got)
	}
	slices.Reverse(want)
	slices.SortFunc(got, Order{}.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("descending: %v", got)
	}
}

func TestCursorToken(t *testing.T) {
	for _, o := range orders() {
		c := Cursor{Order: o, At: -7, ID: `odd "id" é/%`}
		if got, err := ParseCursor(c.Token(), o); err != nil || got != c {
			t.Errorf("%+v comes back as %+v, %v", c, got, err)
		}
		other := o
		other.Ascending = !o.Ascending
		if _, err := ParseCursor(c.Token(), other); !errors.Is(err, ErrInvalid) {
			t.Errorf("a token of %+v serves %+v: %v", o, other, err)
		}
	}
	for _, token := range []string{"", "x", "!", "{}", "bm9uc2Vuc2U", Cursor{At: 1}.Token()} {
		if _, err := ParseCursor(token, Order{}); !errors.Is(err, ErrInvalid) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// A token that earlier versions gave is still one.
func TestCursorTokenStays(t *testing.T) {
	const token = "eyJPcmRlciI6eyJGaWVsZCI6InRpbWVzdGFtcCIsIkFzY2VuZGluZyI6ZmFsc2V9LCJBdCI6NSwiSUQiOiJtIn0"
	want := Cursor{Order: Order{Field: "timestamp"}, At: 5, ID: "m"}
	if got, err := ParseCursor(token, want.Order); err != nil || got != want || want.Token() != token {
		t.Errorf("%+v, %v; written as %s", got, err, want.Token())
	}
}

func TestPaging(t *testing.T) {
	after := Cursor{At: 5, ID: "m"}
	for _, c := range []struct {
		list List
		size int // 0 for ErrInvalid
		more bool
	}{
		{List{}, DefaultPageSize, false},
		{List{PageSize: 1}, 1, false},
		{List{PageSize: MaxPageSize}, MaxPageSize, false},
		{List{PageSize: MaxPageSize + 1}, 0, false},
		{List{PageSize: -1}, 0, false},
		{List{PageToken: after.Token()}, DefaultPageSize, true},
		{List{PageToken: "x"}, 0, false},
		{List{PageToken: after.Token(), Order: Order{Ascending: true}}, 0, false},
		{List{Order: Order{Field: "fact"}}, 0, false},
		{List{Order: Order{Field: "updateTime"}}, DefaultPageSize, false},
	} {
		p, err := c.list.Paging()
		if invalid := errors.Is(err, ErrInvalid); invalid != (c.size == 0) {
			t.Errorf("%+v: %v", c.list, err)
		}
		if err == nil && (p.Size != c.size || (p.After != nil) != c.more || c.more && *p.After != after) {
			t.Errorf("%+v: %+v", c.list, p)
		}
	}
}

// Pages cut from what lies behind each token hold everything once, and the last
// one names no other.
func TestPagingCut(t *testing.T) {
	var all []Cursor
	for i := range 7 {
		all = append(all, Cursor{At: int64(i / 2), ID: fmt.Sprint(i)})
	}
	for size := 1; size <= 8; size++ {
		var got []Cursor
		l := List{PageSize: size}
		for pages := 0; pages == 0 || l.PageToken != ""; pages++ {
			p, err := l.Paging()
			if err != nil {
				t.Fatal(err)
			}
			ahead := all
			if p.After != nil {
				ahead = all[slices.Index(all, *p.After)+1:]
			}
			var page []Cursor
			page, l.PageToken = p.Cut(ahead)
			if len(page) != min(size, len(ahead)) {
				t.Errorf("size %d: a page of %d where %d are left", size, len(page), len(ahead))
			}
			got = append(got, page...)
		}
		if !slices.Equal(got, all) {
			t.Errorf("size %d: %v", size, got)
		}
	}
	if page, token := (Paging{Size: 3}).Cut(nil); len(page) != 0 || token != "" {
		t.Errorf("of nothing: %v, %q", page, token)
	}
}
