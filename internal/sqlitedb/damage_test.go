package sqlitedb_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// fill writes some rows, each in a transaction of its own.
func fill(t *testing.T, db *sqlitedb.DB, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(`INSERT INTO t VALUES (?, ?)`, n, strings.Repeat(fmt.Sprint(n, " "), 200))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// change writes bytes into a file, as another program or a broken disk does.
func change(t *testing.T, path string, at int64, bytes []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes, at); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// harms are ways to damage a database that is in use, each noticed by the next write.
var harms = map[string]func(t *testing.T, path string){
	"a zeroed page": func(t *testing.T, path string) { change(t, path, 4096*5, make([]byte, 4096)) },
	"a header of text": func(t *testing.T, path string) {
		change(t, path, 0, []byte("not a database any more"))
	},
	"a cut file": func(t *testing.T, path string) {
		if err := os.Truncate(path, 4096*2+100); err != nil {
			t.Fatal(err)
		}
	},
	"an empty file": func(t *testing.T, path string) {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	},
	"a cut log": func(t *testing.T, path string) {
		if err := os.Truncate(path+"-wal", size(t, path+"-wal")/2); err != nil {
			t.Fatal(err)
		}
	},
	"an empty log": func(t *testing.T, path string) {
		if err := os.Truncate(path+"-wal", 0); err != nil {
			t.Fatal(err)
		}
	},
	"a byte of the log": func(t *testing.T, path string) { change(t, path+"-wal", 32+24+900, []byte{0xff}) },
	"the log's header":  func(t *testing.T, path string) { change(t, path+"-wal", 16, []byte{1, 2, 3}) },
}

// Damage done to the files of an open database is noticed by the next write, which is
// refused with words, as all later ones are. Check fails with the same words.
func TestDamagedWhileOpen(t *testing.T) {
	for name, harm := range harms {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			db := open(t, path)
			fill(t, db, 0, 50)
			db.Close() // so that the main file has pages
			db = open(t, path)
			fill(t, db, 50, 70)
			harm(t, path)
			for range 3 {
				err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(1000))
				var damage *memory.Damage
				if !errors.As(err, &damage) || strings.Contains(damage.Error(), path) ||
					!strings.Contains(damage.Error(), "memoryd recover") {
					t.Fatalf("a write: %v", err)
				}
			}
			if err := db.Check(t.Context()); !errors.As(err, new(*memory.Damage)) {
				t.Errorf("check: %v", err)
			}
			if db.Stats().Damaged == "" {
				t.Error("the figures do not tell")
			}
		})
	}
}

// Damage is noticed by Check alone, too.
func TestCheckNoticesDamage(t *testing.T) {
	for name, harm := range harms {
		path := file(t)
		db := open(t, path)
		fill(t, db, 0, 50)
		db.Close()
		db = open(t, path)
		fill(t, db, 50, 70)
		if err := db.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		harm(t, path)
		if err := db.Check(t.Context()); !errors.As(err, new(*memory.Damage)) {
			t.Errorf("%s: check: %v", name, err)
		}
	}
}

// A change of a file's times alone, and a change that damages nothing, is no damage.
func TestTouched(t *testing.T) {
	path := file(t)
	db := open(t, path)
	fill(t, db, 0, 10)
	for n := range 5 {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		change(t, path, 0, raw[:100])
		if err := db.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(t, db, 10+n, 11+n)
	}
}

// killed copies the files of an open database, as a process that is killed leaves
// them, to a new place.
func killed(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "memoryd.db")
	for _, suffix := range []string{"", "-wal", ".state"} {
		raw, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// What is gone between two runs is noticed by the next Open, which changes nothing.
func TestDamagedBetween(t *testing.T) {
	path := file(t)
	db := open(t, path)
	fill(t, db, 0, 50)
	db.Close()
	older, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	fill(t, db, 50, 70)

	// Without any damage all rows are there after a kill.
	if got := count(t, open(t, killed(t, path))); got != 70 {
		t.Fatalf("%d rows after a kill, want 70", got)
	}
	write := func(t *testing.T, path string, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	between := map[string]func(t *testing.T, path string){
		"no log":           func(t *testing.T, path string) { os.Remove(path + "-wal") },
		"no file":          func(t *testing.T, path string) { os.Remove(path) },
		"an empty page 1":  func(t *testing.T, path string) { change(t, path, 0, make([]byte, 4096)) },
		"a file of text":   func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("text ", 9999))) },
		"one page is left": func(t *testing.T, path string) { write(t, path, older[:4096]); os.Remove(path + "-wal") },
	}
	for name, harm := range harms {
		if name != "a zeroed page" && name != "a cut file" { // the log has those pages too
			between[name] = harm
		}
	}
	for name, harm := range between {
		t.Run(name, func(t *testing.T) {
			path := killed(t, path)
			harm(t, path)
			before := files(t, filepath.Dir(path))
			_, err := sqlitedb.Open(path, nil)
			if err == nil || !strings.Contains(err.Error(), "backup") {
				t.Fatalf("opened: %v", err)
			}
			after := files(t, filepath.Dir(path))
			for name, raw := range before {
				if after[name] != raw {
					t.Errorf("%s has changed", name)
				}
			}
		})
	}
}

// files reads the files of a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(e.Name(), "-shm") {
			out[e.Name()] = string(raw)
		}
	}
	return out
}

// A file whose structure is damaged is opened, read where it can be, and not written.
func TestOpenDamaged(t *testing.T) {
	path := file(t)
	db := open(t, path)
	fill(t, db, 0, 50)
	db.Close()
	pages := size(t, path) / 4096
	change(t, path, 4096*(pages-2), make([]byte, 4096)) // of t
	db = open(t, path)
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), insert(1000)); !errors.As(err, new(*memory.Damage)) {
		t.Fatalf("a write: %v", err)
	}
	n := 0
	if err := db.Read(t.Context(), func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT n FROM t WHERE n = 1`).Scan(&n)
	}); err != nil {
		t.Errorf("a row in a good page: %v", err)
	}
	found, err := db.IntegrityCheck(t.Context())
	if err != nil || len(found) == 0 {
		t.Errorf("integrity: %v, %v", found, err)
	}
}

// A table that the schema should have and has not is damage.
func TestMissingTable(t *testing.T) {
	for _, gone := range []string{"t", "schema_versions"} {
		path := file(t)
		open(t, path).Close()
		raw, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.Exec(`DROP TABLE ` + gone); err != nil {
			t.Fatal(err)
		}
		raw.Close()
		db, err := sqlitedb.Open(path, nil)
		if err == nil {
			err = db.Migrate("t", table)
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), gone+" is missing") {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}

// A row that cannot be read is counted once.
func TestUnreadableRows(t *testing.T) {
	db := open(t, file(t))
	for range 2 {
		db.Unreadable(sqlitedb.Row{Table: "t", Key: "2"}, errors.New("broken on purpose"))
		db.Unreadable(sqlitedb.Row{Table: "t", Key: "1"}, errors.New("broken on purpose"))
	}
	if got := fmt.Sprint(db.UnreadableRows(), db.Stats().Unreadable); got != "[{t 1} {t 2}] 2" {
		t.Error(got)
	}
}
