package retrieve

import (
	"slices"

	"github.com/memoryd/memoryd/memory"
)

// "Who is my employer?" has no word of "I started at the clinic on Monday", and its vector is not near it. But both
// are about work. So where no memory has a word of a short question of speakers about themselves, and few have a
// vector near it, those count as well of which package gist reads the same theme. Beside a memory that has a word, a
// theme only misleads: "Did I see a whale?" is about a place to gist. A store gives the hundred nearest candidates, so
// that in a scope of more memories only those are read.

const (
	maxThemes   = 100  // memories whose theme is read, the newest
	fewRelated  = 10   // memories that have something in common with the question are few below this
	surelyAbout = 0.38 // how surely a memory must tell of the theme: "I quit Siemens" has .39 of "Who is my landlord?"
)

// findWords reports whether a memory has a word of one of the wordings.
func findWords(wordings []*wording) bool {
	for _, w := range wordings {
		for _, run := range w.found.Runs {
			for _, c := range run {
				if c.Match && slices.ContainsFunc(c.Freqs, func(f int) bool { return f > 0 }) {
					return true
				}
			}
		}
	}
	return false
}

// themes sets the theme part of candidates that have nothing else in common with the question, if few have.
func (k *ranking) themes(all []*ranked) {
	read := newReader(k.question)
	if k.themed == 0 || !read.short || !read.self {
		return
	}
	var left []*ranked
	related := 0
	for _, c := range all {
		switch {
		case !c.Match:
		case k.related(c):
			related++
		case !c.Memory.IsShared() && k.question.asksOwn(c.Memory) && !isRecord(c.Memory):
			left = append(left, c)
		}
	}
	if related >= fewRelated {
		return
	}
	slices.SortFunc(left, func(a, b *ranked) int { return b.Memory.SaidAt().Compare(a.Memory.SaidAt()) })
	for _, c := range left[:min(len(left), maxThemes)] {
		s := &spoken{ranked: c}
		if read.read(s); s.about >= surelyAbout && !inDoubt(memory.Cut(c.Memory.Fact, maxRead)) {
			c.parts[theme] = s.about
			k.weights[theme] = k.themed
		}
	}
}

// inDoubt reports whether a text tells what may not be so, or is not: "I may join Fiat".
func inDoubt(text string) bool {
	words := plainWords(text)
	for i, w := range words {
		if w == "never" || w == "may" && i > 0 && words[i-1] == "i" {
			return true
		}
	}
	return passingWords.in(words, text)
}
