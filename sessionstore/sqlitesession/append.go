package sqlitesession

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Append implements sessionstore.Store.
func (s *Store) Append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	opts sessionstore.Append) (sessionstore.Appended, error) {
	out, _, err := s.appendAnd(ctx, key, events, opts, nil)
	return out, err
}

// appendAnd is Append, and writes turns of the requested events with put, unless
// that is nil. It also returns the requested events whose turns are not written.
func (s *Store) appendAnd(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	opts sessionstore.Append, put PutTurns) (out sessionstore.Appended, left sessionstore.Work, err error) {
	if err := key.Validate(); err != nil {
		return out, left, err
	}
	if err := opts.Validate(); err != nil {
		return out, left, key.Wrap("append", err)
	}
	batch := prepare(events, s.now())
	if len(events) > maxTurns && !opts.OneShot {
		if err := s.lookFor(ctx, key, &batch); err != nil {
			return out, left, key.Wrap("append", err)
		}
	}
	err = s.db.Write(ctx, sqlitedb.For(key.Scope), func(tx *sqlitedb.Tx) error {
		row, err := s.target(tx, key, opts)
		if err != nil {
			return err
		}
		if out.Events, err = s.append(tx, key, &row, batch, opts); err != nil {
			return err
		}
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		if opts.Request == nil {
			return nil
		}
		if out.Operation, err = s.request(tx, key, &row, opts); err != nil {
			return err
		}
		out.Requested = row.work(key, row.done)
		if put != nil {
			if left, err = putTurns(tx, key, &row, put); err != nil {
				return err
			}
		}
		if !opts.OneShot {
			return nil
		}
		// A one-shot session without events has no work that would remove it.
		return purge(tx, row.ref)
	})
	if opts.Request != nil { // it may have resumed work that was given up
		s.notify.Changed(key)
	}
	if err != nil {
		return sessionstore.Appended{}, sessionstore.Work{}, key.Wrap("append", err)
	}
	return out, left, nil
}

// target is the session that an append goes to.
func (s *Store) target(tx *sqlitedb.Tx, key sessionstore.Key, opts sessionstore.Append) (sessionRow, error) {
	if opts.OneShot {
		return insertSession(tx, key, s.now(), true)
	}
	row, err := s.present(tx, key)
	if errors.Is(err, memory.ErrNotFound) && opts.Create {
		return s.newSession(tx, key)
	}
	return row, err
}

// batch are the events of one append.
type batch struct {
	sent   []sessionstore.Event
	events []sessionstore.Event // as they are stored
	docs   [][]byte             // of events, sealed
	// stored has those of the events that were in the life ref of the session before;
	// see lookFor.
	ref    int64
	stored map[string]sessionstore.Event
	// own takes the place of the session's own state before the events change it; see
	// sessionstore.Patch.
	own *sessionstore.State
}

// prepare does what takes time and nothing of the file, before the transaction that
// holds up other writers.
func prepare(sent []sessionstore.Event, now time.Time) batch {
	b := batch{sent: sent, events: sessionstore.Prepare(sent, now), docs: make([][]byte, len(sent))}
	for i, e := range b.events {
		if !e.Partial {
			b.docs[i] = sqlitedb.Seal(e.Doc)
		}
	}
	return b
}

