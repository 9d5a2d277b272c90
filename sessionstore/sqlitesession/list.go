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

// listed is a session of a page, its number, and the size of its own state.
type listed struct {
	sessionstore.Session
	ref, bytes int64
}

// listedColumns are the columns that scanListed reads.
const listedColumns = `ref, app, user, id, update_time, state_bytes, ` + detailColumns

// scanListed reads a session of a page, without its state.
func scanListed(rows *sql.Rows) (l listed, err error) {
	var updated int64
	var details detailRow
	err = rows.Scan(append([]any{&l.ref, &l.App, &l.User, &l.ID, &updated, &l.bytes}, details.fields()...)...)
	if err != nil {
		return l, err
	}
	l.LastUpdateTime = sessionstore.FromMicros(updated)
	l.Details, l.CreateTime, err = details.read()
	return l, err
}

// list reads a page of the sessions that pass where, with its args. name is the
// list's name in page tokens. It reads the sessions first and their states after, so
// that the row beyond the page, which only shows that there is a next one, costs
// little, and no state is read that the page has no room for.
func (s *Store) list(ctx context.Context, where string, args []any, list sessionstore.List, name ...string) (
	page sessionstore.Page, err error) {
	pager, err := list.Pager(name...)
	if err != nil {
		return page, err
	}
	args = append(args, s.now().UnixMicro(), pager.Before, pager.Size+1)
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		found, err := sqlitedb.Collect(ctx, tx, scanListed, `SELECT `+listedColumns+`
			FROM sessions WHERE deleted = 0 AND `+where+` AND `+unexpired+` AND ref < ?
			ORDER BY ref DESC LIMIT ?`, args...)
		if err != nil {
			return err
		}
		found, page.NextPageToken = sessionstore.CutPage(pager, found, func(l listed) int64 { return l.ref })
		shown, err := showStates(ctx, tx, found, list)
		if err != nil {
			return err
		}
		if shown < len(found) {
			found, page.NextPageToken = found[:shown], pager.Token(found[shown-1].ref)
		}
		for _, l := range found {
			page.Sessions = append(page.Sessions, l.Session)
		}
		return nil
	})
	return page, err
}

// showStates reads the states of the first sessions found, as many as a page of the
// list has room for, and returns how many.
func showStates(ctx context.Context, tx *sql.Tx, found []listed, list sessionstore.List) (shown int, err error) {
	type sharedState struct {
		size  int64
		state sessionstore.State
	}
	shared := map[memory.Scope]*sharedState{} // read once a user, not once a session
	var room sessionstore.Room
	for i := range found {
		l := &found[i]
		of := shared[l.Scope]
		if of == nil && !list.NoState {
			sizes, err := readStateSizes(ctx, tx, l.Scope, 0)
			if err != nil {
				return 0, err
			}
			of = &sharedState{size: sizes.total()}
			shared[l.Scope] = of
		}
		size := sessionstore.SessionBytes(&l.Session, 0)
		if !list.NoState {
			size += l.bytes + of.size
		}
		if i == 0 {
			if room, err = list.ListRoom(size); err != nil {
				return 0, err
			}
		}
		if !room.Fits(size) {
			return i, nil
		}
		if list.NoState {
			continue
		}
		if of.state == nil {
			if of.state, err = readSharedState(ctx, tx, l.Scope); err != nil {
				return 0, err
			}
		}
		if l.State, err = readOwnState(ctx, tx, l.ref); err != nil {
			return 0, err
		}
		maps.Copy(l.State, of.state)
	}
	return len(found), nil
}
