package assembly

import (
	"context"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// together is an ingest.Together of two stores in one SQLite file.
type together struct {
	sessions *sqlitesession.Store
	memories *sqlitestore.Store
}

// Together returns both stores as one if they are in the same SQLite file, and nil
// if they are not.
func Together(sessions ingest.Sessions, memories memory.Store) ingest.Together {
	s, ok := sessions.(*sqlitesession.Store)
	if !ok {
		return nil
	}
	m, ok := memories.(*sqlitestore.Store)
	if !ok || s.DB() != m.DB() {
		return nil
	}
	return together{s, m}
}

// AppendTurns implements ingest.Together.
func (t together) AppendTurns(ctx context.Context, key sessionstore.Key, events []sessionstore.Event,
	how sessionstore.Append, turn ingest.TurnWriter) (sessionstore.Appended, sessionstore.Work, error) {
	return t.sessions.AppendTurns(ctx, key, events, how,
		func(tx *sqlitedb.Tx, events []sessionstore.NumberedEvent) (int, error) {
			writes, done := known(events, turn)
			if t.memories.CheckPut(key.Scope, writes) != nil {
				return 0, nil // PutTurns reports it; the events are stored
			}
			_, err := t.memories.PutIn(tx, key.Scope, writes)
			return done, err
		})
}

// PutTurns implements ingest.Together.
func (t together) PutTurns(ctx context.Context, left sessionstore.Work, turn ingest.TurnWriter) (
	sessionstore.Work, error) {
	return t.sessions.WriteTurns(ctx, left, func(tx *sqlitedb.Tx, events []sessionstore.NumberedEvent) (int, error) {
		writes, done := known(events, turn)
		if err := t.memories.CheckPut(left.Key.Scope, writes); err != nil {
			return 0, err
		}
		_, err := t.memories.PutIn(tx, left.Key.Scope, writes)
		return done, err
	})
}

// Unwritten implements ingest.Together.
func (t together) Unwritten(ctx context.Context, key sessionstore.Key) (sessionstore.Work, error) {
	return t.sessions.Unwritten(ctx, key)
}

// known returns the writes of the turns of events up to the first that turn does
// not know, and how many events that are.
func known(events []sessionstore.NumberedEvent, turn ingest.TurnWriter) (writes []memory.Write, done int) {
	for _, e := range events {
		w, ok := turn(e.Event)
		if !ok {
			break
		}
		if done++; w != nil {
			writes = append(writes, *w)
		}
	}
	return writes, done
}
