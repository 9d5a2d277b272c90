package canonical

import (
	_ "embed" // for themes.txt
	"slices"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// Claims name an attribute, so a fact meets another one only if tables know both ways to speak of it. Themes need no
// attribute: a clause has the nouns that it is about, and a clause that ends, turns round, moves or corrects something
// is held against each older clause of the same person with the same noun. Whether one ends the other is decided by
// both: what kind of end it is, what the older clause says of the thing, and whether each word that tells the thing
// apart ("the church choir") is in the older clause too.
//
// In doubt both stay: a thing that is one of several ("a cat"), a clause that is uncertain, past or bounded in time,
// and a list leave no end.

//go:embed themes.txt
var themesText string

var (
	themeTables = english.Parse(themesText)

	themeEnders   = themeVerbs("enders")
	themeBefalls  = themeVerbs("befalls")
	themeSetters  = themeTables.Words("setters")
	themeCues     = themeTables.Phrases("cues")
	themeWrongs   = themeTables.Phrases("corrections")
	themeMovers   = themeTables.Words("movers")
	themeLikes    = themeTables.Phrases("likes")
	themeHates    = themeTables.Phrases("dislikes")
	themeKinds    = themeTables.Variants("kinds")
	themePlain    = themeTables.Words("plain")
	themeLight    = themeTables.Words("light")
	officials     = themeTables.Words("officials")
	makeBelieve   = themeTables.Words("make-believe")
	countable     = themeTables.Words("countable")
	arrivals      = themeTables.Words("arrivals")
	departures    = themeTables.Words("departures")
	exes          = themeTables.Words("exes")
	passing       = themeTables.Words("passing")
	others        = themeTables.Words("others")
	leaning       = themeTables.Words("leaning")
	seeking       = themeTables.Words("seeking")
	changers      = themeTables.Words("changers")
	themeParts    = themeVerbs("separable")
	goings        = themeTables.Words("goings")
	persons       = themeTables.Words("persons")
	bodies        = themeTables.Words("bodies")
	bereft        = themeTables.Words("bereft")
	shortSpans    = themeTables.Words("short-spans")
	speakersOwn   = themeTables.Words("speakers-own")
	intents       = themeTables.Words("intents")
	fleetingTimes = themeTables.Words("fleeting-times")
	partial       = themeTables.Words("partial")
	piecemeal     = themeTables.Words("piecemeal")
	indefinite    = themeTables.Words("indefinite")
	narrowing     = themeTables.Words("narrowing")
	owning        = themeTables.Words("owning")
	pending       = themeTables.Words("pending")
	hours         = themeTables.Words("hours")
	chargeable    = themeTables.Words("chargeable")
	receivers     = themeTables.Words("receivers")
	keptWhenGiven = themeTables.Words("kept-when-given")
	schools       = themeTables.Words("schools")
	ways          = themeTables.Words("ways")
	ofMonth       = themeTables.Words("of-month")
	happenings    = themeTables.Words("happenings")
	genres        = themeTables.Words("genres")
	ordinals      = themeTables.Variants("ordinals")
	postponing    = themeTables.Words("postponing")
)

// endVerb is a phrase by which something ends, and the kind of the end.
type endVerb struct {
	words []string
	kind  string
}

// themeVerbs reads a table of phrases by kind: by their first word, the longest first.
func themeVerbs(name string) map[string][]endVerb {
	out := map[string][]endVerb{}
	for kind, list := range themeTables.Lists(name) {
		for _, p := range list {
			ws := strings.Fields(p)
			out[ws[0]] = append(out[ws[0]], endVerb{ws, kind})
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b endVerb) int { return len(b.words) - len(a.words) })
	}
	return out
}

// matchEnd gives the kinds of the longest phrases at ws[i], and their number of words.
func matchEnd(table map[string][]endVerb, ws english.Words, i int) (kinds []string, n int) {
	for _, v := range table[ws.At(i)] {
		if len(v.words) < n {
			break
		}
		if ws[i:].StartWith(v.words...) {
			kinds, n = append(kinds, v.kind), len(v.words)
		}
	}
	return kinds, n
}

// Most of the fields of a theme stand against an end, as a wrong end hides what is true, and a missed one leaves both,
// of which the newer is shown first. A field that lets an end through has its own example in testdata/superseded.txt,
// and what looks like it and ends nothing is in testdata/both-hold.txt.

