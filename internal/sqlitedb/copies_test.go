package sqlitedb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// backup is a copy that Backup makes.
func backup(t *testing.T, db *sqlitedb.DB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := db.Backup(t.Context(), &out, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// stopped fills a database with rows, stops it, and returns the file.
func stopped(t *testing.T, path string, from, to int) []byte {
	t.Helper()
	db := open(t, path)
	fill(t, db, from, to)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

// withIndex copies what a killed process leaves, the index of the log among it.
func withIndex(t *testing.T, path string) string {
	t.Helper()
	to := killed(t, path)
	if err := os.WriteFile(to+"-shm", read(t, path+"-shm"), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// A copy of a database in the place of the one that a log belongs to is refused, and
// nothing is changed: SQLite would write the log into it.
func TestAnotherCopy(t *testing.T) {
	path := file(t)
	copies := map[string][]byte{"a file of another store": stopped(t, file(t), 0, 50)}
	copies["a file of two runs before"] = stopped(t, path, 0, 50)
	stopped(t, path, 50, 60)
	db := open(t, path)
	copies["a backup from before the log"] = backup(t, db)
	fill(t, db, 60, 70)
	copies["a backup within the log"] = backup(t, db)
	fill(t, db, 70, 80)
	copies["a backup of the end of the log"] = backup(t, db)
	killedAt := withIndex(t, path)
	fill(t, db, 80, 90)
	copies["a backup from after the log"] = backup(t, db)
	db.Close()
	copies["the file once the log was in it, and more of it"] = read(t, path)
	copies["the file once the log was in it, and another one"] = stopped(t, path, 90, 100)
	recovered := open(t, file(t))
	fill(t, recovered, 0, 20)
	recovered.Close()
	copies["a file made of what was recovered"] = read(t, recovered.Path())

	for name, raw := range copies {
		for _, left := range [][]string{{}, {"-shm"}, {".state"}, {"-shm", ".state"}} {
			t.Run(name+" without "+strings.Join(left, ", "), func(t *testing.T) {
				path := withIndexCopy(t, killedAt, left...)
				if err := os.WriteFile(path, raw, 0o600); err != nil {
					t.Fatal(err)
				}
				before := files(t, filepath.Dir(path))
				_, err := sqlitedb.Open(path, nil)
				if err == nil || !strings.Contains(err.Error(), "another copy") || !strings.Contains(err.Error(), path+"-wal") ||
					!strings.Contains(err.Error(), "memoryd recover") {
					t.Fatalf("opened: %v", err)
				}
				if after := files(t, filepath.Dir(path)); !maps.Equal(before, after) {
					t.Errorf("files have changed: %v", slices.Sorted(maps.Keys(after)))
				}
				// The remedy: what the message names is moved away. For a backup the log is enough.
				os.Remove(path + "-wal")
				os.Remove(path + "-shm")
				if !strings.Contains(name, "backup") {
					os.Remove(path + ".state")
				}
				db, err := sqlitedb.Open(path, nil)
				if err != nil {
					t.Fatalf("without the log: %v", err)
				}
				defer db.Close()
				if got := count(t, db); got < 20 {
					t.Errorf("%d rows", got)
				}
				fill(t, db, 1000, 1010)
			})
		}
	}
	t.Run("the file itself", func(t *testing.T) {
		for _, left := range [][]string{{}, {"-shm"}, {".state"}, {"-shm", ".state"}} {
			if got := count(t, open(t, withIndexCopy(t, killedAt, left...))); got != 80 {
				t.Errorf("without %v: %d rows, want 80", left, got)
			}
		}
	})
}

// withIndexCopy copies the files that a killed process has left, except some.
func withIndexCopy(t *testing.T, from string, except ...string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "memoryd.db")
	for _, suffix := range []string{"", "-wal", "-shm", ".state"} {
		if slices.Contains(except, suffix) {
			continue
		}
		if err := os.WriteFile(to+suffix, read(t, from+suffix), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// A file of an earlier version has no generation. With its own log it opens, and with
// the log of a later run it does not.
func TestCopyOfAnEarlierVersion(t *testing.T) {
	path := file(t)
	raw := stopped(t, path, 0, 50)
	clear(raw[60:64])
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(path + ".state")
	db := open(t, path)
	fill(t, db, 50, 60)
	if got := count(t, open(t, withIndex(t, path))); got != 60 {
		t.Errorf("%d rows after the first kill, want 60", got)
	}
	db.Close()
	db = open(t, path)
	fill(t, db, 60, 70)
	left := withIndex(t, path)
	if err := os.WriteFile(left, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitedb.Open(left, nil); err == nil || !strings.Contains(err.Error(), "another copy") {
		t.Errorf("opened: %v", err)
	}
}

// A record of another store, one that is a directory, and one of an earlier version do
// not keep a whole file from being opened.
func TestRecordOfAnother(t *testing.T) {
	other := file(t)
	db := open(t, other)
	fill(t, db, 0, 30)
	foreign := read(t, other+".state") // it says that the log has pages
	db.Close()
	for name, put := range map[string]func(path string) error{
		"foreign":         func(path string) error { return os.WriteFile(path, foreign, 0o600) },
		"directory":       func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
		"empty directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"garbage":         func(path string) error { return os.WriteFile(path, []byte("\x00\xff"), 0o600) },
		"earlier": func(path string) error {
			return os.WriteFile(path, []byte("memoryd keeps a database beside this file:"+
				" log 0123456789abcdef 0000000000, changes 0000000007\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			stopped(t, path, 0, 20)
			os.Remove(path + ".state")
			if err := put(path + ".state"); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			db, err := sqlitedb.Open(path, &sqlitedb.Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
			if err != nil {
				t.Fatal(err)
			}
			if got := count(t, db); got != 20 {
				t.Errorf("%d rows", got)
			}
			if (name == "foreign" || name == "directory") && !strings.Contains(said.String(), path) {
				t.Errorf("nothing is said: %s", said.String())
			}
			fill(t, db, 20, 30)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if got := count(t, open(t, path)); got != 30 {
				t.Errorf("%d rows at the next start", got)
			}
		})
	}
}

// A database behind a symbolic link is one and the same with the one at its own path:
// its lock and what else is beside it are beside the file.
func TestSymbolicLink(t *testing.T) {
	path := file(t)
	stopped(t, path, 0, 10)
	links := t.TempDir()
	link, linked := filepath.Join(links, "memoryd.db"), filepath.Join(links, "again.db")
	if runtime.GOOS == "windows" {
		t.Skip("only an administrator may make symbolic links")
	}
	if err := errors.Join(os.Symlink(path, link), os.Symlink("memoryd.db", linked)); err != nil {
		t.Fatal(err)
	}
	db := open(t, linked)
	fill(t, db, 10, 20)
	if _, err := sqlitedb.Open(path, nil); !errors.Is(err, sqlitedb.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	if _, err := sqlitedb.Lock(link); !errors.Is(err, sqlitedb.ErrInUse) {
		t.Errorf("locked: %v", err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := count(t, open(t, path)); got != 20 {
		t.Errorf("%d rows", got)
	}
	if left := files(t, links); len(left) != 2 {
		t.Errorf("beside the link: %v", slices.Sorted(maps.Keys(left)))
	}
	if err := os.Symlink(filepath.Join(links, "gone.db"), filepath.Join(links, "dangling.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitedb.Open(filepath.Join(links, "dangling.db"), nil); err == nil ||
		!strings.Contains(err.Error(), "gone.db") {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	if err := os.Symlink("loop.db", filepath.Join(links, "loop.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitedb.Open(filepath.Join(links, "loop.db"), nil); err == nil {
		t.Error("a link to itself was opened")
	}
}

// childPath is the variable that has this test binary be a process to kill.
const childPath = "SQLITEDB_TEST_WRITES_INTO"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		writeUntilKilled(path)
	}
	os.Exit(m.Run())
}

// writeUntilKilled writes rows, small and large ones, with checkpoints of few pages,
// and writes the number of each row that is acknowledged to standard output. Now and
// then it closes the database and opens it again.
func writeUntilKilled(path string) {
	fail := func(err error) {
		if err != nil {
			io.WriteString(os.Stderr, err.Error()+"\n")
			os.Exit(3)
		}
	}
	seed, err := strconv.ParseUint(os.Getenv(childPath+"_SEED"), 10, 64)
	fail(err)
	random := rand.New(rand.NewPCG(seed, 0))
	for {
		db, err := sqlitedb.Open(path, nil)
		fail(err)
		fail(db.Migrate("t", table))
		n := 0
		for range 1 + random.IntN(300) {
			fail(db.Write(context.Background(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
				if err := tx.QueryRow(`SELECT coalesce(max(n), 0) + 1 FROM t`).Scan(&n); err != nil {
					return err
				}
				if random.IntN(20) == 0 {
					if err := tx.QueryRow(`PRAGMA wal_autocheckpoint = ` + strconv.Itoa(1<<random.IntN(9))).
						Scan(new(int)); err != nil {
						return err
					}
				}
				size := random.IntN(3000)
				if random.IntN(30) == 0 {
					size = random.IntN(8 << 20) // more than the cache: it comes into the log before the commit
				}
				_, err := tx.Exec(`INSERT INTO t VALUES (?, ?)`, n, strings.Repeat("x", size))
				return err
			}))
			io.WriteString(os.Stdout, strconv.Itoa(n)+"\n")
			if random.IntN(40) == 0 {
				fail(db.Write(context.Background(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
					_, err := tx.Exec(`UPDATE t SET v = '' WHERE n % 3 = 0`)
					return err
				}))
			}
		}
		fail(db.Close())
	}
}

// A process that is killed at any moment leaves files that are taken for a pair, also
// when they are copied elsewhere first, and with all rows that were acknowledged.
func TestKilledAtAnyMoment(t *testing.T) {
	kills := 8
	if testing.Short() {
		kills = 3
	}
	if n, err := strconv.Atoi(os.Getenv("SQLITEDB_TEST_KILLS")); err == nil {
		kills = n
	}
	path := file(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	acknowledged := 0
	for n := range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childPath+"="+path,
			childPath+"_SEED="+strconv.FormatUint(seed+uint64(n), 10))
		var errs bytes.Buffer
		child.Stderr = &errs
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(random.IntN(700))*time.Millisecond, func() { child.Process.Kill() })
		said, _ := io.ReadAll(out) // it ends with the process
		kill.Stop()
		_ = child.Wait() // it was killed
		if errs.Len() > 0 {
			t.Fatalf("after %d kills: %s", n, errs.String())
		}
		if lines := strings.Fields(string(said)); len(lines) > 0 {
			last := lines[len(lines)-1]
			if len(said) > 0 && said[len(said)-1] != '\n' { // killed within a line
				last = lines[max(0, len(lines)-2)]
			}
			if got, err := strconv.Atoi(last); err == nil {
				acknowledged = max(acknowledged, got)
			}
		}
		if missing(path) {
			continue
		}
		var log bytes.Buffer
		db, err := sqlitedb.Open(copied(t, path), &sqlitedb.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatalf("after %d kills: %v", n+1, err)
		}
		if err := db.Migrate("t", table); err != nil {
			t.Fatal(err)
		}
		if got := count(t, db); got < acknowledged {
			t.Errorf("%d rows after %d kills, want %d", got, n+1, acknowledged)
		}
		if strings.Contains(log.String(), "WARN") && !strings.Contains(log.String(), "was not finished") {
			t.Errorf("after %d kills: %s", n+1, log.String())
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rows after %d kills", acknowledged, kills)
}

// missing reports whether nothing is at a path.
func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// copied copies a directory, and returns where the file is then.
func copied(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.Base(path))
}

// A start leaves the log that it finds until its record is written: a process that is killed
// in between would seem to have lost what it had moved into the file.
func TestStartKeepsLog(t *testing.T) {
	path := file(t)
	db := open(t, path)
	for n := range 3 {
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(n)); err != nil {
			t.Fatal(err)
		}
	}
	killed := copied(t, path)
	before, err := os.Stat(killed + "-wal")
	if err != nil || before.Size() == 0 {
		t.Fatalf("the log is %v, error %v", before, err)
	}
	again := open(t, killed)
	if after, err := os.Stat(killed + "-wal"); err != nil || after.Size() < before.Size() {
		t.Errorf("a start has shortened the log of %d bytes to %d: %v", before.Size(), after.Size(), err)
	}
	if got := count(t, again); got != 3 {
		t.Errorf("%d rows", got)
	}
}
