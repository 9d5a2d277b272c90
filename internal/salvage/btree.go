package salvage

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
)

// Types of pages.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

var errCell = errors.New("a cell cannot be read")

// record is a row or an entry of an index: nil, int64, float64, string or []byte.
type record struct {
	rowid  int64 // of a row of a table with rowids
	values []any
}

// node is a page of a tree.
type node struct {
	kind     byte
	records  []record
	children []uint32
	broken   int      // cells that cannot be read
	overflow []uint32 // pages that hold the rest of long records
}

// parse reads a page as a node of a tree; ok is false if it is none.
func (f *file) parse(n uint32) (out node, ok bool) {
	p := f.page(n)
	at := 0
	if n == 1 {
		at = 100
	}
	head := p[at:]
	out.kind = head[0]
	size := 8
	switch out.kind {
	case indexInterior, tableInterior:
		size = 12
		out.children = append(out.children, binary.BigEndian.Uint32(head[8:]))
	case indexLeaf, tableLeaf:
	default:
		return out, false
	}
	cells := int(binary.BigEndian.Uint16(head[3:]))
	if at+size+2*cells > f.usable {
		return out, false
	}
	for i := range cells {
		start := int(binary.BigEndian.Uint16(head[size+2*i:]))
		if start < at+size+2*cells || start >= f.usable {
			out.broken++
			continue
		}
		if err := f.cell(&out, p[start:f.usable]); err != nil {
			out.broken++
		}
	}
	return out, true
}

// cell reads one cell of a node.
func (f *file) cell(to *node, cell []byte) error {
	if to.kind == indexInterior || to.kind == tableInterior {
		if len(cell) < 4 {
			return errCell
		}
		to.children = append(to.children, binary.BigEndian.Uint32(cell))
		cell = cell[4:]
		if to.kind == tableInterior {
			return nil
		}
	}
	length, cell, ok := varint(cell)
	if !ok || length < 0 || length > math.MaxInt32 {
		return errCell
	}
	var rec record
	if to.kind == tableLeaf {
		if rec.rowid, cell, ok = varint(cell); !ok {
			return errCell
		}
	}
	payload, overflow, err := f.payload(cell, int(length), to.kind == tableLeaf)
	if err != nil {
		return err
	}
	if rec.values, err = values(payload); err != nil {
		return err
	}
	to.records, to.overflow = append(to.records, rec), append(to.overflow, overflow...)
	return nil
}

// payload returns a record of some length that begins in a cell and may go on in
// overflow pages.
func (f *file) payload(cell []byte, length int, table bool) (out []byte, overflow []uint32, err error) {
	local, least := f.usable-35, (f.usable-12)*32/255-23
	if !table {
		local = (f.usable-12)*64/255 - 23
	}
	if length <= local {
		if length > len(cell) {
			return nil, nil, errCell
		}
		return cell[:length], nil, nil
	}
	here := least + (length-least)%(f.usable-4)
	if here > local {
		here = least
	}
	if here+4 > len(cell) || length > int(f.pages)*f.usable {
		return nil, nil, errCell
	}
	out = append(make([]byte, 0, length), cell[:here]...)
	for next := binary.BigEndian.Uint32(cell[here:]); len(out) < length; {
		if next == 0 || next > f.pages || len(overflow) > length/(f.usable-4)+1 {
			return nil, nil, errCell
		}
		overflow = append(overflow, next)
		p := f.page(next)
		out = append(out, p[4:4+min(length-len(out), f.usable-4)]...)
		next = binary.BigEndian.Uint32(p)
	}
	return out, overflow, nil
}

// varint reads an integer of one to nine bytes.
func varint(b []byte) (v int64, rest []byte, ok bool) {
	u := uint64(0)
	for i := range min(8, len(b)) {
		u = u<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return int64(u), b[i+1:], true
		}
	}
	if len(b) < 9 {
		return 0, nil, false
	}
	return int64(u<<8 | uint64(b[8])), b[9:], true
}

// values decodes a record.
func values(payload []byte) (out []any, err error) {
	size, rest, ok := varint(payload)
	if !ok || size < 1 || size > int64(len(payload)) {
		return nil, errCell
	}
	types, body := payload[len(payload)-len(rest):size], payload[size:]
	for len(types) > 0 {
		var kind int64
		if kind, types, ok = varint(types); !ok {
			return nil, errCell
		}
		var v any
		if v, body, ok = value(kind, body); !ok {
			return nil, errCell
		}
		out = append(out, v)
	}
	if len(body) > 0 {
		return nil, errCell
	}
	return out, nil
}

// integerBytes are the lengths of the kinds 0 to 9 of values.
var integerBytes = [...]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}

// value decodes a value of a kind from the front of body.
func value(kind int64, body []byte) (v any, rest []byte, ok bool) {
	switch {
	case kind < 0 || kind == 10 || kind == 11:
		return nil, nil, false
	case kind >= 12:
		n := (kind - 12) / 2
		if n > int64(len(body)) {
			return nil, nil, false
		}
		if kind%2 == 0 {
			return body[:n:n], body[n:], true
		}
		return string(body[:n]), body[n:], utf8.Valid(body[:n])
	}
	n := integerBytes[kind]
	if n > len(body) {
		return nil, nil, false
	}
	u := uint64(0)
	for _, b := range body[:n] {
		u = u<<8 | uint64(b)
	}
	switch kind {
	case 0:
		v = nil
	case 7:
		v = math.Float64frombits(u)
	case 8, 9:
		v = kind - 8
	default:
		v = int64(u<<(64-8*n)) >> (64 - 8*n)
	}
	return v, body[n:], true
}
