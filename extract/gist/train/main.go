// Command train learns the weights of package gist from the sentences of texts.tsv, and writes
// ../weights.bin. The same sentences give the same file. README.md tells more.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	texts := flag.String("texts", "texts.tsv", "file of the sentences")
	apart := flag.Int("apart", 0, "keep one of so many sentences apart, and tell how they are read; nothing is written")
	out := flag.String("o", "../weights.bin", "file to write")
	flag.Parse()
	if err := run(*texts, *out, *apart); err != nil {
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
func split(all []example, n int) (learned, apart []example) {
	for i := range all {
		if i%n == n-1 {
			apart = append(apart, all[i])
		} else {
			learned = append(learned, all[i])
		}
	}
	return learned, apart
}
