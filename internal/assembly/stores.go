package assembly

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// Sessions is a session store that can also be exported and imported.
type Sessions interface {
	ingest.Sessions
	access.Keys
	access.Audit
	sessionstore.Archive
	sessionstore.Audited
}

// Memories is a memory store that can also be exported, imported and moved to
// another model.
type Memories interface {
	memory.Movable
	memory.Archive
	memory.Audited
}

// DefaultCacheBytes is the default of Stores.CacheBytes.
const DefaultCacheBytes = index.DefaultBytes

// Check reports whether a store works, for /readyz.
type Check func(context.Context) error

// ErrElsewhere is the error of Join for sessions whose memories are in another
// store.
var ErrElsewhere = fmt.Errorf("%w: the sessions have their memories elsewhere", memory.ErrInvalid)

// Stores are the two stores of one memoryd. They are opened once each, by
// methods of Stores if they are SQLite files and by the caller otherwise, and
// end with Close or, where the start was refused, with Discard.
type Stores struct {
	Sessions Sessions
	Memories Memories
	// Checks are those of both stores, by the names "sessions" and "memories".
	Checks map[string]func(context.Context) error
	// CacheBytes bounds what searches keep of memories in a SQLite file. Defaults to
	// DefaultCacheBytes.
	CacheBytes int64
	// MaxState bounds the state of a session, of a user and of an app, each. Defaults
	// to sessionstore.DefaultMaxState.
	MaxState int64
	// MaxSessions is how many sessions a user may have. Defaults to any number.
	MaxSessions int
	// SessionTTL is sqlitesession.Options.TTL. Defaults to never.
	SessionTTL time.Duration
	// AuditEntries bounds the audit log of an app in a SQLite file. Defaults to
	// access.DefaultAuditEntries.
	AuditEntries int
	// Watches look after stores while they are served, until ctx is over. They log what
	// they notice, and the checks tell it.
	Watches []func(context.Context, *slog.Logger)
	// Notes are further lines of /readyz, by name.
	Notes map[string]func() string
	// Now is the clock of stores in SQLite files. Defaults to time.Now.
	Now func() time.Time
	// Hint is what to do about a file that cannot be opened: part of the error.
	Hint string

	// Reserve is how many bytes of the disk a SQLite file keeps for deletions on a full
	// disk. Defaults to none.
	Reserve int64
	// Log gets what is damaged of SQLite files. Defaults to discarding.
	Log *slog.Logger

	files   map[string]*sqlitedb.DB // by path
	in      map[string]*sqlitedb.DB // by store: "sessions", "memories"
	closers []closer
	bound   bool // the sessions are bound to the memories, or may be
}

// closer ends one store.
type closer struct {
	close   func() error
	discard func() error // close, and remove what opening has made
}

// NewStores returns Stores of which neither is open.
func NewStores() *Stores {
	return &Stores{Checks: map[string]func(context.Context) error{}, Notes: map[string]func() string{},
		files: map[string]*sqlitedb.DB{}, in: map[string]*sqlitedb.DB{}}
}

// UseSessions takes sessions that the caller has opened in another backend.
// Close closes them.
func (s *Stores) UseSessions(sessions Sessions, check Check, close func() error) {
	s.Sessions, s.Checks["sessions"] = sessions, check
	s.closers = append(s.closers, closer{close, close})
}

// UseMemories takes memories that the caller has opened in another backend, in
// place of those that were open before. Close closes both. discard closes them
// too, and removes what opening has made.
func (s *Stores) UseMemories(memories Memories, check Check, close, discard func() error) {
	s.Memories, s.Checks["memories"] = memories, check
	s.closers = append(s.closers, closer{close, discard})
}

