package sqlitedb_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
)

// smallDisk mounts a file system of some bytes, where the test may.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("only root can make a small disk: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	return dir
}

// fillDisk fills a disk with a file, up to some bytes.
func fillDisk(path string, left int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size := int64(0)
	for err == nil {
		var n int
		n, err = f.Write(make([]byte, 64<<10))
		size += int64(n)
	}
	return f.Truncate(max(0, size-left))
}

// A file on a disk that is too small for the reserve, or that had no reserve and has no
// room for one, is opened and written all the same.
func TestReserveOfSmallDisk(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"small": func(string) error { return nil },
		"full":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "others"), make([]byte, 14<<20), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := smallDisk(t, "16m")
			if err := prepare(dir); err != nil {
				t.Fatal(err)
			}
			for start := range 3 {
				db, err := sqlitedb.Open(filepath.Join(dir, "memoryd.db"), &sqlitedb.Options{Reserve: 16 << 20})
				if err != nil {
					t.Fatal(err)
				}
				if err := db.Migrate("t", table); err != nil {
					t.Errorf("start %d: %v", start, err)
				}
				err = db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
					_, err := tx.Exec(`INSERT INTO t VALUES (?, 'x')`, start)
					return err
				})
				if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
					t.Errorf("start %d: %v", start, err)
				}
				kept := int64(0)
				if info, err := os.Stat(filepath.Join(dir, "memoryd.db.reserve")); err == nil {
					kept = info.Size()
				}
				if want := map[string]int64{"small": 4 << 20}[name]; kept != want {
					t.Errorf("start %d: %d bytes are kept, want %d", start, kept, want)
				}
			}
		})
	}
}

// On a full disk nothing is written, except what frees room: that goes through, and
// once there is room again everything does.
func TestReserve(t *testing.T) {
	dir := smallDisk(t, "32m")
	db, err := sqlitedb.Open(filepath.Join(dir, "memoryd.db"), &sqlitedb.Options{Reserve: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate("t", table); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "others"), make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	put := func(n int) error {
		return db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(`INSERT OR REPLACE INTO t VALUES (?, ?)`, n, strings.Repeat("x", 3000))
			return err
		})
	}
	n := 0
	for ; err == nil && n < 20_000; n++ {
		err = put(n)
	}
	if !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "disk is full") {
		t.Fatalf("after %d writes: %v", n, err)
	}
	for i := range 8 {
		err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}).Freeing(), func(tx *sqlitedb.Tx) error {
			_, err := tx.Exec(`DELETE FROM t WHERE n % 10 = ?`, i)
			return err
		})
		if err != nil {
			t.Fatalf("deletion %d: %v", i, err)
		}
		if i == 0 { // once the log is cut, others take some of the reserve, so that it cannot be kept again
			if err := db.Write(t.Context(), sqlitedb.Urgent().Freeing(), func(*sqlitedb.Tx) error { return nil }); err != nil {
				t.Error(err)
			}
			if err := fillDisk(filepath.Join(dir, "taken"), 4<<20); err != nil {
				t.Fatal(err)
			}
		}
		if err := put(n + i); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("a write on the full disk: %v", err)
		}
	}
	if err := db.Check(t.Context()); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("check of a full disk: %v", err)
	}
	// A restart on the full disk changes nothing about that.
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fillDisk(filepath.Join(dir, "more"), 1<<20); err != nil {
		t.Fatal(err)
	}
	if db, err = sqlitedb.Open(filepath.Join(dir, "memoryd.db"), &sqlitedb.Options{Reserve: 8 << 20}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate("t", table); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := put(n + i); !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "-delete-reserve") {
			t.Errorf("a write on the full disk, after a restart: %v", err)
		}
	}
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}).Freeing(), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`DELETE FROM t WHERE n = 9`)
		return err
	}); err != nil {
		t.Errorf("a deletion after a restart: %v", err)
	}
	left := count(t, db)
	if err := os.Remove(filepath.Join(dir, "others")); err != nil {
		t.Fatal(err)
	}
	sqlitedb.RetakeNow(db)
	if err := put(n); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("check with room again: %v", err)
	}
	if got := count(t, db); got != left+1 {
		t.Errorf("%d rows, want %d", got, left+1)
	}
	if info, err := os.Stat(filepath.Join(dir, "memoryd.db.reserve")); err != nil || info.Size() != 8<<20 {
		t.Errorf("the reserve: %v, %v", info, err)
	}
}
