package memory

import (
	"context"
	"fmt"
)

// AppReader reads memories across all users of an app, without those of the app itself.
// These reads are methods of their own, so that no call that names a scope can come to read
// another one.
type AppReader interface {
	// ListApp returns a page of the live memories of all users of an app that pass the
	// filter. Users may have memories of one id: where the order leaves two of these
	// together, they follow each other by user, in the direction of the order.
	ListApp(ctx context.Context, app string, list List) (Page, error)

	// FindApp returns the live memories that have an id, of all users of an app, by user:
	// up to MaxPageSize.
	FindApp(ctx context.Context, app, id string) ([]Memory, error)

	// OwnersApp returns the users of an app that have or had a memory of an id, by id: up to
	// MaxPageSize. It has those of memories that were deleted or have expired, as long as
	// the store has something of them.
	OwnersApp(ctx context.Context, app, id string) ([]string, error)
}

// AppPaging is Paging for a list of all users of an app.
func (l *List) AppPaging() (Paging, error) {
	p, err := l.Paging()
	p.users = true
	if l.Deleted && err == nil { // the orders across users have live memories alone
		err = fmt.Errorf("%w: deleted memories are listed of one user", ErrInvalid)
	}
	return p, err
}

// AppCursor is the position of m in the order of a list of all users of an app.
func (o Order) AppCursor(m *Memory) Cursor {
	c := o.Cursor(m)
	c.User = m.User
	return c
}
