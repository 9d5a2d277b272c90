package memory

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Order is the order of a List.
type Order struct {
	Field     string // "timestamp" (the default), "createTime" or "updateTime"
	Ascending bool   // oldest first; ties by id in the same direction
}

// ParseOrder reads "timestamp", "createTime asc", "updateTime desc". The empty
// text is the default order: the memory said last comes first.
func ParseOrder(s string) (Order, error) {
	name, dir, _ := strings.Cut(strings.TrimSpace(s), " ")
	o := Order{Field: "timestamp"}
	switch name {
	case "":
	case "timestamp", "createTime", "updateTime":
		o.Field = name
	default:
		return o, fmt.Errorf("%w: orderBy %q: want timestamp, createTime or updateTime, then asc or desc",
			ErrInvalid, s)
	}
	switch strings.ToLower(strings.TrimSpace(dir)) {
	case "", "desc":
	case "asc":
		o.Ascending = true
	default:
		return o, fmt.Errorf("%w: orderBy %q: want asc or desc after the field", ErrInvalid, s)
	}
	return o, nil
}

// Validate refuses an order by a field that no list has. The empty field stands
// for "timestamp".
func (o Order) Validate() error {
	switch o.Field {
	case "", "timestamp", "createTime", "updateTime":
		return nil
	}
	return fmt.Errorf("%w: no order by %q", ErrInvalid, o.Field)
}

// Cursor is the position of m in the order.
func (o Order) Cursor(m *Memory) Cursor {
	var at time.Time
	switch o.Field {
	case "createTime":
		at = m.CreateTime
	case "updateTime":
		at = m.UpdateTime
	default:
		at = m.Timestamp
	}
	return Cursor{Order: o, At: at.UnixMicro(), ID: m.ID}
}

// Compare sorts cursors of one order: by time, ties by id byte by byte, and those by
// user, all in the direction of the order.
func (o Order) Compare(a, b Cursor) int {
	if !o.Ascending {
		a, b = b, a
	}
	return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.ID, b.ID), strings.Compare(a.User, b.User))
}

// Page sizes of lists.
const (
	DefaultPageSize = 100
	MaxPageSize     = 1000
)

// MaxListBytes is how many bytes the memories of a page have at most, as Bytes counts
// them; a larger one has a page of its own. So the size of an answer has a bound.
const MaxListBytes = 8 << 20

// Bytes is about how large m is as JSON.
func (m *Memory) Bytes() int64 {
	n := 500 + len(m.ID) + len(m.App) + len(m.User) + len(m.Fact) + len(m.Author) + len(m.Source.Quote) +
		len(m.DisplayName) + len(m.Description) + m.Profile.bytes()
	for _, t := range m.Topics {
		n += len(t) + 3
	}
	for _, r := range m.Retracted {
		n += len(r.Fact) + 60
	}
	for _, id := range m.Source.EventIDs {
		n += len(id) + 3
	}
	if p := m.Source.Passage; p != nil {
		n += 100 + len(p.Title) + len(p.URI)
		for _, h := range p.Headings {
			n += len(h) + 3
		}
	}
	for k, v := range m.Metadata {
		n += len(k) + len(v) + 4
	}
	return int64(n)
}

// List asks for one page.
type List struct {
	Filter
	Order     Order
	PageSize  int    // 1 to MaxPageSize; 0 is DefaultPageSize
	PageToken string // "" for the first page, else the last answer's NextPageToken
	// Deleted asks for deleted memories, as long as the revision that deleted them has not
	// expired, whether they were current or not. They are as they last were, and UpdateTime
	// is when they were deleted. Those that were erased, purged or swept are not there. A
	// list of all users of an app has none: it fails with ErrInvalid.
	Deleted bool
}

