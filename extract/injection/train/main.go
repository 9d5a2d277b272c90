// Command train learns the weights of the judges in extract/injection. README.md tells
// from what.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	texts := flag.String("texts", "texts", "folder of the texts written for this")
	const sets = "../../../evals/attacks/"
	sayings := flag.String("sayings", sets+"tuned.txt,"+sets+"known.txt,"+sets+"learned.txt",
		"files of sayings that may be learned from, with commas between them")
	sources := flag.String("sources", "", "folder of the public sources in README.md")
	out := flag.String("o", "../weights.bin", "file to write the weights to; none are learned if it is empty")
	net := flag.String("net", "../net.bin", "file to write the net to; none is learned if it is empty")
	fold := flag.Int("fold", noFold,
		"hold back a fold, 0 to 4, of the texts, and print how they are judged; writes nothing")
	flag.Parse()
	if err := run(*texts, *sayings, *sources, *out, *net, *fold); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run learns and writes the weights and the net, or measures a fold of the weights.
func run(texts, sayings, sources, out, net string, fold int) error {
	lines, held, err := readTexts(texts, fold)
	if err != nil {
		return err
	}
	ordinary, err := readSources(sources)
	if err != nil {
		return err
	}
	files := strings.Split(sayings, ",")
	for i, file := range files {
		some, err := readSayings(file)
		if err != nil {
			return err
		}
		lines = append(lines, some...)
		// The net learns from the first file alone: on the others it is told how much it counts beside the weights.
		if i == 0 && net != "" && fold == noFold {
			if err := os.WriteFile(net, packNet(learnNet(samplesOf(lines, ordinary))), 0o644); err != nil {
				return err
			}
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
