package retrieve

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/memoryd/memoryd/internal/tracing"
	"github.com/memoryd/memoryd/memory"
)

// Shared knowledge is in a scope of its own, and a search that includes it asks the store
// twice, at the same time. The candidates of both scopes are then ranked as those of one:
// words weigh by how many memories of both have them, so that the scores have one scale,
// and neither side has an advantage by its size. Nothing in one scope ends or supersedes
// anything in the other.

// findShared begins to search the shared knowledge of the app with each wording, if the
// request wants it. The function that it returns waits for the end, and adds what was
// found to the wordings; it is called once these have what their own scope has.
func findShared(
	ctx context.Context, req *Request, search memory.PreparedSearch, wordings []*wording,
) func() error {
	if search == nil {
		return func() error { return nil }
	}
	founds := make([]memory.Found, len(wordings))
	var err error
	var searching conc.WaitGroup
	searching.Go(func() {
		ctx, span := tracing.Start(ctx, "find shared")
		defer func() { span.End(err) }()
		for i, w := range wordings {
			founds[i], err = search(ctx, memory.Query{
				Filter: req.Filter, Terms: w.terms, Vector: w.vector, Limit: candidates,
			})
			if err != nil {
				return
			}
		}
	})
	return func() error {
		searching.Wait()
		if err != nil {
			return err
		}
		for i, w := range wordings {
			include(&w.found, &founds[i])
		}
		return nil
	}
}

// include adds what was found in the shared knowledge of an app to what was found in the
// scope of a user.
func include(found, shared *memory.Found) {
	found.Runs = append(found.Runs, shared.Runs...)
	df := make([]int, max(len(found.Stats.DF), len(shared.Stats.DF))) // the slices are the store's
	for _, more := range [][]int{found.Stats.DF, shared.Stats.DF} {
		for i, n := range more {
			df[i] += n
		}
	}
	found.Stats.Docs, found.Stats.DF = found.Stats.Docs+shared.Stats.Docs, df
}

// apart parts candidates of the scope of the search from those of shared knowledge.
func apart(all []*ranked) (own, shared []*ranked) {
	for i, c := range all {
		if !c.Memory.IsShared() {
			if len(shared) > 0 {
				own = append(own, c)
			}
			continue
		}
		if len(shared) == 0 {
			own = slices.Clone(all[:i])
		}
		shared = append(shared, c)
	}
	if len(shared) == 0 {
		own = all
	}
	return own, shared
}

// Words that a manual has on every page find more of its passages than an answer has
// room for, and none of the few turns that have them as well. So either side has a part
// of the places, as far as it has matches that are not much worse than the best.
const (
	leastPart  = 4   // of the places, one in so many
	leastScore = 0.3 // of the best score
)

// weight returns whether a candidate is of shared knowledge, and its score.
func (c *ranked) weight() (shared bool, score float64) { return c.Memory.IsShared(), c.score }

// weightOf is the same of a match.
func weightOf(m memory.Match) (shared bool, score float64) { return m.Memory.IsShared(), m.Score }

// balance returns n of some matches, which are best first and stay so: the best, but of
// either side as many as its part of the places at least.
func balance[M any](all []M, n int, weight func(M) (shared bool, score float64)) []M {
	if len(all) <= n {
		return all
	}
	_, most := weight(all[0])
	there := map[bool]int{}
	for _, m := range all[:n] {
		shared, _ := weight(m)
		there[shared]++
	}
	few := there[true] < there[false]
	more := 0 // places that this side gets besides
	for _, m := range all[n:] {
		shared, score := weight(m)
		if shared == few && score >= leastScore*most && there[few]+more < n/leastPart {
			more++
		}
	}
	out := make([]M, 0, n)
	for _, m := range all {
		shared, _ := weight(m)
		if shared == few {
			if len(out) < n {
				out = append(out, m)
			}
			continue
		}
		if there[!few]-more > 0 {
			there[!few]--
			out = append(out, m)
		}
	}
	return out
}

// sharedHeading is above what a block has of shared knowledge that is in no document.
const sharedHeading = "Shared knowledge"

// sharedGroup returns the group of a memory of shared knowledge: that of its document.
func sharedGroup(m *memory.Memory) group {
	out := group{heading: sharedHeading, session: m.Source.SessionID, shared: true}
	if p := m.Source.Passage; p != nil {
		out.heading += ", " + documentName(p)
	}
	return out
}

// documentName names the document of a passage: "from \"Returns\"".
func documentName(p *memory.Passage) string {
	title := clean(p.Title)
	if title == "" {
		title = clean(p.Document)
	}
	return `from "` + strings.ReplaceAll(title, `"`, "'") + `"`
}

// section says where in its document a passage is: "section Shoes > Returns", or the
// number of the passage if no heading is above it.
func section(p *memory.Passage) string {
	if len(p.Headings) == 0 {
		return "passage " + strconv.Itoa(p.Number)
	}
	headings := make([]string, len(p.Headings))
	for i, h := range p.Headings {
		headings[i] = balanced(clean(h))
	}
	return "section " + strings.Join(headings, " > ")
}

// inSection is what stands before a memory of shared knowledge in a block with headings:
// "(section Returns) ", or the day on which it was stored where it is in no document.
func inSection(m *memory.Memory) string {
	if p := m.Source.Passage; p != nil {
		return "(" + section(p) + ") "
	}
	return "(" + day(m, m.Timestamp) + ") " + begins(m)
}

// SharedSource says of a memory of shared knowledge that it is such, and from which
// document: "shared knowledge, from \"Returns\", section Shoes". It is "" for others.
func SharedSource(m *memory.Memory) string {
	if !m.IsShared() {
		return ""
	}
	out := strings.ToLower(sharedHeading[:1]) + sharedHeading[1:]
	if p := m.Source.Passage; p != nil {
		out += ", " + documentName(p) + ", " + section(p)
	}
	return out
}

// ofShared is SharedSource in brackets, before the words of a memory: "(shared knowledge) ".
func ofShared(m *memory.Memory) string {
	if source := SharedSource(m); source != "" {
		return "(" + source + ") "
	}
	return ""
}
