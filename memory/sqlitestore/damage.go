package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/internal/storedjson"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// decode reads a sealed JSON value.
func decode(sealed []byte, v any) error {
	raw, err := sqlitedb.Unseal(sealed)
	if err != nil {
		return err
	}
	return storedjson.Decode(raw, v)
}

// seal seals what EncodeJSON has returned.
func seal(raw []byte, err error) ([]byte, error) { return sqlitedb.Seal(raw), err }

// unreadable notes a memory that cannot be read.
func (s *Store) unreadable(scope memory.Scope, id string, err error) {
	s.db.Unreadable(sqlitedb.Row{
		Table: "memories", Key: fmt.Sprintf("app %q, user %q, memory %q", scope.App, scope.User, id),
	}, err)
}

// errUnreadable is the error of Get for memories that cannot be read.
func errUnreadable(ids []string) error {
	return memory.Damaged("memory %s cannot be read: it is damaged. The others of this user can."+
		" memoryd check lists all that is damaged; delete the memory, or put a backup in place",
		strings.Join(ids, ", "))
}

// unreadableRow is the row of a memory of which the columns can be read and the doc
// cannot. Its memory has nothing beyond them, so that it can be deleted and written
// again.
func (s *Store) unreadableRow(tx *sqlitedb.Tx, n int64, cause error) (*row, error) {
	r := row{n: n, unreadable: true}
	m := &r.Memory
	var timestamp, created, updated int64
	err := tx.QueryRow(`SELECT s.app, s.user, id, revision, deleted, kind, session, timestamp, create_time, update_time
		FROM memories m JOIN scopes s ON s.n = m.scope WHERE m.n = ?`, n).Scan(&m.App, &m.User, &m.ID, &m.Revision,
		&r.Deleted, &m.Kind, &m.Source.SessionID, &timestamp, &created, &updated)
	if err != nil {
		return nil, err
	}
	m.Timestamp, m.CreateTime = time.UnixMicro(timestamp).UTC(), time.UnixMicro(created).UTC()
	m.UpdateTime = time.UnixMicro(updated).UTC()
	s.unreadable(m.Scope, m.ID, cause)
	return &r, nil
}

// mendedBy reports whether a write repeats the one that has made an unreadable row:
// it was decided on the revision before. It then has the content that the row has
// lost.
func (r *row) mendedBy(w *memory.Write) bool {
	return r != nil && r.unreadable && !r.Deleted && r.Memory.Revision == w.Expect+1
}

// mend stores the content of a repeated write in the row that has lost it.
func (s *Store) mend(tx *sqlitedb.Tx, was *row, w *memory.Write) (memory.Outcome, error) {
	m := w.Memory.Stored()
	m.Revision, m.CreateTime, m.UpdateTime = was.Memory.Revision, was.Memory.CreateTime, was.Memory.UpdateTime
	doc, terms, err := encode(&m, w.Terms)
	if err != nil {
		return memory.Outcome{}, err
	}
	_, err = tx.Exec(`UPDATE memories SET doc = ?, `+s.at.terms+` = ?, `+s.at.vector+` = ? WHERE n = ?`,
		doc, terms, vectorBytes(w.Vector), was.n)
	s.follow(tx, &m, w.Terms, w.Vector)
	return memory.Outcome{Memory: m}, err
}

// numbered is the number and the id of a row.
type numbered struct {
	n  int64
	id string
}

// numbers returns the live memories of a scope in a damaged file, as far as its
// indexes tell: each is read from both ends until a page of it cannot be.
func (s *Store) numbers(ctx context.Context, tx *sql.Tx, scope memory.Scope) (out []numbered, err error) {
	var number int64
	err = tx.QueryRowContext(ctx, `SELECT n FROM scopes WHERE app = ? AND user = ?`, scope.App, scope.User).
		Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	for _, index := range []struct{ name, column string }{
		{"memories_timestamp", "timestamp"}, {"memories_create", "create_time"}, {"memories_update", "update_time"},
	} {
		whole := true
		for _, direction := range []string{"ASC", "DESC"} {
			rows, err := tx.QueryContext(ctx, `SELECT n, id FROM memories INDEXED BY `+index.name+`
				WHERE scope = ? AND deleted = 0 ORDER BY `+index.column+` `+direction, number)
			if err != nil {
				whole = false
				continue
			}
			for rows.Next() {
				var one numbered
				if rows.Scan(&one.n, &one.id) == nil && !seen[one.n] {
					seen[one.n] = true
					out = append(out, one)
				}
			}
			whole = whole && rows.Err() == nil
			rows.Close()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if whole {
				return out, nil
			}
		}
	}
	return out, nil
}

// readAround reads the live memories of a scope in a damaged file one by one, so that
// a page that cannot be read costs only the memories in it. It returns how many
// those are.
func (s *Store) readAround(ctx context.Context, scope memory.Scope, take func([]stored)) (unreadable int, err error) {
	var all []numbered
	if err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		all, err = s.numbers(ctx, tx, scope)
		return err
	}); err != nil {
		return 0, err
	}
	for some := range slices.Chunk(all, loadRows) {
		var page []stored
		if err := s.db.Read(ctx, func(tx *sql.Tx) error {
			for _, one := range some {
				m := stored{id: one.id}
				err := tx.QueryRowContext(ctx, `SELECT doc, `+s.at.terms+`, `+s.at.vector+` FROM memories WHERE n = ?`,
					one.n).Scan(&m.doc, &m.terms, &m.vector)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					unreadable++
					s.unreadable(scope, one.id, err)
					continue
				}
				page = append(page, m)
			}
			return nil
		}); err != nil {
			return 0, err
		}
		take(page)
	}
	return unreadable, nil
}

// loadAround is load for a damaged file.
func (s *Store) loadAround(ctx context.Context, scope memory.Scope, take func([]*index.Entry) int64) error {
	_, err := s.readAround(ctx, scope, func(page []stored) { take(s.entries(scope, page)) })
	return err
}

// listAround is list for a damaged file.
func (s *Store) listAround(ctx context.Context, scope memory.Scope, list *memory.List, paging memory.Paging) (
	page memory.Page, err error) {
	type listed struct {
		memory memory.Memory
		at     memory.Cursor
	}
	var found []listed
	now := s.now()
	unreadable, err := s.readAround(ctx, scope, func(some []stored) {
		for _, one := range some {
			var m memory.Memory
			if err := decode(one.doc, &m); err != nil {
				page.Unreadable++
				s.unreadable(scope, one.id, err)
				continue
			}
			at := list.Order.Cursor(&m)
			if list.Match(&m, now) && (paging.After == nil || list.Order.Compare(at, *paging.After) > 0) {
				found = append(found, listed{m, at})
			}
		}
	})
	if err != nil {
		return page, err
	}
	page.Unreadable += unreadable
	slices.SortFunc(found, func(a, b listed) int { return list.Order.Compare(a.at, b.at) })
	for _, l := range found[:min(len(found), paging.Size+1)] {
		page.Memories = append(page.Memories, l.memory)
	}
	page.Memories, page.NextPageToken = paging.Fit(list.Order, page.Memories, "")
	return page, nil
}
