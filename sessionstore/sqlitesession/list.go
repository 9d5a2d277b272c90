package sqlitesession

import (
	"context"
	"database/sql"
	"fmt"
	"maps"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// List implements sessionstore.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list sessionstore.List) (sessionstore.Page, error) {
	page, err := s.list(ctx, `app = ? AND user = ?`, []any{scope.App, scope.User}, list,
		"sessions", scope.App, scope.User)
	if err != nil {
		err = fmt.Errorf("list sessions of app %q, user %q: %w", scope.App, scope.User, err)
	}
	return page, err
}

// ListApp implements sessionstore.Store.
func (s *Store) ListApp(ctx context.Context, app string, list sessionstore.List) (sessionstore.Page, error) {
	page, err := s.list(ctx, `app = ?`, []any{app}, list, "sessions", app)
	if err != nil {
		err = fmt.Errorf("list sessions of app %q: %w", app, err)
	}
	return page, err
}

// listed is a session of a page, and its number.
type listed struct {
	sessionstore.Session
	ref int64
}

// scanListed reads a session of a page, without its state.
func scanListed(rows *sql.Rows) (l listed, err error) {
	var updated int64
	err = rows.Scan(&l.ref, &l.App, &l.User, &l.ID, &updated)
	l.LastUpdateTime = sessionstore.FromMicros(updated)
	return l, err
}

// list reads a page of the sessions that pass where, with its args. name is the
// list's name in page tokens. It reads the sessions first and their states after, so
// that the row beyond the page, which only shows that there is a next one, costs
// little.
func (s *Store) list(ctx context.Context, where string, args []any, list sessionstore.List, name ...string) (
	page sessionstore.Page, err error) {
	pager, err := list.Pager(name...)
	if err != nil {
		return page, err
	}
	args = append(args, pager.Before, pager.Size+1)
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		found, err := sqlitedb.Collect(ctx, tx, scanListed, `SELECT ref, app, user, id, update_time FROM sessions
			WHERE deleted = 0 AND `+where+` AND ref < ? ORDER BY ref DESC LIMIT ?`, args...)
		if err != nil {
			return err
		}
		found, page.NextPageToken = sessionstore.CutPage(pager, found, func(l listed) int64 { return l.ref })
		shared := map[memory.Scope]sessionstore.State{}
		for _, l := range found {
			if shared[l.Scope] == nil { // read once a user, not once a session
				if shared[l.Scope], err = readSharedState(ctx, tx, l.Scope); err != nil {
					return err
				}
			}
			if l.State, err = readOwnState(ctx, tx, l.ref); err != nil {
				return err
			}
			maps.Copy(l.State, shared[l.Scope])
			page.Sessions = append(page.Sessions, l.Session)
		}
		return nil
	})
	return page, err
}
