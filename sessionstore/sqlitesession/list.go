package sqlitesession

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strconv"

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

// place is where l is in a list by update.
func (l *listed) place() sessionstore.Place {
	return sessionstore.Place{At: l.LastUpdateTime.UnixMicro(), Name: strconv.FormatInt(l.ref, 10)}
}

// orderOf returns the condition of the rows of a page, its arguments, and the order.
func orderOf(list sessionstore.List, pager sessionstore.Pager) (where string, args []any, order string, err error) {
	than, direction := "<", "DESC"
	if list.Order.Ascending {
		than, direction = ">", "ASC"
	}
	switch {
	case !list.Order.Updated:
		return "ref " + than + " ?", []any{pager.Before}, "ref " + direction, nil
	case pager.After == nil:
		where = "true"
	default:
		ref, err := strconv.ParseInt(pager.After.Name, 10, 64)
		if err != nil {
			return "", nil, "", fmt.Errorf("%w: pageToken %.40q is none of this store", memory.ErrInvalid,
				list.PageToken)
		}
		where, args = "(update_time, ref) "+than+" (?, ?)", []any{pager.After.At, ref}
	}
	return where, args, "update_time " + direction + ", ref " + direction, nil
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
	behind, from, order, err := orderOf(list, pager)
	if err != nil {
		return page, err
	}
	looked := pager.Size + 1
	if list.Where != nil {
		looked = sessionstore.MaxLooked
	}
	args = append(append(append(args, s.now().UnixMicro()), from...), looked)
	token := func(l *listed) string {
		if list.Order.Updated {
			return pager.PlaceToken(l.place())
		}
		return pager.Token(l.ref)
	}
	if list.NoAside {
		where += ` AND NOT ` + aside
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		found, last, err := lookThrough(ctx, tx, list, pager.Size, looked, `SELECT `+listedColumns+` FROM sessions
			WHERE deleted = 0 AND `+where+` AND `+unexpired+` AND `+behind+` ORDER BY `+order+` LIMIT ?`, args...)
		if err != nil {
			return err
		}
		if last != nil {
			page.NextPageToken = token(last)
		}
		shown, err := showStates(ctx, tx, found, list)
		if err != nil {
			return err
		}
		if shown < len(found) {
			found, page.NextPageToken = found[:shown], token(&found[shown-1])
		}
		for _, l := range found {
			page.Sessions = append(page.Sessions, l.Session)
		}
		return nil
	})
	return page, err
}

// lookThrough reads sessions up to so many, and returns those that belong on the page,
// and the last one before the next page; nil if there is none.
func lookThrough(ctx context.Context, tx *sql.Tx, list sessionstore.List, size, most int, query string,
	args ...any) (found []listed, last *listed, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	looked := 0
	for rows.Next() {
		l, err := scanListed(rows)
		if err != nil {
			return nil, nil, err
		}
		looked++
		if l.Session.Match(list.Where) {
			if len(found) == size {
				return found, last, nil
			}
			found = append(found, l)
		}
		last = &l
	}
	if err := rows.Err(); err != nil || looked < most {
		return found, nil, err
	}
	return found, last, nil
}

// Find implements sessionstore.Store.
func (s *Store) Find(ctx context.Context, app, id string) (out []sessionstore.Key, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		scan := func(rows *sql.Rows) (key sessionstore.Key, err error) {
			key.App, key.ID = app, id
			err = rows.Scan(&key.User)
			return key, err
		}
		out, err = sqlitedb.Collect(ctx, tx, scan, `SELECT user FROM sessions INDEXED BY sessions_app_id
			WHERE app = ? AND id = ? AND deleted = 0 AND `+unexpired+` ORDER BY user LIMIT ?`,
			app, id, s.now().UnixMicro(), sessionstore.MaxFound)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find session %q of app %q: %w", id, app, err)
	}
	return out, nil
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
