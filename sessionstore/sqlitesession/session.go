package sqlitesession

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Create implements sessionstore.Store.
func (s *Store) Create(ctx context.Context, key sessionstore.Key, create sessionstore.Create) (
	*sessionstore.Session, error) {
	key, err := sessionstore.NewKey(key)
	if err != nil {
		return nil, err
	}
	out := &sessionstore.Session{Key: key}
	if out.Details, err = create.Details.Prepare(s.now()); err != nil {
		return nil, key.Wrap("create", err)
	}
	batch := prepare(create.Events, s.now())
	err = s.db.Write(ctx, sqlitedb.For(key.Scope), func(tx *sqlitedb.Tx) error {
		if create.UniqueInApp {
			if err := s.freeInApp(tx, key); err != nil {
				return err
			}
		}
		row, err := s.newSession(tx, key)
		if err != nil {
			return err
		}
		if err := setDetails(tx, &row, asPatch(out.Details)); err != nil {
			return err
		}
		state := s.stateChange(key.Scope, row.ref)
		if err := state.add(create.State, create.State); err != nil {
			return err
		}
		if err := state.store(tx); err != nil {
			return err
		}
		events, err := s.append(tx, key, &row, batch, sessionstore.Append{})
		if err != nil {
			return err
		}
		out.Events = sessionstore.Created(events)
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		out.CreateTime = sessionstore.FromMicros(row.created)
		if row.expires > 0 {
			out.ExpireTime = sessionstore.FromMicros(row.expires)
		}
		if !create.NoState {
			out.State, err = readState(ctx, tx, key.Scope, row.ref)
		}
		return err
	})
	if err != nil {
		return nil, key.Wrap("create", err)
	}
	return out, nil
}

