package adk_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
	gormtests "gorm.io/gorm/utils/tests"

	"github.com/memoryd/memoryd/adk"
	"github.com/memoryd/memoryd/client"
)

// services are the services compared: ADK's own, and memoryd in this process. The
// database and memoryd each use a file of the same SQLite with the same
// durability: a write-ahead log that is synced before an append returns
// (synchronous=FULL). "memory" stores nothing on disk and is for orientation.
var services = []struct {
	name string
	open func(b *testing.B) session.Service
}{
	{"database", openDatabase},
	{"memory", func(*testing.B) session.Service { return session.InMemoryService() }},
	{"memoryd", func(b *testing.B) session.Service {
		return adk.NewSessionService(client.InProcess(onSQLite(b, b.TempDir())))
	}},
}

// openDatabase opens ADK's database service on one connection. Several connections
// wait for each other's locks and are no faster. With a rollback journal, SQLite's
// default, its appends take three times as long.
func openDatabase(b *testing.B) session.Service {
	b.Helper()
	dsn := url.URL{Scheme: "file", Path: filepath.Join(b.TempDir(), "adk.db"),
		RawQuery: "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_time_format=sqlite"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	s, err := database.NewSessionService(dialect{}, &gorm.Config{ConnPool: db, PrepareStmt: true, Logger: logger.Discard})
	if err != nil {
		b.Fatal(err)
	}
	if err := database.AutoMigrate(s); err != nil {
		b.Fatal(err)
	}
	return s
}

// dialect tells gorm about SQLite, as far as ADK's tables need it. The usual
// package, github.com/glebarez/sqlite, cannot be in one program with
// modernc.org/sqlite, from which it is made: both register the driver "sqlite".
type dialect struct{ gormtests.DummyDialector }

func (dialect) Name() string { return "sqlite" }

func (dialect) DataTypeOf(f *schema.Field) string {
	switch f.DataType {
	case schema.Bytes:
		return "blob"
	case schema.Bool:
		return "numeric"
	case schema.Time:
		return "datetime"
	}
	return "text"
}

func (d dialect) Migrator(db *gorm.DB) gorm.Migrator {
	return newTables{migrator.Migrator{Config: migrator.Config{DB: db, Dialector: d, CreateIndexAfterCreateTable: true}}}
}

// newTables creates the tables.
type newTables struct{ migrator.Migrator }

func (newTables) HasTable(any) bool { return false }

func benchSession(b *testing.B, s session.Service, id string) session.Session {
	b.Helper()
	out, err := s.Create(b.Context(), &session.CreateRequest{AppName: app, UserID: ann, SessionID: id})
	if err != nil {
		b.Fatal(err)
	}
	return out.Session
}

// now returns increasing times that begin when the sessions are created: the
// database refuses events that are older than their session.
var now atomic.Int64

func benchEvent(n int) *session.Event {
	e := said(fmt.Sprint("e", n), "user", "I went to the market and bought apples, pears and a melon.", 0)
	e.Timestamp = time.UnixMicro(now.Add(1))
	e.Actions.StateDelta = map[string]any{"last": n}
	return e
}

func restartTime() { now.Store(time.Now().Add(time.Hour).UnixMicro()) }

// BenchmarkAppend runs 16 agents that append to a session each, at the same time.
// x-database is the ratio to the database's appends a second.
func BenchmarkAppend(b *testing.B) {
	const agents = 16
	took := map[string]float64{}
	for _, service := range services {
		b.Run(service.name, func(b *testing.B) {
			restartTime()
			s := service.open(b)
			var all []session.Session
			for i := range agents {
				all = append(all, benchSession(b, s, fmt.Sprint(i)))
			}
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var working sync.WaitGroup
			for _, mine := range all {
				working.Go(func() {
					for n := left.Add(-1); n >= 0; n = left.Add(-1) {
						if err := s.AppendEvent(b.Context(), mine, benchEvent(int(n))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			working.Wait()
			compare(b, took, service.name)
		})
	}
}

// BenchmarkGetLast20 reads the last 20 events of sessions of several lengths.
// x-database is the ratio to the database's reads a second.
func BenchmarkGetLast20(b *testing.B) {
	for _, length := range []int{10, 500, 5_000} {
		took := map[string]float64{}
		for _, service := range services {
			b.Run(fmt.Sprintf("events=%d/%s", length, service.name), func(b *testing.B) {
				restartTime()
				s := service.open(b)
				mine := benchSession(b, s, "s")
				for n := range length {
					if err := s.AppendEvent(b.Context(), mine, benchEvent(n)); err != nil {
						b.Fatal(err)
					}
				}
				want := min(length, 20)
				for b.Loop() {
					got, err := s.Get(b.Context(), &session.GetRequest{AppName: app, UserID: ann, SessionID: "s", NumRecentEvents: 20})
					if err != nil || got.Session.Events().Len() != want {
						b.Fatal(got, err)
					}
				}
				compare(b, took, service.name)
			})
		}
	}
}

// compare reports the time of a service relative to the database's, if that was
// measured.
func compare(b *testing.B, took map[string]float64, service string) {
	took[service] = float64(b.Elapsed()) / float64(b.N)
	if of := took["database"]; of > 0 && service != "database" {
		b.ReportMetric(of/took[service], "x-database")
	}
}
