package evals

import (
	"bytes"
	"os"
	"testing"
)

// The figures of redaction are those of testdata/redaction. Missed secrets of the set
// "heldout" are counted, and not shown.
func TestRedaction(t *testing.T) {
	e, err := RunRedaction()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := e.Print(&got); err != nil {
		t.Fatal(err)
	}
	for _, text := range e.Sets["tuned"].Texts {
		t.Log("missed:", text)
	}
	for _, text := range e.Alarms {
		t.Log("false alarm:", text)
	}
	for name, s := range e.Sets {
		if found, all := s.Totals(); all < 200 || found*100 < all*98 {
			t.Errorf("%s: %d of %d secrets found", name, found, all)
		}
	}
	if e.Ordinary < 2000 || len(e.Alarms)*100 > e.Ordinary {
		t.Errorf("%d false alarms in %d sentences", len(e.Alarms), e.Ordinary)
	}
	if want, err := os.ReadFile("testdata/redaction"); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v; the table is now\n%s", err, &got)
	}
}
