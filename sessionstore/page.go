package sessionstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// List asks for one page of a list.
type List struct {
	PageSize  int    // 1 to memory.MaxPageSize; 0 is memory.DefaultPageSize
	PageToken string // "" for the first page, else the last answer's NextPageToken

	// Where leaves out the sessions of which it does not hold; nil passes all. The page of a
	// list that has it ends after MaxLooked sessions that were looked at: it may have few
	// sessions or none, and a token for the next page. So may that of a list by update.
	Where memory.Where
	Order Order // of the sessions

	// NoState leaves the states of listed sessions nil.
	NoState bool
	// NoAside leaves out the sessions of which Aside tells, and no page is shorter for them.
	NoAside bool
	// Room is how many bytes the caller has room for, as SessionBytes counts them; 0 is
	// any number. If one session alone has more, the list fails with NoRoom. Lists of
	// operations have no use for it, and none for Where, Order and NoAside.
	Room int64
}

// Bounds of pages, so that the memory that an answer takes does not grow with what
// is stored.
const (
	MaxListBytes   = 8 << 20 // of a page of sessions
	MaxLooked      = 5000    // sessions that a list with a filter looks at for a page, about
	PageBytes      = 1 << 20 // of the events of a page of Get, and of a page of Changes
	MaxPageEvents  = 1000    // on a page of Get
	MaxPageChanges = 1000    // on a page of Changes
	MaxFound       = 100     // keys that Find returns
	WalkBytes      = 4 << 20 // of the events that Progress.Events reads
)

// SessionBytes is what a session of a list counts: state, which is what StateBytes
// counts of the three states that it shows, and its ids, details and times.
func SessionBytes(s *Session, state int64) int64 {
	return int64(len(s.App)+len(s.User)+len(s.ID)) + 150 + s.Details.bytes() + state
}

// NoRoom is the error of a read that needs more room than its caller has.
type NoRoom struct{ Bytes int64 }

// Error implements error.
func (e *NoRoom) Error() string { return fmt.Sprintf("the answer takes %d bytes", e.Bytes) }

// Unwrap returns the kind of e.
func (e *NoRoom) Unwrap() error { return memory.ErrExhausted }

// Room counts what a page holds against a bound.
type Room struct {
	Limit int64
	used  int64
	items int
}

// Fits reports whether another item of so many bytes belongs on the page, and
// counts it if it does. The first one always does.
func (r *Room) Fits(bytes int64) bool {
	if r.items > 0 && r.used+bytes > r.Limit {
		return false
	}
	r.used += bytes
	r.items++
	return true
}

// ListRoom is the room of a page of the list; [NoRoom] if its first session, of so
// many bytes, has none.
func (l List) ListRoom(first int64) (Room, error) {
	if l.Room > 0 && first > l.Room {
		return Room{}, &NoRoom{first}
	}
	return Room{Limit: min(cmp.Or(l.Room, MaxListBytes), MaxListBytes)}, nil
}

// Position is a place among the events of a session, and how many of them the
// session had when the first page was read.
type Position struct {
	Ref       string // of the life of the session
	Last      int64  // the number of the last event to show
	Time, Seq int64  // of the last event on the page before: its time, in microseconds, and its number
}

// First reports whether p is the start of a first page.
func (p Position) First() bool { return p.Ref == "" }

