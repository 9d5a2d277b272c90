package sqlitesession

import (
	"context"
	"errors"

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
	err = s.db.Write(ctx, sqlitedb.For(key.Scope), func(tx *sqlitedb.Tx) error {
		row, err := s.target(tx, key, opts)
		if err != nil {
			return err
		}
		if out.Events, err = s.append(tx, key, &row, events, opts); err != nil {
			return err
		}
		out.LastUpdateTime = sessionstore.FromMicros(row.updateTime)
		if opts.Request == nil {
			return nil
		}
		if out.Operation, err = s.request(tx, key, &row, *opts.Request); err != nil {
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
	row, err := findSession(tx.QueryRow(selectSession, key.App, key.User, key.ID))
	if errors.Is(err, memory.ErrNotFound) && opts.Create {
		return insertSession(tx, key, s.now(), false)
	}
	return row, err
}

// append stores events and their state, and updates row.
func (s *Store) append(tx *sqlitedb.Tx, key sessionstore.Key, row *sessionRow, events []sessionstore.Event,
	opts sessionstore.Append) ([]sessionstore.Event, error) {
	out := sessionstore.Prepare(events, s.now())
	stored, rewinds := false, false
	state := s.stateChange(tx, key.Scope, row.ref)
	for i, e := range out {
		if e.Partial {
			continue
		}
		// The index of event ids decides whether the event is new: a look before the
		// insert would cost one more statement for each event.
		isNew, err := tx.Changes(`INSERT INTO events (ref, seq, id, time, doc) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (ref, id) DO NOTHING`,
			row.ref, row.seq+1, e.ID, e.Timestamp.UnixMicro(), sqlitedb.Seal(e.Doc))
		if err != nil {
			return nil, err
		}
		if !isNew {
			if out[i], err = storedEvent(tx, row.ref, e.ID); err != nil {
				return nil, err
			}
			continue
		}
		row.seq++
		row.fresh = append(row.fresh, sessionstore.NumberedEvent{Seq: row.seq, Event: e})
		row.updateTime = e.Timestamp.UnixMicro()
		stored = true
		rewinds = rewinds || e.RewindBefore != ""
		if opts.ChangesState() {
			if err := state.apply(e.StateDelta, events[i].StateDelta); err != nil {
				return nil, err
			}
		}
	}
	if err := state.check(); err != nil {
		return nil, err
	}
	if stored {
		if _, err := tx.Exec(`UPDATE sessions SET seq = ?, update_time = ?, rewinds = max(rewinds, ?) WHERE ref = ?`,
			row.seq, row.updateTime, rewinds, row.ref); err != nil {
			return nil, err
		}
	}
	return out, nil
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
