// Package fair shares what a machine has between apps, and an app's part between its
// users: a [Queue] gives those who wait their turns, a [Gate] lets as many compute as
// there are processors, and [Places] bounds how many requests are in progress.
package fair

import (
	"container/list"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Queue gives what waits its turn: apps in turn, within an app its users in turn,
// and of one user first come, first served. A turn counts by the time it takes. So
// an app that floods the queue delays another by the piece of work in progress, not
// by all that it has waiting, and long work of one app is followed by as much time
// of the others, as far as they have work, up to appDebt rounds of them.
//
// Each call takes time that grows with the logarithm of the number of apps and
// users that wait. A Queue is not safe for concurrent use.
type Queue[T any] struct {
	apps *order
	mean time.Duration // that a turn takes, over the last few
}

// NewQueue makes an empty Queue.
func NewQueue[T any]() *Queue[T] { return &Queue[T]{apps: newOrder()} }

// Ticket is the place of something that waits in a Queue.
type Ticket[T any] struct {
	Value T
	Scope memory.Scope

	charged time.Duration // when its turn came
	el      *list.Element // nil once its turn has come, or it left
}

// Len is how many wait.
func (q *Queue[T]) Len() int { return q.apps.total }

// LenApp is how many of an app wait.
func (q *Queue[T]) LenApp(app string) int {
	if f := q.apps.flows[app]; f != nil {
		return f.waiting
	}
	return 0
}

// Push adds something that waits in the name of a scope. A scope without a user
// stands for its app as a whole.
func (q *Queue[T]) Push(scope memory.Scope, v T) *Ticket[T] {
	app := q.apps.flow(scope.App)
	if app.users == nil {
		app.users = newOrder()
	}
	user := app.users.flow(scope.User)
	t := &Ticket[T]{Value: v, Scope: scope}
	t.el = user.items.PushBack(t)
	app.users.add(user, 1)
	q.apps.add(app, 1)
	return t
}

// Peek returns what is next, and leaves it; nil if nothing waits.
func (q *Queue[T]) Peek() *Ticket[T] {
	if q.Len() == 0 {
		return nil
	}
	return q.apps.next().users.next().items.Front().Value.(*Ticket[T])
}

// Pop removes what is next; nil if nothing waits. Its turn counts with the mean
// until Charge tells how long it took.
func (q *Queue[T]) Pop() *Ticket[T] {
	t := q.Peek()
	if t == nil {
		return nil
	}
	app := q.apps.flows[t.Scope.App]
	user := app.users.flows[t.Scope.User]
	t.charged = max(q.mean, time.Microsecond)
	q.add(t.Scope, t.charged)
	q.take(t, app, user)
	return t
}

// Remove takes out something that no longer waits for its turn. It reports whether
// the turn had not come yet.
func (q *Queue[T]) Remove(t *Ticket[T]) bool {
	if t.el == nil {
		return false
	}
	app := q.apps.flows[t.Scope.App]
	q.take(t, app, app.users.flows[t.Scope.User])
	return true
}

func (q *Queue[T]) take(t *Ticket[T], app, user *flow) {
	user.items.Remove(t.el)
	t.el = nil
	app.users.add(user, -1)
	q.apps.add(app, -1)
}

// Charge counts what a turn has taken.
func (q *Queue[T]) Charge(t *Ticket[T], took time.Duration) {
	app := q.add(t.Scope, took-t.charged)
	t.charged = took
	q.mean = follow(q.mean, took)
	if app != nil {
		app.mean = follow(app.mean, took)
	}
}

// follow is a mean over the last 16 or so.
func follow(mean, next time.Duration) time.Duration {
	if mean == 0 {
		return next
	}
	return mean + (next-mean)/16
}

// How far an app, and a user within its app, can be ahead of those that wait, in mean
// turns: it then waits for as many rounds of the others at most. A turn that took
// longer is paid for in part. Otherwise one long write of a user would keep another
// user of the app waiting for as long, times the number of apps that wait. Where an app
// has hundreds of users, a round of users takes long by itself.
const (
	appDebt  = 8
	userDebt = 2
)

func (q *Queue[T]) add(scope memory.Scope, cost time.Duration) *flow {
	mean := float64(max(q.mean, time.Microsecond))
	app := q.apps.charge(scope.App, float64(cost), appDebt*mean)
	if app != nil && app.users != nil {
		app.users.charge(scope.User, float64(cost), userDebt*mean)
	}
	return app
}

// Wait estimates how long something that a scope adds now would wait, if turns come
// one after another: as long as those of its app that come before it will take, and as
// much time for each other app. Of the other users of the app as many come before it
// as of its own user. It is short for an app of which no turn was charged yet.
func (q *Queue[T]) Wait(scope memory.Scope) time.Duration {
	app := q.apps.flows[scope.App]
	if app == nil {
		return 0
	}
	ahead := app.waiting
	if app.users != nil {
		own := 0
		if user := app.users.flows[scope.User]; user != nil {
			own = user.waiting
		}
		ahead = min(ahead, (own+1)*len(app.users.flows))
	}
	return time.Duration(ahead*len(q.apps.flows)) * app.mean
}
