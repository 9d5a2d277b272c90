package memory

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Limits on what a passage says of its document.
const (
	MaxTitle    = 256 // bytes of Passage.Title and of each heading
	MaxURI      = 2048
	MaxHeadings = 6 // levels of headings, as Markdown has them
)

// Passage is the place of a memory in a document.
type Passage struct {
	Document string `json:"documentId"`
	Title    string `json:"title,omitempty"` // of the document
	URI      string `json:"uri,omitempty"`   // where the document is from
	// Headings lead to the passage, the outermost first.
	Headings []string `json:"headings,omitempty"`
	Number   int      `json:"number"` // 1 for the first passage of the document
	// Start and End are the characters of the document's text that the passage has, counted
	// as Unicode code points: from Start, before End.
	Start int `json:"start"`
	End   int `json:"end"`
}

// Compare orders passages by their document and their place in it. Nil is before all.
func (p *Passage) Compare(o *Passage) int {
	switch {
	case p == nil && o == nil:
		return 0
	case p == nil:
		return -1
	case o == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(p.Document, o.Document), cmp.Compare(p.Number, o.Number))
}

func (p *Passage) validate() error {
	if p == nil {
		return nil
	}
	texts := append([]string{p.Title}, p.Headings...)
	for _, t := range texts {
		if len(t) > MaxTitle || !utf8.ValidString(t) {
			return fmt.Errorf("%w: source.passage: a title or heading is not UTF-8 of at most %d bytes",
				ErrInvalid, MaxTitle)
		}
	}
	if err := ValidateID("source.passage.document", p.Document); err != nil {
		return err
	}
	switch {
	case len(p.URI) > MaxURI || !utf8.ValidString(p.URI):
		return fmt.Errorf("%w: source.passage.uri is not UTF-8 of at most %d bytes", ErrInvalid, MaxURI)
	case len(p.Headings) > MaxHeadings:
		return fmt.Errorf("%w: source.passage.headings: %d of them, more than %d", ErrInvalid, len(p.Headings),
			MaxHeadings)
	case p.Number < 1 || p.Start < 0 || p.End < p.Start:
		return fmt.Errorf("%w: source.passage: number %d from %d to %d is no place in a document", ErrInvalid,
			p.Number, p.Start, p.End)
	}
	return nil
}

func (p *Passage) same(o *Passage) bool {
	if p == nil || o == nil {
		return p == o
	}
	return p.Document == o.Document && p.Title == o.Title && p.URI == o.URI &&
		slices.Equal(p.Headings, o.Headings) && p.Number == o.Number && p.Start == o.Start && p.End == o.End
}

func (p *Passage) clone() *Passage {
	if p == nil {
		return nil
	}
	out := *p
	out.Headings = slices.Clone(p.Headings)
	return &out
}