// Match is Filter.Match, and of a list of deleted memories it reports whether m, which is
// one, passes.
func (l *List) Match(m *Memory, now time.Time) bool {
	if !l.Deleted {
		return l.Filter.Match(m, now)
	}
	f := l.Filter
	f.History = true
	return f.match(m, now)
}

// Deletion says when a memory was deleted, and by whom.
type Deletion struct {
	Time      time.Time `json:"time"`
	Actor     string    `json:"actor"`               // as in Revision
	Operation string    `json:"operation,omitempty"` // as there
}

// Page is one page of a list: of PageSize memories, or fewer where they would have more
// than MaxListBytes. A memory written while a client goes through the
// pages may or may not be on one of them. Every other memory is on exactly one.
type Page struct {
	Memories      []Memory
	NextPageToken string // "" on the last page
	// Deletions has one for each memory of a list of deleted ones, in their order.
	Deletions []Deletion
	// Unreadable is how many memories the store has left out, as it met them for this
	// page and cannot read them: they are damaged. Which ones is in its log.
	Unreadable int
}

// Paging is what a List asks for, checked and with its defaults filled in.
type Paging struct {
	Size  int     // memories on a page
	After *Cursor // the page begins behind it; nil for the first page
	users bool    // the list is of all users of an app
}

// Paging reads the page size, the order and the page token of a list. The error
// is ErrInvalid if one of them is no value that a list takes.
func (l *List) Paging() (p Paging, err error) {
	switch {
	case l.PageSize == 0:
		p.Size = DefaultPageSize
	case l.PageSize < 1 || l.PageSize > MaxPageSize:
		return p, fmt.Errorf("%w: pageSize %d is not within 1 to %d", ErrInvalid, l.PageSize, MaxPageSize)
	default:
		p.Size = l.PageSize
	}
	if err := l.Order.Validate(); err != nil {
		return p, err
	}
	if l.PageToken != "" {
		after, err := ParseCursor(l.PageToken, l.Order)
		if err != nil {
			return p, err
		}
		p.After = &after
	}
	return p, nil
}

// Cut ends a page. A store hands it the positions behind After in order, at
// least one more than a page holds if there are so many; Cut keeps those of the
// page, and gives the token of the next one, "" if this page is the last.
func (p Paging) Cut(ahead []Cursor) (page []Cursor, nextPageToken string) {
	if len(ahead) <= p.Size {
		return ahead, ""
	}
	page = ahead[:p.Size]
	return page, page[p.Size-1].Token()
}

// Fit ends a page as Cut does, and before a memory with which it would have more than
// MaxListBytes. A store hands it the memories behind After in order, one more than
// the page has if there are so many; next is the token that Cut gave, or "".
func (p Paging) Fit(order Order, found []Memory, next string) (page []Memory, nextPageToken string) {
	bytes := int64(0)
	for i := range found {
		if bytes += found[i].Bytes(); i == p.Size || i > 0 && bytes > MaxListBytes {
			last := order.Cursor(&found[i-1])
			if p.users {
				last.User = found[i-1].User
			}
			return found[:i], last.Token()
		}
	}
	return found, next
}

// Cursor is a position in the order of a List: the field that orders, and the
// id that breaks ties. A page token is a cursor written down. All stores share
// it, so all of them accept and refuse the same tokens.
type Cursor struct {
	Order Order // a token serves only the order it was made for
	At    int64 // the field that orders, in microseconds since 1970
	ID    string
	User  string `json:",omitempty"` // in a list of all users of an app
}

// Token writes a cursor as a page token.
func (c Cursor) Token() string {
	raw, err := json.Marshal(c)
	if err != nil { // strings, a bool and a number always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// ParseCursor reads a page token that was made for order. The error is
// ErrInvalid if token is none of those.
func ParseCursor(token string, order Order) (c Cursor, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil || c.ID == "" || c.Order != order {
		return c, fmt.Errorf("%w: pageToken %.40q is not one of an earlier answer to this list", ErrInvalid, token)
	}
	return c, nil
}
