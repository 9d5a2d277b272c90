package fair

import "github.com/memoryd/memoryd/memory"

// Shares counts how much of something each app has, and each user of an app. An app may
// have as much as then stays free, so that one that comes new finds some: alone it can
// have half, beside one other a third. A user may have as much as its app may then
// still take, for the same reason: alone it can have half of what its app can. One that
// has none may take all that those above it may. (Dynamic thresholds, of Choudhury and
// Hahne, 1998.)
//
// A scope without a user stands for its app as a whole, and counts as a user of it.
// Shares is not safe for concurrent use.
type Shares struct {
	free int64
	apps map[string]*appShare // of those that have some
}

// appShare is what an app has.
type appShare struct {
	has   int64
	users map[string]int64 // of those that have some
}

// NewShares makes Shares of so much, all of it free.
func NewShares(total int64) *Shares {
	return &Shares{free: total, apps: map[string]*appShare{}}
}

// Free is how much no app has.
func (s *Shares) Free() int64 { return s.free }

// Has is how much the app of a scope has, and its user.
func (s *Shares) Has(scope memory.Scope) (app, user int64) {
	if a := s.apps[scope.App]; a != nil {
		return a.has, a.users[scope.User]
	}
	return 0, 0
}

// Fits reports whether a scope may have n in the place of the part of it that it gives
// back, which it has already.
func (s *Shares) Fits(scope memory.Scope, n, part int64) bool {
	app, user := s.Has(scope)
	app, user = app-part, user-part
	free := s.free + part - n // once it has them
	switch {
	case free < 0:
		return false
	case app == 0:
		return true
	case app+n > free:
		return false
	}
	// An app that has so much may still take half of the difference to what is free.
	return user == 0 || user+n <= (free-app-n)/2
}

// Add counts n more of a scope, or with a negative n less.
func (s *Shares) Add(scope memory.Scope, n int64) {
	a := s.apps[scope.App]
	if a == nil {
		a = &appShare{users: map[string]int64{}}
		s.apps[scope.App] = a
	}
	s.free -= n
	a.has += n
	if a.users[scope.User] += n; a.users[scope.User] == 0 {
		delete(a.users, scope.User)
	}
	if a.has == 0 {
		delete(s.apps, scope.App)
	}
}