// theme is what a clause says of the things it names.
type theme struct {
	owner owner
	nouns []themeNoun
	words []string // the stems of all words with a meaning, for telling things apart
	// ends are the kinds of the end that the clause tells of, of the noun target alone.
	ends    []string
	target  int
	taste   int // 1: liked, -1: disliked
	negated bool
	anymore bool // "not any more", "after all": a denial of what was so
	again   bool // "can eat it again"
	cued    bool // a word tells that it is new
	set     bool // a verb gives another value
	wrong   bool // it corrects
	moved   bool // "moved to the sales team"
	mine    bool // the subject is the speaker, or theirs
	loose   bool // uncertain, past, bounded in time: it ends nothing
	unreal  bool // of a dream, a joke or a story: it ends nothing, and nothing ends it
	past    bool // it tells of what was: nothing ends it
	pending bool // in progress or planned
	owns    bool
	narrow  bool // bounded in time: "in summer"
	verb    string
	todo    string   // the stem of the verb of what is still to be done: "I still need to renew my passport"
	did     string   // that of what was done
	seeks   bool     // looking for it
	changed bool     // "changed my goal"
	listed  bool     // the things are a list
	raw     []string // the words as they are
	values  []themeValue
	named   string   // the one name behind a preposition or a form of "be"
	not     []string // the words that are denied: "not Minka"
	// old are values that the clause says have ended, and now the words that take their place. The older clause may
	// have no thing but the speaker, the same verb, or what the speaker is; see findOld.
	old       [][]string
	now       []string
	ofSpeaker bool
	sameVerb  bool
	turned    bool
	scope     string // see scopeOf
	who       string // see Claim
	acts      string // the stem of the activity that a claim of the fact is about; see withActivities
	order     *order // what the agent is told; only other orders meet it
}

// themeNoun is a noun, in one form for all words that name the thing.
type themeNoun struct {
	stem     string
	mods     []string // the words before it, and names behind it
	behindIt []behind // the names and nouns behind it that may tell it apart: "trip to Oslo"
	part     bool     // it is part of a name: "Apple" in "Apple Music"
	apart    []string // words as they are that tell it apart: "Friday" in "Friday class"
	one      bool     // one of several: "a cat"
	plural   bool
	these    bool // certain ones: "the cats"
	subject  bool
	isNew    bool // "my new" stands before it
	name     bool
	behind   bool // a preposition stands before it
	activity bool // "renovating"
	marked   bool // a mark stands between the noun before it and it
}

// themeValue is a value of a kind in a clause: a day, a number of a unit.
type themeValue struct{ kind, text string }

// endsTheme reports whether t, said later, takes the place of o. An end leaves nothing that something else may end,
// except what somebody cannot stand.
func (t *theme) endsTheme(o *theme) bool {
	if t.order != nil || o.order != nil {
		return t.order != nil && o.order != nil && t.order.ends(o.order)
	}
	if t.loose || t.unreal || o.unreal || t.owner != o.owner || differs(t.who, o.who) || o.past || !t.covers(o) ||
		len(o.ends) > 0 && !slices.Contains(o.ends, "bored") {
		return false
	}
	if t.replacesIn(o) {
		return true
	}
	for i := range t.nouns {
		for k := range o.nouns {
			if t.nouns[i].stem == o.nouns[k].stem && t.endsNoun(o, i, k) {
				return true
			}
		}
	}
	return false
}

// covers reports whether t speaks of the part of life that o speaks of. A clause without a bound means it where it
// tells of a change: "I like beer" leaves that somebody doesn't like it at lunch.
func (t *theme) covers(o *theme) bool {
	return t.scope == o.scope || t.scope == "" && (len(t.ends) > 0 || t.anymore || t.again || t.cued || t.did != "")
}

// endsNoun reports whether t ends o by what both say of a noun. A word that tells the thing apart in t alone makes it
// another thing: the church choir is no school choir.
func (t *theme) endsNoun(o *theme, i, k int) bool {
	n, m := &t.nouns[i], &o.nouns[k]
	if t.acts == n.stem && activityVerbs.Has(o.verb) && !m.subject && !n.behind &&
		len(n.behindIt) == 0 && len(n.mods) == 0 {
		return false // an activity, which tells itself what belongs to it: "hunt for bargains"
	}
	if !within(n.mods, o.words) {
		return t.switches(o, n, m)
	}
	target := i == t.target
	if !t.same(o, n, m) {
		// "I'm looking for a flat", "found the flat of my dreams": any one that is found will do.
		return target && o.seeks && slices.Contains(t.ends, "find") && t.endsBy(o, m)
	}
	if target && t.endsOne(o, n) && t.endsBy(o, m) {
		return true
	}
	if o.todo != "" && t.did == o.todo && !n.one && !n.behind && !m.behind && within(m.mods, t.words) && t.didWhole(o) {
		return true
	}
	if !within(stemsBehind(n), o.words) {
		return !n.subject && t.sets(o, n, m)
	}
	return t.denies(o) || target && (t.turns(o, n) || t.turnsTaste(o, n, m)) || t.sets(o, n, m)
}

// endsOne reports whether the end of n is that of one certain thing: a flat that is sought, the idea of a shop.
func (t *theme) endsOne(o *theme, n *themeNoun) bool {
	return !n.one || o.seeks || slices.Contains(t.ends, "shelve")
}

