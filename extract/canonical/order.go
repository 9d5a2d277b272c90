package canonical

import (
	_ "embed" // for orders.txt
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A standing order tells the agent what to do again and again: "quiz me in Italian every morning". People take one
// back by a word of it ("no more quizzes"), and give it again with another value ("from now on give me distances in
// miles"). An order is read as the stems of the words that tell what it is about. A later one takes it back if it is
// about nothing else, so that "stop the quizzes at work" leaves the quizzes at home.

//go:embed orders.txt
var ordersText string

var (
	orderTables   = english.Parse(ordersText)
	orderVerbs    = orderTables.Words("verbs")
	withdrawing   = orderTables.Phrases("withdrawing")
	withdrawnOnce = orderTables.Phrases("withdrawing-anymore")
	forbidding    = orderTables.Phrases("forbidding")
	partedVerbs   = orderTables.Words("parted")
	particlesOf   = orderTables.Words("particles")
	orderBounds   = orderTables.Words("bounding")
	orderOver     = orderTables.Phrases("over")
	orderNewly    = orderTables.Phrases("newly")
	orderAllowed  = orderTables.Words("allowed")
	orderRecurs   = orderTables.Words("recurring")
	orderLight    = orderTables.Words("light")
	orderSame     = orderTables.Variants("same")
	unasked       = orderTables.Phrases("unasked")
	undoing       = orderTables.Variants("undoing")
	orderValues   = orderTables.Variants("values")
	codesIn       = orderTables.Words("codes-in")
	orderBesides  = orderTables.Phrases("besides")
	speaking      = orderTables.Words("speaking")
	addressing    = orderTables.Words("addressing")
	addressNouns  = orderTables.Words("address-nouns")
	limits        = orderTables.Words("limits")
)

// order is what a clause tells the agent to do, or to do no longer.
type order struct {
	topic   []string // the stems of what it is about, without its values
	values  []themeValue
	verb    string   // the stem of its first word
	others  []string // the people whom it is about, beside the speaker
	taken   bool     // it takes an order back
	forbids bool
	allows  bool // it allows what was forbidden
	lasts   bool // it says that it is new, and lasts
	newly   bool // it says that it is new
	recurs  bool // it says that it is to be done again and again
	bounded bool // it holds for a time, or in part
	swaps   bool // it names the value that holds no longer
}

// agentOwner is whose the things of orders are, so that they are none of the speaker's own.
const agentOwner owner = "agent"

// How a fact becomes an order:
//
//   - A fact is cut at its marks, and at "and", "but" and "so". Each clause is an order of its own.
//   - Words of politeness and of how long it holds are left out, and noted.
//   - The first words tell whether it takes something back, forbids something or asks for something.
//   - Units, languages, days and hours are values, which a later order may change.
//   - All other words with a meaning are the topic. "Remind" and "reminders" have one stem.
//
// In doubt both orders stay. "Stop reminding me" leaves open of which thing, and "no quiz today" leaves the quizzes of
// other days.

// maxOrder bounds the words of an order. A longer one is about one text.
const maxOrder = 18

// An OrderKind tells how an order bears on those before it.
type OrderKind int

// Of the kinds of orders, the first tells the agent what to do, the second sets how ("give distances in miles"), and
// the third takes an order back.
const (
	NoOrder OrderKind = iota
	PlainOrder
	SettingOrder
	WithdrawnOrder
)

// KindOfOrder reads ws as an order. One that is taken back for a time alone is none.
func KindOfOrder(ws english.Words) OrderKind {
	o := orderOf(ws)
	switch {
	case o == nil || o.bounded:
		return NoOrder
	case o.taken:
		return WithdrawnOrder
	case len(o.values) > 0 && !o.forbids:
		return SettingOrder
	}
	return PlainOrder
}

// SetsManner reports whether text tells the agent in which language to speak, how long all answers are to be, or not to
// use a language or a form of address any more.
func SetsManner(text string) bool {
	form, lasts := OfWords(text), english.Lasting.Found(english.Split(text))
	return slices.ContainsFunc(form.Claims, func(c Claim) bool {
		return c.Attribute == languageAttribute || c.Ended && c.Attribute == addressAttribute ||
			(c.Ended || lasts) && c.Attribute == "length of answers"
	})
}

// orders reads the clauses of a fact as orders: themes that only orders meet.
func (c *claim) orders(ws english.Words) (out []theme) {
	newly := orderNewly.Found(ws)
	for _, clause := range orderClauses(ws) {
		o := orderOf(clause)
		if o == nil || len(out) == maxWindows {
			continue
		}
		o.lasts, o.newly = o.lasts || newly, o.newly || newly
		t := theme{owner: agentOwner, target: -1, order: o}
		for _, stem := range o.topic {
			t.addNoun(themeNoun{stem: stem})
		}
		for _, v := range o.values {
			t.addNoun(themeNoun{stem: v.kind})
		}
		if len(t.nouns) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// orderClauses are the parts of ws between its marks. The links "and" and "but" end one too.
func orderClauses(ws english.Words) (out []english.Words) {
	start := 0
	for i := range ws {
		next := ws.At(i + 1)
		link := next == "and" || next == "but" || next == "so"
		if !stopsClause(ws[i].Stop) && !link && i+1 < len(ws) {
			continue
		}
		clause := ws[start : i+1]
		for w := clause.At(0); len(clause) > 1 && (w == "and" || w == "but" || w == "so"); w = clause.At(0) {
			clause = clause[1:]
		}
		out = append(out, clause)
		start = i + 1
	}
	return out
}

// orderOf reads a clause as an order; nil if it is none.
func orderOf(ws english.Words) *order {
	allows := ws.StartWith("you", "can") || ws.StartWith("you", "may")
	recurs := ws.Any(orderRecurs) || english.Lasting.Found(ws)
	newly := orderNewly.Found(ws)
	ws, _ = withoutRequest(ws)
	if len(ws) < 2 || len(ws) > maxOrder {
		return nil
	}
	o := &order{verb: orderStem(ws[0].Text), lasts: recurs || newly, newly: newly, recurs: recurs}
	o.allows = allows && o.lasts
	what := o.opening(ws)
	if what == nil {
		return nil
	}
	o.bounded = o.taken && what.Any(orderBounds)
	// A value that holds no longer stands last: "in Kotlin instead of Java".
	for i := range what {
		if n := orderBesides.Match(what, i); n > 0 && i > 0 {
			what, o.swaps = what[:i], true
			break
		}
	}
	if o.readTopic(what); len(o.topic)+len(o.values) == 0 {
		return nil
	}
	return o
}

// opening reads how an order begins, and gives the words that it is about; nil if ws is none.
func (o *order) opening(ws english.Words) english.Words {
	for i := 1; i < len(ws); i++ {
		if n := unasked.Match(ws, i); n > 0 && isOrderVerb(ws[0].Text) && ws.At(i+n) != "for" {
			o.taken, o.topic = true, []string{orderStem("ask")}
			return slices.Concat(ws[:i], ws[i+n:])
		}
	}
	// "Stop" and its like take an order back whatever follows, and "I don't need" only with "any more".
	if n := withdrawing.Match(ws, 0); n > 0 && n < len(ws) {
		o.taken = true
		return ws[n:]
	}
	if n := withdrawnOnce.Match(ws, 0); n > 0 && n < len(ws) && orderOver.Found(ws[n:]) {
		o.taken = true
		return ws[n:]
	}
	// "Leave the calories out" has its particle behind.
	if last := len(ws) - 1; last > 1 && partedVerbs.Has(ws[0].Text) && particlesOf.Has(ws[last].Text) {
		o.taken = true
		return ws[1:last]
	}
	if n := forbidding.Match(ws, 0); n > 0 && n+1 < len(ws) {
		o.forbids, o.lasts = true, o.lasts || ws[0].Text == "never"
		o.verb = orderStem(ws[n].Text)
		return ws[n:]
	}
	// "Recipes with nuts are fine now" allows what was forbidden.
	for i := 1; i+1 < len(ws) && ws[0].Text != "i"; i++ {
		if ws[i].Text == "are" && orderAllowed.Has(ws[i+1].Text) && o.lasts {
			o.allows, o.verb = true, ""
			return ws[:i]
		}
	}
	// A wish is an order where it says that it lasts: "from today I want code in Kotlin".
	if n := mannerWishes.Match(ws, 0); n > 0 && n < len(ws) && o.lasts {
		o.verb = ""
		return ws[n:]
	}
	// "American spelling from now on" has no verb. A statement of the speaker's begins with none of these words, so
	// that it is no order.
	if !isOrderVerb(ws[0].Text) && !(o.lasts && valueOfOrder(ws, 0).kind != "") {
		return nil
	}
	return o.undone(ws)
}

// isOrderVerb reports whether an order may begin with w.
func isOrderVerb(w string) bool { return english.AgentVerbs.Has(w) || orderVerbs.Has(w) }

// undone is ws without the words that take back what another word asks for: "give exact prices".
func (o *order) undone(ws english.Words) english.Words {
	return slices.DeleteFunc(slices.Clone(ws), func(w english.Word) bool {
		stem := undoing.Of(w.Text)
		if stem != "" && !o.taken {
			o.taken, o.topic = true, append(o.topic, stem)
		}
		return stem != ""
	})
}

// readTopic notes what ws is about, and what it sets.
func (o *order) readTopic(ws english.Words) {
	count := map[string]int{}
	for i, w := range ws {
		if v := valueOfOrder(ws, i); v.kind != "" {
			o.values = append(o.values, v)
			count[v.kind]++
			continue
		}
		one := singular(w.Text)
		stem := orderStem(w.Text)
		if before := ws.At(i - 1); before == "in" && valueOfOrder(ws, i+1).kind != "" {
			continue // "in Swiss francs"
		}
		if stem == "" || slices.Contains(o.topic, stem) {
			continue
		}
		o.topic = append(o.topic, stem)
		if persons.Has(one) || relation(one) != "" || strings.HasSuffix(w.Text, "'s") {
			o.others = append(o.others, stem)
		}
	}
	// Of two values of a kind it is not clear which one counts, so both tell what the order is about.
	o.values = slices.DeleteFunc(o.values, func(v themeValue) bool {
		if count[v.kind] > 1 {
			o.topic = append(o.topic, v.text)
		}
		return count[v.kind] > 1
	})
}

// valueOfOrder is what an order sets at ws[i]: a unit, a language behind "in", a day or an hour.
func valueOfOrder(ws english.Words, i int) themeValue {
	if i >= len(ws) {
		return themeValue{}
	}
	w := ws[i].Text
	if one := singular(w); orderValues.Of(one) != "" {
		return themeValue{orderValues.Of(one), one}
	}
	if kind := orderValues.Of(w); kind != "" {
		return themeValue{kind, w}
	}
	// "Go" and "in French" are values only behind "in".
	if ws.At(i-1) == "in" && codesIn.Has(w) {
		return themeValue{"code", w}
	}
	if ws.At(i-1) == "in" && languages.Has(w) {
		return themeValue{"language", w}
	}
	if v := themeValueAt(ws, i); v.kind == "clock" || v.kind == "weekday" {
		return v
	}
	return themeValue{}
}

// orderStem is the one form of a word that tells what an order is about, whether as a verb or as a noun: "remind" of
// "reminders". It is "" for a word that tells nothing.
func orderStem(w string) string {
	w = strings.TrimSuffix(w, "'s")
	one := singular(w)
	light := orderLight.Has(w) || orderLight.Has(one) || orderLight.Has(english.Infinitive(w)) ||
		orderLight.Has(root(w))
	if len(w) < 2 || light || english.StartsWithDigit(w) ||
		inAny(w, english.StopWords, english.Prepositions, english.Articles, english.Pronouns, english.Auxiliaries,
			possessives, negations) {
		return ""
	}
	for _, form := range []string{w, one} {
		if same := orderSame.Of(form); same != "" {
			w = same
		}
	}
	s := root(w)
	// Nouns of what a verb does have the stem of the verb: "reminder", "correction", "recommendation".
	for _, end := range []string{"er", "ion", "at"} {
		if stem, ok := strings.CutSuffix(s, end); ok && len(stem) > 4 {
			s = stem
		}
	}
	return s
}

// withdrawnManner reads what takes back a form of address, a language or a length of answers: "stop calling me Boss",
// "no need for the Dr. Okafor thing", "no more German", "forget the 100-word limit".
func (c *claim) withdrawnManner() []Claim {
	o := &order{}
	ws, _ := withoutRequest(c.words)
	ws, over := withoutAnymore(ws)
	if over {
		ws = append(slices.Clone(ws), english.Word{Text: "anymore"})
	}
	what := o.opening(ws)
	if what == nil || !o.taken {
		return nil
	}
	if what, _ = withoutAnymore(what); what.At(0) == "to" {
		what = what[1:]
	}
	// A name, a bound of the length and a language are told apart by the words beside them.
	if name := c.namedBy(what); name != "" {
		return []Claim{{Attribute: addressAttribute, Value: name, Ended: true}}
	}
	limit := what.Any(limits) && slices.ContainsFunc(what, func(w english.Word) bool {
		_, unit, hyphen := strings.Cut(w.Text, "-")
		return answerUnits.Has(singular(w.Text)) || hyphen && answerUnits.Has(unit)
	})
	if limit {
		return []Claim{{Attribute: "length of answers", Value: "short", Ended: true}}
	}
	// "No more German" is of the answers, and "no more German lessons" is not.
	for i, w := range what[:min(len(what), maxSpoken)] {
		spoken := speaking.Has(what[0].Text) || i == len(what)-1 && i < 2 || what.At(i+1) == "with"
		if languages.Has(w.Text) && spoken && !what.Any(orderBounds) {
			return []Claim{{Attribute: languageAttribute, Value: w.Text, Ended: true}}
		}
	}
	return nil
}

// maxSpoken bounds the words before a language that is to be spoken no longer: "replying to me in".
const maxSpoken = 5

// namedBy is the name in "calling me Boss" and in "the Dr. Okafor thing", in lower case.
func (c *claim) namedBy(ws english.Words) string {
	for _, phrase := range [][]string{{"me", "as"}, {"called"}, {"me"}} {
		if !addressing.Has(ws.At(0)) && ws.At(0) != "being" && ws.At(0) != "be" {
			break
		}
		if n := len(phrase) + 1; ws[1:].StartWith(phrase...) && n < len(ws) {
			return c.formOfAddress(ws[n:], true).value
		}
	}
	last := len(ws) - 1
	if ws = withoutArticle(ws); last < 1 || !addressNouns.Has(ws[len(ws)-1].Text) || len(ws) < 2 {
		return ""
	}
	return c.formOfAddress(ws[:len(ws)-1], false).value
}

// ends reports whether an order takes the place of an earlier one.
func (o *order) ends(before *order) bool {
	about := append(slices.Clone(before.topic), valueTexts(before.values)...)
	words := append(slices.Clone(o.topic), valueTexts(o.values)...)
	switch {
	case o.bounded || before.taken:
		return false
	// "Never use emojis" leaves an order about one text as it is.
	case o.taken, o.forbids && o.lasts && before.recurs:
		reminds := len(words) == 1 && words[0] == remindStem // "stop reminding me" leaves open of which thing
		return !before.forbids && len(words) > 0 && !reminds && within(words, about) && within(before.others, words)
	// "You can suggest beef again" leaves it forbidden to suggest pork, so that all words must be named.
	case before.forbids:
		named := slices.DeleteFunc(about, func(stem string) bool { return stem == before.verb })
		return o.lasts && !o.forbids && len(words) > 0 && within(named, words) &&
			within(words, append(named, before.verb))
	}
	return (o.newly || o.recurs && before.recurs) && !o.forbids && o.sets(before)
}

const remindStem = "remind"

// sets reports whether o gives the thing of an earlier order another value of one kind.
func (o *order) sets(before *order) bool {
	for _, v := range o.values {
		for _, w := range before.values {
			if v.kind != w.kind || v.text == w.text || v.kind == "language" && !o.swaps {
				continue
			}
			// "Use Fahrenheit now" needs no word of what for. A day or an hour is one of something.
			bare := o.newly && len(o.topic) == 0 && len(o.values) == 1 && orderValues.Of(v.text) != ""
			if bare || within(o.topic, before.topic) && within(before.topic, o.topic) {
				return true
			}
		}
	}
	return false
}

// valueTexts are the texts of values.
func valueTexts(values []themeValue) (out []string) {
	for _, v := range values {
		out = append(out, v.text)
	}
	return out
}
