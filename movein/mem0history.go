package movein

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// sqliteMagic is how every SQLite file begins.
const sqliteMagic = "SQLite format 3\x00"

// maxCell is how many bytes of a text are read from a table; a longer one reads as NULL.
const maxCell = 16 << 20

// cell selects a column as a text of at most maxCell bytes.
func cell(column string) string {
	return fmt.Sprintf("iif(octet_length(%s) <= %d, CAST(%s AS TEXT), NULL)", column, maxCell, column)
}

// mem0's history.db has two tables:
//
//	history   memory_id, old_memory, new_memory, event (ADD, UPDATE or DELETE), created_at,
//	          updated_at, …: a row for each change, which does not say whose the memory is
//	messages  id, session_scope, role, content, name, created_at: the last ten messages of
//	          each scope, such as agent_id=a&run_id=r&user_id=u

// mem0History is mem0's history.db: a row for each change of a memory, and the latest
// messages of each conversation.
type mem0History struct {
	file string
	db   *sqlitedb.Foreign
	conn *sql.Conn // that has the index
}

// openMem0History opens a history, and makes an index of it in a temporary file: mem0 has
// none, and each memory looks for its rows.
func openMem0History(ctx context.Context, file string) (*mem0History, error) {
	db, err := sqlitedb.OpenForeign(ctx, file)
	if err != nil {
		return nil, err
	}
	h := &mem0History{file: file, db: db}
	if db.Has("points", "id", "point") { // which are pickled, and run what the file says
		err := fmt.Errorf("%w: %s: it is the storage of a Qdrant within mem0, which only Python can read:"+
			" have mem0's get_all write the memories into a file", memory.ErrInvalid, file)
		return nil, errors.Join(err, h.close())
	}
	if !db.Has("history", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at") {
		return nil, errors.Join(fmt.Errorf("%w: %s: it has no table history as mem0 makes it", memory.ErrInvalid,
			file), h.close())
	}
	if h.conn, err = db.Conn(ctx); err != nil {
		return nil, errors.Join(h.wrap(err), h.close())
	}
	_, err = h.conn.ExecContext(ctx, `CREATE TEMP TABLE moved AS SELECT rowid AS n, CAST(memory_id AS TEXT) AS memory
		FROM main.history; CREATE INDEX temp.moved_memory ON moved (memory, n)`)
	if err != nil {
		return nil, errors.Join(h.wrap(err), h.close())
	}
	return h, nil
}

func (h *mem0History) close() error {
	if h.conn != nil {
		_ = h.conn.Close() // the database closes it too
	}
	return h.db.Close()
}

// wrap adds the file. A database that cannot be read is broken.
func (h *mem0History) wrap(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", memory.ErrInvalid, h.file, err)
}

// Of one memory at most maxPast earlier texts are taken, of at most maxPastBytes together. A
// memory with its revisions is one line of an archive, each with the metadata of the memory:
// so a line stays far below what archives take.
const (
	maxPast      = 999
	maxPastBytes = 8 << 20
)

// change is a row of a history.
type change struct{ text, created, updated string }

// past returns the texts that a memory has had, oldest first, the present one included. A
// row without a good time has that of the row before. Of a history that is too long only the
// newest texts are taken, and the others are counted.
func (h *mem0History) past(ctx context.Context, s *sink, place, id string) (out []past, err error) {
	changes, left, err := h.changes(ctx, id)
	if err != nil {
		return nil, err
	}
	for range left {
		s.report.leave(longPast, place, "")
	}
	for i, c := range slices.Backward(changes) {
		// created_at is that of the memory in every row, so only the first one has it.
		first := left == 0 && i == len(changes)-1
		at, err := readTimeText("updated_at", c.updated, s.opts.Zone)
		if err != nil || at.IsZero() || first {
			at, err = readTimeText("created_at", c.created, s.opts.Zone)
		}
		switch {
		case err == nil && !at.IsZero():
		case len(out) > 0:
			at = out[len(out)-1].at
		default:
			continue
		}
		out = append(out, past{c.text, at})
	}
	return out, nil
}

