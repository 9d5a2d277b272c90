package extract

import (
	"testing"

	"github.com/memoryd/memoryd/extract/english"
)

// The texts of tables and the program have the same tables, and no table has a word twice.
func TestTables(t *testing.T) {
	for name, tables := range map[string]*english.Tables{"rules": rulesTables, "canonical": canonicalTables} {
		for _, p := range tables.Problems() {
			t.Errorf("%s: %s", name, p)
		}
	}
}
