package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func golden[T any](t *testing.T, file string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Words are split as by the tokenizer that the model was made with.
func TestPieces(t *testing.T) {
	p := builtin().pieces
	name := map[int]string{}
	for piece, row := range p.first {
		name[row] = piece
	}
	for piece, row := range p.later {
		name[row] = "##" + piece
	}
	for _, c := range golden[struct {
		Text   string
		Pieces []string
	}](t, "testdata/pieces.json") {
		var got []string
		p.each(c.Text, func(row int) { got = append(got, name[row]) })
		if diff := cmp.Diff(c.Pieces, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.Text, diff)
		}
	}
}

// Vectors are those of the script that made the model.
func TestVectors(t *testing.T) {
	for _, c := range golden[struct {
		Text   string
		Vector []float32
	}](t, "testdata/vectors.json") {
		got := builtin().static.vector(c.Text)
		if diff := cmp.Diff(c.Vector, got, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.Text, diff)
		}
	}
}

// file is a model of two pieces in two dimensions.
func file(change func(body []byte) []byte) []byte {
	body := []byte(staticMagic)
	for _, x := range []uint32{staticVersion, 2, 2, math.Float32bits(0.25), 4, 9} {
		body = binary.LittleEndian.AppendUint32(body, x)
	}
	body = append(body, "testtea\n##cup"...)
	for _, step := range []float32{0.5, 2} {
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(step))
	}
	body = append(body, 6, 8, 0, 0xFF)
	if change != nil {
		body = change(body)
	}
	sum := sha256.Sum256(body)
	return append(body, sum[:]...)
}

func TestReadStatic(t *testing.T) {
	m, err := readStatic(file(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := [...]any{m.name, m.dimension, m.noise}, [...]any{"test", 2, 0.25}; got != want {
		t.Errorf("model %v, want %v", got, want)
	}
	for text, want := range map[string][]float32{"tea": {0.6, 0.8}, "Teacup": {3 / float32(math.Sqrt(13)), 2 / float32(math.Sqrt(13))}, "cup": {0, 0}} {
		if diff := cmp.Diff(want, m.vector(text), cmpopts.EquateApprox(0, 1e-7)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// A file with any damaged byte, or cut anywhere, is refused.
func TestDamaged(t *testing.T) {
	whole := file(nil)
	for i := range whole {
		if _, err := readStatic(whole[:i]); err == nil {
			t.Errorf("read a file cut to %d bytes", i)
		}
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		if _, err := readStatic(bad); err == nil {
			t.Errorf("read a file whose byte %d is damaged", i)
		}
	}
	header := func(field int, value uint32) func([]byte) []byte {
		return func(body []byte) []byte {
			binary.LittleEndian.PutUint32(body[len(staticMagic)+4*field:], value)
			return body
		}
	}
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		want   string
	}{
		{"another kind of file", func(b []byte) []byte { return append([]byte("GGUF"), b[4:]...) }, "not the file of a static model"},
		{"of a later version", header(0, 2), "version 2, want 1"},
		{"dimension too large", header(1, 1<<31), "its header tells of"},
		{"rows too many", header(2, 3), "its header tells of"},
		{"no rows, and longer pieces", func(b []byte) []byte { return header(5, 9+12)(header(2, 0)(b)) }, "2 pieces for 0 rows"},
		{"bytes too many", func(b []byte) []byte { return append(b, 0) }, "its header tells of"},
	} {
		if _, err := readStatic(file(c.change)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-1] ^= 1
	if _, err := readStatic(damaged); err == nil || !strings.Contains(err.Error(), "checksum differs") {
		t.Errorf("damaged: error %v", err)
	}
}

// BenchmarkReadStatic is what the first use of the built-in embedder costs.
func BenchmarkReadStatic(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readStatic(builtinFile); err != nil {
			b.Fatal(err)
		}
	}
}
