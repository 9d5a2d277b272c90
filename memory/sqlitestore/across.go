package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Table app_order has the live memories of each app in the orders of lists, across its
// users: three rows each, with the number of the order as its field. Triggers keep it, so
// that no write can miss it.
var schemaAppOrder = `
CREATE TABLE app_order (
  app    TEXT NOT NULL,
  field  INTEGER NOT NULL, -- 0 timestamp, 1 create_time, 2 update_time
  at     INTEGER NOT NULL,
  id     TEXT NOT NULL,
  memory INTEGER NOT NULL, -- memories.n
  PRIMARY KEY (app, field, at, id, memory)
) STRICT, WITHOUT ROWID;
` + fillAppOrder + appOrderTriggers("timestamp") + appOrderTriggers("create_time") + appOrderTriggers("update_time")

// fillAppOrder makes the rows of table app_order.
var fillAppOrder = fillOrder("timestamp") + fillOrder("create_time") + fillOrder("update_time")

// appFields are the numbers of the orders in table app_order.
var appFields = map[string]int{"timestamp": 0, "create_time": 1, "update_time": 2}

func fillOrder(column string) string {
	return fmt.Sprintf(`INSERT INTO app_order SELECT s.app, %[2]d, m.%[1]s, m.id, m.n
  FROM scopes s JOIN memories m ON m.scope = s.n WHERE m.deleted = 0 ORDER BY 1, 3, 4, 5;
`, column, appFields[column])
}

// placed is a condition on a memory m of scope s that holds if app_order has it in one
// order.
func placed(column string) string {
	return fmt.Sprintf(`EXISTS (SELECT 1 FROM app_order o WHERE o.app = s.app AND o.field = %d AND o.at = m.%s
		AND o.id = m.id AND o.memory = m.n)`, appFields[column], column)
}

// appOrderTriggers keep the rows of one order.
func appOrderTriggers(column string) string {
	r := strings.NewReplacer("COLUMN", column, "FIELD", fmt.Sprint(appFields[column]))
	return r.Replace(`
CREATE TRIGGER app_order_COLUMN_insert AFTER INSERT ON memories WHEN new.deleted = 0 BEGIN
  INSERT INTO app_order SELECT app, FIELD, new.COLUMN, new.id, new.n FROM scopes WHERE n = new.scope;
END;
CREATE TRIGGER app_order_COLUMN_update AFTER UPDATE OF deleted, scope, id, COLUMN ON memories
WHEN old.COLUMN <> new.COLUMN OR old.deleted <> new.deleted OR old.scope <> new.scope OR old.id <> new.id BEGIN
  DELETE FROM app_order WHERE app = (SELECT app FROM scopes WHERE n = old.scope) AND field = FIELD
    AND at = old.COLUMN AND id = old.id AND memory = old.n;
  INSERT INTO app_order SELECT app, FIELD, new.COLUMN, new.id, new.n FROM scopes
    WHERE n = new.scope AND new.deleted = 0;
END;
CREATE TRIGGER app_order_COLUMN_delete AFTER DELETE ON memories WHEN old.deleted = 0 BEGIN
  DELETE FROM app_order WHERE app = (SELECT app FROM scopes WHERE n = old.scope) AND field = FIELD
    AND at = old.COLUMN AND id = old.id AND memory = old.n;
END;
`)
}

// schemaIDs finds a memory by its id alone, in any scope.
const schemaIDs = `CREATE INDEX memories_id ON memories (id)`

// schemaPersons finds the scopes of one person. Column part is memory.PersonPart of the user.
const schemaPersons = `
ALTER TABLE scopes ADD COLUMN part TEXT AS (
  CASE WHEN substr(user, 1, 1) = '~' AND instr('&' || substr(user, 2), '&` + memory.PersonKey + `=') > 0 THEN
    substr(` + fromPart + `, 1, instr(` + fromPart + ` || '&', '&') - 1) END) VIRTUAL;
CREATE INDEX scopes_part ON scopes (app, part) WHERE part IS NOT NULL;
`

// fromPart is the rest of the user from that part on.
const fromPart = `substr(user, 1 + instr('&' || substr(user, 2), '&` + memory.PersonKey + `='))`

// ofUser holds for a scope s of a user, and not for those of the app itself.
const ofUser = `s.user NOT LIKE '/%'`

// ListApp implements memory.AppReader.
func (s *Store) ListApp(ctx context.Context, app string, list memory.List) (memory.Page, error) {
	page, err := s.listApp(ctx, app, list)
	if err != nil {
		return memory.Page{}, memory.Scope{App: app}.Wrap("list memories of all users", err)
	}
	return page, nil
}

