package retrieve

import "testing"

// Every table of words.txt is read, and has each word once.
func TestWords(t *testing.T) {
	for _, problem := range tables.Problems() {
		t.Error(problem)
	}
}