// denies reports whether t denies in the same words what o says: "I'm not lactose intolerant".
func (t *theme) denies(o *theme) bool {
	return t.negated && !o.negated && !o.loose && !t.past && !t.narrow && len(t.values) == 0 &&
		t.taste == 0 && o.taste == 0 &&
		t.verb == o.verb && within(t.words, o.words) && within(o.words, t.words)
}

// turns reports whether n, which o spoke of, is so no longer or so again.
func (t *theme) turns(o *theme, n *themeNoun) bool {
	for i := range t.nouns {
		m := &t.nouns[i]
		does := m.activity && i == t.target-1 // "running the marathon"
		if !slices.Contains(o.words, m.stem) && !does && !(m.subject && bodies.Has(m.stem)) {
			return false // no longer allergic to something else
		}
	}
	if t.again && !t.negated {
		return o.negated || o.taste < 0
	}
	has := t.verb == "have" || t.verb == "has" || t.verb == "own" // "I don't have corona any more"
	return t.anymore && t.negated && !o.negated && !o.listed && o.taste >= 0 && !n.one && (!has || o.owns)
}

// turnsTaste reports whether t likes what o disliked, or the other way round, and both without bounds. Of two people
// who may be called "my sister", one may like it and the other one not, so that of others a word must tell of a change.
func (t *theme) turnsTaste(o *theme, n, m *themeNoun) bool {
	return t.taste*o.taste < 0 && (t.owner == "" || t.cued) &&
		!o.loose && !n.one && !m.one && !t.narrow && !o.narrow && len(n.mods) == 0 &&
		len(m.mods) == 0 && within(stemsBehind(m), t.words)
}

// endsBy reports whether the end that t tells of can end what o says of m: only a plan is canceled, only what somebody
// has is sold, and only what is sought is found.
func (t *theme) endsBy(o *theme, m *themeNoun) bool {
	if o.listed || o.negated {
		return false
	}
	return slices.ContainsFunc(t.ends, func(kind string) bool {
		switch kind {
		case "cancel", "complete", "shelve":
			return o.pending && o.taste == 0
		case "find":
			return o.seeks
		case "part":
			return o.owns && !m.subject
		case "bored":
			return o.taste > 0 && !t.narrow && within(m.mods, t.words)
		}
		return o.taste == 0 && o.verb != "have" && o.verb != "own" // "I dropped my phone"
	})
}

// sets reports whether t gives n another value than o gave m.
func (t *theme) sets(o *theme, n, m *themeNoun) bool {
	if t.negated != o.negated || len(t.ends) > 0 {
		return false
	}
	if t.byAnother(m) {
		return false
	}
	if slices.ContainsFunc(t.not, func(w string) bool { return slices.Contains(o.words, w) && w != n.stem }) {
		return true // "hazelnuts, not walnuts"
	}
	if t.renews(o, n, m) || t.chosenAnew(n, m) {
		return true
	}
	if !t.setsAny(o) {
		return false
	}
	return t.putsOff(o, m) || t.setsValue(o, n, m) ||
		t.setsName(n) && !n.name && !n.behind && t.named != "" && o.named != "" && t.named != o.named
}

// setsAny reports whether t may give what o is about another value at all: it tells of a change, and has no object that
// o has not.
func (t *theme) setsAny(o *theme) bool {
	other := func(n themeNoun) bool { return n.subject && !within(n.mods, o.words) } // another club
	if !t.cued && !t.set && !t.wrong || !within(t.objects(), o.words) || slices.ContainsFunc(t.nouns, other) {
		return false
	}
	return !t.namesAnother(o)
}

// setsValue reports whether t has another value of a kind than o.
func (t *theme) setsValue(o *theme, n, m *themeNoun) bool {
	for _, v := range t.values {
		for _, w := range o.values {
			if v.kind == w.kind && v.differs(w) && (within(m.mods, t.words) || len(n.mods) == 0) {
				return true
			}
		}
	}
	return false
}

// putsOff reports whether t tells that m, which o has on a day, was put to another time, without saying to which day:
// "they have postponed the wedding to spring".
func (t *theme) putsOff(o *theme, m *themeNoun) bool {
	return t.set && slices.ContainsFunc(t.raw, postponing.Has) && len(t.values) == 0 &&
		o.pending && len(o.values) > 0 && within(m.mods, t.words)
}

// namesAnother reports whether both clauses have an object with a name, and another one: who meets Rosa on Tuesdays may
// meet Gil on Thursdays.
func (t *theme) namesAnother(o *theme) bool {
	object := func(n themeNoun) bool { return n.name && !n.subject && !n.behind && !n.part && !t.wrong }
	mine := slices.IndexFunc(t.nouns, object)
	other := slices.IndexFunc(o.nouns, object)
	return mine >= 0 && other >= 0 && !slices.Contains(o.words, t.nouns[mine].stem) &&
		!slices.Contains(t.words, o.nouns[other].stem)
}

