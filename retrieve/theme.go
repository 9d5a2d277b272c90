package retrieve

import "slices"

// "Who is my employer?" has no word of "I started at the clinic on Monday", and its vector is not near either. But both
// are about work. So where no memory has a word of a short question of speakers about themselves, and few have a vector
// near it, those count as well of which package gist reads the same theme. Beside a memory that has a word, a theme
// only misleads: "Did I see a whale?" is about a place to gist.

// maxThemes is how many memories are read for their theme, the newest.
const maxThemes = 64

// themes sets the theme part of candidates that have nothing else in common with the question, if fewer than n have.
func (k *ranking) themes(all []*ranked, n int) {
	read := newReader(k.question)
	if !read.short || !read.self || k.themed == 0 {
		return
	}
	var left []*ranked
	for _, c := range all {
		switch {
		case !c.Match:
		case c.parts[lexical] > 0 || c.parts[keys] > 0:
			return // a word is a better sign
		case k.related(c):
			if n--; n <= 0 {
				return
			}
		case !c.Memory.IsShared() && k.question.asksOwn(c.Memory) && !isRecord(c.Memory):
			left = append(left, c)
		}
	}
	slices.SortFunc(left, func(a, b *ranked) int { return b.Memory.SaidAt().Compare(a.Memory.SaidAt()) })
	for _, c := range left[:min(len(left), maxThemes)] {
		s := &spoken{ranked: c}
		if read.answers(s) {
			c.parts[theme] = s.about
			k.weights[theme] = k.themed
		}
	}
}
