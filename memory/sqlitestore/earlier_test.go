package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
)

// A file written before the lookup keys had a version is refused, with the
// command that brings it up and without a change, by a start that has one. It
// is still opened for the model it was made with.
func TestBeforeKeys(t *testing.T) {
	was := memory.Model{Embedder: "e", Dimension: 4, Analyzer: "words"}
	now := was
	now.Keys = "keys-1"
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := sqlitestore.StoredModel(db); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("of an empty file: %v", err)
	}
	first, err := sqlitestore.New(db, was, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
		_, err := tx.Exec(`ALTER TABLE memory_model DROP COLUMN keys; ALTER TABLE next_model DROP COLUMN keys;
			DROP TABLE companion; DROP TABLE revoked; DROP TABLE warm; ALTER TABLE memory_model DROP COLUMN removed;
			ALTER TABLE revisions DROP COLUMN labels;
			DROP INDEX revisions_expires; DROP INDEX revisions_deletions;
			ALTER TABLE revisions DROP COLUMN expires; ALTER TABLE memories DROP COLUMN removed;
			DROP TRIGGER links_delete; DROP TABLE links; DROP INDEX memories_expires; DROP INDEX memories_id; DROP INDEX memories_deleted;
			DROP INDEX memories_deleted_timestamp; DROP INDEX memories_deleted_create;
			DROP INDEX memories_counts;
			ALTER TABLE memories DROP COLUMN state;
			ALTER TABLE memories DROP COLUMN until;
			ALTER TABLE memories DROP COLUMN forgotten;
			ALTER TABLE memories DROP COLUMN ahead;
			ALTER TABLE memories DROP COLUMN body;
			DROP INDEX scopes_part; ALTER TABLE scopes DROP COLUMN part;
			ALTER TABLE memories DROP COLUMN expires;
			DROP TABLE app_order; DROP TRIGGER app_order_timestamp_insert; DROP TRIGGER app_order_timestamp_update; DROP TRIGGER app_order_timestamp_delete; DROP TRIGGER app_order_create_time_insert; DROP TRIGGER app_order_create_time_update; DROP TRIGGER app_order_create_time_delete; DROP TRIGGER app_order_update_time_insert; DROP TRIGGER app_order_update_time_update; DROP TRIGGER app_order_update_time_delete;
			UPDATE schema_versions SET version = 2 WHERE component = 'memories'`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second refusal finds what the first one has found
		if got, err := sqlitestore.StoredModel(db); err != nil || got != was {
			t.Fatalf("its model is %+v, %v", got, err)
		}
		if _, err := sqlitestore.New(db, now, nil); err == nil || !strings.Contains(err.Error(), "memoryd reembed") {
			t.Fatalf("opened with keys: %v", err)
		}
		version := 0
		if err := db.Write(t.Context(), sqlitedb.For(memory.Scope{}), func(tx *sqlitedb.Tx) error {
			return tx.QueryRow(`SELECT version FROM schema_versions WHERE component = 'memories'`).Scan(&version)
		}); err != nil || version != 2 {
			t.Fatalf("the refusal has left version %d, %v", version, err)
		}
	}
	again, err := sqlitestore.New(db, was, nil)
	if err != nil || again.ID() != first.ID() {
		t.Fatalf("opened without keys: %v", err)
	}
}
