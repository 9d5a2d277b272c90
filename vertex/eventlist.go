package vertex

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// maxEvents bounds the bytes of the events of an answer.
const maxEvents = 48 << 20

// eventFields are the fields of a filter of events.
func eventFields() aip160.Fields {
	return aip160.Fields{"timestamp": memory.TimeField, "author": memory.TextField, "invocationId": memory.TextField}
}

func (s *Service) listEvents(ctx context.Context, call *Call) (any, error) {
	in, err := call.list()
	if err != nil {
		return nil, err
	}
	where, err := aip160.Parse(in.Filter, eventFields())
	if err != nil {
		return nil, err
	}
	descending, err := readEventOrder(in.OrderBy)
	if err != nil {
		return nil, err
	}
	key, err := s.find(ctx, call.Resource)
	if err != nil {
		return nil, err
	}
	l := eventList{sessions: s.sessions, key: key, size: in.PageSize, most: maxEvents, where: where,
		descending: descending}
	if err := l.read(ctx, in.PageToken); err != nil {
		return nil, err
	}
	r := call.Resource
	r.ID = key.ID
	out := struct {
		Events        []*envelope `json:"sessionEvents,omitempty"`
		NextPageToken string      `json:"nextPageToken,omitempty"`
	}{NextPageToken: l.next}
	for i := range l.events {
		e, err := r.envelopeOf(&l.events[i])
		if err != nil {
			return nil, err
		}
		out.Events = append(out.Events, e)
	}
	return out, nil
}

// eventList reads a page of the events of a session that pass a filter. It reads the session in parts,
// and keeps of them what belongs on the page, so that the memory it takes follows from the size of the
// page. It looks on until it knows that another event follows: a page has events, and one that ends
// with no token is the last. Without a size the page has all, as some clients never ask for a second.
type eventList struct {
	sessions   sessionstore.Store
	key        sessionstore.Key
	size       int // 0 is any number
	most       int // bytes on the page
	where      memory.Where
	descending bool

	events []sessionstore.Event
	bytes  int
	last   eventPlace // of the last event on the page
	next   string
}

// eventPlace is where a page ends.
type eventPlace struct {
	// Of a list in the order of time: the store's token of the part in which the last event is, and how
	// many events of that part the list has looked at.
	Part string `json:"p,omitempty"`
	N    int    `json:"n"`
	// Of a list that begins with the newest: the last event, and in N how many events the session had from
	// there on. It may have more by now.
	ID string `json:"i,omitempty"`
}

