package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/injection"
	"github.com/memoryd/memoryd/memory"
)

// What the net learns from.
const (
	netShare  = 0.4 // of the texts of which there are many: composed ones and those of public sources
	sayWeight = 3.0 // of a saying, beside a text that was written for this
)

// writeWords writes the texts of others that the net learns from, as it reads them. net.py learns from the file, which
// has in little endian
//
//	uint32    rows of the embedder, and numbers in each
//	float32   the rows, at unit length
//
// and then for each text
//
//	uint8     1 of an attack
//	uint8     1 if an agent wrote it
//	float32   how much it counts
//	uint32    words
//
// and for each of its words
//
//	uint8     rows
//	uint8     marks
//	uint32, float32   of each row: which one, and its share
//	uint8     each mark
func writeWords(file string, lines, ordinary []text) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	writeRows(w)
	draw := rand.New(rand.NewPCG(7, 8))
	for _, t := range lines {
		if t.from.Source() == memory.TrustUser || t.share < 1 && draw.Float64() >= netShare {
			continue
		}
		weight := written * t.share
		if t.saying {
			weight *= sayWeight
		}
		writeText(w, t, weight)
	}
	seen := map[string]bool{}
	for _, t := range ordinary {
		if !seen[t.words] && draw.Float64() < netShare {
			seen[t.words] = true
			writeText(w, t, 1)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// writeRows writes the rows of the embedder.
func writeRows(w io.Writer) {
	rows := embed.Builtin{}.NumRows()
	row := make([]float32, embed.Builtin{}.Model().Dimension)
	w.Write(order.AppendUint32(order.AppendUint32(nil, uint32(rows)), uint32(len(row))))
	for i := range rows {
		embed.Builtin{}.Row(i, row)
		var out []byte
		for _, x := range row {
			out = order.AppendUint32(out, math.Float32bits(x))
		}
		w.Write(out) // a bufio.Writer keeps the first error for Flush
	}
}

// order is that of bytes.
var order = binary.LittleEndian

// writeText writes a text.
func writeText(w io.Writer, t text, weight float64) {
	from := memory.TrustExternal
	if t.from == memory.TrustAgent {
		from = t.from
	}
	words := injection.NetWords(t.words, from)
	if len(words) == 0 {
		return
	}
	out := []byte{bit(t.attack), bit(from == memory.TrustAgent)}
	out = order.AppendUint32(out, math.Float32bits(float32(weight)))
	out = order.AppendUint32(out, uint32(len(words)))
	for i := range words {
		d := &words[i]
		out = append(out, byte(len(d.Rows)), byte(len(d.Marks)))
		for j, row := range d.Rows {
			out = order.AppendUint32(order.AppendUint32(out, uint32(row)), math.Float32bits(d.Shares[j]))
		}
		out = append(out, d.Marks...)
	}
	w.Write(out)
}

// bit is 1 for true.
func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
