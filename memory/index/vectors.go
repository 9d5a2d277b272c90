package index

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// blockRows is how many vectors a block of vectors has, at most. Only the last block
// grows, so that what append allocates in advance stays small beside the whole.
const blockRows = 1024

// vectors are rows of numbers, all of the dimension of the first one.
type vectors struct {
	dim    int
	blocks [][]float32 // each but the last has blockRows rows
	slots  []int32     // by row, the slot that it is of
	coming int         // vectors that are known to come
}

// add adds the vector of a slot and returns its row. It returns noVector for an empty vector,
// and for one of another dimension, which no query can be compared with.
func (v *vectors) add(slot int32, vector []float32) (row int32) {
	if v.dim == 0 {
		v.dim = len(vector)
	}
	if len(vector) == 0 || len(vector) != v.dim {
		return noVector
	}
	row = int32(len(v.slots))
	if row%blockRows == 0 {
		v.blocks = append(v.blocks, nil)
	}
	last := &v.blocks[len(v.blocks)-1]
	if n := len(*last); cap(*last)-n < v.dim { // append would make more room than a block needs
		rows := n / v.dim
		*last = append(make([]float32, 0, min(rows+max(rows/8, v.coming, 1), blockRows)*v.dim), *last...)
	}
	v.coming--
	*last = append(*last, vector...)
	v.slots = append(v.slots, slot)
	return row
}

// row returns a vector in place.
func (v *vectors) row(row int32) []float32 {
	at := int(row) % blockRows * v.dim
	return v.blocks[row/blockRows][at : at+v.dim : at+v.dim]
}

// streams is how many places of a block dots reads in turns. The processor fetches ahead of each, where one place keeps
// it waiting for memory.
const streams = 8

// dots sets the inner products of a query with the rows of a block.
func (v *vectors) dots(block int, query, out []float32) {
	rows, q := v.blocks[block], blas32.Vector{N: v.dim, Inc: 1, Data: query}
	n := len(rows) / v.dim
	// Row i of each part comes before row i+1 of any.
	part := (n + streams - 1) / streams
	for i := range part {
		for row := i; row < n; row += part {
			out[row] = blas32.Dot(q, blas32.Vector{N: v.dim, Inc: 1, Data: rows[row*v.dim : (row+1)*v.dim]})
		}
	}
}

// bytes is what the vectors take.
func (v *vectors) bytes() (n int64) {
	for _, b := range v.blocks {
		n += 4 * int64(cap(b))
	}
	return n + 4*int64(cap(v.slots)) + 24*int64(cap(v.blocks))
}

// norm is the length of a vector.
func norm(v []float32) float64 {
	all := blas32.Vector{N: len(v), Inc: 1, Data: v}
	return math.Sqrt(float64(blas32.Dot(all, all)))
}