// token is the token of the page behind a place.
func (p eventPlace) token() string {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // texts and numbers
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// errPageFull ends the reading of a page.
var errPageFull = errors.New("the page is full")

// read reads the page behind a token.
func (l *eventList) read(ctx context.Context, token string) error {
	var from eventPlace
	if token != "" {
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err == nil {
			err = json.Unmarshal(raw, &from)
		}
		if err != nil || from.N < 0 || from.N == 0 && from.Part == "" || (from.ID != "") != l.descending {
			return invalid("pageToken %.40q is none of an earlier answer to this list", token)
		}
	}
	get := sessionstore.Get{NumRecent: -1, NoState: true}
	if c, ok := l.where.(memory.Cmp); ok && c.Field == "timestamp" && c.Op == memory.OpAtLeast {
		get.After, _ = c.Value.AsTime()
	}
	read := l.ascend
	if l.descending {
		read = l.descend
	}
	if err := read(ctx, get, from); err != nil && !errors.Is(err, errPageFull) {
		return err
	}
	return nil
}

// add puts an event on the page if it passes. at is its place.
func (l *eventList) add(e *sessionstore.Event, at eventPlace) error {
	if !memory.Holds(l.where, func(c memory.Cmp) bool { return compare(e, c) }) {
		return nil
	}
	over := len(l.events) > 0 && l.bytes+len(e.Doc) > l.most
	switch {
	case l.size == 0 && over:
		return memory.Refuse(0, "the events of the session have more than %d bytes: ask for pages, with pageSize",
			l.most)
	case l.size > 0 && (over || len(l.events) == l.size):
		l.next = l.last.token()
		return errPageFull
	}
	l.events, l.bytes, l.last = append(l.events, *e), l.bytes+len(e.Doc), at
	return nil
}

// ascend reads events in the order of time.
func (l *eventList) ascend(ctx context.Context, get sessionstore.Get, from eventPlace) error {
	part, skip := from.Part, from.N
	if get.PageToken = part; l.where == nil { // all of a part is on the page
		get.PageSize = l.size
	}
	return sessionstore.EachPage(ctx, l.sessions, l.key, get, func(page *sessionstore.Session) error {
		for i := range page.Events {
			if skip > 0 { // on the page before
				skip--
			} else if err := l.add(&page.Events[i], eventPlace{Part: part, N: i + 1}); err != nil {
				return err
			}
		}
		if part = page.NextPageToken; part != "" && l.where == nil && len(l.events) == l.size && l.size > 0 {
			l.next = eventPlace{Part: part}.token()
			return errPageFull
		}
		return nil
	})
}

// windowEvents is how many events are read at a time to go backwards. They are fewer where events are
// long, as a window has no more than a part of the bytes of a page, and up to manyEvents where a filter
// passes none, as a long session would take many calls of the store. A page of the store has 1,000.
const (
	windowEvents = 100
	manyEvents   = 800
	windowPart   = 12
)

// descend reads events from the newest on. Those that come meanwhile are not on later pages.
func (l *eventList) descend(ctx context.Context, get sessionstore.Get, from eventPlace) error {
	first := get
	first.PageSize = 1
	oldest, err := l.sessions.Get(ctx, l.key, first)
	if err != nil || len(oldest.Events) == 0 {
		return err
	}
	for many, most := windowEvents, manyEvents; ; {
		get.NumRecent = from.N + many
		window, err := l.window(ctx, get, many+1) // with the last event that was looked at
		switch {
		case err != nil:
			return err
		case window == nil:
			many = max(1, many/2)
			most = many
			continue
		case len(window) == 0:
			return nil // the session was made anew
		}
		unseen, had := before(window, from), len(l.events)
		for i := len(unseen) - 1; i >= 0; i-- {
			e := &unseen[i]
			from = eventPlace{ID: e.ID, N: from.N + 1}
			if err := l.add(e, from); err != nil {
				return err
			}
		}
		if window[0].ID == oldest.Events[0].ID {
			return nil
		}
		if len(unseen) == 0 { // so many have come since, or one from before all of them
			from.N += many
			// The event that was the oldest may not be the first one now, nor be there: the session may have
			// been made again.
			if oldest, err = l.sessions.Get(ctx, l.key, first); err != nil || len(oldest.Events) == 0 {
				return err
			}
		} else if len(l.events) == had {
			many = min(2*many, most)
		}
	}
}

// window reads the first events of what get asks for, up to so many. It is nil if these are more
// than two and have too many bytes.
func (l *eventList) window(ctx context.Context, get sessionstore.Get, most int) ([]sessionstore.Event, error) {
	get.PageSize = most
	out, bytes := []sessionstore.Event{}, 0
	err := sessionstore.EachPage(ctx, l.sessions, l.key, get, func(page *sessionstore.Session) error {
		for _, e := range page.Events {
			if bytes += len(e.Doc); bytes > l.most/windowPart && most > 2 {
				out = nil
				return errPageFull
			}
			if out = append(out, e); len(out) == most {
				return errPageFull // another page is another call
			}
		}
		return nil
	})
	if errors.Is(err, errPageFull) {
		err = nil
	}
	return out, err
}

// before are the events of a window that come before a place, all of them before the start of a list.
// Where the window does not reach back to the place, all of it is behind.
func before(window []sessionstore.Event, at eventPlace) []sessionstore.Event {
	if at.ID == "" {
		return window
	}
	end := slices.IndexFunc(window, func(e sessionstore.Event) bool { return e.ID == at.ID })
	return window[:max(end, 0)]
}

// compare is whether a comparison of a filter holds of an event.
func compare(e *sessionstore.Event, c memory.Cmp) bool {
	switch c.Field {
	case "timestamp":
		return c.OfTime(e.Timestamp)
	case "author":
		return c.OfText(e.Author)
	}
	return c.OfText(e.InvocationID)
}

// readEventOrder reads orderBy of events: by time, and descending or not.
func readEventOrder(text string) (descending bool, err error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 0, len(words) == 1 && words[0] == "timestamp":
		return false, nil
	case len(words) == 2 && words[0] == "timestamp" && (words[1] == "asc" || words[1] == "desc"):
		return words[1] == "desc", nil
	}
	return false, invalid(`orderBy %.60q: want timestamp, "timestamp asc" or "timestamp desc"`, text)
}
