package sqlitesession

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// leases has when the leases of this process end. The file belongs to the process
// alone, so a renewal changes this and not the file: it waits for no disk and for no
// other write, and cannot come too late. The table leases has the ends as of the last
// claim, by which the next one chooses.
type leases struct {
	mu    sync.Mutex
	until map[memory.Scope]*lease
}

type lease struct {
	owner  string
	until  time.Time
	stored time.Time // until, in the table
}

// claimed notes a lease that a claim has made.
func (l *leases) claimed(scope memory.Scope, owner string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until[scope] = &lease{owner: owner, until: until, stored: until}
}

// ended notes that the lease on a scope was released.
func (l *leases) ended(scope memory.Scope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, scope)
}

// store writes the ends that were renewed into the table.
func (l *leases) store(tx *sqlitedb.Tx) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for scope, one := range l.until {
		if one.until.Equal(one.stored) {
			continue
		}
		if _, err := tx.Exec(`UPDATE leases SET until = ? WHERE app = ? AND user = ? AND owner = ?`,
			one.until.UnixMicro(), scope.App, scope.User, one.owner); err != nil {
			return err
		}
		until := one.until
		tx.OnCommit(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			one.stored = until
		})
	}
	return nil
}

// Renew implements sessionstore.Progress. It is over at once, whatever the disk does.
// It renews a lease that has ended too, as long as no claim has taken the scope.
func (s *Store) Renew(ctx context.Context, scope memory.Scope, owner string, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	one := s.leases.until[scope]
	if one == nil || one.owner != owner {
		return fmt.Errorf("renew lease on app %q, user %q: %w", scope.App, scope.User, memory.ErrAborted)
	}
	one.until = s.now().Add(ttl)
	return nil
}
