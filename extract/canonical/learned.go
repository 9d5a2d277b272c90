package canonical

import (
	"cmp"

	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/extract/learned"
)

// The tables know words and their order. Where a fact says a thing in other words ("Nantes is home now"), the weights
// of package learned tell which attribute it is about, and whether it tells of a change. Such claims have attributes
// of their own, beginning with heldAttribute: a fact that tells of a change ends all that stated a value of the
// attribute before, unless that value is the same. A fact that only states a value ends nothing.

// unknownValue is the value of a state that a statement does not tell in a form that is known. A new value ends it.
const unknownValue = "?"

// heldAttribute begins the attributes of claims that weights have read.
const heldAttribute = "held "

// Bars for scores of package learned. A change must be surer than a statement of a value, which ends nothing.
const (
	stateBar   = -1.0
	surelyBar  = 2.0 // of a state for which a sentence is kept that no other rule keeps
	changeBar  = 0.5
	strictBar  = 3.0 // of a state that takes the place of an older one without telling of a change
	orderBar   = 1.0 // of an instruction
	markedBar  = 1.0 // of a state that a word such as "now" makes a change
	endBar     = 1.5 // of a change without a new value
	thingBar   = 0.0 // of a change of a thing
	deniedBar  = 2.0 // of a change that is denied: "I haven't moved"
	elidedBar  = 2.5 // of a change whose subject is left out
	maxWindows = 6
)

// How a fact is judged:
//
//   - It is cut into windows at its marks and links, as frames cut it. What stands between quotation marks, and facts
//     of dreams, games and stories, are left out. A fact of the speaker alone is also judged as a whole.
//   - Each window has an owner, as a clause of frames has, and is judged as the owner would say it: "my sister moved to
//     Oslo" as "I moved to Oslo". One whose owner is not certain is left out.
//   - Weights give labels. A label of a change counts only if nothing in the window stands against it; see mayChange.
//   - A value is a set of words: names, numbers, or all that have a meaning. A change that says nothing but what the
//     older fact says is none: "I moved to Rome" after "I live in Rome".
//   - The claims of tables about the same attributes are given as held ones, too, so that a change in any words ends
//     what was said in any other.
//
// Wrong ends are the worst fault, since they hide what is true, and a missed change is the lesser one. So the bars are
// set by reading everything that ordinary talk and everyday sentences ended, until nothing of it was wrong. A change
// without a new value, one whose subject is left out and one that is denied need a higher score.

// heldSlot is how a slot of package learned becomes a claim.
type heldSlot struct {
	attribute string // empty: the name of the slot
	value     string // the kind of its value, or "=" and the value itself
	ends      bool   // a change needs no new value: the old one is over
}

var heldSlots = map[string]heldSlot{
	"home": {value: "name", ends: true}, "employer": {value: "name"}, "occupation": {value: "words"},
	"work": {attribute: "employer", ends: true},

	"single": {attribute: "relation", value: "=single"}, "dating": {attribute: "relation", value: "=dating"},
	"engaged": {attribute: "relation", value: "=engaged"}, "married": {attribute: "relation", value: "=married"},

	"name": {value: "name"}, "age": {value: "number"}, "kids": {value: "one"}, "pets": {value: "one"},
	"cars": {value: "one"}, "weight": {value: "number"}, "dose": {value: "number"}, "rent": {value: "number"},
	"salary": {value: "number"}, "budget": {value: "number"}, "pb": {value: "number"}, "address": {value: "digits"},
	"phone": {value: "digits"}, "email": {value: "mail"}, "extension": {value: "number"},
	"birthday": {value: "number"}, "bedtime": {value: "number"},

	"car": {value: "name", ends: true}, "phonemodel": {value: "name"}, "laptop": {value: "name"},
	"bank": {value: "name"}, "provider": {value: "name"}, "gym": {value: "name", ends: true},
	"doctor": {value: "name"}, "dentist": {value: "name"}, "boss": {value: "name"}, "flatmate": {value: "name"},
	"commute": {value: "words"}, "school": {value: "name"}, "course": {value: "words", ends: true},
	"timezone": {value: "words"}, "favourite": {value: "words"},

	"diet":    {value: "words", ends: true},
	"smoking": {ends: true}, "alcohol": {value: "drink", ends: true}, "coffee": {ends: true}, "sugar": {ends: true},
	"social": {value: "words", ends: true},

	"instr-brief":  {attribute: "length of answers", value: "=brief"},
	"instr-detail": {attribute: "length of answers", value: "=detailed"},
	"instr-emoji":  {attribute: "emojis", value: "=yes"}, "instr-noemoji": {attribute: "emojis", value: "=no"},
	"instr-metric": {attribute: "units", value: "=metric"}, "instr-imperial": {attribute: "units", value: "=imperial"},
	"instr-formal": {attribute: "tone", value: "=formal"}, "instr-casual": {attribute: "tone", value: "=casual"},
	"instr-ask": {attribute: "questions", value: "=yes"}, "instr-noask": {attribute: "questions", value: "=no"},
	"instr-bullets": {attribute: "bullets", value: "=yes"}, "instr-nobullets": {attribute: "bullets", value: "=no"},
	"instr-british":  {attribute: "spelling", value: "=british"},
	"instr-american": {attribute: "spelling", value: "=american"},
	"instr-lang":     {attribute: "language", value: "words"},
}

