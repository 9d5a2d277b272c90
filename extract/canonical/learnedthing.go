package canonical

import (
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Things that people do, have, plan or like have attributes of their own, by the noun that names them: "held habit
// choir". Value is what the claim says of the thing, a bar, and the words before the noun: "|church" of "the church
// choir". A thing with other words before it is another one: a driving test is no blood test.

// The noun is the last word of a run of words with a meaning of their own, in the singular, and the verb in place of a
// form in "-ing": who quit running no longer runs. Words that fit anything, such as "time", name no thing.
//
// A thing that is told apart ends one that is told apart by the same word, and a plan that is not: "the driving test is
// over" ends "my test is on Friday". It ends no habit and no liking of things in general.

// heldThings are the slots of things: the kinds of attributes that a statement of the slot states or changes.
var heldThings = map[string]struct {
	kinds []string
	value string // "date" if it has to name one
	over  bool   // the thing is over
}{
	"habit": {kinds: []string{"habit"}}, "quit": {kinds: []string{"habit", "plan"}, over: true},
	"have": {kinds: []string{"have"}}, "gone": {kinds: []string{"have", "habit"}, over: true},
	"plan": {kinds: []string{"plan"}}, "moved": {kinds: []string{"plan"}, value: "date"},
	"cancelled": {kinds: []string{"plan"}, over: true}, "done": {kinds: []string{"plan"}, over: true},
	"like": {kinds: []string{"like"}, value: "liked"}, "dislike": {kinds: []string{"like"}, value: "disliked"},
}

// maxThings bounds the things of a statement.
const maxThings = 4

// heldThing adds the claims of a statement about things.
func (c *claim) heldThing(out []Claim, o owner, slot string, changed bool, ws english.Words) []Claim {
	rule := heldThings[slot]
	said := rule.value
	if said == "date" || slot == "plan" {
		said = datesIn(ws)
	}
	if changed && rule.value == "date" && said == "" {
		return out
	}
	var names []string
	for i := range ws {
		if slices.Contains(rule.kinds, "plan") && i > 0 && ws[i].Upper && !english.StopWords.Has(ws[i].Text) &&
			!english.DateWords.Has(ws[i].Text) {
			names = append(names, root(ws[i].Text)) // "my trip to Madrid"
		}
	}
	for _, t := range thingsIn(ws) {
		t.words = append(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == t.noun }), t.words...)
		for _, kind := range rule.kinds {
			cl := Claim{
				Attribute: o.attribute(heldAttribute + kind + " " + t.noun),
				Value:     said + "|" + strings.Join(t.words, " "),
				Several:   true, Loose: !changed, Held: true,
				Ended: changed && rule.over, Changed: changed && !rule.over,
			}
			out = addClaim(out, cl)
		}
	}
	return out
}

// aThing is a noun, and the words before it that tell which one of its kind it is.
type aThing struct {
	noun  string
	words []string
}

// thingsIn are the things that ws names: the last word of each run of words with a meaning of their own.
func thingsIn(ws english.Words) (out []aThing) {
	var run []string
	end := func() {
		if len(run) > 0 && len(out) < maxThings {
			last := len(run) - 1
			out = append(out, aThing{noun: run[last], words: run[:last]})
		}
		run = nil
	}
	for i := range ws {
		w := ws[i].Text
		period := english.Periods.Has(singular(w)) || general.Has(singular(w))
		if english.StartsWithDigit(w) || period || inAny(w, english.StopWords, english.DateWords,
			english.WeakDateWords, english.Periods, english.Prepositions, english.Auxiliaries, english.Adverbs, ladder,
			relating, general) || strings.HasSuffix(w, "ly") {
			end()
			continue
		}
		run = append(run, root(w))
		if ws[i].Stop != 0 && ws[i].Stop != '\'' {
			end()
		}
	}
	end()
	return out
}

// root is a noun in the singular, and the verb of a word in "-ing": "run" of "running".
func root(w string) string {
	w = singular(w)
	if stem, ok := strings.CutSuffix(w, "ing"); ok && len(stem) > 2 {
		if n := len(stem); stem[n-1] == stem[n-2] && !strings.ContainsRune("ls", rune(stem[n-1])) {
			return stem[:n-1]
		}
		return strings.TrimSuffix(stem, "e")
	}
	return strings.TrimSuffix(w, "e")
}

// datesIn are the words of ws that name a day, a month or an hour.
func datesIn(ws english.Words) string {
	var out []string
	for i, w := range ws {
		if english.DateWords.Has(w.Text) || english.StartsWithDigit(w.Text) && (i == 0 || ws[i-1].Text != "in") {
			out = append(out, w.Text)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// supersedesThing reports whether c takes the place of o, both about a thing of one noun.
func (c *Claim) supersedesThing(o *Claim) bool {
	now, which, _ := strings.Cut(c.Value, "|")
	was, before, _ := strings.Cut(o.Value, "|")
	same := func(w string) bool { return slices.Contains(strings.Fields(before), w) }
	switch {
	case which == "":
	case before == "" && !strings.Contains(c.Attribute, heldAttribute+"plan "):
		return false // "I love chocolate" stays when dark chocolate is disliked
	case before != "" && !slices.ContainsFunc(strings.Fields(which), same):
		return false
	}
	if c.Ended {
		return true
	}
	had := strings.Fields(was)
	other := func(v string) bool { return !slices.Contains(had, v) }
	return c.Changed && slices.ContainsFunc(strings.Fields(now), other)
}