// lookFor finds those of many events that are stored already, as those of a request
// that is sent again, so that the transaction does not read them one by one. They stay
// as they are for as long as their session lives.
func (s *Store) lookFor(ctx context.Context, key sessionstore.Key, b *batch) error {
	ids := make([]string, len(b.events))
	for i := range b.events {
		ids[i] = b.events[i].ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return s.db.Read(ctx, func(tx *sql.Tx) error {
		row, err := s.visible(tx.StmtContext(ctx, s.prepared[selectSession]).
			QueryRowContext(ctx, key.App, key.User, key.ID))
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		stored, err := sqlitedb.Collect(ctx, tx, scanEventRow, `SELECT `+eventColumns+` FROM events
			WHERE ref = ? AND id IN (SELECT value FROM json_each(?))`, row.ref, string(list))
		b.ref, b.stored = row.ref, make(map[string]sessionstore.Event, len(stored))
		for _, e := range stored {
			b.stored[e.id] = e.read(preparedTx{tx, s.prepared, s.db})
		}
		return err
	})
}

// append stores events and their state, and updates row. It returns the events as
// stored.
func (s *Store) append(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, b batch, opts sessionstore.Append) (
	[]sessionstore.Event, error) {
	out, isNew := b.events, make([]bool, len(b.events))
	var whole []int // the places of events that are neither partial nor known to be stored
	for i, e := range out {
		if e.Partial {
			continue
		}
		if known, ok := b.stored[e.ID]; ok && b.ref == row.ref {
			out[i] = known
			continue
		}
		whole = append(whole, i)
	}
	if err := b.insert(tx, row, whole, isNew); err != nil {
		return nil, err
	}
	rewinds := false
	state := s.stateChange(key.Scope, row.ref)
	if b.own != nil {
		state.replace = true
		if err := state.add(*b.own, *b.own); err != nil {
			return nil, err
		}
	}
	for _, i := range whole {
		e := out[i]
		if !isNew[i] {
			var err error
			if out[i], err = storedEvent(tx, row.ref, e.ID); err != nil {
				return nil, err
			}
			continue
		}
		row.updateTime = e.Timestamp.UnixMicro()
		rewinds = rewinds || e.RewindBefore != ""
		if opts.ChangesState() {
			if err := state.add(e.StateDelta, b.sent[i].StateDelta); err != nil {
				return nil, err
			}
		}
	}
	if err := state.store(tx); err != nil {
		return nil, err
	}
	if len(row.fresh) > 0 {
		if _, err := tx.Exec(`UPDATE sessions SET seq = ?, update_time = ?, rewinds = max(rewinds, ?) WHERE ref = ?`,
			row.seq, row.updateTime, rewinds, row.ref); err != nil {
			return nil, err
		}
	}
	if opts.OneShot {
		return out, nil
	}
	return out, s.renew(tx, row)
}

// insertSizes are the numbers of events that one statement inserts. One of 100 takes two
// thirds of the time of 100 statements.
var insertSizes = [...]int{100, 10, 1}

// insert inserts those of the events at some places that are new, and notes which are.
// The index of event ids decides that: a look before the insert would cost one more
// statement. A statement that met an id that is there is undone, and its events are
// inserted by smaller ones.
func (b *batch) insert(tx *sqlitedb.Tx, row *sessionRow, places []int, isNew []bool) error {
	for len(places) > 0 {
		size := 0
		for _, size = range insertSizes {
			if size > len(places) {
				continue
			}
			n, err := b.insertSome(tx, row, places[:size])
			if err != nil {
				return err
			}
			if n == int64(size) {
				for _, i := range places[:size] {
					row.seq++
					row.fresh = append(row.fresh, sessionstore.NumberedEvent{Seq: row.seq, Event: b.events[i]})
					isNew[i] = true
				}
				break
			}
			if n == 0 { // all of them are there
				break
			}
			if _, err := tx.Exec(`DELETE FROM events WHERE ref = ? AND seq > ?`, row.ref, row.seq); err != nil {
				return err
			}
		}
		places = places[size:]
	}
	return nil
}

// insertSome inserts events behind those of row by one statement, and returns how many
// were new.
func (b *batch) insertSome(tx *sqlitedb.Tx, row *sessionRow, places []int) (int64, error) {
	const columns = 5
	query := strings.Repeat(", (?, ?, ?, ?, ?)", len(places))[len(", "):]
	args := make([]any, 0, columns*len(places))
	for n, i := range places {
		e := &b.events[i]
		args = append(args, row.ref, row.seq+1+int64(n), e.ID, e.Timestamp.UnixMicro(), b.docs[i])
	}
	res, err := tx.Exec(`INSERT INTO events (ref, seq, id, time, doc) VALUES `+query+`
		ON CONFLICT (ref, id) DO NOTHING`, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// storedEvent reads an event of a session by its id.
func storedEvent(tx *sqlitedb.Tx, ref int64, id string) (sessionstore.Event, error) {
	e := eventRow{ref: ref, id: id}
	err := tx.QueryRow(`SELECT seq, time, doc FROM events WHERE ref = ? AND id = ?`, ref, id).
		Scan(&e.seq, &e.time, &e.doc)
	if err != nil {
		return sessionstore.Event{}, err
	}
	return e.read(tx), nil
}
