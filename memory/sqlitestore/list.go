package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// columns are the columns behind the fields a list can be ordered by.
var columns = map[string]string{"": "timestamp", "timestamp": "timestamp", "createTime": "create_time", "updateTime": "update_time"}

// List implements memory.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	page, err := s.list(ctx, scope, list)
	if err != nil {
		return memory.Page{}, wrap("list memories", scope, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, scope memory.Scope, list memory.List) (page memory.Page, err error) {
	size, err := list.Size()
	if err != nil {
		return page, err
	}
	query, args, err := listQuery(scope, list)
	if err != nil {
		return page, err
	}
	now := s.now()
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var last memory.Place
		for rows.Next() {
			var doc []byte
			p := memory.Place{Order: list.Order}
			if err := rows.Scan(&p.At, &p.ID, &doc); err != nil {
				return err
			}
			var m memory.Memory
			if err := decode(doc, &m); err != nil {
				return err
			}
			if !list.Match(&m, now) {
				continue
			}
			if len(page.Memories) == size {
				page.NextPageToken = last.Token()
				return nil
			}
			page.Memories = append(page.Memories, m)
			last = p
		}
		return rows.Err()
	})
	return page, err
}

// listQuery has SQLite order and narrow as far as it has columns for; the
// caller applies the whole filter.
func listQuery(scope memory.Scope, list memory.List) (string, []any, error) {
	column, ok := columns[list.Order.Field]
	if !ok {
		return "", nil, fmt.Errorf("%w: no order by %q", memory.ErrInvalid, list.Order.Field)
	}
	dir, after := "DESC", "<"
	if list.Order.Ascending {
		dir, after = "ASC", ">"
	}
	where := []string{`scope = (SELECT n FROM scopes WHERE app = ? AND user = ?)`, `deleted = 0`}
	args := []any{scope.App, scope.User}
	and := func(cond string, arg ...any) {
		where = append(where, cond)
		args = append(args, arg...)
	}
	if list.PageToken != "" {
		p, err := memory.ReadPlace(list.PageToken, list.Order)
		if err != nil {
			return "", nil, err
		}
		and(`(`+column+`, id) `+after+` (?, ?)`, p.At, p.ID)
	}
	if list.SessionID != "" {
		and(`session = ?`, list.SessionID)
	}
	if len(list.Kinds) == 1 {
		and(`kind = ?`, list.Kinds[0])
	}
	if !list.Since.IsZero() {
		and(`timestamp >= ?`, list.Since.Truncate(time.Microsecond).UnixMicro())
	}
	if !list.Until.IsZero() {
		and(`timestamp <= ?`, list.Until.UnixMicro())
	}
	return `SELECT ` + column + `, id, doc FROM memories WHERE ` + strings.Join(where, ` AND `) +
		` ORDER BY ` + column + ` ` + dir + `, id ` + dir, args, nil
}
