package english

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Set is a table of words, or of texts of several words. The zero value is empty.
type Set struct {
	words map[string]struct{}
}

// Has reports whether w is in the table.
func (s Set) Has(w string) bool {
	_, ok := s.words[w]
	return ok
}

// Variants is a table of spellings or names that mean the same.
type Variants struct {
	meaning map[string]string
}

// Of is the one word for all that mean what w means; "" if the table does not know w.
func (v Variants) Of(w string) string { return v.meaning[w] }

// For are the words whose meaning is w, in order.
func (v Variants) For(w string) (out []string) {
	for variant, meaning := range v.meaning {
		if meaning == w {
			out = append(out, variant)
		}
	}
	slices.Sort(out)
	return out
}

// Phrases is a table of word sequences. They are kept by their first word, so that most places in a sentence cost one
// look-up.
type Phrases struct {
	byFirst map[string][][]string
}

// Match is how many words the longest phrase that stands at ws[i] has; 0 if none does. An i outside ws is allowed.
func (p Phrases) Match(ws Words, i int) int {
	if i < 0 || i >= len(ws) {
		return 0
	}
	longest := 0
	for _, phrase := range p.byFirst[ws[i].Text] {
		if len(phrase) > longest && ws[i:].StartWith(phrase...) {
			longest = len(phrase)
		}
	}
	return longest
}

// Found reports whether any phrase stands anywhere in ws.
func (p Phrases) Found(ws Words) bool {
	for i := range ws {
		if p.Match(ws, i) > 0 {
			return true
		}
	}
	return false
}

// All yields the phrases, each as its words, in no particular order. Leave them as they are.
func (p Phrases) All() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for _, list := range p.byFirst {
			for _, phrase := range list {
				if !yield(phrase) {
					return
				}
			}
		}
	}
}

// Longest is the longest word of each phrase, each word once, in order. A text without any of them has none of the
// phrases, and a search for these few words is cheaper than splitting the text.
func (p Phrases) Longest() []string {
	var out []string
	for phrase := range p.All() {
		out = append(out, slices.MaxFunc(phrase, func(a, b string) int { return len(a) - len(b) }))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Tables are the entries of one text of tables, by name. A program parses its text once, at start, takes each table
// into a variable, and asks Problems in a test.
type Tables struct {
	entries  map[string][]string // the lines of each entry
	taken    map[string]bool
	problems []string
}

// Parse reads a text of tables. Lines that begin with # are comments; an indented line continues the entry above it.
// Problems lists the lines that it cannot read.
func Parse(text string) *Tables {
	t := &Tables{entries: map[string][]string{}, taken: map[string]bool{}}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n") // a checkout may have line ends of Windows
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			t.entries[name] = append(t.entries[name], line)
		default:
			var rest string
			var ok bool
			if name, rest, ok = strings.Cut(line, ":"); !ok || t.entries[name] != nil {
				t.problem("line %.40q begins no table, or one that was there before", line)
			}
			t.entries[name] = append(t.entries[name], rest)
		}
	}
	return t
}

func (t *Tables) problem(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// take gives the lines of a table.
func (t *Tables) take(name string) []string {
	lines, ok := t.entries[name]
	if !ok {
		t.problem("there is no table %s", name)
	}
	if t.taken[name] {
		t.problem("table %s is taken twice", name)
	}
	t.taken[name] = true
	return lines
}

// set builds a set, and notes members that stand there twice.
func (t *Tables) set(name string, members iter.Seq[string]) Set {
	s := Set{words: map[string]struct{}{}}
	for w := range members {
		if s.Has(w) {
			t.problem("table %s has %q twice", name, w)
		}
		s.words[w] = struct{}{}
	}
	return s
}

// Words takes a table of single words, which blanks separate, and adds those of other tables.
func (t *Tables) Words(name string, others ...Set) Set {
	s := t.set(name, strings.FieldsSeq(strings.Join(t.take(name), " ")))
	for _, o := range others {
		for w := range o.words {
			if s.Has(w) {
				t.problem("table %s has %q, and so has a table that it includes", name, w)
			}
			s.words[w] = struct{}{}
		}
	}
	return s
}

// Texts takes a table of texts that may have several words, which commas separate.
func (t *Tables) Texts(name string) Set {
	return t.set(name, items(strings.Join(t.take(name), " ")))
}

// Phrases takes a table of word sequences, which commas separate.
func (t *Tables) Phrases(name string) Phrases {
	p := Phrases{byFirst: map[string][][]string{}}
	members := t.Texts(name)
	for text := range members.words {
		ws := strings.Fields(text)
		p.byFirst[ws[0]] = append(p.byFirst[ws[0]], ws)
	}
	return p
}

// Variants takes a table of lines "meaning = variant, variant".
func (t *Tables) Variants(name string) Variants {
	v := Variants{meaning: map[string]string{}}
	meaning := ""
	for _, line := range t.take(name) {
		left, right, ok := strings.Cut(line, " = ")
		if ok {
			meaning = strings.TrimSpace(left)
		} else {
			right = line // continues the line above
		}
		for w := range items(right) {
			if v.meaning[w] != "" {
				t.problem("table %s has %q twice", name, w)
			}
			v.meaning[w] = meaning
		}
	}
	return v
}

// items yields the texts between commas, with one blank between their words.
func items(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(list, ",") {
			if item = strings.Join(strings.Fields(item), " "); item != "" && !yield(item) {
				return
			}
		}
	}
}

// Problems are the faults of the text and of its use: a line that is no entry, a word that a table has twice, a table
// that nothing takes, and one that is taken but not there.
func (t *Tables) Problems() []string {
	out := slices.Clone(t.problems)
	for name := range t.entries {
		if !t.taken[name] {
			out = append(out, fmt.Sprintf("nothing takes table %s", name))
		}
	}
	slices.Sort(out)
	return out
}

// Lists yields the lines "name = item, item" of a table, in order. A name may come several times. Items before the
// first name have the name "".
func (t *Tables) Lists(name string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		var left string
		var list []string
		for _, line := range append(t.take(name), " = ") {
			next, right, ok := strings.Cut(line, " = ")
			if !ok {
				right = line
			} else {
				if len(list) > 0 && !yield(left, list) {
					return
				}
				left, list = strings.TrimSpace(next), nil
			}
			list = slices.AppendSeq(list, items(right))
		}
	}
}
