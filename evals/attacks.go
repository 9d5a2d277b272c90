package evals

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/memoryd/memoryd/extract/injection"
	"github.com/memoryd/memoryd/memory"
)

//go:embed attacks/*.txt
var attackFiles embed.FS

// Saying is a text that tries to instruct an agent, or one that only looks like that.
type Saying struct {
	Attack   bool
	Language string
	From     memory.Trust
	Text     string
}

// AttackSets are the names of the bundled sets, in the order in which tables show them.
var AttackSets = []string{"tuned", "heldout", "unseen", "blind", "fresh", "asked", "redteam"}

// Attacks reads the bundled sayings by their sets. "tuned" is the one that rules may be written for and weights learned
// from; all others are only counted. "heldout" was written before the rules, and "unseen", with other ways of attack,
// after them. The writer of "fresh" knew the rules and made none for it. Those of "blind", "asked" and "redteam" knew
// neither rules nor weights; that of "redteam" wrote attacks as papers on them and red teams describe them. A line is
//
//	attack or harmless | language | source | text, in which \n is a line break
func Attacks() (map[string][]Saying, error) {
	names, err := attackFiles.ReadDir("attacks")
	if err != nil {
		return nil, err
	}
	out := map[string][]Saying{}
	for _, entry := range names {
		raw, err := attackFiles.ReadFile(path.Join("attacks", entry.Name()))
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(entry.Name(), ".txt")
		if out[name], err = parseSayings(string(raw)); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
	}
	return out, nil
}

// parseSayings reads lines of sayings.
func parseSayings(text string) (out []Saying, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " | ", 4)
		if len(parts) != 4 || parts[0] != "attack" && parts[0] != "harmless" || parts[2] == "" {
			return nil, fmt.Errorf("%w: %.60q is not attack or harmless | language | source | text",
				memory.ErrInvalid, line)
		}
		s := Saying{Attack: parts[0] == "attack", Language: parts[1], From: memory.Trust(parts[2]),
			Text: strings.ReplaceAll(parts[3], `\n`, "\n")}
		if err := s.From.Validate(); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// AttackCount is how the sayings of one language are judged.
type AttackCount struct {
	Attacks, Caught  int
	Harmless, Alarms int
}

// AttackScore is how a set is judged.
type AttackScore struct {
	ByLanguage map[string]*AttackCount
	// Missed are the attacks that pass, and Alarms the harmless sayings that are held
	// back, with the reason.
	Missed, Alarms []string
}

// ScoreAttacks judges sayings by rules and weights alone.
func ScoreAttacks(all []Saying) AttackScore {
	out := AttackScore{ByLanguage: map[string]*AttackCount{}}
	for _, s := range all {
		n := out.ByLanguage[s.Language]
		if n == nil {
			n = &AttackCount{}
			out.ByLanguage[s.Language] = n
		}
		reason := injection.Check(s.Text, s.From)
		switch {
		case s.Attack:
			n.Attacks++
			if reason != "" {
				n.Caught++
			} else {
				out.Missed = append(out.Missed, fmt.Sprintf("%s, %s: %s", s.Language, s.From, s.Text))
			}
		default:
			n.Harmless++
			if reason != "" {
				n.Alarms++
				out.Alarms = append(out.Alarms, fmt.Sprintf("%s, %s: %s (%s)", s.Language, s.From, s.Text, reason))
			}
		}
	}
	return out
}

// Total adds the languages up.
func (s *AttackScore) Total() (sum AttackCount) {
	for _, n := range s.ByLanguage {
		sum.Attacks += n.Attacks
		sum.Caught += n.Caught
		sum.Harmless += n.Harmless
		sum.Alarms += n.Alarms
	}
	return sum
}

// AttackTable writes the scores of sets as a table: a line a language, and two columns a
// set.
func AttackTable(scores map[string]AttackScore, sets ...string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "language")
	totals := map[string]int{}
	for _, set := range sets {
		fmt.Fprintf(w, "\t%s: caught\tfalse alarms", set)
		for language, n := range scores[set].ByLanguage {
			totals[language] += n.Attacks + n.Harmless
		}
	}
	fmt.Fprintln(w)
	languages := make([]string, 0, len(totals))
	for language := range totals {
		languages = append(languages, language)
	}
	slices.SortFunc(languages, func(a, b string) int {
		return cmp.Or(cmp.Compare(totals[b], totals[a]), cmp.Compare(a, b))
	})
	row := func(name string, of func(AttackScore) AttackCount) {
		fmt.Fprint(w, name)
		for _, set := range sets {
			n := of(scores[set])
			fmt.Fprintf(w, "\t%d/%d\t%d/%d", n.Caught, n.Attacks, n.Alarms, n.Harmless)
		}
		fmt.Fprintln(w)
	}
	for _, language := range languages {
		row(language, func(s AttackScore) AttackCount {
			if n := s.ByLanguage[language]; n != nil {
				return *n
			}
			return AttackCount{}
		})
	}
	row("all", func(s AttackScore) AttackCount { return s.Total() })
	fmt.Fprint(w, "percent")
	for _, set := range sets {
		s := scores[set]
		n := s.Total()
		fmt.Fprintf(w, "\t%.1f\t%.1f", 100*float64(n.Caught)/float64(max(n.Attacks, 1)),
			100*float64(n.Alarms)/float64(max(n.Harmless, 1)))
	}
	fmt.Fprintln(w)
	_ = w.Flush() // a Builder takes everything
	return b.String()
}
