package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// readTexts reads the texts that were written to learn from, a line each, in which \n is a
// line break. A line before them tells what they are:
//
//	[attack|harmless language source]
//
// and {name} is one of the words of a line
//
//	{name} = word | word | word
//
// Of a fold that is not noFold, the texts are held back that are put together from its share
// of the templates and of the words of slots, and neither is in the others.
func readTexts(folder string, fold int) (out, held []text, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("%s: no texts (%w)", folder, err)
	}
	slots := map[string][]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		var kind text
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if name, words, is := strings.Cut(line, " = "); is && strings.HasPrefix(line, "{") {
				slots[name] = strings.Split(words, " | ")
				continue
			}
			if head, is := strings.CutPrefix(line, "["); is && strings.HasSuffix(head, "]") {
				parts := strings.Fields(strings.TrimSuffix(head, "]"))
				if len(parts) != 3 || parts[0] != "attack" && parts[0] != "harmless" {
					return nil, nil, fmt.Errorf("%s: %q heads no texts", file, line)
				}
				kind = text{attack: parts[0] == "attack", from: memory.Trust(parts[2]), language: parts[1]}
				if err := kind.from.Validate(); err != nil {
					return nil, nil, err
				}
				continue
			}
			if kind.from == "" {
				return nil, nil, fmt.Errorf("%s: %.80q stands before the first head", file, line)
			}
			kind.words = strings.ReplaceAll(line, `\n`, "\n")
			out = append(out, kind)
		}
	}
	all := translated(out, slots)
	if fold == noFold {
		return fill(all, slots), nil, nil
	}
	out, held = split(all, fold)
	return fill(out, without(slots, fold)), fill(held, only(slots, fold)), nil
}

// everyLanguage stands for the language of texts that are put together in each language.
const everyLanguage = "L"

// translated puts each language in the place of everyLanguage. A language is one that has
// a word for {xx-who}.
func translated(all []text, slots map[string][]string) (out []text) {
	for _, t := range all {
		if t.language != everyLanguage {
			out = append(out, t)
			continue
		}
		for _, name := range sortedKeys(slots) {
			language, is := strings.CutSuffix(name, "-who}")
			if !is {
				continue
			}
			one := t
			one.language = language[1:]
			one.composed = true
			one.words = strings.ReplaceAll(t.words, "{L-", language+"-")
			if one.language == "zh" || one.language == "ja" { // which have no spaces
				one.words = strings.ReplaceAll(one.words, "} {", "}{")
			}
			out = append(out, one)
		}
	}
	return out
}

// readSayings reads a file of evals/attacks.
func readSayings(file string) (out []text, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		parts := strings.SplitN(strings.TrimSpace(line), " | ", 4)
		if len(parts) != 4 || strings.HasPrefix(line, "#") {
			continue
		}
		out = append(out, text{attack: parts[0] == "attack", from: memory.Trust(parts[2]),
			words: strings.ReplaceAll(parts[3], `\n`, "\n"), share: 1, saying: true})
	}
	return out, nil
}

// copies is how often a text with slots is filled, and moreCopies how often one is that
// has a slot with many words.
const (
	copies     = 4
	moreCopies = 120
	manyWords  = 12
	moreShare  = 0.15 // weight of one of many copies
	// composedCopies is how often a text of compose.txt is filled in each language.
	composedCopies = 40
	composedShare  = 0.3 // weight of one of them
)

// fill puts words into the slots of texts, each time others. Words may have slots too.
func fill(all []text, slots map[string][]string) (out []text) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, t := range all {
		if !strings.Contains(t.words, "{") {
			t.share = 1
			out = append(out, t)
			continue
		}
		times := copies
		t.share = 1
		if t.composed {
			times, t.share = composedCopies, composedShare
			if t.language == "en" {
				times *= 2 // its parts are twice as many
			}
		}
		for name, words := range slots {
			if !t.composed && len(words) >= manyWords && strings.Contains(t.words, name) {
				times = moreCopies
				t.share = moreShare
			}
		}
		for range times {
			one := t
			one.words = slot.ReplaceAllStringFunc(t.words, func(name string) string {
				return slot.ReplaceAllStringFunc(pick(slots, name, random), func(name string) string {
					return pick(slots, name, random)
				})
			})
			out = append(out, one)
		}
	}
	return out
}

// slot is the name of a slot in a text.
var slot = regexp.MustCompile(`\{[a-z-]+\}`)

// pick is one of the words of a slot, or its name if there is no such slot.
func pick(slots map[string][]string, name string, random *rand.Rand) string {
	words := slots[name]
	if len(words) == 0 {
		return name
	}
	return words[random.IntN(len(words))]
}
