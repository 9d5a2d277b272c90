package sqlitedb_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

const table = `CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT NOT NULL DEFAULT '') STRICT`

func open(t *testing.T, path string) *sqlitedb.DB {
	t.Helper()
	db, err := sqlitedb.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.Migrate("t", table); err != nil {
		t.Fatal(err)
	}
	return db
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "with ?#% signs", "memoryd.db") }

func insert(n int) func(*sqlitedb.Tx) error {
	return func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`INSERT INTO t (n) VALUES (?)`, n)
		return err
	}
}

func count(t *testing.T, db *sqlitedb.DB) (n int) {
	t.Helper()
	if err := db.Read(t.Context(),
		func(tx *sql.Tx) error { return tx.QueryRow(`SELECT count(*) FROM t`).Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}

// Concurrent writes are committed together, and one that fails leaves the
// others.
func TestWritesStandAlone(t *testing.T) {
	for _, path := range []string{file(t), sqlitedb.Memory} {
		db := open(t, path)
		var writers sync.WaitGroup
		broken := errors.New("broken on purpose")
		for n := range 500 {
			writers.Go(func() {
				err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
					if err := insert(n)(tx); err != nil || n%3 > 0 {
						return err
					}
					return broken
				})
				if (n%3 == 0) != errors.Is(err, broken) {
					t.Errorf("write %d: %v", n, err)
				}
			})
		}
		writers.Wait()
		if got := count(t, db); got != 333 {
			t.Errorf("%s: %d rows, want 333", path, got)
		}
	}
}

// A prepared statement sees all earlier changes, to the tables too, and works
// after a failure. A statement that cannot be prepared returns the reason.
func TestStatementAgain(t *testing.T) {
	for _, path := range []string{file(t), sqlitedb.Memory} {
		db := open(t, path)
		try := func(statement string) error {
			return db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
				_, err := tx.Exec(statement)
				return err
			})
		}
		newest := func() (v string, err error) {
			err = db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
				return tx.QueryRow(`SELECT v FROM t ORDER BY n DESC LIMIT 1`).Scan(&v)
			})
			return v, err
		}
		var got []string
		for _, statement := range []string{
			`INSERT INTO t (v) VALUES ('a')`, `INSERT INTO t (v) VALUES (NULL)`, `INSERT INTO t (v) VALUES ('a')`,
			`UPDATE t SET v = 'b'`,
			`DROP TABLE t`, `INSERT INTO t (v) VALUES ('a')`,
			`CREATE TABLE t (more TEXT, v TEXT, n INTEGER PRIMARY KEY)`, `INSERT INTO t (v) VALUES ('a')`,
		} {
			failed := try(statement) != nil
			v, err := newest()
			got = append(got, fmt.Sprint(failed, " ", v, " ", err != nil))
		}
		want := []string{"false a false", "true a false", "false a false", "false b false", "false  true", "true  true",
			"false  true", "false a false"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: statements, each: failed, newest, that failed (-want +got):\n%s", path, diff)
		}
	}
}

// Close returns once the reads that have begun have ended, and later ones fail.
func TestCloseWaitsForReads(t *testing.T) {
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	reading, closed := make(chan struct{}), make(chan error, 1)
	n := 0
	if err := db.Read(t.Context(), func(tx *sql.Tx) error {
		go func() {
			close(reading)
			closed <- db.Close()
		}()
		<-reading
		select {
		case err := <-closed:
			return fmt.Errorf("closed during a read: %w", err)
		case <-time.After(20 * time.Millisecond): // time enough to close
		}
		return tx.QueryRow(`SELECT 1`).Scan(&n)
	}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if err := db.Read(t.Context(), func(*sql.Tx) error { return nil }); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a read after Close: %v", err)
	}
}

// Functions given to OnCommit run in the order of the commits, before Write
// returns, and only for committed writes.
func TestOnCommit(t *testing.T) {
	db := open(t, file(t))
	var mu sync.Mutex
	order, seen := []int{}, 0
	var writers sync.WaitGroup
	for n := range 200 {
		writers.Go(func() {
			called := false
			err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
				at := seen // all writes run one after another
				seen++
				tx.OnCommit(func() {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, at)
					called = true
				})
				if n%5 == 0 {
					return errors.New("broken on purpose")
				}
				return insert(n)(tx)
			})
			if called != (err == nil) {
				t.Errorf("write %d: error %v, but called %v", n, err, called)
			}
		})
	}
	writers.Wait()
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			t.Fatalf("commits were told as %v", order)
		}
	}
	if len(order) != 160 {
		t.Errorf("%d were told, want 160", len(order))
	}
}