// changes returns the rows of a memory that have a text, newest first, and how many older
// ones are left.
func (h *mem0History) changes(ctx context.Context, id string) (out []change, left int, err error) {
	rows, err := h.conn.QueryContext(ctx, `SELECT `+cell("new_memory")+`, `+cell("created_at")+`, `+cell("updated_at")+`
		FROM main.history JOIN moved ON moved.n = history.rowid
		WHERE moved.memory = ? AND event IN ('ADD', 'UPDATE') ORDER BY moved.n DESC`, id)
	if err != nil {
		return nil, 0, h.wrap(err)
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		var text, created, updated sql.NullString
		if err := rows.Scan(&text, &created, &updated); err != nil {
			return nil, 0, h.wrap(err)
		}
		if strings.TrimSpace(text.String) == "" {
			continue
		}
		// All that is older than a text beyond the bounds is left too, so that no text is
		// missing between two others.
		size += len(text.String)
		if left > 0 || len(out) == maxPast || size > maxPastBytes {
			left++
			continue
		}
		out = append(out, change{text.String, created.String, updated.String})
	}
	if err := rows.Err(); err != nil {
		return nil, 0, h.wrap(err)
	}
	return out, left, nil
}

// rest takes the conversations, and counts what mem0 has deleted: the history alone says
// whose a memory was.
func (h *mem0History) rest(ctx context.Context, s *sink) error {
	var deleted int
	err := h.conn.QueryRowContext(ctx, `SELECT count(*) FROM main.history WHERE event = 'DELETE'`).Scan(&deleted)
	if err != nil {
		return h.wrap(err)
	}
	for range deleted {
		s.report.leave("memories that mem0 has deleted", h.file, "")
	}
	if !h.db.Has("messages", "id", "session_scope", "role", "content", "name", "created_at") {
		return nil
	}
	rows, err := h.conn.QueryContext(ctx, `SELECT `+cell("session_scope")+`, `+cell("id")+`, `+cell("role")+`, `+
		cell("content")+`, `+cell("name")+`, `+cell("created_at")+
		` FROM main.messages ORDER BY session_scope, created_at, rowid`)
	if err != nil {
		return h.wrap(err)
	}
	defer rows.Close()
	var c *session
	at := ""
	for n := 0; rows.Next(); n++ {
		var scope, id, role, content, name, created sql.NullString
		if err := rows.Scan(&scope, &id, &role, &content, &name, &created); err != nil {
			return h.wrap(err)
		}
		if c == nil || scope.String != at {
			if err := end(c); err != nil {
				return err
			}
			at = scope.String
			c = s.mem0Session(h.file, at)
		}
		place := fmt.Sprintf("%s: messages %.60q", h.file, id.String)
		time, err := readTimeText("created_at", created.String, s.opts.Zone)
		if err != nil || time.IsZero() {
			s.report.leave(badEvent, place, "it has no good created_at")
			continue
		}
		if err := c.message(place, speech(id.String, role.String, name.String, content.String, time)); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return h.wrap(err)
	}
	return end(c)
}

// end ends a session, if there is one.
func end(c *session) error {
	if c == nil {
		return nil
	}
	return c.end()
}

// speech makes a message of a role as chat APIs name them.
func speech(id, role, name, text string, at time.Time) message {
	// All that is neither the user's nor the system's is taken for the agent's: what an
	// agent says is trusted less than what a user says.
	m := message{id: id, role: "model", author: name, text: text, at: at}
	switch strings.ToLower(role) {
	case "user", "human":
		m.role = "user"
	case "system", "developer":
		m.role = "system"
	}
	if m.author == "" {
		m.author = role
	}
	return m
}

// mem0Session begins the session of a scope of messages, such as
// agent_id=a&run_id=r&user_id=u. Its id is that of the run, if it has one.
func (s *sink) mem0Session(file, scope string) *session {
	ids := map[string]string{}
	for part := range strings.SplitSeq(scope, "&") {
		name, value, _ := strings.Cut(part, "=")
		// mem0 escapes the three characters that part a scope, as URLs do.
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		ids[name] = value
	}
	key := sessionstore.Key{Scope: s.scope("", ids["user_id"]), ID: ids["run_id"]}
	if key.ID == "" {
		key.ID = s.derive("session", scope)
	}
	return s.begin(fmt.Sprintf("%s: messages of %.100q", file, scope), key, about{})
}
