package sqlitestore

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// Put implements memory.Store.
func (s *Store) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	if err := memory.ValidateWrites(scope, writes, s.model.Dimension); err != nil {
		return nil, wrap("put memories", scope, err)
	}
	var out []memory.Outcome
	err := s.write(ctx, func(tx *sqlitedb.Tx) error {
		out = make([]memory.Outcome, len(writes))
		n, err := scopeNumber(tx, scope, true)
		if err != nil {
			return err
		}
		now := s.now().UTC().Truncate(time.Microsecond)
		for i := range writes {
			if out[i], err = s.putOne(tx, n, &writes[i], now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("put memories", scope, err)
	}
	return out, nil
}

func (s *Store) putOne(tx *sqlitedb.Tx, scope int64, w *memory.Write, now time.Time) (out memory.Outcome, err error) {
	was, err := s.current(tx, scope, w.Memory.ID)
	if err != nil {
		return out, err
	}
	m := w.Memory.Clone()
	trim(&m)
	revision, there := int64(0), was != nil && !was.deleted
	if was != nil {
		revision = was.memory.Revision
	}
	if there {
		out.Memory = was.memory
	}
	if there && (revision == w.Expect || revision == w.Expect+1) && was.memory.SameContent(&m) {
		return out, s.fillVector(tx, was, w)
	}
	if revision != w.Expect {
		out.Err = memory.ErrAborted
		return out, nil
	}

	m.Revision, m.CreateTime, m.UpdateTime = revision+1, now, now
	if was != nil {
		m.CreateTime = was.memory.CreateTime
	}
	if err := s.store(tx, scope, was, &m, w); err != nil {
		return out, err
	}
	s.follow(tx, &m, w.Terms, w.Vector)
	return memory.Outcome{Memory: m, Changed: true}, nil
}

// fillVector gives a memory the vector it was stored without.
func (s *Store) fillVector(tx *sqlitedb.Tx, was *row, w *memory.Write) error {
	if w.Vector == nil || was.vector {
		return nil
	}
	if _, err := tx.Exec(`UPDATE memories SET `+s.at.vector+` = ? WHERE n = ?`, vectorBytes(w.Vector), was.n); err != nil {
		return err
	}
	var raw []byte
	var terms memory.Terms // those it was written with, not the repetition's
	if err := tx.QueryRow(`SELECT `+s.at.terms+` FROM memories WHERE n = ?`, was.n).Scan(&raw); err != nil {
		return err
	}
	if err := decode(raw, &terms); err != nil {
		return err
	}
	s.follow(tx, &was.memory, terms, w.Vector)
	return nil
}

// trim cuts times to what the file keeps, so that what comes back from a write
// is what a read gives.
func trim(m *memory.Memory) {
	for _, t := range []*time.Time{&m.Timestamp, &m.ValidFrom, &m.ValidTo, &m.ExpireTime} {
		if !t.IsZero() {
			*t = t.UTC().Truncate(time.Microsecond)
		}
	}
}

func (s *Store) store(tx *sqlitedb.Tx, scope int64, was *row, m *memory.Memory, w *memory.Write) error {
	doc, err := encode(m)
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrInvalid, err) // only metadata can be no JSON
	}
	terms, err := encode(w.Terms)
	if err != nil {
		return err
	}
	if was == nil {
		res, err := tx.Exec(`INSERT INTO memories (scope, id, revision, kind, session, timestamp, create_time, update_time, doc, `+s.at.terms+`, `+s.at.vector+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, scope, m.ID, m.Revision, m.Kind, m.Source.SessionID, m.Timestamp.UnixMicro(),
			m.CreateTime.UnixMicro(), m.UpdateTime.UnixMicro(), doc, terms, vectorBytes(w.Vector))
		if err != nil {
			return err
		}
		n, err := res.LastInsertId()
		if err != nil {
			return err
		}
		return addRevision(tx, n, m.Revision, memory.Created, m.UpdateTime, w.Actor, w.Operation)
	}
	if err := archive(tx, was); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE memories SET deleted = 0, revision = ?, kind = ?, session = ?, timestamp = ?, update_time = ?, doc = ?, `+s.at.terms+` = ?, `+s.at.vector+` = ? WHERE n = ?`,
		m.Revision, m.Kind, m.Source.SessionID, m.Timestamp.UnixMicro(), m.UpdateTime.UnixMicro(), doc, terms, vectorBytes(w.Vector), was.n); err != nil {
		return err
	}
	return addRevision(tx, was.n, m.Revision, memory.Updated, m.UpdateTime, w.Actor, w.Operation)
}

// archive gives the current revision its own copy, before a newer one comes.
func archive(tx *sqlitedb.Tx, was *row) error {
	_, err := tx.Exec(`UPDATE revisions SET doc = (SELECT doc FROM memories WHERE n = ?1) WHERE memory = ?1 AND revision = ?2`, was.n, was.memory.Revision)
	return err
}

func addRevision(tx *sqlitedb.Tx, n, revision int64, action memory.Action, at time.Time, actor, operation string) error {
	_, err := tx.Exec(`INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, NULL)`, n, revision, action, at.UnixMicro(), actor, operation)
	return err
}

// Delete implements memory.Store.
func (s *Store) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) ([]memory.Outcome, error) {
	var out []memory.Outcome
	err := s.write(ctx, func(tx *sqlitedb.Tx) error {
		out = make([]memory.Outcome, len(removals))
		n, err := scopeNumber(tx, scope, false)
		if err != nil {
			return err
		}
		now := s.now().UTC().Truncate(time.Microsecond)
		for i, r := range removals {
			if out[i], err = s.deleteOne(tx, n, r, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("delete memories", scope, err)
	}
	return out, nil
}

func (s *Store) deleteOne(tx *sqlitedb.Tx, scope int64, r memory.Removal, now time.Time) (out memory.Outcome, err error) {
	was, err := s.current(tx, scope, r.ID)
	if err != nil {
		return out, err
	}
	if was == nil {
		return memory.Outcome{Err: memory.ErrNotFound}, nil
	}
	out.Memory = was.memory
	if was.deleted || !was.memory.Live(now) {
		return out, nil
	}
	if r.Expect != 0 && r.Expect != was.memory.Revision {
		out.Err = memory.ErrAborted
		return out, nil
	}
	if err := archive(tx, was); err != nil {
		return out, err
	}
	gone := was.memory
	gone.Revision++
	gone.UpdateTime = now
	doc, err := encode(&gone)
	if err != nil {
		return out, err
	}
	if _, err := tx.Exec(`UPDATE memories SET deleted = 1, revision = ?, update_time = ?, doc = ?, terms = NULL, vector = NULL, terms1 = NULL, vector1 = NULL WHERE n = ?`,
		gone.Revision, now.UnixMicro(), doc, was.n); err != nil {
		return out, err
	}
	if err := addRevision(tx, was.n, gone.Revision, memory.Deleted, now, r.Actor, r.Operation); err != nil {
		return out, err
	}
	tx.OnCommit(func() { s.cache.remove(was.memory.Scope, &gone) })
	out.Changed = true
	return out, nil
}

// follow has the index of the scope, if there is one, take in a write.
func (s *Store) follow(tx *sqlitedb.Tx, m *memory.Memory, terms memory.Terms, vector []float32) {
	e := entry{memory: m.Clone(), terms: maps.Clone(terms), vector: slices.Clone(vector)}
	tx.OnCommit(func() { s.cache.put(m.Scope, &e) })
}

func vectorBytes(v []float32) []byte {
	if v == nil {
		return nil
	}
	out := make([]byte, 0, 4*len(v))
	for _, f := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}

func bytesVector(b []byte) []float32 {
	if b == nil {
		return nil
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