// freeInApp returns ErrExists if any user of the app has a session of the id. One
// transaction writes at a time, so the id stays free until this one ends.
func (s *Store) freeInApp(tx *sqlitedb.Tx, key sessionstore.Key) error {
	var n int
	err := tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM sessions WHERE app = ? AND id = ? AND deleted = 0
		AND `+unexpired+` LIMIT 1)`, key.App, key.ID, s.now().UnixMicro()).Scan(&n)
	if err == nil && n > 0 {
		err = memory.ErrExists
	}
	return err
}

// Get implements sessionstore.Store.
func (s *Store) Get(ctx context.Context, key sessionstore.Key, get sessionstore.Get) (*sessionstore.Session, error) {
	out := &sessionstore.Session{Key: key}
	at, err := get.Position(key)
	if err != nil {
		return nil, key.Wrap("get", err)
	}
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		find := tx.StmtContext(ctx, s.prepared[selectWhole])
		var row sessionRow
		var details detailRow
		err := find.QueryRowContext(ctx, key.App, key.User, key.ID).
			Scan(append(row.fields(), details.fields()...)...)
		if errors.Is(err, sql.ErrNoRows) || err == nil && s.overdue(&row) {
			err = memory.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := get.Life(at, strconv.FormatInt(row.ref, 10)); err != nil {
			return err
		}
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		if out.Details, out.CreateTime, err = details.read(); err != nil {
			return err
		}
		return readPage(ctx, preparedTx{tx, s.prepared, s.db}, out, row, get, at)
	})
	if damage := s.db.Damaged(); damage != nil && errors.Is(err, memory.ErrNotFound) {
		err = damage // it may be there, and not be found
	}
	if err != nil {
		return nil, key.Wrap("get", err)
	}
	return out, nil
}

// readPage reads the state of a session and a page of its events into out.
func readPage(ctx context.Context, tx sqlitedb.Querier, out *sessionstore.Session, row sessionRow,
	get sessionstore.Get, at sessionstore.Position) error {
	state := int64(0)
	if !get.NoState {
		sizes, err := readStateSizes(ctx, tx, out.Scope, row.ref)
		if err != nil {
			return err
		}
		state = sizes.total()
	}
	var err error
	if at.First() {
		if at, err = firstPosition(ctx, tx, row, get); err != nil {
			return err
		}
	}
	end, next, err := pageEnd(ctx, tx, row.ref, get, at, state)
	if err != nil {
		return err
	}
	if next {
		out.NextPageToken = end.Token(out.Key)
	}
	if !get.NoState {
		if out.State, err = readState(ctx, tx, out.Scope, row.ref); err != nil {
			return err
		}
	}
	scan := func(rows *sql.Rows) (sessionstore.Event, error) {
		e, err := scanEventRow(rows)
		if err != nil {
			return sessionstore.Event{}, err
		}
		return e.read(tx), nil
	}
	out.Events, err = sqlitedb.Collect(ctx, tx, scan, selectEvents, row.ref, at.Last, at.Time, at.Seq, end.Time,
		end.Seq)
	return err
}

// selectFirst reads the place of the ?2th last event by time.
const selectFirst = `SELECT time, seq FROM events WHERE ref = ?1 ORDER BY time DESC, seq DESC LIMIT 1 OFFSET ?2 - 1`

// firstPosition is where the first page begins.
func firstPosition(ctx context.Context, tx sqlitedb.Querier, row sessionRow, get sessionstore.Get) (
	sessionstore.Position, error) {
	at := sessionstore.Position{Ref: strconv.FormatInt(row.ref, 10), Last: row.seq, Time: get.AfterMicros()}
	switch {
	case get.NumRecent == 0:
		at.Last = 0 // no event is to be shown
	case get.NumRecent > 0:
		scan := func(rows *sql.Rows) (p sessionstore.Position, err error) {
			err = rows.Scan(&p.Time, &p.Seq)
			return p, err
		}
		found, err := sqlitedb.Collect(ctx, tx, scan, selectFirst, row.ref, get.NumRecent)
		if err != nil {
			return at, err
		}
		if len(found) == 1 && found[0].Time >= at.Time { // its own place comes first
			at.Time, at.Seq = found[0].Time, found[0].Seq-1
		}
	}
	return at, nil
}

// selectSizes reads the places and sizes of the events behind a place.
const selectSizes = `SELECT time, seq, octet_length(doc) FROM events
	WHERE ref = ?1 AND seq <= ?2 AND (time, seq) > (?3, ?4) ORDER BY time, seq LIMIT ?5`

// pageEnd returns the place of the last event of a page that begins behind at, and
// whether events follow. It reads sizes alone, so that no event is read that the
// caller has no room for.
func pageEnd(ctx context.Context, tx sqlitedb.Querier, ref int64, get sessionstore.Get, at sessionstore.Position,
	state int64) (end sessionstore.Position, next bool, err error) {
	end = at
	rows, err := tx.QueryContext(ctx, selectSizes, ref, at.Last, at.Time, at.Seq, get.Limit()+1)
	if err != nil {
		return end, false, err
	}
	defer rows.Close()
	room := get.EventRoom(state)
	first := int64(0)
	for n := 0; rows.Next(); n++ {
		var time, seq, size int64
		if err := rows.Scan(&time, &seq, &size); err != nil {
			return end, false, err
		}
		if n == 0 {
			first = size
		}
		if n == get.Limit() || !room.Fits(size) {
			next = true
			break
		}
		end.Time, end.Seq = time, seq
	}
	if err := rows.Err(); err != nil {
		return end, false, err
	}
	return end, next, get.Check(state, first)
}

// preparedTx is a transaction that runs prepared statements where it has them.
type preparedTx struct {
	*sql.Tx
	stmts map[string]*sql.Stmt
	db    *sqlitedb.DB
}

// QueryContext implements sqlitedb.Querier.
func (tx preparedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := tx.stmts[query]; stmt != nil {
		return tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	}
	return tx.Tx.QueryContext(ctx, query, args...)
}

// selectEvents reads the events behind a place up to another one.
const selectEvents = `SELECT ` + eventColumns + ` FROM events WHERE ref = ?1 AND seq <= ?2 AND (time, seq) > (?3, ?4)
	AND (time, seq) <= (?5, ?6) ORDER BY time, seq`

// Delete implements sessionstore.Store.
func (s *Store) Delete(ctx context.Context, key sessionstore.Key) error {
	err := s.db.Write(ctx, sqlitedb.For(key.Scope).Freeing(), func(tx *sqlitedb.Tx) error {
		row, err := findSession(tx.QueryRow(selectSession, key.App, key.User, key.ID))
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.hide(tx, row.ref)
	})
	if err != nil {
		return key.Wrap("delete", err)
	}
	return nil
}

// purge removes a deleted session for good, unless it has work left. Failed work
// counts as left: it can still be retried. Its operations and changes stay, as
// clients may read them for OperationTTL; they are removed one by one later.
func purge(tx *sqlitedb.Tx, ref int64) error {
	// The row of sessions goes last: the others ask it whether they may go.
	for _, table := range []string{"events", "session_state", "sessions"} {
		_, err := tx.Exec(`DELETE FROM `+table+` WHERE ref = ?1 AND EXISTS
			(SELECT 1 FROM sessions WHERE ref = ?1 AND deleted = 1 AND requested <= done)`, ref)
		if err != nil {
			return err
		}
	}
	return nil
}

// sessionRow has the columns of a session that a write needs.
type sessionRow struct {
	ref, updateTime, seq, requested, done, turns int64
	expires                                      int64                        // 0 is never
	chosen                                       bool                         // a client has chosen expires
	created                                      int64                        // of a row that the write has made
	fresh                                        []sessionstore.NumberedEvent // that the write has stored
	wait                                         waitingRow
	waitOp                                       int64 // the operation of the events that wait; 0 for none
}

// sessionColumns are the columns that findSession reads.
const sessionColumns = `ref, update_time, seq, requested, done, turns, expire_time, chosen, ` +
	waitColumns + `, wait_op`

// fields are where to scan sessionColumns to.
func (r *sessionRow) fields() []any {
	return append(append([]any{&r.ref, &r.updateTime, &r.seq, &r.requested, &r.done, &r.turns, &r.expires, &r.chosen},
		r.wait.places()...), &r.waitOp)
}

// work has the events of the session numbered above after.
func (r *sessionRow) work(key sessionstore.Key, after int64) sessionstore.Work {
	return sessionstore.Work{Key: key, Ref: strconv.FormatInt(r.ref, 10), Done: after, Requested: r.seq}
}

// ofSession finds the present life of a session, which may have expired.
const ofSession = ` FROM sessions WHERE app = ? AND user = ? AND id = ? AND deleted = 0`

// selectSession and selectWhole read the present life of a session.
const (
	selectSession = `SELECT ` + sessionColumns + ofSession
	selectWhole   = `SELECT ` + sessionColumns + `, ` + detailColumns + ofSession
)

// findSession reads the row of selectSession; ErrNotFound if there is none.
func findSession(row *sql.Row) (r sessionRow, err error) {
	err = row.Scan(r.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = memory.ErrNotFound
	}
	return r, err
}

// aside is sessionstore.Aside of the row of a session.
const aside = `(id GLOB '` + sessionstore.StreamPrefix + `*' OR id GLOB '` + sessionstore.ContentsPrefix + `*')`

// newSession makes a session, unless its user has as many as there may be.
func (s *Store) newSession(tx *sqlitedb.Tx, key sessionstore.Key) (sessionRow, error) {
	row, err := insertSession(tx, key, s.now(), false)
	if errors.Is(err, memory.ErrExists) {
		if _, found := s.present(tx, key); !errors.Is(found, memory.ErrNotFound) {
			return row, cmp.Or(found, err)
		}
		row, err = insertSession(tx, key, s.now(), false)
	}
	if err != nil || s.most == 0 {
		return row, err
	}
	return row, s.checkRoom(tx, key, row.ref)
}

// checkRoom returns the error of TooManySessions if a user has too many, with the new one, ref. Before
// that, sessions aside that are done make room for one aside; see sessionstore.Aside.
func (s *Store) checkRoom(tx *sqlitedb.Tx, key sessionstore.Key, ref int64) error {
	const ofUser = ` FROM sessions WHERE app = ? AND user = ? AND deleted = 0 AND ` + unexpired
	now, besides := s.now().UnixMicro(), sessionstore.Aside(key.ID)
	for {
		var n int
		err := tx.QueryRow(`SELECT count(*) FROM (SELECT 1`+ofUser+` AND `+aside+` = ? LIMIT ?)`,
			key.App, key.User, now, besides, s.most+1).Scan(&n)
		if err != nil || n <= s.most {
			return err
		}
		var done int64
		err = sql.ErrNoRows
		if besides {
			err = tx.QueryRow(`SELECT ref`+ofUser+` AND id GLOB '`+sessionstore.ContentsPrefix+`*' AND done = seq
				AND ref <> ? ORDER BY update_time LIMIT 1`, key.App, key.User, now, ref).Scan(&done)
		}
		if errors.Is(err, sql.ErrNoRows) {
			return sessionstore.TooManySessions(s.most)
		}
		if err == nil {
			err = s.hide(tx, done)
		}
		if err != nil {
			return err
		}
	}
}

// insertSession adds a session. A hidden one is as if deleted from the start,
// and so does not take its id.
func insertSession(tx *sqlitedb.Tx, key sessionstore.Key, now time.Time, hidden bool) (r sessionRow, err error) {
	r.updateTime, r.created = now.UnixMicro(), now.UnixMicro()
	res, err := tx.Exec(`INSERT INTO sessions (app, user, id, update_time, create_time, deleted)
		VALUES (?1, ?2, ?3, ?4, ?4, ?5) ON CONFLICT DO NOTHING`, key.App, key.User, key.ID, r.updateTime, hidden)
	if err != nil {
		return r, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return r, errors.Join(err, memory.ErrExists)
	}
	r.ref, err = res.LastInsertId()
	return r, err
}
