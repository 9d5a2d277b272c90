// Package access has who may do what. A [Principal] is who calls: a key, a user of an
// issuer, or the owner of a memoryd that has neither. A [Key] is what a caller shows,
// and [Keys] are the promises of the store that keeps them. A [Ring] tells which
// principal a shown key is.
//
// The principal of a request is in its context. [Check] compares it with the scope and
// the verb of what is about to be done, and package guard calls Check before every
// call of a store.
package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// Kinds of error.
var (
	// ErrUnauthenticated says that the caller has shown no key, or one that is not
	// valid. Its message never says which.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrDenied says that the caller is known and may not do this.
	ErrDenied = errors.New("permission denied")
)

// Verbs are a set of what a principal may do in its scopes.
type Verbs uint8

// The verbs. None of them includes another.
const (
	Read  Verbs = 1 << iota // reads within a scope, searches included
	Write                   // changes within a scope
	Admin                   // reads across users, keys, erasing, configuration, the audit log
)

var verbNames = []string{"read", "write", "admin"} // in the order of the bits

// ParseVerbs reads names of verbs. There must be one at least.
func ParseVerbs(names []string) (v Verbs, err error) {
	for _, name := range names {
		i := slices.Index(verbNames, name)
		if i < 0 {
			return 0, fmt.Errorf("%w: there is no verb %.60q: want %s", memory.ErrInvalid, name,
				strings.Join(verbNames, ", "))
		}
		v |= 1 << i
	}
	if v == 0 {
		return 0, fmt.Errorf("%w: no verb: want some of %s", memory.ErrInvalid, strings.Join(verbNames, ", "))
	}
	return v, nil
}

// Names returns the names of the verbs, read first.
func (v Verbs) Names() []string {
	var out []string
	for i, name := range verbNames {
		if v&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// String joins the names with commas.
func (v Verbs) String() string { return strings.Join(v.Names(), ",") }

// AllApps as the app of a Principal or a Key stands for every app. No app has this name
// in a key of its own.
const AllApps = "*"

// Principal is who calls.
type Principal struct {
	// ID names the caller in the audit log: "key:ID", "jwt:SUBJECT", or "owner".
	ID string
	// App is one app, or AllApps.
	App string
	// User is one user of App; "" stands for all of them.
	User string
	Can  Verbs
}

var (
	// Owner calls a memoryd without keys.
	Owner = &Principal{ID: "owner", App: AllApps, Can: Read | Write | Admin}
	// System is memoryd itself: what it does beside requests.
	System = &Principal{ID: "memoryd", App: AllApps, Can: Read | Write | Admin}
)

// Check returns ErrDenied unless p may do all of what verbs say in a scope. A scope
// without a user is the app as a whole, and one without an app is all apps: a principal
// of one user may do nothing there. All that is done in the scope of an app's shared
// knowledge takes the verb Admin, but see CheckSearch.
func (p *Principal) Check(scope memory.Scope, verbs Verbs) error {
	if scope.OfApp() {
		verbs = Admin
	}
	switch {
	case p == nil:
		return fmt.Errorf("%w: the call has no principal", ErrDenied)
	case p.App != AllApps && p.App != scope.App, p.User != "" && p.User != scope.User:
		return fmt.Errorf("%w: this key is not for the scope of this call", ErrDenied)
	case p.Can&verbs != verbs:
		return fmt.Errorf("%w: this key may %s, and the call takes %s", ErrDenied, p.Can, verbs)
	}
	return nil
}

// CheckSearch is Check for a search in a scope. Who may read in the scope of a user may
// also search the shared knowledge of the app.
func (p *Principal) CheckSearch(scope memory.Scope) error {
	if p != nil && scope.IsShared() {
		scope.User = p.User // that of any user, if p is for all of them
	}
	return p.Check(scope, Read)
}

// For returns p with the verbs that a call takes and no others. A call that writes or
// administers may also read: its answer shows what it did.
func (p *Principal) For(verbs Verbs) *Principal {
	only := *p
	if only.Can &= verbs; only.Can&(Write|Admin) != 0 {
		only.Can |= Read
	}
	return &only
}

type contextKey struct{}

// With returns a context of a principal.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From returns the principal of a context, nil if it has none.
func From(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}

// Check is Principal.Check of the principal in ctx. A context without one may do
// nothing.
func Check(ctx context.Context, scope memory.Scope, verbs Verbs) error {
	return From(ctx).Check(scope, verbs)
}

// CheckSearch is Principal.CheckSearch of the principal in ctx.
func CheckSearch(ctx context.Context, scope memory.Scope) error { return From(ctx).CheckSearch(scope) }
