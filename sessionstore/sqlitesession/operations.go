package sqlitesession

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// selectOperations reads an operation beside the progress of its session. The
// session of one that has succeeded may be gone; then all its events are done.
const selectOperations = `SELECT o.n, o.id, o.ref, o.app, o.user, o.session, o.first, o.last, o.create_time,
	o.done_time, o.attempts, coalesce(s.done, o.last), coalesce(s.failed, 0), coalesce(s.last_error, ''), o.request,
	coalesce(iif(s.wait_op = o.n, s.wait_due, 0), 0), coalesce(s.rule, '')
	FROM operations o LEFT JOIN sessions s ON s.ref = o.ref`

// operationRow is an operation, its number, and where its changes are.
type operationRow struct {
	sessionstore.Operation
	n, ref, first, last int64
}

// scanOperation reads a row of selectOperations.
func scanOperation(rows *sql.Rows) (o operationRow, err error) {
	var stored sessionstore.StoredOperation
	var created, ended, due int64
	var rule string
	err = rows.Scan(&o.n, &stored.ID, &o.ref, &stored.Scope.App, &stored.Scope.User, &stored.Session, &o.first, &o.last,
		&created, &ended, &stored.Attempts, &stored.SessionDone, &stored.Failed, &stored.LastError, &stored.Request,
		&due, &rule)
	if err != nil {
		return o, err
	}
	stored.First, stored.Last = o.first, o.last
	stored.CreateTime, stored.EndTime = sessionstore.FromMicros(created), timeOrNone(ended)
	stored.Due, stored.Trigger = timeOrNone(due), sessionstore.ReadTrigger(rule)
	o.Operation, err = stored.Operation()
	return o, err
}

// Status implements sessionstore.Operations.
func (s *Store) Status(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	var found operationRow
	err := s.db.Read(ctx, func(tx *sql.Tx) (err error) {
		found, err = s.findOperation(ctx, tx, scope, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("operation %.80q: %w", id, err)
	}
	return &found.Operation, nil
}

// findOperation reads an operation that can be read still.
func (s *Store) findOperation(ctx context.Context, tx *sql.Tx, scope memory.Scope, id string) (
	o operationRow, err error) {
	found, err := sqlitedb.Collect(ctx, tx, scanOperation, selectOperations+
		` WHERE o.id = ? AND o.app = ? AND o.user = ? AND (o.done_time = 0 OR o.done_time >= ?)`,
		id, scope.App, scope.User, s.expired())
	if err != nil {
		return o, err
	}
	if len(found) == 0 {
		return o, memory.ErrNotFound
	}
	return found[0], nil
}

// Changes implements sessionstore.Operations. A position has the number of an event
// and a row ID.
func (s *Store) Changes(ctx context.Context, scope memory.Scope, id string, after sessionstore.ChangePosition) (
	page []json.RawMessage, next sessionstore.ChangePosition, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		op, err := s.findOperation(ctx, tx, scope, id)
		if err != nil {
			return err
		}
		page, next, err = readChanges(ctx, tx, op, after)
		return err
	})
	if err != nil {
		return nil, next, fmt.Errorf("changes of operation %.80q: %w", id, err)
	}
	return page, next, nil
}

// readChanges reads a page of the changes of an operation.
func readChanges(ctx context.Context, tx *sql.Tx, op operationRow, after sessionstore.ChangePosition) (
	page []json.RawMessage, next sessionstore.ChangePosition, err error) {
	if after.Seq == 0 {
		after.Seq = op.first + 1
	}
	rows, err := tx.QueryContext(ctx, `SELECT seq, rowid, doc FROM changes
		WHERE ref = ? AND (seq, rowid) > (?, ?) AND seq <= ? ORDER BY seq, rowid LIMIT ?`,
		op.ref, after.Seq, after.Number, op.last, sessionstore.MaxPageChanges+1)
	if err != nil {
		return nil, next, err
	}
	defer rows.Close()
	room := sessionstore.Room{Limit: sessionstore.PageBytes}
	for last := after; rows.Next(); {
		var doc []byte
		here := last
		if err := rows.Scan(&here.Seq, &here.Number, &doc); err != nil {
			return nil, next, err
		}
		if len(page) == sessionstore.MaxPageChanges || !room.Fits(int64(len(doc))) {
			return page, last, nil
		}
		page, last = append(page, doc), here
	}
	return page, next, rows.Err()
}

