// Command train learns the weights of the judges in extract/injection. README.md tells
// from what.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	texts := flag.String("texts", "texts", "folder of the texts written for this")
	sayings := flag.String("sayings", "../../../evals/attacks/tuned.txt,sayings/*.txt",
		"files of sayings that may be learned from, or patterns of their names, with commas between them")
	sources := flag.String("sources", "", "folder of the public sources in README.md")
	out := flag.String("o", "../weights.bin", "file to write the weights to; none are learned if it is empty")
	words := flag.String("words", "", "file to write the texts to for net.py; none if it is empty")
	fold := flag.Int("fold", noFold,
		"hold back a fold, 0 to 4, of the texts, and print how they are judged; writes nothing")
	flag.Parse()
	if err := run(*texts, *sayings, *sources, *out, *words, *fold); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run learns and writes the weights, writes the words for the net, or measures a fold of the weights.
func run(texts, sayings, sources, out, words string, fold int) error {
	lines, held, err := readTexts(texts, fold)
	if err != nil {
		return err
	}
	ordinary, err := readSources(sources)
	if err != nil {
		return err
	}
	for _, pattern := range strings.Split(sayings, ",") {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("-sayings: no file is named %s", pattern) // or it is no pattern
		}
		for _, file := range files {
			some, err := readSayings(file)
			if err != nil {
				return err
			}
			lines = append(lines, some...)
		}
	}
	if words != "" && fold == noFold {
		if err := writeWords(words, lines, ordinary); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	weights := learn(lines, ordinary)
	if fold != noFold {
		report(held, weights)
		return nil
	}
	var file []byte
	for _, w := range weights {
		file = append(file, pack(w)...)
	}
	return os.WriteFile(out, file, 0o644)
}
