package retrieve_test

import (
	"path/filepath"
	"testing"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
)

// emptyStore is a store in a file of its own.
func emptyStore(t testing.TB) *sqlitestore.Store {
	t.Helper()
	db, err := sqlitedb.Open(filepath.Join(t.TempDir(), "memoryd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	model := embed.Builtin{}.Model()
	s, err := sqlitestore.New(
		db,
		sqlitestore.Model{Embedder: model.Name, Dimension: model.Dimension, Analyzer: analyzer.Name},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// indexed is the write of a new memory, with what it is found by.
func indexed(t testing.TB, m memory.Memory) memory.Write {
	t.Helper()
	vectors, err := embed.Builtin{}.Embed(t.Context(), embed.Document, []string{m.Fact})
	if err != nil {
		t.Fatal(err)
	}
	return memory.Write{Memory: m, Terms: analyzer.Of(&m), Vector: vectors[0]}
}
