package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// columns are the columns behind the fields a list can be ordered by.
var columns = map[string]string{"": "timestamp", "timestamp": "timestamp", "createTime": "create_time", "updateTime": "update_time"}

// place is where in an order a page ended; a page token is one as base64 JSON.
type place struct {
	Order string // a token serves the order it was made for
	At    int64
	ID    string
}

// List implements memory.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	page, err := s.list(ctx, scope, list)
	if err != nil {
		return memory.Page{}, wrap("list memories", scope, err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, scope memory.Scope, list memory.List) (page memory.Page, err error) {
	size := list.PageSize
	if size == 0 {
		size = memory.DefaultPageSize
	}
	if size < 1 || size > memory.MaxPageSize {
		return page, fmt.Errorf("%w: pageSize %d is not within 1 to %d", memory.ErrInvalid, size, memory.MaxPageSize)
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
		var last place
		for rows.Next() {
			var doc []byte
			p := place{Order: orderName(list.Order)}
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
				page.NextPageToken = last.token()
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
		p, err := readToken(list.PageToken, list.Order)
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

func orderName(o memory.Order) string {
	if o.Ascending {
		return columns[o.Field] + " asc"
	}
	return columns[o.Field]
}

func (p place) token() string {
	raw, err := json.Marshal(p)
	if err != nil { // two strings and a number always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func readToken(token string, order memory.Order) (p place, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || p.ID == "" || p.Order != orderName(order) {
		return p, fmt.Errorf("%w: pageToken %.40q is not one of an earlier answer to this list", memory.ErrInvalid, token)
	}
	return p, nil
}
