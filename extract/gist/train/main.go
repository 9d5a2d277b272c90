// Command train learns the weights of package gist from the sentences of texts.tsv, and writes ../weights.bin; or with
// -pairs those of pairs.tsv, and writes ../pairs.txt. The same texts give the same files. README.md tells more.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	apart := flag.Int("apart", 0, "keep one of so many texts apart, and tell how they are read; nothing is written")
	pairs := flag.Bool("pairs", false, "learn the weights of pairs, with those of sentences as they were compiled in")
	flag.Parse()
	learns := func() error { return run("texts.tsv", "../weights.bin", *apart) }
	if *pairs {
		learns = func() error { return runPairs("pairs.tsv", "../pairs.txt", *apart) }
	}
	if err := learns(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run learns the weights from the sentences of a file, and writes them.
func run(texts, out string, apart int) error {
	names, examples, err := readTexts(texts)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d themes, %d sentences\n", len(names), len(examples))
	if apart > 0 {
		learned, kept := split(examples, apart)
		learn(names, learned).report(kept)
		return nil
	}
	w := learn(names, examples)
	w.report(examples)
	return os.WriteFile(out, w.pack(), 0o644)
}

// split keeps each nth sentence apart.
func split[T any](all []T, n int) (learned, apart []T) {
	for i := range all {
		if i%n == n-1 {
			apart = append(apart, all[i])
		} else {
			learned = append(learned, all[i])
		}
	}
	return learned, apart
}