// A file serves one process at a time. Once it is closed it serves the next
// one, with all its data.
func TestOneProcess(t *testing.T) {
	path := file(t)
	db := open(t, path)
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitedb.Open(path, nil); err == nil || !strings.Contains(err.Error(), "in use by another memoryd") {
		t.Errorf("opened twice: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(2)); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("write after close: %v", err)
	}
	if err := db.Check(t.Context()); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("check after close: %v", err)
	}
	db = open(t, path)
	if got := count(t, db); got != 1 {
		t.Errorf("%d rows after opening again, want 1", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the file: %v, %v", info.Mode(), err)
	}
}

// A file that is not memoryd's is refused and left as it is.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("just text. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	raw, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`CREATE TABLE theirs (x)`); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, other} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sqlitedb.Open(path, nil); err == nil || !strings.Contains(err.Error(), "not a memoryd database") {
			t.Errorf("%s: %v", path, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed (%v)", path, err)
		}
	}
}

// A file that a newer version has changed is refused. The log tells of the change, and of no
// table that is made in a new file.
func TestNewerSchema(t *testing.T) {
	var log bytes.Buffer
	db, err := sqlitedb.Open(file(t), &sqlitedb.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate("t", table); err != nil || strings.Contains(log.String(), "up to date") {
		t.Fatalf("%v, and the log has %s", err, &log)
	}
	if err := db.Migrate("t", table, `ALTER TABLE t ADD COLUMN w TEXT`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"leave it running", "is done", "tables=t", "step=2", "memoryd.db", "took="} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, &log)
		}
	}
	if err := db.Migrate("t", table); err == nil || !strings.Contains(err.Error(), "newer memoryd") {
		t.Errorf("an older version opened it: %v", err)
	}
}

// A full disk is ErrUnavailable, and writes work again once there is room.
func TestFullDisk(t *testing.T) {
	db := open(t, file(t))
	limit := func(pages int) {
		t.Helper()
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			return tx.QueryRow(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)).Scan(new(int))
		}); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // SQLite takes the size it has
	var err error
	n := 0
	for ; err == nil; n++ {
		err = db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(`INSERT INTO t VALUES (?, ?)`, n, strings.Repeat("x", 1000))
			return err
		})
	}
	if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("full: %v", err)
	}
	if got := count(t, db); got != n-1 {
		t.Errorf("%d rows, want the %d that were acknowledged", got, n-1)
	}
	// A write without changes succeeds, and does not show that writes work again.
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(*sqlitedb.Tx) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := db.Check(t.Context()); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("check while the disk is full: %v", err)
	}
	full := filepath.Join(filepath.Dir(db.Path()), "memoryd.db-full")
	if err := os.Rename(db.Path(), full); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"write": db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(1_000_001)),
		"check": db.Check(t.Context())} {
		if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "moved or deleted") {
			t.Errorf("%s to a file that was moved: %v", name, err)
		}
	}
	if err := os.Rename(full, db.Path()); err != nil {
		t.Fatal(err)
	}
	limit(1 << 20)
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("check with room again: %v", err)
	}
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(1_000_000)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// A write whose caller has given up before its turn does not happen.
func TestGivenUp(t *testing.T) {
	db := open(t, file(t))
	begun, release := make(chan struct{}), make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(*sqlitedb.Tx) error { close(begun); <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- db.Write(ctx, sqlitedb.For(memory.Scope{}), insert(1)) }()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	close(release)
	writers.Wait()
	if got := count(t, db); got != 0 {
		t.Errorf("%d rows, want none", got)
	}
}

// A panic in a write is the failure of that write alone.
func TestPanic(t *testing.T) {
	db := open(t, file(t))
	err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		if err := insert(1)(tx); err != nil {
			return err
		}
		panic("fell over")
	})
	if err == nil || !strings.Contains(err.Error(), "fell over") {
		t.Errorf("error %v", err)
	}
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(2)); err != nil {
		t.Errorf("the next write: %v", err)
	}
	if got := count(t, db); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}

// The write-ahead log stays bounded while readers overlap all the time: then
// SQLite itself never gets to reuse it.
func TestLogIsBounded(t *testing.T) {
	path := file(t)
	db := open(t, path)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := db.Read(context.Background(), func(tx *sql.Tx) error {
					return tx.QueryRow(`SELECT count(*) FROM t, (SELECT 1 FROM t LIMIT 200)`).Scan(new(int))
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	longest := int64(0)
	for n := range 200 {
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(`INSERT INTO t VALUES (?, ?)`, n, strings.Repeat("x", 1<<20))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path + "-wal"); err == nil {
			longest = max(longest, info.Size())
		}
	}
	close(stop)
	readers.Wait()
	if longest > 70<<20 {
		t.Errorf("the log grew to %d MB", longest>>20)
	}
}

// Writes fail once a log or a lock is deleted. No answered write is lost, even
// if the process is killed then.
func TestDeletedBeside(t *testing.T) {
	for _, name := range []string{"-wal", ".lock"} {
		db := open(t, file(t))
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(1)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(db.Path() + name); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{"write": db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(2)),
			"check": db.Check(t.Context())} {
			if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), name+" was moved or deleted") {
				t.Errorf("%s without %s: %v", what, name, err)
			}
		}
		if name == ".lock" {
			continue
		}
		raw, err := os.ReadFile(db.Path()) // all that a killed process leaves
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "left.db")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := count(t, open(t, path)); got != 1 {
			t.Errorf("%d rows left, want 1", got)
		}
	}
}
