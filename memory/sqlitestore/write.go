package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// row is a memory as the file has it.
type row struct {
	n          int64
	unreadable bool // its memory has no more than its columns; see unreadableRow
	memory.Current
}

// state is what the rules of package memory decide by; nil if there is no row.
func (r *row) state() *memory.Current {
	if r == nil {
		return nil
	}
	return &r.Current
}

// current reads the row of a memory; nil if there is none.
func (s *Store) current(tx *sqlitedb.Tx, scope int64, id string) (*row, error) {
	var r row
	var doc []byte
	err := tx.QueryRow(`SELECT n, deleted, `+s.at.vector+` IS NOT NULL, doc FROM memories WHERE scope = ? AND id = ?`,
		scope, id).Scan(&r.n, &r.Deleted, &r.Embedded, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := decode(doc, &r.Memory); err != nil {
		return s.unreadableRow(tx, r.n, err)
	}
	return &r, nil
}

// scopeNumber is the number that rows have for a scope; 0, which none has, for
// a scope that is not there.
func scopeNumber(tx *sqlitedb.Tx, scope memory.Scope, create bool) (n int64, err error) {
	if create {
		_, err := tx.Exec(`INSERT INTO scopes (app, user) VALUES (?, ?) ON CONFLICT DO NOTHING`, scope.App, scope.User)
		if err != nil {
			return 0, err
		}
	}
	err = tx.QueryRow(`SELECT n FROM scopes WHERE app = ? AND user = ?`, scope.App, scope.User).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// Put implements memory.Store. All writes are one transaction: what DecidePut is
// shown cannot change before its effect is stored.
func (s *Store) Put(ctx context.Context, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	if err := memory.ValidateWrites(scope, writes, s.model.Dimension); err != nil {
		return nil, scope.Wrap("put memories", err)
	}
	var out []memory.Outcome
	err := s.write(ctx, sqlitedb.For(scope), func(tx *sqlitedb.Tx) (err error) {
		out, err = s.PutIn(tx, scope, writes)
		return err
	})
	if err != nil {
		return nil, scope.Wrap("put memories", err)
	}
	return out, nil
}

// putOne reads the memory, decides, and stores the effect.
func (s *Store) putOne(tx *sqlitedb.Tx, scope int64, w *memory.Write, now time.Time) (memory.Outcome, error) {
	was, err := s.current(tx, scope, w.Memory.ID)
	if err != nil {
		return memory.Outcome{}, err
	}
	gone, err := s.revoked(tx, w)
	if err != nil {
		return memory.Outcome{}, err
	}
	if gone {
		return memory.Outcome{Err: memory.ErrRevoked}, nil
	}
	if was.mendedBy(w) {
		return s.mend(tx, was, w)
	}
	d := memory.DecidePut(w, was.state(), now)
	switch d.Effect {
	case memory.FillVector:
		err = s.fillVector(tx, was, w)
	case memory.AddRevision:
		err = s.addRevision(tx, scope, was, &d.Step, w)
	}
	return d.Outcome, err
}

// fillVector gives a memory the vector it was stored without.
func (s *Store) fillVector(tx *sqlitedb.Tx, was *row, w *memory.Write) error {
	_, err := tx.Exec(`UPDATE memories SET `+s.at.vector+` = ? WHERE n = ?`, vectorBytes(w.Vector), was.n)
	if err != nil {
		return err
	}
	var raw []byte
	var terms memory.Terms // those it was written with, not the repetition's
	if err := tx.QueryRow(`SELECT `+s.at.terms+` FROM memories WHERE n = ?`, was.n).Scan(&raw); err != nil {
		return err
	}
	if decode(raw, &terms) != nil {
		_, err := s.mend(tx, was, w)
		return err
	}
	s.follow(tx, &was.Memory, terms, w.Vector)
	return nil
}

// addRevision stores a step that creates or updates a memory.
func (s *Store) addRevision(tx *sqlitedb.Tx, scope int64, was *row, st *memory.Step, w *memory.Write) error {
	n := int64(0)
	var err error
	if was == nil {
		n, err = s.insert(tx, scope, &memory.Record{Memory: st.Memory, Terms: w.Terms, Vector: w.Vector})
	} else {
		n, err = was.n, s.update(tx, was, &st.Memory, w)
		if err == nil {
			err = link(tx, scope, n, &st.Memory)
		}
	}
	if err != nil {
		return err
	}
	s.follow(tx, &st.Memory, w.Terms, w.Vector)
	return insertStep(tx, n, st, nil)
}

// insert makes the row of a record, and returns its number.
func (s *Store) insert(tx *sqlitedb.Tx, scope int64, r *memory.Record) (int64, error) {
	m := &r.Memory
	doc, terms, err := encode(m, r.Terms)
	if err != nil {
		return 0, err
	}
	if r.Deleted {
		terms = nil
	}
	res, err := tx.Exec(`INSERT INTO memories (scope, id, revision, deleted, kind, session, timestamp, create_time,
			update_time, expires, removed, doc, `+s.at.terms+`, `+s.at.vector+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		scope, m.ID, m.Revision, r.Deleted, m.Kind, m.Source.SessionID, m.Timestamp.UnixMicro(),
		m.CreateTime.UnixMicro(), m.UpdateTime.UnixMicro(), expiryOf(m), r.Removed, doc, terms, vectorBytes(r.Vector))
	if err != nil {
		return 0, err
	}
	n, err := res.LastInsertId()
	if err == nil {
		err = link(tx, scope, n, m)
	}
	return n, err
}

// update writes a newer revision into the row of a memory.
func (s *Store) update(tx *sqlitedb.Tx, was *row, m *memory.Memory, w *memory.Write) error {
	doc, terms, err := encode(m, w.Terms)
	if err != nil {
		return err
	}
	if err := keepDoc(tx, was); err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE memories SET deleted = 0, revision = ?, kind = ?, session = ?, timestamp = ?,
			update_time = ?, expires = iif(expires = -1, -1, ?), doc = ?, `+s.at.terms+` = ?, `+s.at.vector+` = ?
			WHERE n = ?`,
		m.Revision, m.Kind, m.Source.SessionID, m.Timestamp.UnixMicro(), m.UpdateTime.UnixMicro(), expiryOf(m),
		doc, terms, vectorBytes(w.Vector), was.n)
	return err
}

// keepDoc gives the current revision its own copy of the memory, before a newer
// revision takes its row.
func keepDoc(tx *sqlitedb.Tx, was *row) error {
	_, err := tx.Exec(`UPDATE revisions SET doc = (SELECT doc FROM memories WHERE n = ?1)
		WHERE memory = ?1 AND revision = ?2`, was.n, was.Memory.Revision)
	return err
}

// insertStep adds a revision to the history of row n. The doc is nil for the
// current revision.
func insertStep(tx *sqlitedb.Tx, n int64, st *memory.Step, doc []byte) error {
	var labels []byte
	if len(st.Labels) > 0 {
		var err error
		if labels, err = seal(memory.EncodeJSON(st.Labels)); err != nil {
			return err
		}
	}
	var expires any
	if !st.ExpireTime.IsZero() {
		expires = st.ExpireTime.UnixMicro()
	}
	_, err := tx.Exec(`INSERT INTO revisions (memory, revision, action, time, actor, operation, doc, labels, expires)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		n, st.Revision, st.Action, st.Time.UnixMicro(), st.Actor, st.Operation, doc, labels, expires)
	return err
}

// Delete implements memory.Store. A removal sees those before it in the call, so
// a memory that is named twice is deleted once.
func (s *Store) Delete(ctx context.Context, scope memory.Scope, removals []memory.Removal) ([]memory.Outcome, error) {
	var out []memory.Outcome
	err := s.write(ctx, sqlitedb.For(scope).Freeing(), func(tx *sqlitedb.Tx) error {
		out = make([]memory.Outcome, len(removals))
		n, err := scopeNumber(tx, scope, false)
		if err != nil {
			return err
		}
		now := s.now()
		for i, r := range removals {
			if out[i], err = s.deleteOne(tx, n, r, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, scope.Wrap("delete memories", err)
	}
	return out, nil
}

func (s *Store) deleteOne(tx *sqlitedb.Tx, scope int64, r memory.Removal, now time.Time) (memory.Outcome, error) {
	was, err := s.current(tx, scope, r.ID)
	if err != nil {
		return memory.Outcome{}, err
	}
	d := memory.DecideDelete(r, was.state(), now)
	if d.Effect == memory.AddRevision {
		err = s.addDeletion(tx, was, &d.Step)
	}
	return d.Outcome, err
}

// addDeletion stores a step that deletes a memory. Both places lose its words
// and its vector.
func (s *Store) addDeletion(tx *sqlitedb.Tx, was *row, st *memory.Step) error {
	gone := st.Memory
	doc, err := seal(memory.EncodeJSON(&gone))
	if err != nil {
		return err
	}
	if err := keepDoc(tx, was); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE memories SET deleted = 1, revision = ?, update_time = ?, doc = ?,
			terms = NULL, vector = NULL, terms1 = NULL, vector1 = NULL WHERE n = ?`,
		gone.Revision, gone.UpdateTime.UnixMicro(), doc, was.n); err != nil {
		return err
	}
	tx.OnCommit(func() { s.cache.Remove(gone.Scope, &gone) })
	return insertStep(tx, was.n, st, nil)
}

// follow has the index of the scope, if there is one, take in a write.
func (s *Store) follow(tx *sqlitedb.Tx, m *memory.Memory, terms memory.Terms, vector []float32) {
	e := index.Entry{Memory: m.Clone(), Terms: maps.Clone(terms), Vector: slices.Clone(vector)}
	tx.OnCommit(func() { s.cache.Put(m.Scope, &e) })
}

// encode writes a memory and its words as the file has them.
func encode(m *memory.Memory, terms memory.Terms) (doc, words []byte, err error) {
	if doc, err = seal(memory.EncodeJSON(m)); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", memory.ErrInvalid, err) // only metadata can be invalid JSON
	}
	words, err = seal(memory.EncodeJSON(terms))
	return doc, words, err
}

// vectorBytes writes a vector as float32, little endian, sealed; NULL for none.
func vectorBytes(v []float32) []byte {
	if v == nil {
		return nil
	}
	out := make([]byte, 0, 4*len(v))
	for _, f := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return sqlitedb.Seal(out)
}

// bytesVector reads what vectorBytes wrote.
func bytesVector(sealed []byte) ([]float32, error) {
	b, err := sqlitedb.UnsealNumbers(sealed)
	if b == nil || err != nil {
		return nil, err
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out, nil
}