// learned adds the claims that weights read in a fact to those of the tables, and those of the tables as weights
// would have read them.
func (c *claim) learned(all english.Words, tabled []Claim) (out []Claim) {
	judged, scores := c.judged(all)
	tabled = withValues(vetoed(tabled, all, scores))
	if !all.Any(uncertain) {
		out = bridged(tabled)
	}
	for _, cl := range judged {
		out = addClaim(out, cl)
	}
	out = append(c.bound(out, all), c.wording(all)...)
	if o, name := c.namedRelation(all); name != "" {
		for i := range out {
			if rest, ok := strings.CutPrefix(out[i].Attribute, string(o)+" "+heldAttribute); ok {
				cl := out[i]
				cl.Attribute = name + " " + heldAttribute + rest
				out = append(out, cl)
			}
		}
	}
	return append(tabled, out...)
}

// addClaim adds a claim, unless there is one of its attribute that tells as much.
func addClaim(out []Claim, cl Claim) []Claim {
	same := func(x Claim) bool {
		return x.Attribute == cl.Attribute && (x.Changed || x.Ended || !cl.Changed && !cl.Ended)
	}
	if slices.ContainsFunc(out, same) {
		return out
	}
	return append(out, cl)
}

// namedRelation reads "my daughter Freya", who may be called by her name later.
func (c *claim) namedRelation(all english.Words) (o owner, name string) {
	for i := 0; i+2 < len(all); i++ {
		if w := all[i].Text; w != "my" && w != "our" {
			continue
		}
		if o, n := relationAt(all[i+1:]); o != "" && i+1+n < len(all) {
			if next := all[i+1+n]; next.Upper && all[i+n].Stop == 0 && !english.StopWords.Has(next.Text) {
				return o, next.Text
			}
			if i > 0 && all[i-1].Upper && all[i-1].Stop == ',' {
				return o, all[i-1].Text
			}
		}
	}
	return "", ""
}

// maxWording bounds the words of a statement that another one may repeat with another value.
const maxWording = 14

// wording gives a statement with one number or day the rest of its words as an attribute: who says the same with
// another value, and that it is a change or a correction, takes the old value back.
func (c *claim) wording(all english.Words) []Claim {
	var rest []string
	value := ""
	for i := range all {
		w := &all[i]
		day := english.DateWords.Has(singular(w.Text))
		switch {
		case isDate(w.Text), changeWords.Has(w.Text), wordingLeads.Has(w.Text), english.Articles.Has(w.Text):
		case english.StartsWithDigit(w.Text) || day && monthNumbers.Of(w.Text) == "":
			if value != "" {
				return nil // of two values it is not clear which one counts
			}
			value = w.Text
			rest = append(rest, "#")
		default:
			rest = append(rest, w.Text)
		}
	}
	if value == "" || len(rest) < 3 || len(rest) > maxWording {
		return nil
	}
	return []Claim{{
		Attribute: heldAttribute + "wording " + strings.Join(rest, " "), Value: value, Several: true, Loose: true,
		Held:    true,
		Changed: tellsChange(all),
	}}
}