// Operations implements sessionstore.Operations.
func (s *Store) Operations(ctx context.Context, scope memory.Scope, list sessionstore.List) (
	out []sessionstore.Operation, next string, err error) {
	pager, err := list.Pager("operations", scope.App, scope.User)
	if err != nil {
		return nil, "", err
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		found, err := sqlitedb.Collect(ctx, tx, scanOperation,
			selectOperations+` WHERE o.app = ? AND o.user = ? AND o.n < ?
			AND (o.done_time = 0 OR o.done_time >= ?) ORDER BY o.n DESC LIMIT ?`,
			scope.App, scope.User, pager.Before, s.expired(), pager.Size+1)
		if err != nil {
			return err
		}
		found, next = sessionstore.CutPage(pager, found, func(o operationRow) int64 { return o.n })
		for _, o := range found {
			out = append(out, o.Operation)
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("list operations of app %q, user %q: %w", scope.App, scope.User, err)
	}
	return out, next, nil
}

// AppOperations implements sessionstore.Operations. It looks at MaxLooked operations at most
// for a page of those in one state.
func (s *Store) AppOperations(ctx context.Context, app string, list sessionstore.OperationList) (
	out []sessionstore.Operation, next string, err error) {
	pager, err := list.Pager(app, false)
	if err != nil {
		return nil, "", err
	}
	// The planner has no statistics, so that the index is named.
	index, where, args := "operations_app", "o.app = ? AND o.n < ?", []any{app, pager.Before}
	if list.User != "" {
		index, where, args = "operations_scope", where+" AND o.user = ?", append(args, list.User)
	}
	// Whether an operation has succeeded is in its row. Which of the other states it is in
	// depends on its session, so that those are read and looked at.
	most := pager.Size + 1
	switch list.State {
	case "":
		where, args = where+" AND (o.done_time = 0 OR o.done_time >= ?)", append(args, s.expired())
	case sessionstore.Succeeded:
		where, args = where+" AND o.done_time > 0 AND o.done_time >= ?", append(args, s.expired())
	default:
		where, most = where+" AND o.done_time = 0", sessionstore.MaxLooked
		if list.User == "" {
			index = "operations_open"
		}
	}
	from := strings.Replace(selectOperations, "operations o", "operations o INDEXED BY "+index, 1)
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := sqlitedb.Collect(ctx, tx, scanOperation, from+" WHERE "+where+" ORDER BY o.n DESC LIMIT ?",
			append(args, most)...)
		var found []sessionstore.Operation
		for _, row := range rows {
			found = append(found, row.Operation)
		}
		out, next = list.Cut(pager, found, len(rows) == most, func(i int) string { return pager.Token(rows[i].n) })
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("list operations of app %q: %w", app, err)
	}
	return out, next, nil
}

// Retry implements sessionstore.Operations.
func (s *Store) Retry(ctx context.Context, scope memory.Scope, id string) (*sessionstore.Operation, error) {
	err := s.db.Write(ctx, sqlitedb.For(scope), func(tx *sqlitedb.Tx) error {
		now := s.now().UnixMicro()
		var waits int64
		err := tx.QueryRow(`SELECT s.ref FROM operations o JOIN sessions s ON s.ref = o.ref AND s.wait_op = o.n
			WHERE o.id = ? AND o.app = ? AND o.user = ?`,
			id, scope.App, scope.User).Scan(&waits)
		if err == nil {
			return fire(tx, scope, waits, now)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		// Failed work starts over: its attempts count from 0 and it waits from now.
		// Work that waits for its next attempt keeps both, and is due now.
		_, err = tx.Exec(`UPDATE sessions SET failed = 0, attempts = iif(failed = 1, 0, attempts), due_time = 0,
			request_time = iif(failed = 1, ?1, request_time)
			WHERE (failed = 1 OR requested > done AND due_time > 0) AND ref =
			(SELECT ref FROM operations WHERE id = ?2 AND app = ?3 AND user = ?4 AND done_time = 0)`,
			now, id, scope.App, scope.User)
		if err != nil {
			return err
		}
		return requeue(tx, scope)
	})
	if err != nil {
		return nil, fmt.Errorf("retry operation %.80q: %w", id, err)
	}
	op, err := s.Status(ctx, scope, id)
	key := sessionstore.Key{Scope: scope}
	if err == nil {
		key = op.Key
	}
	s.notify.Changed(key)
	return op, err
}

// Subscribe implements sessionstore.Operations. The file belongs to this process,
// so all changes are told.
func (s *Store) Subscribe(scope memory.Scope, changed func(session string)) (all bool, cancel func()) {
	return true, s.notify.Subscribe(scope, changed)
}

// OperationCounts returns how many operations this process has brought into each
// state, for metrics.
func (s *Store) OperationCounts() map[sessionstore.OperationState]int64 { return s.counts.ByState() }

// Backlog implements sessionstore.Operations.
func (s *Store) Backlog(ctx context.Context) (out sessionstore.Backlog, err error) {
	var oldest int64
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		const work = `SELECT count(*), coalesce(min(since), 0),
			(SELECT count(*) FROM sessions WHERE wait_due > 0) FROM waiting`
		return tx.QueryRowContext(ctx, work).Scan(&out.Scopes, &oldest, &out.Triggers)
	})
	if err != nil {
		return out, fmt.Errorf("read the backlog: %w", err)
	}
	if out.Scopes > 0 {
		out.Oldest = sessionstore.FromMicros(oldest)
	}
	return out, nil
}
