package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/extract/learned"
)

// How often a line of texts.txt is said, each time in other words.
const (
	times      = 14
	timesOther = 26 // of a line without labels: it has to hold against all labels
)

// A line is a pattern, so that a few words cover many sentences. The words of a pattern are drawn by a seed, and each
// sentence is then wrapped in what people say around it, at every second time, and loses its capitals and
// apostrophes, at every sixth. A sentence that was drawn twice counts once.
//
// Sentences without labels are drawn more often: each of them stands against all labels at once, and the worst fault is
// to take one of them for a change.

// line is a line of texts.txt: a pattern and the labels of its sentences.
type line struct {
	labels  []int
	pattern string
}

// texts are the sentences to learn from.
type texts struct {
	labels []string
	lines  []line
	words  map[string][]string // of a slot such as {city}
	wraps  []string            // "%s" is the statement, "%l" the same with a small letter at its front
	random *rand.Rand
}

// example is a sentence as the judges see it.
type example struct {
	labels   []int
	ordinary bool // of talk whose labels are not known
	list     []uint32
	vector   [learned.Dimension]int8
}

// readTexts reads texts.txt, words.txt and wraps.txt.
func readTexts(folder string) (*texts, error) {
	// The seed is fixed, so that the same texts give the same weights.
	t := &texts{words: map[string][]string{}, random: rand.New(rand.NewPCG(3, 4))}
	words, err := readLines(filepath.Join(folder, "words.txt"))
	if err != nil {
		return nil, err
	}
	for _, l := range words {
		name, list, _ := strings.Cut(l, ": ")
		t.words[name] = strings.Split(list, ", ")
	}
	if t.wraps, err = readLines(filepath.Join(folder, "wraps.txt")); err != nil {
		return nil, err
	}
	all, err := readLines(filepath.Join(folder, "texts.txt"))
	if err != nil {
		return nil, err
	}
	var labels []int
	for n, l := range all {
		if !strings.HasPrefix(l, "[") {
			if strings.Count(l, "(") != strings.Count(l, ")") {
				return nil, fmt.Errorf("texts.txt: statement %d: brackets that do not match: %s", n, l)
			}
			t.lines = append(t.lines, line{labels: labels, pattern: l})
			continue
		}
		labels = nil
		for name := range strings.FieldsSeq(strings.Trim(l, "[]")) {
			at := slices.Index(t.labels, name)
			if at < 0 {
				at = len(t.labels)
				t.labels = append(t.labels, name)
			}
			labels = append(labels, at)
		}
	}
	return t, nil
}

// readLines are the lines of a file that are neither empty nor comments.
func readLines(file string) (out []string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for l := range strings.Lines(string(data)) {
		if l = strings.TrimRight(l, " \n"); l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out, nil
}

// examples says each line in several ways.
func (t *texts) examples() (out []example) {
	var f learned.Features
	for _, l := range t.lines {
		n := times
		if len(l.labels) == 0 {
			n = timesOther
		}
		seen := map[string]bool{}
		for range n {
			said := t.wrap(t.say(l.pattern))
			if seen[said] {
				continue
			}
			seen[said] = true
			f.Of(english.Lex(said))
			out = append(out, example{labels: l.labels, list: slices.Clone(f.List), vector: f.Vector})
		}
	}
	return out
}

// say puts words into a pattern: one of each "(a|b)", the innermost first, and one for each "{slot}". "{slot2}" is
// another one of the same.
func (t *texts) say(pattern string) string {
	for {
		end := strings.IndexByte(pattern, ')')
		if end < 0 {
			break
		}
		begin := strings.LastIndexByte(pattern[:end], '(')
		if begin < 0 {
			break
		}
		some := strings.Split(pattern[begin+1:end], "|")
		pattern = pattern[:begin] + some[t.random.IntN(len(some))] + pattern[end+1:]
	}
	for {
		begin, end := strings.IndexByte(pattern, '{'), strings.IndexByte(pattern, '}')
		if begin < 0 {
			return strings.Join(strings.Fields(pattern), " ")
		}
		some := t.words[strings.TrimRight(pattern[begin+1:end], "2")]
		if len(some) == 0 {
			panic("words.txt lacks " + pattern[begin:end+1])
		}
		pattern = pattern[:begin] + some[t.random.IntN(len(some))] + pattern[end+1:]
	}
}

// wrap says a statement as people do: with something before and behind it, or without capitals and apostrophes.
func (t *texts) wrap(s string) string {
	if t.random.IntN(2) == 0 {
		w := t.wraps[t.random.IntN(len(t.wraps))]
		s = strings.NewReplacer("%s", strings.ToUpper(s[:1])+s[1:], "%l", s).Replace(w)
	} else if t.random.IntN(2) == 0 {
		s = strings.ToUpper(s[:1]) + s[1:] + "."
	}
	if t.random.IntN(6) == 0 {
		s = strings.ReplaceAll(strings.ToLower(s), "'", "")
	}
	return s
}

// readTalk reads the turns of conversations, the third column of a file, and takes each of their sentences as one
// that changes nothing.
func readTalk(file string) (out []example, err error) {
	if file == "" {
		return nil, errors.New("-talk is needed: see README.md")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	var of learned.Features
	for _, row := range rows[1:] {
		for turn := range strings.Lines(row[2]) {
			if _, said, ok := strings.Cut(turn, ": "); ok {
				for _, s := range english.Sentences(said) {
					of.Of(english.Lex(s))
					out = append(out, example{ordinary: true, list: slices.Clone(of.List), vector: of.Vector})
				}
			}
		}
	}
	return out, nil
}
