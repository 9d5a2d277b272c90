// Command train learns the weights of the judges in extract/injection. README.md tells
// from what.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	texts := flag.String("texts", "texts", "folder of the texts written for this")
	tuned := flag.String("tuned", "../../../evals/attacks/tuned.txt", "file of sayings that may be learned from")
	sources := flag.String("sources", "", "folder of the public sources in README.md")
	out := flag.String("o", "../weights.bin", "file to write")
	flag.Parse()
	if err := run(*texts, *tuned, *sources, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run learns and writes the weights.
func run(texts, tuned, sources, out string) error {
	lines, err := readTexts(texts)
	if err != nil {
		return err
	}
	sayings, err := readSayings(tuned)
	if err != nil {
		return err
	}
	ordinary, err := readSources(sources)
	if err != nil {
		return err
	}
	file := learn(append(lines, sayings...), ordinary)
	return os.WriteFile(out, file, 0o644)
}
