package evals

import (
	"embed"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/redact"
)

//go:embed redaction/*.txt
var redactionFiles embed.FS

// RedactionScore is how redaction did on one set of made-up secrets.
type RedactionScore struct {
	Found, Missed map[string]int // by form
	Texts         []string       // that were missed
}

// Totals are the secrets found, and all.
func (s *RedactionScore) Totals() (found, all int) {
	for _, n := range s.Found {
		found += n
	}
	all = found
	for _, n := range s.Missed {
		all += n
	}
	return found, all
}

// Redaction is how redaction does: on secrets, by their set, and on ordinary sentences.
type Redaction struct {
	Sets     map[string]*RedactionScore
	Ordinary int
	Alarms   []string // ordinary sentences that were changed
}

// secretsOfForm is how many secrets of each form a set has, and ordinarySentences how
// many sentences have none.
const (
	secretsOfForm     = 12
	ordinarySentences = 2400
)

// redactionSets are the sets of secrets with the seeds of their values.
var redactionSets = map[string]uint64{"tuned": 1, "heldout": 2}

// RunRedaction has the secrets and sentences of the bundled files redacted, with all
// kinds but addresses and phone numbers. Each run makes up its secrets, and the
// same each time: no file holds one.
func RunRedaction() (*Redaction, error) {
	r, err := redact.New(redact.Keys, redact.Cards, redact.IBANs, redact.NationalIDs, redact.Passwords)
	if err != nil {
		return nil, err
	}
	out := &Redaction{Sets: map[string]*RedactionScore{}}
	for name, seed := range redactionSets {
		frames, err := readFrames(name)
		if err != nil {
			return nil, err
		}
		score := &RedactionScore{Found: map[string]int{}, Missed: map[string]int{}}
		m := maker{rand.New(rand.NewPCG(seed, 7))}
		for _, form := range slices.Sorted(maps.Keys(secretForms())) {
			f := secretForms()[form]
			for i := range secretsOfForm {
				secret := f.make(m)
				sentence := strings.Replace(frames[f.frames][i%len(frames[f.frames])], "{}", secret, 1)
				if redacted, _ := r.Text(sentence); strings.Contains(redacted, secret) {
					score.Missed[form]++
					score.Texts = append(score.Texts, sentence)
				} else {
					score.Found[form]++
				}
			}
		}
		out.Sets[name] = score
	}
	lines, err := readLines("ordinary")
	if err != nil {
		return nil, err
	}
	m := maker{rand.New(rand.NewPCG(3, 7))}
	for i := range ordinarySentences {
		out.Ordinary++
		sentence := m.fill(lines[i%len(lines)])
		if _, counts := r.Text(sentence); counts != nil {
			out.Alarms = append(out.Alarms, sentence)
		}
	}
	return out, nil
}

// Print writes a table.
func (e *Redaction) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %16s %16s\n", "secrets", "tuned", "heldout")
	cell := func(found, all int) string { return fmt.Sprintf("%d of %d", found, all) }
	for _, form := range slices.Sorted(maps.Keys(secretForms())) {
		fmt.Fprintf(&b, "%-14s", form)
		for _, set := range []string{"tuned", "heldout"} {
			s := e.Sets[set]
			fmt.Fprintf(&b, " %16s", cell(s.Found[form], s.Found[form]+s.Missed[form]))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%-14s", "all")
	for _, set := range []string{"tuned", "heldout"} {
		found, all := e.Sets[set].Totals()
		fmt.Fprintf(&b, " %16s", fmt.Sprintf("%s, %.1f %%", cell(found, all), 100*float64(found)/float64(all)))
	}
	fmt.Fprintf(&b, "\nfalse alarms in ordinary sentences: %s, %.1f %%\n", cell(len(e.Alarms), e.Ordinary),
		100*float64(len(e.Alarms))/float64(e.Ordinary))
	_, err := io.WriteString(w, b.String())
	return err
}

// readLines reads the lines of a bundled file but its comments.
func readLines(name string) (out []string, err error) {
	raw, err := redactionFiles.ReadFile("redaction/" + name + ".txt")
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out, err
}

// readFrames reads the sentences that secrets are put into, by what they are for.
func readFrames(name string) (map[string][]string, error) {
	lines, err := readLines(name)
	out := map[string][]string{}
	for _, line := range lines {
		of, frame, _ := strings.Cut(line, ": ")
		out[of] = append(out[of], frame)
	}
	return out, err
}

// maker makes up values.
type maker struct{ *rand.Rand }

// of makes up n characters of a set.
func (m maker) of(set string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = set[m.IntN(len(set))]
	}
	return string(out)
}

const (
	digitChars = "0123456789"
	hexChars   = digitChars + "abcdef"
	upperChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerChars = "abcdefghijklmnopqrstuvwxyz"
	alnumChars = digitChars + upperChars + lowerChars
	tokenChars = alnumChars + "_-"
)

func (m maker) number(low, high int) string { return strconv.Itoa(low + m.IntN(high-low+1)) }

var hole = regexp.MustCompile(`\{([a-z]+)(\d*)\}`)

// fill fills the holes of an ordinary sentence.
func (m maker) fill(frame string) string {
	return hole.ReplaceAllStringFunc(frame, func(found string) string {
		part := hole.FindStringSubmatch(found)
		n, _ := strconv.Atoi(part[2])
		day, month, year := 1+m.IntN(28), 1+m.IntN(12), 1990+m.IntN(40)
		switch part[1] {
		case "n":
			return m.number(1, 9) + m.of(digitChars, n-1)
		case "hex":
			return m.of(hexChars, n)
		case "day":
			return fmt.Sprintf("%d-%02d-%02d", year, month, day)
		case "tag":
			return fmt.Sprintf("%02d.%02d.%d", day, month, year)
		case "year":
			return strconv.Itoa(year)
		case "time":
			return fmt.Sprintf("%d:%02d", m.IntN(24), m.IntN(60))
		case "price":
			return fmt.Sprintf("$%d,%03d.%02d", 1+m.IntN(99), m.IntN(1000), m.IntN(100))
		case "preis":
			return fmt.Sprintf("%d,%02d €", 1+m.IntN(2000), m.IntN(100))
		case "version":
			return fmt.Sprintf("%d.%d.%d", m.IntN(20), m.IntN(40), m.IntN(9000))
		case "isbn":
			return fmt.Sprintf("978-%d-%s-%s-%d", m.IntN(10), m.of(digitChars, 4), m.of(digitChars, 4), m.IntN(10))
		case "uuid":
			return m.of(hexChars, 8) + "-" + m.of(hexChars, 4) + "-4" + m.of(hexChars, 3) + "-a" + m.of(hexChars,
				3) + "-" +
				m.of(hexChars, 12)
		case "ups":
			return "1Z" + m.of(digitChars+upperChars, 16)
		case "code":
			return m.of(upperChars, 2) + m.of(digitChars, 4) + m.of(upperChars, 1)
		case "flight":
			return m.of(upperChars, 2) + m.number(10, 9999)
		case "ref":
			return m.of(digitChars+upperChars, 6)
		}
		return found
	})
}
