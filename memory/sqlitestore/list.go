package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// orderColumns are the columns of the fields that a list can be ordered by.
var orderColumns = map[string]string{
	"": "timestamp", "timestamp": "timestamp", "createTime": "create_time", "updateTime": "update_time",
}

// List implements memory.Store.
func (s *Store) List(ctx context.Context, scope memory.Scope, list memory.List) (memory.Page, error) {
	page, err := s.list(ctx, scope, list)
	if err != nil {
		return memory.Page{}, scope.Wrap("list memories", err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, scope memory.Scope, list memory.List) (page memory.Page, err error) {
	paging, err := list.Paging()
	if err != nil {
		return page, err
	}
	query, args := listQuery(scope, &list, paging.After)
	now := s.now()
	s.db.Used(0)
	var found []memory.Memory
	bytes := int64(0)
	see := func(id string, doc, deletion []byte) {
		var m memory.Memory
		if err := decode(doc, &m); err != nil {
			page.Unreadable++
			s.unreadable(scope, id, err)
		} else if by, kept := deletionOf(deletion, now); list.Match(&m, now) && (kept || !list.Deleted) {
			found, bytes = append(found, m), bytes+m.Bytes()
			if list.Deleted {
				page.Deletions = append(page.Deletions, by)
			}
		}
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		// One memory more than a page shows whether there is a next page.
		for len(found) <= paging.Size && bytes <= memory.MaxListBytes && rows.Next() {
			var id string
			var doc, deletion []byte
			if err := rows.Scan(&id, &doc, &deletion); err != nil {
				return err
			}
			see(id, doc, deletion)
		}
		return rows.Err()
	})
	if sqlitedb.IsDamage(err) && !list.Deleted { // what is deleted is not sought around damage
		return s.listAround(ctx, scope, &list, paging)
	}
	if err != nil {
		return page, err
	}
	page.Memories, page.NextPageToken = paging.Fit(list.Order, found, "")
	if list.Deleted {
		page.Deletions = page.Deletions[:len(page.Memories)]
	}
	return page, nil
}

// deletedBy reads the revision that deleted a memory, for deletionOf.
const deletedBy = `(SELECT json_array(r.time, r.actor, r.operation, r.expires) FROM revisions r
	WHERE r.memory = memories.n AND r.revision = memories.revision)`

// deletionOf reads what deletedBy gives, and reports whether there is a deletion that has not
// expired.
func deletionOf(raw []byte, now time.Time) (d memory.Deletion, kept bool) {
	var at int64
	var expires *int64
	if json.Unmarshal(raw, &[]any{&at, &d.Actor, &d.Operation, &expires}) != nil {
		return d, false // there is none
	}
	d.Time = time.UnixMicro(at).UTC()
	return d, expires == nil || now.Before(time.UnixMicro(*expires))
}

// listQuery has SQLite order the memories, and narrow them as far as it has
// columns for. The caller applies the whole filter.
func listQuery(scope memory.Scope, list *memory.List, after *memory.Cursor) (string, []any) {
	by := orderColumns[list.Order.Field]
	dir, beyond := "DESC", "<"
	if list.Order.Ascending {
		dir, beyond = "ASC", ">"
	}
	q := query{where: []string{inScope, `deleted = 0`}, args: []any{scope.App, scope.User}}
	deletion := `NULL`
	if list.Deleted {
		q.where[1], deletion = `deleted = 1`, deletedBy
	}
	if after != nil {
		q.and(`(`+by+`, id) `+beyond+` (?, ?)`, after.At, after.ID)
	}
	q.narrow(list)
	return `SELECT id, doc, ` + deletion + ` FROM memories WHERE ` + strings.Join(q.where, ` AND `) +
		` ORDER BY ` + by + ` ` + dir + `, id ` + dir, q.args
}

// query is a condition on table memories.
type query struct {
	where []string
	args  []any
	of    string // before the names of columns: "", or the name of the table and a dot
}

func (q *query) and(cond string, arg ...any) {
	q.where = append(q.where, cond)
	q.args = append(q.args, arg...)
}

// narrow adds what the columns tell of the filter of a list.
func (q *query) narrow(list *memory.List) {
	if list.SessionID != "" {
		q.and(q.of+`session = ?`, list.SessionID)
	}
	var kinds []any
	for _, k := range memory.Kinds() { // a filter may name one often
		if slices.Contains(list.Kinds, k) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) > 0 && len(kinds) < len(memory.Kinds()) {
		q.and(q.of+`kind IN (`+strings.Repeat(`?, `, len(kinds)-1)+`?)`, kinds...)
	}
	if !list.Since.IsZero() { // cut, so that it keeps a little too much
		q.and(q.of+`timestamp >= ?`, memory.Micros(list.Since).UnixMicro())
	}
	if !list.Until.IsZero() {
		q.and(q.of+`timestamp <= ?`, list.Until.UnixMicro())
	}
	must, _ := memory.Conjuncts(list.Where)
	for _, c := range must {
		if cond, arg := column(c); cond != "" {
			q.and(q.of+cond, arg)
		}
	}
}

// comparedColumns are the columns of fields that an expression compares.
var comparedColumns = map[string]string{
	memory.FieldID: "id", memory.FieldKind: "kind", memory.FieldSession: "session",
	memory.FieldTimestamp: "timestamp", memory.FieldCreateTime: "create_time", memory.FieldUpdateTime: "update_time",
}

// column is a condition that holds wherever c does, and its argument; "" if there is
// none. Times in columns are cut to microseconds, so it keeps a little too much.
func column(c memory.Cmp) (cond string, arg any) {
	name := comparedColumns[c.Field]
	if name == "" {
		return "", nil
	}
	if text, ok := c.Value.AsText(); ok && (c.Op == memory.OpEqual || c.Op == memory.OpNot) {
		return name + ` ` + string(c.Op) + ` ?`, text
	}
	t, ok := c.Value.AsTime()
	if !ok {
		return "", nil
	}
	switch c.Op {
	case memory.OpEqual:
		return name + ` = ?`, t.UnixMicro()
	case memory.OpLess, memory.OpAtMost:
		return name + ` <= ?`, t.UnixMicro()
	case memory.OpMore, memory.OpAtLeast:
		return name + ` >= ?`, t.UnixMicro()
	}
	return "", nil
}
