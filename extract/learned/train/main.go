// Command train learns the weights of package learned from texts.txt and ordinary talk, and writes ../weights.bin.
// The same texts give the same file on every machine. README.md tells more.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	folder := flag.String("texts", ".", "folder of texts.txt and words.txt")
	talk := flag.String("talk", "", "file of ordinary talk, see README.md")
	out := flag.String("o", "../weights.bin", "file to write")
	flag.Parse()
	if err := run(*folder, *talk, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run learns the weights from the texts of a folder and from ordinary talk, and writes them.
func run(folder, talk, out string) error {
	t, err := readTexts(folder)
	if err != nil {
		return err
	}
	examples := t.examples()
	ordinary, err := readTalk(talk)
	if err != nil {
		return err
	}
	examples = append(examples, ordinary...)
	fmt.Fprintf(os.Stderr, "%d labels, %d sentences\n", len(t.labels), len(examples))
	w := learn(t.labels, examples)
	w.report(examples)
	return os.WriteFile(out, w.pack(), 0o644)
}