// judged gives the claims that weights read, and the best scores of slots; nil if the fact is not judged.
func (c *claim) judged(all english.Words) (out []Claim, scores map[string]float64) {
	all = slices.DeleteFunc(c.withoutQuotes(c.withoutNoteMarks(slices.Clone(all))), func(w english.Word) bool {
		return isDate(w.Text)
	})
	if len(all) > maxFramedWords || all.Any(fancies) {
		return nil, nil
	}
	list := segments(all)
	if len(list) > maxWindows {
		return nil, nil
	}
	scores = map[string]float64{}
	doubtful, alone := all.Any(unsure), true
	for i := range list {
		o, said, elided, ok := c.heldBy(list[i].words, i == 0)
		alone = alone && ok && o == ""
		if ok {
			out = c.learnedIn(out, window{o, said, elided, list[i].bounded || elided && doubtful, scores})
		}
	}
	// What is said in several parts may be clear only from all of them, if they are all of the speaker.
	if len(list) > 1 && alone {
		from := slices.Index(all, list[0].words[0])
		if o, said, elided, ok := c.heldBy(all[max(0, from):], true); ok && o == "" {
			out = c.learnedIn(out, window{o, said, elided, doubtful, scores})
		}
	}
	return out, scores
}

// window is a part of a fact, as its owner would say it.
type window struct {
	owner owner
	words english.Words
	// elided says that the part lacks a subject, and bounded that it depends on another clause.
	elided, bounded bool
	scores          map[string]float64 // the best ones of the slots so far
}

// learnedIn adds the claims of a window.
func (c *claim) learnedIn(out []Claim, w window) []Claim {
	if len(w.words) == 0 {
		return out
	}
	for _, f := range learned.Of(w.words, vetoBar) {
		if best, known := w.scores[f.Slot]; !known || f.Score > best {
			w.scores[f.Slot] = f.Score
		}
		h := hearing{Found: f, order: strings.HasPrefix(f.Slot, "instr-")}
		h.marked = f.Score > markedBar && marksChange(w.words)
		h.mild = !f.Change && !h.order && !h.marked
		h.changed = !h.mild || f.Score > strictBar && strict.Has(f.Slot) && !w.elided && !tellsPast(w.words)
		if f.Score < stateBar || h.order && !w.mayOrder(&h) || h.changed && !h.order && !w.mayChange(&h) {
			continue
		}
		if _, thing := heldThings[f.Slot]; !thing {
			out = c.heldSlot(out, &w, &h)
		} else if !h.changed || f.Score > thingBar {
			out = c.heldThing(out, w.owner, f.Slot, h.changed, w.words)
		}
	}
	return out
}

// hearing is a label that weights have found, and how it is taken.
type hearing struct {
	learned.Found
	order   bool // an instruction
	marked  bool // a word such as "now" tells of the change
	mild    bool // it tells of no change
	changed bool // it takes the place of what was said before
}

// mayOrder reports whether a window may be an instruction to the agent.
func (w *window) mayOrder(h *hearing) bool {
	return w.owner == "" && h.Score >= orderBar && orders.Has(w.words[0].Text) && len(w.words) > 2
}

// mayChange reports whether nothing in a window stands against a change: doubt, denial, another time, a span that
// passes.
func (w *window) mayChange(h *hearing) bool {
	ws := w.words
	named := h.Slot == "name" // "I would prefer that you use Theodore"
	switch {
	case h.Score < changeBar, len(ws) < 3, w.bounded, ws.Any(unsure) && !named:
		return false
	case ws.Any(passing), longAgo(ws), forMonth(ws):
		return false
	case h.Score < deniedBar && ws.Any(negations) && !ws.Any(anymoreWords):
		return false
	}
	return !w.elided || named || h.Score >= elidedBar
}

