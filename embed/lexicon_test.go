package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
)

// lexiconFileOf is a lexicon of one German word, tee, that has row 1 of a model.
func lexiconFileOf(change func(body []byte) []byte) []byte {
	body := []byte(lexiconMagic)
	for _, x := range []uint32{lexiconVersion, 2, 1, 4} {
		body = binary.LittleEndian.AppendUint32(body, x)
	}
	body = append(body, "testende"...)
	h := begin(1).of("tee").spread()
	for bucket := range lexiconBuckets + 1 {
		first := uint32(0)
		if bucket > int(h>>48) {
			first = 1
		}
		body = binary.LittleEndian.AppendUint32(body, first)
	}
	body = binary.LittleEndian.AppendUint32(body, uint32(h>>16))
	body = append(body, 1, 0, 0, 0, 0, 0, 0, 0, 51, 0, 0, 0, 125)
	if change != nil {
		body = change(body)
	}
	sum := sha256.Sum256(body)
	return append(body, sum[:]...)
}

func TestReadLexicon(t *testing.T) {
	x, err := readLexicon(lexiconFileOf(nil), 2)
	if err != nil {
		t.Fatal(err)
	}
	e := x.word(x.languages["de"], "tee")
	if !e.meaning() || e.frequency() != 125 || x.name != "test" {
		t.Fatalf("tee is %v, in %q", e, x.name)
	}
	if row, weight := e.row(0); row != 1 || weight != 0.2 {
		t.Errorf("row %d with weight %v", row, weight)
	}
	for _, word := range []string{"", "te", "teee"} {
		if e := x.word(x.languages["de"], word); e != nil {
			t.Errorf("%q is %v", word, e)
		}
	}
	if e := x.word(x.languages["en"], "tee"); e != nil {
		t.Errorf("English has tee: %v", e)
	}
}

// A file with a damaged byte, or cut anywhere, is refused.
func TestDamagedLexicon(t *testing.T) {
	whole := lexiconFileOf(nil)
	for i := 0; i < len(whole); i += 997 {
		if _, err := readLexicon(whole[:i], 2); err == nil {
			t.Errorf("read a file cut to %d bytes", i)
		}
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		if _, err := readLexicon(bad, 2); err == nil {
			t.Errorf("read a file whose byte %d is damaged", i)
		}
	}
	header := func(field int, value uint32) func([]byte) []byte {
		return func(body []byte) []byte {
			binary.LittleEndian.PutUint32(body[len(lexiconMagic)+4*field:], value)
			return body
		}
	}
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		rows   int
		want   string
	}{
		{"another kind of file", func(b []byte) []byte { return append([]byte("GGUF"), b[4:]...) }, 2, "not the file of a lexicon"},
		{"of a later version", header(0, 2), 2, "version 2, want 1"},
		{"words too many", header(2, 1<<31), 2, "its header tells of"},
		{"bytes too many", func(b []byte) []byte { return append(b, 0) }, 2, "its header tells of"},
		{"rows of a larger model", nil, 1, "row 1 of a model with 1"},
	} {
		if _, err := readLexicon(lexiconFileOf(c.change), c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
