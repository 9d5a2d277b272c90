package embed

import (
	"slices"
	"testing"
)

// The words of a text have the rows that its vector is made of, each in the language of the text: "tier" is an animal in
// German and a row of seats in English.
func TestReader(t *testing.T) {
	rowsOf := func(text, word string) (out []int) {
		Builtin{}.Reader(text).Rows(word, func(row int, weight float32) {
			if row < 0 || row >= (Builtin{}).NumRows() || weight <= 0 {
				t.Errorf("%q: row %d, weight %v", word, row, weight)
			}
			out = append(out, row)
		})
		return out
	}
	german, english := rowsOf("Das Tier schläft unter dem Baum.", "Tier"), rowsOf("We sat in the upper tier.", "tier")
	if len(german) == 0 || len(english) == 0 || slices.Equal(german, english) {
		t.Errorf("rows %v in German, %v in English", german, english)
	}
	if got := rowsOf("Hello there.", "!"); got != nil {
		t.Errorf("a mark has rows %v", got)
	}
	row := make([]float32, Builtin{}.Model().Dimension)
	if length := (Builtin{}).Row(english[0], row); length <= 0 {
		t.Errorf("length %v", length)
	}
	squares := float32(0)
	for _, x := range row {
		squares += x * x
	}
	if squares < 0.999 || squares > 1.001 {
		t.Errorf("the row has the square length %v", squares)
	}
}
