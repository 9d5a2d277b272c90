package extract

import "testing"

// The text of the tables and the program have the same tables, and no table has a word twice.
func TestTables(t *testing.T) {
	for _, p := range rulesTables.Problems() {
		t.Error(p)
	}
}