func (s *Store) listApp(ctx context.Context, app string, list memory.List) (page memory.Page, err error) {
	paging, err := list.AppPaging()
	if err != nil {
		return page, err
	}
	text, args := listAppQuery(app, &list, paging.After)
	now := s.now()
	var found []memory.Memory
	bytes := int64(0)
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for len(found) <= paging.Size && bytes <= memory.MaxListBytes && rows.Next() {
			var user, id string
			var doc []byte
			if err := rows.Scan(&user, &id, &doc); err != nil {
				return err
			}
			var m memory.Memory
			if err := decode(doc, &m); err != nil {
				page.Unreadable++
				s.unreadable(memory.Scope{App: app, User: user}, id, err)
				continue
			}
			at := list.Order.AppCursor(&m)
			behind := paging.After == nil || list.Order.Compare(at, *paging.After) > 0
			if behind && list.Match(&m, now) {
				found, bytes = append(found, m), bytes+m.Bytes()
			}
		}
		return rows.Err()
	})
	if err != nil {
		return memory.Page{}, err
	}
	page.Memories, page.NextPageToken = paging.Fit(list.Order, found, "")
	return page, nil
}

// listAppQuery has SQLite order the memories, and narrow them as far as it can. The caller applies the
// whole filter, and leaves out the memories of other users at the place where the page begins.
// CROSS JOIN keeps the order of the tables. Of all users, app_order has the memories in the order of
// the list. Of one person, the scopes come first, so that no memory of others is read.
func listAppQuery(app string, list *memory.List, after *memory.Cursor) (string, []any) {
	column := orderColumns[list.Order.Field]
	dir, beyond := "DESC", "<="
	if list.Order.Ascending {
		dir, beyond = "ASC", ">="
	}
	q := query{of: "m."}
	var from, at string
	if p := personOf(list); p == (memory.Person{}) {
		from, at = `app_order o CROSS JOIN memories m ON m.n = o.memory CROSS JOIN scopes s ON s.n = m.scope`, `o.at`
		q.and(`o.app = ?`, app)
		q.and(`o.field = ?`, appFields[column])
	} else {
		from, at = `(SELECT n, user FROM scopes WHERE app = ? AND user = ?
			UNION SELECT n, user FROM scopes WHERE app = ? AND part = ?) s
			CROSS JOIN memories m ON m.scope = s.n`, `m.`+column
		q.args = append(q.args, app, p.User, app, p.Part)
		q.and(`m.deleted = 0`)
	}
	q.and(ofUser)
	if after != nil {
		q.and(`(`+at+`, m.id) `+beyond+` (?, ?)`, after.At, after.ID)
	}
	q.narrow(list)
	return `SELECT s.user, m.id, m.doc FROM ` + from + ` WHERE ` + strings.Join(q.where, ` AND `) +
		` ORDER BY ` + at + ` ` + dir + `, m.id ` + dir + `, s.user ` + dir, q.args
}

// personOf is whose memories alone pass the filter of a list: its Person, or the one user that its
// expression asks for; the zero value if it may pass those of others.
func personOf(list *memory.List) memory.Person {
	must, _ := memory.Conjuncts(list.Where)
	for _, c := range must {
		if user, ok := c.Value.AsText(); ok && c.Field == memory.FieldUser && c.Op == memory.OpEqual {
			return memory.Person{User: user}
		}
	}
	return list.Person
}

// withID are the memories m of an id, and their scopes s, of all users of an app. CROSS JOIN keeps the
// order of the tables: few memories have the id, and many users the app.
const withID = ` FROM memories m INDEXED BY memories_id CROSS JOIN scopes s ON s.n = m.scope
	WHERE m.id = ? AND s.app = ? AND ` + ofUser

// FindApp implements memory.AppReader.
func (s *Store) FindApp(ctx context.Context, app, id string) (out []memory.Memory, err error) {
	now := s.now()
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		docs, err := sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (doc []byte, err error) {
			return doc, rows.Scan(&doc)
		}, `SELECT m.doc`+withID+` AND m.deleted = 0 ORDER BY s.user LIMIT ?`, id, app, memory.MaxPageSize)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			var m memory.Memory
			if err := decode(doc, &m); err != nil {
				return err
			}
			if m.Live(now) {
				out = append(out, m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, memory.Scope{App: app}.Wrap("find a memory of any user", err)
	}
	return out, nil
}

// OwnersApp implements memory.AppReader.
func (s *Store) OwnersApp(ctx context.Context, app, id string) (users []string, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		users, err = sqlitedb.Collect(ctx, tx, func(rows *sql.Rows) (user string, err error) {
			return user, rows.Scan(&user)
		}, `SELECT s.user`+withID+` ORDER BY s.user LIMIT ?`, id, app, memory.MaxPageSize)
		return err
	})
	if err != nil {
		return nil, memory.Scope{App: app}.Wrap("find the users of a memory", err)
	}
	return users, nil
}
