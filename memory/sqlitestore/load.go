package sqlitestore

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// Bounds on one read transaction of a load. SQLite cannot shorten its log while a
// transaction reads, and the writer waits for that: a page takes a few
// milliseconds.
const (
	loadRows  = 500
	loadBytes = 1 << 20
)

// stored is a live memory as the file has it.
type stored struct {
	id                 string
	doc, terms, vector []byte
}

// position is where a page of a load ends: the pages go by timestamp and id.
type position struct {
	timestamp int64
	id        string
}

// loaded is a page of a load.
type loaded struct {
	page []stored
	to   position
	err  error
}

// load reads all live memories of a scope from the file. The cache queues writes
// meanwhile. So a memory that a write moves from a later page to an earlier one
// is in the queue, and one that is read twice is the same or newer the second
// time.
func (s *Store) load(ctx context.Context, scope memory.Scope, take func([]*index.Entry) int64) (index.Refresh, error) {
	for next := s.loadBehind(ctx, scope, position{timestamp: math.MinInt64}); ; {
		p := <-next
		if sqlitedb.IsDamage(p.err) {
			return nil, s.loadAround(ctx, scope, take)
		}
		if p.err != nil || len(p.page) == 0 {
			return nil, p.err
		}
		next = s.loadBehind(ctx, scope, p.to) // while this one is decoded
		take(s.entries(scope, p.page))
	}
}

// loadBehind is loadPage in the background.
func (s *Store) loadBehind(ctx context.Context, scope memory.Scope, from position) <-chan loaded {
	out := make(chan loaded, 1)
	go func() {
		var p loaded
		p.page, p.to, p.err = s.loadPage(ctx, scope, from)
		out <- p
	}()
	return out
}

// decodedTogether is how many memories one goroutine decodes.
const decodedTogether = 100

// entries decodes stored memories. It leaves out those that have expired, and those
// that cannot be read.
func (s *Store) entries(scope memory.Scope, page []stored) []*index.Entry {
	out := make([]*index.Entry, len(page))
	now := s.now()
	var all conc.WaitGroup
	for from := 0; from < len(page); from += decodedTogether {
		all.Go(func() {
			for i := from; i < min(from+decodedTogether, len(page)); i++ {
				e, err := page[i].decode()
				if err != nil {
					s.unreadable(scope, page[i].id, err)
				} else if e.Memory.Live(now) {
					out[i] = e
				}
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(out, func(e *index.Entry) bool { return e == nil })
}

// loadPage reads the next memories behind a position, at least one if there are
// any, and the position of the last.
func (s *Store) loadPage(ctx context.Context, scope memory.Scope, from position) (
	page []stored, to position, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT timestamp, id, doc, `+s.at.terms+`, `+s.at.vector+` FROM memories
			WHERE `+inScope+` AND deleted = 0 AND (timestamp, id) > (?, ?) ORDER BY timestamp, id LIMIT ?`,
			scope.App, scope.User, from.timestamp, from.id, loadRows)
		if err != nil {
			return err
		}
		defer rows.Close()
		for size := 0; size < loadBytes && rows.Next(); {
			var m stored
			if err := rows.Scan(&to.timestamp, &to.id, &m.doc, &m.terms, &m.vector); err != nil {
				return err
			}
			m.id = to.id
			page = append(page, m)
			size += len(m.doc) + len(m.terms) + len(m.vector)
		}
		return rows.Err()
	})
	return page, to, err
}

// decode reads a stored memory.
func (m *stored) decode() (*index.Entry, error) {
	e := &index.Entry{}
	if err := decode(m.doc, &e.Memory); err != nil {
		return nil, err
	}
	terms, err := sqlitedb.Unseal(m.terms)
	if err != nil {
		return nil, err
	}
	if e.Terms, err = memory.DecodeTerms(string(terms)); err != nil {
		return nil, err
	}
	e.Vector, err = bytesVector(m.vector)
	return e, err
}