// OpenBoth opens both stores in one SQLite file, for a model.
func (s *Stores) OpenBoth(ctx context.Context, path string, model memory.Model) error {
	// Memories first: those of another model are refused before the sessions
	// have changed.
	if err := s.OpenMemories(path, true, model); err != nil {
		return err
	}
	if err := s.OpenSessions(path, true); err != nil {
		return err
	}
	if err := s.Join(ctx); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// OpenSessions opens the sessions in a SQLite file. both says that the memories
// are in the same file.
func (s *Stores) OpenSessions(path string, both bool) error {
	db, err := s.open(path, "sessions", "memories", both)
	if err != nil {
		return err
	}
	sessions, err := sqlitesession.New(db, &sqlitesession.Options{MaxState: s.MaxState,
		MaxSessions: s.MaxSessions, AuditEntries: s.AuditEntries, TTL: s.SessionTTL, Now: s.Now})
	if err != nil {
		return fmt.Errorf("sessions in %s: %w", db.Path(), err)
	}
	s.Sessions, s.Checks["sessions"] = sessions, db.Check
	s.hold("sessions", db)
	return nil
}

// OpenMemories opens the memories in a SQLite file for a model, in place of
// those that were open before. both says that the sessions are in the same file.
func (s *Stores) OpenMemories(path string, both bool, model memory.Model) error {
	db, err := s.open(path, "memories", "sessions", both)
	if err != nil {
		return err
	}
	memories, err := sqlitestore.New(db, model, &sqlitestore.Options{CacheBytes: s.CacheBytes, Now: s.Now})
	if err != nil {
		return fmt.Errorf("memories in %s: %w", db.Path(), err)
	}
	s.Memories, s.Checks["memories"] = memories, db.Check
	s.Watches = append(s.Watches, memories.Warm)
	s.hold("memories", db)
	return nil
}

// hold notes which file a store is in. /readyz says how many rows of it cannot be
// read.
func (s *Stores) hold(store string, db *sqlitedb.DB) {
	s.in[store] = db
	s.Notes["unreadable in the file of "+store] = func() string {
		if n := db.Stats().Unreadable; n > 0 {
			return fmt.Sprintf("%d rows are damaged and left out: memoryd check lists them", n)
		}
		return ""
	}
}

// Backup writes the SQLite file of a store, "sessions" or "memories", into w while it
// is served; see sqlitedb.DB.Backup.
func (s *Stores) Backup(ctx context.Context, store string, w io.Writer, size func(int64)) error {
	db := s.in[store]
	if db == nil {
		return fmt.Errorf("%w: the %s are not in a SQLite file: back up their store with its own means",
			memory.ErrInvalid, store)
	}
	return db.Backup(ctx, w, size)
}

// StoredModel returns the model that the memories in a SQLite file were made
// with; ErrNotFound if the file has no memories yet.
func (s *Stores) StoredModel(path string, both bool) (memory.Model, error) {
	db, err := s.open(path, "memories", "sessions", both)
	if err != nil {
		return memory.Model{}, err
	}
	return sqlitestore.StoredModel(db)
}

// open opens the SQLite file for one of the two stores.
func (s *Stores) open(path, wanted, other string, both bool) (*sqlitedb.DB, error) {
	db, err := s.file(path)
	if err != nil || both {
		return db, err
	}
	return db, checkNotExchanged(db, wanted, other)
}

// file opens a SQLite file, once however it is spelled.
func (s *Stores) file(path string) (*sqlitedb.DB, error) {
	for name, db := range s.files {
		if SameFile(name, path) {
			return db, nil
		}
	}
	db, err := sqlitedb.Open(path, &sqlitedb.Options{Log: s.Log, Reserve: s.Reserve})
	switch {
	case err != nil && s.Hint != "":
		return nil, fmt.Errorf("%w (%s)", err, s.Hint)
	case err != nil:
		return nil, err
	}
	s.files[path] = db
	s.closers = append(s.closers, closer{db.Close, db.Discard})
	return db, nil
}

// checkNotExchanged fails if a file holds the other store and not the wanted
// one: a start would find nothing, and begin again in the wrong files.
func checkNotExchanged(db *sqlitedb.DB, wanted, other string) error {
	has, err := db.Has(wanted)
	hasOther, err2 := db.Has(other)
	if err := errors.Join(err, err2); err != nil {
		return fmt.Errorf("%s: %w", db.Path(), err)
	}
	if hasOther && !has {
		return fmt.Errorf("%s holds %s and no %s: are -sessions and -memories exchanged?", db.Path(), other, wanted)
	}
	return nil
}

// SameFile reports whether two paths lead to one file, whether it exists or not.
func SameFile(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y
}

// Accompany has memories in a file keep how far the sessions elsewhere had got. It does
// nothing if the memories are elsewhere too. It is called after Join.
func (st *Stores) Accompany(ctx context.Context, sessions sqlitestore.Companion) error {
	m, ok := st.Memories.(*sqlitestore.Store)
	if !ok {
		return nil
	}
	st.Watches = append(st.Watches, m.Watch)
	return m.Accompany(ctx, sessions)
}

// Join binds the sessions to the memories, if they are bound to no store yet. It
// fails with ErrElsewhere if they are bound to another one. It is the last step
// of a start that can be refused: a refusal before it binds nothing.
func (s *Stores) Join(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bound, err := s.Sessions.Bind(ctx, s.Memories.ID())
	if err == nil && bound != s.Memories.ID() {
		return ErrElsewhere
	}
	s.bound = true // or perhaps, if it failed
	return err
}

// Size returns the bytes of the SQLite files, without their write-ahead logs.
func (s *Stores) Size(ctx context.Context) (size int64, err error) {
	const pages = `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`
	for _, db := range s.files {
		var bytes int64
		err := db.Read(ctx, func(tx *sql.Tx) error { return tx.QueryRowContext(ctx, pages).Scan(&bytes) })
		if err != nil {
			return 0, err
		}
		size += bytes
	}
	return size, nil
}

// Close closes both stores.
func (s *Stores) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// Discard closes both stores and removes the files and directories that opening
// them has made, so that a refused start leaves nothing behind. Once the sessions
// may be bound to the memories it only closes: sessions bound to memories that
// are gone could not be served again.
func (s *Stores) Discard() error {
	if s.bound {
		return s.Close()
	}
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.discard())
	}
	return errors.Join(errs...)
}

// Integrity has SQLite check the whole of each file, and calls found with what it
// finds. It takes about a second for each 100 MB.
func (s *Stores) Integrity(ctx context.Context, found func(memory.Finding)) error {
	for path, db := range s.files {
		faults, err := db.IntegrityCheck(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, text := range faults {
			found(memory.Finding{Rule: memory.RuleFile, Of: path, Text: text})
		}
	}
	return nil
}