// heldSlot adds the claims of a window about an attribute that is no thing.
func (c *claim) heldSlot(out []Claim, w *window, h *hearing) []Claim {
	rule, known := heldSlots[h.Slot]
	if !known {
		return out
	}
	cl := Claim{
		Attribute: w.owner.attribute(heldAttribute + cmp.Or(rule.attribute, h.Slot)), Changed: h.changed, Several: true,
		Mild: h.mild, Held: true, Loose: !h.changed && (h.Score < surelyBar || w.elided || len(w.words) < 4),
	}
	var valued bool
	cl.Value, valued = c.heldValue(rule.value, w.words)
	if h.Slot == "home" && h.changed && valued && !c.homely(w.words) {
		return out // "I moved to Slack from Teams"
	}
	// "I don't live in Porto any more" ends Porto, and no other home.
	denied := h.changed && !strings.HasPrefix(rule.value, "=") && w.words.Any(negations)
	switch {
	case denied && valued, rule.value == "drink" && h.changed:
		cl.Ended, cl.Changed = true, false // who gives up beer may still drink wine
	case valued:
	case h.changed && !h.Change, !h.changed && (rule.value == "number" || rule.value == "one"):
		return out
	case !h.changed:
		cl.Value, cl.Loose = unknownValue, true
	case rule.ends && h.Score > endBar:
		cl.Ended, cl.Changed = true, false
	default:
		return out
	}
	return addHeld(out, cl, h.Slot, w.words)
}

// homely reports whether a statement names a known place, or speaks of living there.
func (c *claim) homely(ws english.Words) bool {
	return c.dwelling || slices.ContainsFunc(ws, func(w english.Word) bool {
		return inAny(w.Text, cities, countries, dwelling)
	})
}

// marksChange reports whether a statement of a value tells by a word that it is a new one: "my bedtime is ten now".
func marksChange(ws english.Words) bool {
	return tellsChange(ws) && !ws.Any(lasting)
}

// tellsPast reports whether a statement may be about the past: "I weighed 80 kilos".
func tellsPast(ws english.Words) bool {
	return slices.ContainsFunc(ws, func(w english.Word) bool {
		return w.Text == "was" || w.Text == "were" || english.Past(w.Text)
	})
}

// longAgo reports whether a statement tells of another time, or of a stop on the way: "years ago", "back in 2015",
// "I stopped to play tennis".
func longAgo(ws english.Words) bool {
	for i := range ws {
		before := ws.At(i - 1)
		if w := ws[i].Text; w == "ago" && strings.HasPrefix(before, "year") || w == "in" && before == "back" ||
			isYear(w) && before == "in" || w == "to" && (before == "used" || before == "stopped" || before == "stop") {
			return true
		}
	}
	return false
}

// heldBy tells whose the statement ws is, and gives it as the owner would say it: "I moved to Oslo" for "my sister
// moved to Oslo". It is not ok if that is not certain.
func (c *claim) heldBy(ws english.Words, first bool) (o owner, said english.Words, elided, ok bool) {
	o, rest, ok := c.frameSubject(ws, first)
	ok = ok && len(rest) > 0
	switch w := ws.At(0); {
	case ok && o == "":
		return "", ws, false, true
	case ok:
		said = append(english.Words{{Text: "i", Start: ws[0].Start, End: ws[0].Start}}, rest...)
		if own := ownForms.Of(rest[0].Text); own != "" {
			said[1].Text = own
		}
		return o, said, false, true
	case w == "you" && orderAuxiliaries.Has(ws.At(1)):
		return "", ws, true, true // "you can be brief"
	case inAny(w, others) || possessives.Has(w) && w != "my" && w != "our":
		return "", nil, false, false
	}
	mine := ws.At(0) == "my" || ws.At(0) == "our"
	for i, w := range ws {
		switch w.Text {
		case "me", "us":
			mine = true
		case "my", "our":
			mine = mine || i > 0
			if strings.HasSuffix(ws.At(i+1), "'s") || ws.At(i+2) == "is" && relation(ws.At(i+1)) != "" && i == 0 {
				return "", nil, false, false // "my sister's flat"
			}
		}
	}
	if mine || ws.Has("i") {
		return "", ws, ws.At(0) != "my" && ws.At(0) != "our" && !ws.Has("me") && !ws.Has("us") && !ws.Has("i"), true
	}
	if inAny(ws.At(0), english.Articles) || ws[0].Upper && givenNames.Has(ws.At(0)) {
		return "", nil, false, false
	}
	return "", ws, true, true
}
