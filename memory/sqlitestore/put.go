package sqlitestore

import (
	"fmt"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// CheckPut reports why PutIn would refuse writes: ErrInvalid if one of them breaks
// a rule of Put, ErrUnavailable if the memories are moving to another model. It is
// called in the transaction of the PutIn that follows.
func (s *Store) CheckPut(scope memory.Scope, writes []memory.Write) error {
	if err := s.checkMoved(); err != nil {
		return err
	}
	return memory.ValidateWrites(scope, writes, s.model.Dimension)
}

// PutIn is Put within a transaction of the file that has more to write, which
// commits its changes. The writes have passed CheckPut.
func (s *Store) PutIn(tx *sqlitedb.Tx, scope memory.Scope, writes []memory.Write) ([]memory.Outcome, error) {
	s.db.Used(0)
	out := make([]memory.Outcome, len(writes))
	refused := 0
	for i := range writes {
		if w := &writes[i]; w.UniqueInApp {
			var known bool
			err := tx.QueryRow(`SELECT EXISTS (SELECT 1`+withID+`)`, w.Memory.ID, scope.App).Scan(&known)
			if err != nil {
				return nil, err
			}
			if known {
				out[i].Err = memory.ErrExists
				refused++
			}
		}
	}
	if refused > 0 && refused == len(writes) {
		return out, nil // without a row for a scope that has nothing
	}
	n, err := scopeNumber(tx, scope, true)
	if err != nil {
		return nil, err
	}
	now := s.now()
	for i := range writes {
		if out[i].Err != nil {
			continue
		}
		if out[i], err = s.putOne(tx, n, &writes[i], now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkMoved is ErrUnavailable once the memories are moving to another model for
// good.
func (s *Store) checkMoved() error {
	if s.moved.Load() {
		return fmt.Errorf("%w: the memories are moving from %v to another", memory.ErrUnavailable, s.model)
	}
	return nil
}
