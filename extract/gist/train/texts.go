package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/extract/gist"
)

// example is a sentence as weights see it.
type example struct {
	list        []uint32
	vector      [gist.Dimension]int8
	theme, kind int
}

// readTexts reads a file of sentences, and the names of their themes. A line is a theme, a kind and a sentence, with
// tabs between.
func readTexts(file string) (names []string, out []example, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	at := map[string]int{}
	var f gist.Features
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 3 || strings.TrimSpace(parts[2]) == "" {
			return nil, nil, fmt.Errorf("%s:%d: want theme, kind and sentence", file, n)
		}
		kind := slices.Index(gist.KindNames[:], parts[1])
		if kind < 0 {
			return nil, nil, fmt.Errorf("%s:%d: kind %q is none of %q", file, n, parts[1], gist.KindNames)
		}
		theme, ok := at[parts[0]]
		if !ok {
			theme = len(names)
			at[parts[0]] = theme
			names = append(names, parts[0])
		}
		f.Of(english.Lex(parts[2]))
		out = append(out, example{list: slices.Clone(f.List), vector: f.Vector, theme: theme, kind: kind})
	}
	if len(names) == 0 || len(names) > gist.MaxThemes {
		return nil, nil, fmt.Errorf("%s has %d themes, want 1 to %d", file, len(names), gist.MaxThemes)
	}
	return names, out, nil
}
