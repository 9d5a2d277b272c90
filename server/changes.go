package server

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/fair"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/sessionstore"
)

// changesRoom is how much room a page of changes takes before its size is known: as it
// is read, and as it is sent.
const changesRoom = 3*sessionstore.PageBytes + spareRoom

// changePages are the pages of changes that answers are being made of. The answers
// that are at the same page at a time share it: an operation may have hundreds of
// streams, and all of them end at once.
type changePages struct {
	mu   sync.Mutex
	held map[changePlace]*changePage
}

// changePlace is where a page begins. The changes of an operation that has ended stay
// as they are, and those of another one grow with the events that are done.
type changePlace struct {
	id    string
	state sessionstore.OperationState
	done  int
	after sessionstore.ChangePosition
}

// changePage is a page of the changes of an operation.
type changePage struct {
	users  int           // guarded by changePages.mu, as is shared
	shared bool          // by two answers, at once or soon after one another
	ready  chan struct{} // closed when the rest is set
	share  *inflight.Share
	raw    []byte           // the memories as elements of a JSON list; none unless the operation has succeeded
	rest   []ingest.Changed // what is no memory, without the costs
	costs  []*ingest.Cost
	next   sessionstore.ChangePosition
	err    error
}

// changePage returns a page of changes. The caller calls leave when it has sent the
// page.
func (s *Server) changePage(ctx context.Context, op *sessionstore.Operation, after sessionstore.ChangePosition,
	patience time.Duration) (page *changePage, leave func(), err error) {
	place := changePlace{op.ID, op.State, op.EventsDone, after}
	for {
		p, first := s.changes.join(place)
		if first {
			s.readPage(ctx, op, after, patience, p)
		} else if err := p.wait(ctx); err != nil {
			s.changes.leave(place, p, false)
			return nil, nil, err
		}
		if p.err == nil {
			return p, func() { s.changes.leave(place, p, false) }, nil
		}
		s.changes.leave(place, p, true)
		gone := errors.Is(p.err, context.Canceled) || errors.Is(p.err, context.DeadlineExceeded)
		if first || !gone {
			return nil, nil, p.err
		}
		// The answer that was reading the page has ended: this one reads it.
	}
}

// wait returns when another answer has read the page.
func (p *changePage) wait(ctx context.Context) error {
	defer fair.Pause(ctx)()
	select {
	case <-p.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// join returns the page at a place, and whether the caller is the first and reads it.
func (c *changePages) join(place changePlace) (p *changePage, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p = c.held[place]; p == nil {
		p, first = &changePage{ready: make(chan struct{})}, true
		c.held[place] = p
	}
	p.users++
	p.shared = p.shared || !first
	return p, first
}

// pageKept is how long a page is kept that answers have shared, after the last of
// them. All streams of an operation end at once, but hundreds of clients do not read
// in step: each page would be read again and again.
const pageKept = time.Second

// leave gives up a page. The last one that does gives back its room, after pageKept if
// the page was shared. A page that could not be read has no further users.
func (c *changePages) leave(place changePlace, p *changePage, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.users--
	if failed && c.held[place] == p {
		delete(c.held, place)
	}
	switch {
	case p.users > 0:
	case p.shared && c.held[place] == p:
		time.AfterFunc(pageKept, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.drop(place, p)
		})
	default:
		c.drop(place, p)
	}
}

// drop gives back the room of a page that has no user. The caller holds mu.
func (c *changePages) drop(place changePlace, p *changePage) {
	if p.users > 0 {
		return
	}
	if c.held[place] == p {
		delete(c.held, place)
	}
	p.share.Release()
}

// errNotRead is the error of a page whose reader has panicked.
var errNotRead = errors.New("the page of changes was not read")

// readPage reads a page once there is room for it.
func (s *Server) readPage(ctx context.Context, op *sessionstore.Operation, after sessionstore.ChangePosition,
	patience time.Duration, p *changePage) {
	p.err = errNotRead
	defer close(p.ready)
	share, err := s.answers.Take(ctx, op.Key.Scope, changesRoom, patience)
	if err == nil {
		p.share = share
		err = s.readChanges(ctx, op, after, p)
	}
	p.err = err
}

// readChanges reads a page of changes, and encodes it.
func (s *Server) readChanges(ctx context.Context, op *sessionstore.Operation, after sessionstore.ChangePosition,
	p *changePage) error {
	page, next, err := s.ingest.Changes(ctx, op.Key.Scope, op.ID, after)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i := range page {
		switch {
		case page[i].Cost != nil:
			p.costs = append(p.costs, page[i].Cost)
		case page[i].Memory == nil:
			p.rest = append(p.rest, page[i])
		case op.State == sessionstore.Succeeded:
			raw, err := strict.Encode(&page[i])
			if err != nil {
				return err
			}
			if out.Len() > 0 {
				out.WriteByte(',')
			}
			out.Write(raw)
		}
		page[i] = ingest.Changed{} // out has it
	}
	p.raw, p.next = out.Bytes(), next
	p.share.Shrink(int64(out.Cap()))
	return nil
}

// operation writes an operation. It reads the changes in pages while it writes, and
// holds one page at a time. The metadata comes after them, since they say what the
// work has cost. If a later page cannot be read the answer breaks off.
func (s *Server) operation(c echo.Context, out *answer, op *sessionstore.Operation, findable *bool) {
	body := operationOf(op)
	out.text(`{"id":`)
	out.value(body.ID)
	out.text(`,"done":`)
	out.value(body.Done)
	succeeded := op.State == sessionstore.Succeeded
	if succeeded {
		out.text(`,"response":{"memories":[`)
	}
	begun := false // the list
	forget := forgetBody{}
	for after, more := (sessionstore.ChangePosition{}), op.EventsDone > 0; more && out.err == nil; {
		later := after != sessionstore.ChangePosition{}
		err := pageWithin(c, later, func(ctx context.Context, patience time.Duration) error {
			page, leave, err := s.changePage(ctx, op, after, patience)
			if err != nil {
				return err
			}
			defer leave()
			for _, cost := range page.costs {
				body.Metadata.add(cost)
			}
			forget.add(page.rest)
			if begun && len(page.raw) > 0 {
				out.text(",")
			}
			begun = begun || len(page.raw) > 0
			after, more = page.next, page.next != sessionstore.ChangePosition{}
			out.within(int64(len(page.raw)))
			out.raw(page.raw)
			if more {
				out.flush()
			}
			return nil
		})
		if err != nil {
			out.fail(err)
		}
	}
	if succeeded {
		out.text(`]`)
		forget.write(out, op.ID)
		out.text(`}`)
	}
	out.text(`,"metadata":`)
	out.value(body.Metadata)
	if body.Error != nil {
		out.text(`,"error":`)
		out.value(body.Error)
	}
	if findable != nil {
		out.text(`,"findable":`)
		out.value(*findable)
	}
	if op.Quarantined {
		out.text(`,"quarantined":true`)
	}
	out.text("}")
}