// setsName reports whether t may give n another name: "Wrong, my niece is called Ada".
func (t *theme) setsName(n *themeNoun) bool { return t.set || t.wrong && n.stem == nameStem }

// chosenAnew reports whether the speaker changed the thing m, which n names: "I changed my goal to…".
func (t *theme) chosenAnew(n, m *themeNoun) bool {
	return t.changed && !n.behind && !n.subject && m.subject && within(m.mods, t.words)
}

// byAnother reports whether somebody changes the thing m who has another trade than the one that it is with: the
// hairdresser moves no appointment with the dentist.
func (t *theme) byAnother(m *themeNoun) bool {
	trade := func(stem string) bool {
		return occupations.Of(stem) != "" || officials.Has(stem) || singles[stem].kind == "name"
	}
	if len(t.nouns) == 0 || !t.nouns[0].subject || !trade(t.nouns[0].stem) {
		return false
	}
	return !slices.Contains(m.mods, t.nouns[0].stem) && slices.ContainsFunc(m.mods, trade)
}

// renews reads "my new laptop is a Lenovo" after "I use an Acer laptop". Of people, pets and the like there are
// several.
func (t *theme) renews(o *theme, n, m *themeNoun) bool {
	return n.isNew && n.subject && (o.owns && len(m.mods) > 0 || m.subject && len(m.mods) == 0) &&
		!manyOf.Has(m.stem) &&
		!countable.Has(m.stem) && t.named != "" && !slices.Contains(o.words, t.named)
}

// objects are the nouns of t without names and those that only tell where and when, behind a preposition.
func (t *theme) objects() (out []string) {
	for i := range t.nouns {
		if n := &t.nouns[i]; !n.name && !n.behind && !(n.subject && officials.Has(n.stem) && n.stem != "vet") {
			out = append(out, n.stem)
		}
	}
	return out
}

// differs reports whether two values of a kind differ; of two numbers with a unit it must be the same unit.
func (v themeValue) differs(w themeValue) bool {
	if v.kind != "number" {
		return v.text != w.text
	}
	n, unit, _ := strings.Cut(v.text, " ")
	m, other, _ := strings.Cut(w.text, " ")
	return n != m && (unit == other || (unit == "" || other == "") && near(n, m))
}

// near reports whether two numbers are of one size, so that both may be of one thing though a unit is missing.
func near(a, b string) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(a, ",", ""), 64)
	y, other := strconv.ParseFloat(strings.ReplaceAll(b, ",", ""), 64)
	return err != nil || other != nil || max(x, y) < maxGrowth*min(x, y)
}

// nameStem is the noun of what somebody or something is called.
const nameStem = "nam"

// maxGrowth bounds how many times another value of a thing is as large as the one before it.
const maxGrowth = 10

// switches reports whether t tells of a change within a kind of things: "moved to the sales team".
func (t *theme) switches(o *theme, n, m *themeNoun) bool {
	// "Switched our home insurance" names what was there before, and "moved out of" what was left.
	to := t.moved && (n.behind || t.verb == "joined") && !slices.Contains(t.raw, "out")
	return to && len(m.mods) > 0 && !o.listed && !o.negated && o.taste == 0 && !n.one && !m.subject &&
		!slices.ContainsFunc(n.mods, func(w string) bool { return slices.Contains(m.mods, w) })
}

// within reports whether each word of a is one of b.
func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}

// changes reports whether t may end others.
func (t *theme) changes() bool {
	if t.order != nil {
		return true
	}
	return !t.loose && !t.unreal && (len(t.ends) > 0 || t.did != "" || t.again || t.negated || t.cued || t.set ||
		t.wrong || t.moved || t.changed || len(t.not)+len(t.old) > 0 || t.taste != 0)
}

// Changing reports whether f tells that something of the speaker or theirs ends or is so again.
func (f *Form) Changing() bool {
	return slices.ContainsFunc(f.themes, func(t theme) bool {
		return !t.loose && !t.unreal && t.mine && t.target >= 0 &&
			(len(t.ends) > 0 && !slices.Contains(t.ends, "find") || t.anymore && t.negated)
	})
}

// topics are the names of the things that t speaks of, with their owner.
func (t *theme) topics() (out []string) {
	if t.unreal {
		return nil
	}
	for i := range t.nouns {
		out = append(out, t.owner.attribute(t.nouns[i].stem))
	}
	return out
}

// Topics are the things that f speaks of, each with its owner. Only a fact that shares one of them, an attribute or a
// text with f can end it.
func (f *Form) Topics() (out []string) {
	for i := range f.themes {
		for _, name := range f.themes[i].topics() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
