package sqlitesession_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/sessionstore/sessiontest"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// A file of schema version 1 is brought up to date, and its requests are read.
func TestVersion1(t *testing.T) {
	packed, err := os.Open(filepath.Join("testdata", "version1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "memoryd.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlitedb.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := sqlitesession.New(db, &sqlitesession.Options{Now: func() time.Time { return sessiontest.Version1Now }})
	if err != nil {
		t.Fatal(err)
	}
	sessiontest.Version1(t, s)
}
