package retrieve

import (
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/internal/analyzer"
	"github.com/memoryd/memoryd/memory"
)

// lineTokens is how many tokens of one memory a line has: a turn may be a whole
// document, and ten of them more than a model takes.
const lineTokens = 1000

// lines makes lines of matches, which are best first; see Request.Lines. The
// score of a line is that of the best match that it stands for, so that lines are best
// first as well.
func lines(matches []memory.Match, query string) []memory.Match {
	var all []*entry
	for i := range matches {
		m := &matches[i]
		e := &entry{Match: *m, canonical: canonical.Text(m.Memory.Fact), words: distinctWords(m.Memory.Fact)}
		e.instead, e.redundant = insteadOf(m, matches)
		all = append(all, e)
	}
	var kept []*entry
	for _, e := range all {
		if e.repeats(kept) {
			continue
		}
		with := append(slices.Clone(kept), e)
		repeated := func(o *entry) bool { return o.repeats(with) }
		at := slices.IndexFunc(kept, repeated)
		if at >= 0 {
			e.Score = max(e.Score, kept[at].Score)
		} else {
			at = len(kept)
		}
		kept = slices.DeleteFunc(kept, repeated)
		kept = slices.Insert(kept, at, e)
	}
	quotes, quoted := quotesOf(kept)
	out, done := []memory.Match{}, map[*entry]bool{}
	for _, e := range kept {
		score := e.Score
		for fact, turns := range quotes { // whose place this is
			if slices.Contains(turns, e) {
				e = fact
			}
		}
		if done[e] || quoted[e] {
			continue
		}
		done[e] = true
		m := e.Match
		m.Score = max(m.Score, score)
		m.Line = Shown(query, &m, lineTokens)
		for _, t := range quotes[e] {
			m.Line = quoting(m.Line, Passage(query, t.Memory.Fact, lineTokens))
		}
		out = append(out, m)
	}
	return out
}

// distinctWords returns the analyzed words of a text, sorted.
func distinctWords(text string) []string {
	words := analyzer.Words(text)
	slices.Sort(words)
	return slices.Compact(words)
}

// insteadOf returns which of the matches tell what holds, or may hold, instead of
// another one, and whether that one can be left out where they are shown: only if it is
// outdated, and not where it comes before them, as the question asks for it.
func insteadOf(m *memory.Match, matches []memory.Match) (ids []string, redundant bool) {
	newer := m.Newer
	if m.Outdated != nil {
		newer, redundant = m.Outdated.By, m.Outdated.Redundant
	}
	for i := range matches {
		by := &matches[i]
		if !slices.Contains(newer, by.Memory.ID) || by.Memory.Scope != m.Memory.Scope {
			continue
		}
		ids = append(ids, by.Memory.ID)
		redundant = redundant && by.Score >= m.Score
		for j := range matches { // the turn may stand for the fact
			if t := &matches[j].Memory; t.ID != m.Memory.ID && cites(&by.Memory, t) {
				ids = append(ids, t.ID)
			}
		}
	}
	return ids, redundant
}

// quotesOf returns which turns are quoted by which facts that cite them: each by the
// best of its facts. An outdated turn is quoted by none.
func quotesOf(entries []*entry) (quotes map[*entry][]*entry, quoted map[*entry]bool) {
	quotes, quoted = map[*entry][]*entry{}, map[*entry]bool{}
	for _, t := range entries {
		var best *entry
		for _, f := range entries {
			if t.Outdated == nil && f.cites(t) && (best == nil || f.Score > best.Score) {
				best = f
			}
		}
		if best != nil {
			quotes[best], quoted[t] = append(quotes[best], t), true
		}
	}
	return quotes, quoted
}

// quoting adds what was said to a text.
func quoting(text, said string) string { return text + ` ("` + said + `")` }

// joined returns entries with the turns that facts quote in the lines of these. n is
// the highest number of a line.
func (f *form) joined(entries []*entry, n int) (out []*entry) {
	quotes, quoted := quotesOf(entries)
	if len(quoted) == 0 {
		return entries
	}
	for _, e := range entries {
		if quoted[e] {
			continue
		}
		if len(quotes[e]) > 0 {
			with := *e
			for _, t := range quotes[e] {
				with.text = quoting(with.text, t.text)
			}
			with.tokens = extract.Tokens(f.line(&with, n, n))
			e = &with
		}
		out = append(out, e)
	}
	return out
}
