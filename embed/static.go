package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
)

// The layout of a static model's file, with little-endian numbers:
//
//	8 bytes      staticMagic
//	uint32       staticVersion
//	uint32       dimension
//	uint32       rows
//	float32      noise, see [Model]
//	uint32       length of the model's name in bytes
//	uint32       length of the pieces in bytes
//	             the name
//	             the pieces, one a line, in the order of the rows
//	float32      for each row, the value of one step of its numbers
//	int8         for each row, its numbers
//	32 bytes     SHA-256 of everything before
const (
	staticMagic   = "MEMOVECS"
	staticVersion = 1
	staticHeader  = len(staticMagic) + 6*4
)

// longestText is how many bytes of a text are read: some 6,000 words, more than a
// turn has. The slowest text of this length takes some 20 ms.
const longestText = 32 << 10

// static is a model with one vector for each piece of a word, regardless of the words
// around it, like those of Model2Vec (Tulkens and van Dongen, 2024). The length of a
// vector is the weight of its piece.
type static struct {
	name      string
	dimension int
	noise     float64
	pieces    pieces
	symbols   []bool // by row, whether the piece has no letter, digit or emoji
	steps     []float32
	rows      []byte // of int8, in place in the binary
}

// readStatic reads the file of a model. It refuses a damaged one, and another version.
func readStatic(file []byte) (*static, error) {
	if len(file) < staticHeader+sha256.Size || string(file[:len(staticMagic)]) != staticMagic {
		return nil, errors.New("not the file of a static model")
	}
	var fields [6]int
	for i := range fields {
		fields[i] = int(binary.LittleEndian.Uint32(file[len(staticMagic)+4*i:]))
	}
	version, dimension, rows, nameLength, piecesLength := fields[0], fields[1], fields[2], fields[4], fields[5]
	if version != staticVersion {
		return nil, fmt.Errorf("file of a static model: version %d, want %d", version, staticVersion)
	}
	body := file[:len(file)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], file[len(body):]) {
		return nil, errors.New("file of a static model: damaged, its checksum differs")
	}
	if want := staticHeader + nameLength + piecesLength + rows*4 + rows*dimension; want != len(body) {
		return nil, fmt.Errorf("file of a static model: %d bytes, its header tells of %d", len(body), want)
	}
	cut := func(n int) []byte {
		head := body[:n]
		body = body[n:]
		return head
	}
	cut(staticHeader)
	m := &static{
		dimension: dimension,
		noise:     float64(math.Float32frombits(uint32(fields[3]))),
		name:      string(cut(nameLength)),
		steps:     make([]float32, rows),
	}
	list := strings.Split(string(cut(piecesLength)), "\n")
	if len(list) != rows {
		return nil, fmt.Errorf("file of a static model: %d pieces for %d rows", len(list), rows)
	}
	m.pieces = newPieces(list)
	m.symbols = make([]bool, rows)
	for row, piece := range list {
		m.symbols[row] = strings.IndexFunc(
			piece,
			func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r) },
		) < 0
	}
	if _, err := binary.Decode(cut(rows*4), binary.LittleEndian, m.steps); err != nil {
		return nil, fmt.Errorf("file of a static model: %w", err)
	}
	m.rows = body
	return m, nil
}

// vector returns the sum of the rows of a text's pieces, at unit length. It is zero
// for a text without a word that the model knows, since symbols alone, such as the
// full stop at the end of a text in another script, do not tell its meaning.
func (m *static) vector(text string) []float32 {
	sum, known := make([]float64, m.dimension), false
	m.pieces.each(text[:min(len(text), longestText)], func(row int) {
		step := float64(m.steps[row])
		known = known || step > 0 && !m.symbols[row]
		numbers := m.rows[row*m.dimension:][:m.dimension]
		for i := range sum {
			// A product of 24 and 8 bits is exact in a float64, so that a
			// processor that fuses the two operations gets the same sum.
			sum[i] += step * float64(int8(numbers[i]))
		}
	})
	if !known {
		clear(sum)
	}
	return unit(sum)
}

func unit(sum []float64) []float32 {
	length := 0.0
	for _, x := range sum {
		length += float64(x * x) // the conversion forbids fusing the two operations
	}
	length = math.Sqrt(length)
	out := make([]float32, len(sum))
	if length == 0 {
		return out
	}
	for i, x := range sum {
		out[i] = float32(x / length)
	}
	return out
}