// Token returns the page token for the events of a session behind p.
func (p Position) Token(key Key) string {
	raw := fmt.Appendf(key.digest(), "%s %d %d %d", p.Ref, p.Last, p.Time, p.Seq)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// digest tells the tokens of one session from those of others.
func (k Key) digest() []byte {
	digest := sha256.Sum256([]byte("events\x00" + k.App + "\x00" + k.User + "\x00" + k.ID))
	return digest[:digestSize:digestSize]
}

// Position reads the page token of g for a session. ErrInvalid if it is not one of
// an earlier page of that session, or if the page size is out of bounds.
func (g Get) Position(key Key) (p Position, err error) {
	if g.PageSize < 0 || g.PageSize > MaxPageEvents {
		return p, fmt.Errorf("%w: pageSize %d is not within 1 to %d", memory.ErrInvalid, g.PageSize, MaxPageEvents)
	}
	if g.PageToken == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(g.PageToken)
	text, ok := bytes.CutPrefix(raw, key.digest())
	if err != nil || !ok {
		return p, g.badToken()
	}
	if n, err := fmt.Sscanf(string(text), "%s %d %d %d", &p.Ref, &p.Last, &p.Time, &p.Seq); err != nil || n != 4 {
		return p, g.badToken()
	}
	if p.Token(key) != g.PageToken { // such as one with more behind it
		return p, g.badToken()
	}
	return p, nil
}

// Life checks that a page goes on in the life of the session in which the first
// page was read.
func (g Get) Life(p Position, ref string) error {
	if !p.First() && p.Ref != ref {
		return g.badToken()
	}
	return nil
}

func (g Get) badToken() error {
	return fmt.Errorf("%w: pageToken %.40q is not one of an earlier answer about this session", memory.ErrInvalid,
		g.PageToken)
}

// Limit is how many events the page has at most.
func (g Get) Limit() int { return cmp.Or(g.PageSize, MaxPageEvents) }

// EventRoom is the room of the events of a page, beside state of so many bytes.
func (g Get) EventRoom(state int64) Room {
	limit := int64(PageBytes)
	if g.Room > 0 {
		limit = min(limit, g.Room-state)
	}
	return Room{Limit: limit}
}

// Check fails with [NoRoom] if there is no room for state of so many bytes and the
// first event of the page.
func (g Get) Check(state, event int64) error {
	if g.Room > 0 && state+event > g.Room {
		return &NoRoom{state + event}
	}
	return nil
}

// EachPage reads a session page by page. It calls see with each page, of which
// only the first has state, until see fails or all events are read.
func EachPage(ctx context.Context, store interface {
	Get(context.Context, Key, Get) (*Session, error)
}, key Key, get Get, see func(*Session) error) error {
	for {
		page, err := store.Get(ctx, key, get)
		if err != nil {
			return err
		}
		if err := see(page); err != nil || page.NextPageToken == "" {
			return err
		}
		get.PageToken, get.NoState = page.NextPageToken, true
	}
}

// Pager reads one page of a list whose rows a store has numbered in the order
// of their making. The newest come first.
type Pager struct {
	Size   int    // how many rows the page has at most
	Before int64  // the page has rows of lower numbers than this, of higher ones if ascending
	After  *Place // of a list by update: where the page before has ended; nil for the first page
	digest []byte // of the list's name, filter and order
}

// Place is where a session is in a list by update: its LastUpdateTime in microseconds,
// and a name by which the store orders those of equal times.
type Place struct {
	At   int64
	Name string
}

// beforeFirst is higher than the number of any row: a float64, as Redis keeps
// numbers, has all integers up to here.
const beforeFirst = 1 << 53

// digestSize is how many bytes of a digest tell lists apart in a token.
const digestSize = 8

// Pager reads l for one list, whose name is its kind and its owner. ErrInvalid if
// the page size is out of bounds, or if the token is not one of an earlier page of
// the same list.
func (l List) Pager(name ...string) (Pager, error) {
	// No id has a NUL in it. The version is part of the name, so that a token of
	// version 1, where SQLite's rows were in base 36, is refused and not misread.
	if l.Where != nil {
		if err := memory.ValidateWhereBy(l.Where, validateCmp); err != nil {
			return Pager{}, err
		}
		name = append(slices.Clip(name), "where", l.Where.String())
	}
	if l.Order != (Order{}) {
		name = append(slices.Clip(name), "order", fmt.Sprint(l.Order))
	}
	digest := sha256.Sum256([]byte("2\x00" + strings.Join(name, "\x00")))
	p := Pager{Size: l.PageSize, Before: beforeFirst, digest: digest[:digestSize]}
	if l.Order.Ascending {
		p.Before = -1
	}
	if p.Size == 0 {
		p.Size = memory.DefaultPageSize
	}
	if p.Size < 1 || p.Size > memory.MaxPageSize {
		return p, fmt.Errorf("%w: pageSize %d is not within 1 to %d", memory.ErrInvalid, p.Size, memory.MaxPageSize)
	}
	if l.PageToken == "" {
		return p, nil
	}
	var err error
	if l.Order.Updated {
		p.After, err = p.readPlace(l.PageToken)
	} else {
		p.Before, err = p.readToken(l.PageToken)
	}
	if err != nil {
		return p, fmt.Errorf("%w: pageToken %.40q is not one of an earlier answer to this list", memory.ErrInvalid,
			l.PageToken)
	}
	return p, nil
}

// Token returns the token of the page after one that ends with this row.
func (p Pager) Token(row int64) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt(p.digest[:digestSize:digestSize], row, 10))
}

// readToken returns the row that Token was given.
func (p Pager) readToken(token string) (row int64, err error) {
	text, err := p.text(token)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 53)
	return int64(n), err
}

// text is what a token has behind the digest of its list.
func (p Pager) text(token string) (string, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return "", err
	}
	text, ok := bytes.CutPrefix(raw, p.digest)
	if !ok {
		return "", memory.ErrInvalid
	}
	return string(text), nil
}

// PlaceToken returns the token of the page after one that ends at a place.
func (p Pager) PlaceToken(at Place) string {
	raw := strconv.AppendInt(p.digest[:digestSize:digestSize], at.At, 10)
	return base64.RawURLEncoding.EncodeToString(append(append(raw, ' '), at.Name...))
}

// readPlace returns the place that PlaceToken was given.
func (p Pager) readPlace(token string) (*Place, error) {
	text, err := p.text(token)
	if err != nil {
		return nil, err
	}
	at, name, ok := strings.Cut(text, " ")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !ok {
		return nil, memory.ErrInvalid
	}
	return &Place{n, name}, nil
}

// CutPage cuts found, the rows that a store has read for a page, to the page's
// size, and returns the token of the next page. A store reads one row more than
// the page has, so that it knows whether there is a next page: the token is ""
// if there is none.
func CutPage[T any](p Pager, found []T, number func(T) int64) (page []T, next string) {
	if len(found) <= p.Size {
		return found, ""
	}
	return found[:p.Size], p.Token(number(found[p.Size-1]))
}
