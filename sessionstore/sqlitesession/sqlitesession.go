// Package sqlitesession keeps sessions in memoryd's SQLite file.
//
// # Lives
//
// A row of the table sessions is one life of a session, named by its ref. Events,
// state, changes and operations name the ref and not the id, so that a deleted
// session whose work is left and a new session of its id do not meet. A deleted
// row, and that of a one-shot session, is hidden by its column deleted: the
// indexes by id have only the other rows.
//
// # The work list
//
// A session is work while its requested position is ahead of its done position
// and it has not failed. The table waiting has one row for each scope with work,
// so that a claim does not read all sessions. Every write that changes the work
// of a scope brings its row up to date before it ends.
//
// # Triggers
//
// Events that wait for a trigger are asked for and not requested: the session's column
// wait_to is ahead of its requested position until wait_due. A claim raises the requested
// positions of the sessions that are due before it looks for work.
//
// # Turns
//
// Where the memories are in the same file, [Store.AppendTurns] writes those of the
// turns in the transaction that stores the events. A session's turns position is
// the number of the last event whose turn was written so. It only saves writing
// turns twice: a worker looks for each turn of its batch, and writes it if it is
// missing.
//
// # Atomicity
//
// Each method that writes is one transaction of sqlitedb: all of its changes are
// on the disk when it returns, or none. Transactions run one after another, so no
// method has to expect that another changed a row after it was read.
package sqlitesession

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Options configure New. The zero value is the default.
type Options struct {
	Now func() time.Time // Defaults to time.Now.
	// TTL is how long after its last Append or Update a session expires that has no
	// ExpireTime of its own. Defaults to never.
	TTL time.Duration
	// MaxState bounds the state of a session, of a user and of an app, each in bytes
	// as sessionstore.StateBytes counts them. Defaults to
	// sessionstore.DefaultMaxState.
	MaxState int64
	// MaxKeys is how many keys an app may have. Defaults to access.MaxKeys.
	MaxKeys int
	// MaxSessions is how many sessions a user of an app may have. Defaults to any
	// number.
	MaxSessions int
	// AuditEntries is how many entries the audit log of an app has. Defaults to
	// access.DefaultAuditEntries.
	AuditEntries int
}

// Store implements sessionstore.Store, Progress, Operations and Archive, access.Keys
// and access.Audit.
type Store struct {
	db           *sqlitedb.DB
	now          func() time.Time
	ttl          time.Duration // of sessions without an ExpireTime; 0 is never
	max          int64         // of a state
	maxKeys      int
	most         int // sessions of a user; 0 for any number
	auditEntries int
	// prepared has the statements that Get runs: preparing them takes longer than
	// running them.
	prepared map[string]*sql.Stmt
	leases   leases
	lastApp  string                // up to which the last claim has looked, if not at all; of the writer alone
	maxApps  int                   // the constant, unless a test has less
	notify   sessionstore.Notifier // of changes to operations
	counts   sessionstore.OperationCounts
}

var (
	_ sessionstore.Store      = (*Store)(nil)
	_ sessionstore.Progress   = (*Store)(nil)
	_ sessionstore.Operations = (*Store)(nil)
	_ sessionstore.Audited    = (*Store)(nil)
	_ sessionstore.Archive    = (*Store)(nil)
	_ sessionstore.Eraser     = (*Store)(nil)
	_ sessionstore.Expirer    = (*Store)(nil)
)

// New creates the tables if they are missing, and brings those of an earlier
// version up to date. The file belongs to this process alone, so leases of an
// earlier process are void.
func New(db *sqlitedb.DB, opts *Options) (*Store, error) {
	s := &Store{
		db: db, leases: leases{until: map[memory.Scope]*lease{}}, now: time.Now, max: sessionstore.DefaultMaxState,
		maxApps: maxApps,
	}
	if opts != nil && opts.Now != nil {
		s.now = opts.Now
	}
	if opts != nil {
		s.most, s.ttl = opts.MaxSessions, opts.TTL
	}
	if opts != nil && opts.MaxState > 0 {
		s.max = opts.MaxState
	}
	if opts != nil {
		s.maxKeys, s.auditEntries = opts.MaxKeys, opts.AuditEntries
	}
	s.auditEntries = cmp.Or(s.auditEntries, access.DefaultAuditEntries)
	if err := migrate(db); err != nil {
		return nil, err
	}
	var err error
	if s.prepared, err = db.Prepare(selectSession, selectWhole, selectStateSizes, selectState, selectFirst, selectSizes,
		selectEvents, selectKey, selectRevision); err != nil {
		return nil, err
	}
	if db.Damaged() != nil {
		return s, nil // it is only read, and no work is claimed in it
	}
	err = db.Write(context.Background(), sqlitedb.Urgent(), func(tx *sqlitedb.Tx) error {
		// Without a WHERE, SQLite writes even if there are no rows, and a full disk
		// has no room for that.
		_, err := tx.Exec(`DELETE FROM leases WHERE until > 0`)
		return err
	})
	if err == nil {
		err = s.resumeErase(context.Background())
	}
	return s, err
}

// DB returns the file that the sessions are in.
func (s *Store) DB() *sqlitedb.DB { return s.db }

// migrate makes the tables, or brings those of an earlier version up to date.
func migrate(db *sqlitedb.DB) error {
	return db.Migrate("sessions", schema, schemaRequest, schemaTurns, schemaStateSizes, schemaSeals,
		schemaWaitingApp, schemaKeys, schemaAuditLog, schemaConfigs, schemaErase,
		schemaDetails, schemaTriggers, schemaAppOperations)
}

// expired is when an operation ended that can no longer be read, in
// microseconds: all that ended before it.
func (s *Store) expired() int64 { return s.now().Add(-sessionstore.OperationTTL).UnixMicro() }

// Failures counts the calls of the file that failed in SQLite since it was opened,
// for metrics.
func (s *Store) Failures() int64 { return s.db.Stats().Failures }
