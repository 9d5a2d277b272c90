package canonical

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// A task is a claim that something is to be done, and its end names the verb and the whole thing. "I renewed my library
// card" leaves a passport as it is, and so does what was done in part, long ago or by somebody else. A duty that comes
// again and again is none: who must pay rent each month has paid one of many.
//
// The claims are loose. They serve as what a later fact may end, and say nothing of what a fact is worth.

// What is still to be done once, or waited for, is told with a verb and its thing: "I need to renew my passport", "I'm
// waiting for my visa". The same verb and thing in the past, or the answer that was waited for, end it. A plan ends as
// well by its opposite: who keeps the flat after all sells none.

var (
	onceVerbs    = tables.Words("once-verbs")
	mustLeads    = tables.Phrases("must-leads")
	planLeads    = tables.Phrases("plan-leads")
	droppedPlans = tables.Phrases("dropped-plans")
	waitingLeads = tables.Phrases("waiting-leads")
	answered     = tables.Phrases("answered")
	received     = tables.Words("received")
	keepingLeads = tables.Phrases("keeping-leads")
	lastPayments = tables.Phrases("last-payments")
	answerAfter  = tables.Words("thing-ends")
	thingLinks   = tables.Words("thing-links")
	undone       = tables.Words("undone")
	taskParticle = tables.Words("task-particles")
)

const (
	taskAttribute  = "task "
	awaitAttribute = "waiting for "
	debtAttribute  = "debt of "
)

// ofTask reports whether an attribute is a task, something that is waited for, or a debt.
func ofTask(attribute string) bool {
	return strings.HasPrefix(attribute, taskAttribute) || strings.HasPrefix(attribute, awaitAttribute) ||
		strings.HasPrefix(attribute, debtAttribute)
}

// todo reads what the speaker has to do, waits for or owes, and that it was done or has come.
func (c *claim) todo(all english.Words) []Claim {
	if len(all) > maxClaimWords || all.Any(indefiniteTimes) {
		return nil
	}
	ws := all
	// A clause without a subject goes on about the speaker: "handed in the thesis".
	if ws.At(0) == "i" || ws.At(0) == "we" {
		ws = ws[1:]
	} else if out := c.cameThrough(ws); out != nil {
		return out
	} else if !english.Past(ws.At(0)) {
		return nil
	}
	ws = withoutAdverbs(slices.DeleteFunc(slices.Clone(ws), func(w english.Word) bool {
		return w.Text == "still" || w.Text == "just" || w.Text == "finally" || w.Text == "really"
	}))
	if n := waitingLeads.Match(ws, 0); n > 0 {
		return claimOf(awaitAttribute, taskThing(ws[n:]), false)
	}
	if out := debt(ws); out != nil {
		return out
	}
	// A plan that is dropped names its verb, or only the thing that somebody wanted.
	if n := droppedPlans.Match(ws, 0); n > 0 && n < len(ws) {
		if verb := ws[n].Text; onceVerbs.Has(verb) || onceVerbs.Has(english.Infinitive(verb)) {
			return claimOf(taskAttribute, taskOf(cmp.Or(english.Infinitive(verb), verb), ws[n:]), true)
		}
		return tasksOf([]string{"buy", "adopt", "rent", "hire", "order", "book"}, ws[n:])
	}
	if n := keepingLeads.Match(ws, 0); n > 0 && (ws[0].Text != "am" && ws[0].Text != "are" || ws.Has("after")) {
		return tasksOf([]string{"sell", "rehom", "donat", "replac", "rent", "quit"}, ws[n:]) // none is given away
	}
	if n := max(mustLeads.Match(ws, 0), planLeads.Match(ws, 0)); n > 0 && n < len(ws) {
		if !onceVerbs.Has(ws[n].Text) {
			return nil
		}
		return claimOf(taskAttribute, taskOf(ws[n].Text, ws[n:]), false)
	}
	return c.did(ws)
}

// debt reads "owe 300 on my car", "owe my brother 300 euros" and "made the last payment on my car".
func debt(ws english.Words) []Claim {
	if ws.At(0) == "owe" && english.StartsWithDigit(ws.At(1)) {
		if k := slices.IndexFunc(ws, func(w english.Word) bool { return w.Text == "on" }); k > 1 {
			return claimOf(debtAttribute, taskThing(ws[k+1:]), false)
		}
	}
	for k := 2; k < min(len(ws), maxTaskWords) && ws[0].Text == "owe"; k++ {
		if english.StartsWithDigit(ws[k].Text) {
			return claimOf(debtAttribute, taskThing(ws[1:k]), false)
		}
	}
	// "Paid my brother back"
	if last := len(ws) - 1; last > 1 && ws[0].Text == "paid" && ws[last].Text == "back" {
		return claimOf(debtAttribute, taskThing(ws[1:last]), true)
	}
	if n := lastPayments.Match(ws, 0); n > 0 {
		return claimOf(debtAttribute, taskThing(ws[n:]), true)
	}
	return nil
}

// indefiniteTimes are words with which a task comes again, or is done in part.
var indefiniteTimes = tables.Words("indefinite-times")

// claimOf is the claim that there is a task, or that there is none any more; none without a thing.
func claimOf(attribute, what string, ended bool) []Claim {
	if what == "" {
		return nil
	}
	return []Claim{{Attribute: attribute + what, Value: held, Ended: ended, Loose: true}}
}

// did reads "have renewed my passport" and "got the car fixed".
func (c *claim) did(ws english.Words) []Claim {
	if ws.At(0) == "have" {
		ws = ws[1:]
	}
	if ws.Any(undone) || ws.Any(uncertain) || longAgo(ws) || len(ws) < 2 {
		return nil
	}
	// "Got the car fixed" has the verb behind its thing.
	if ws[0].Text == "got" {
		for i := 2; i < min(len(ws), maxTaskWords); i++ {
			if english.Past(ws[i].Text) && ws[i-1].Stop == 0 {
				return claimOf(taskAttribute, join(onceStem(ws[i].Text), taskThing(ws[1:i])), true)
			}
		}
	}
	out := []Claim(nil)
	if received.Has(ws[0].Text) && !ws.Has("for") {
		out = claimOf(awaitAttribute, taskThing(ws[1:]), true)
	}
	if !english.Past(ws[0].Text) {
		return out
	}
	// What is paid off is owed no longer.
	if ws[0].Text == "paid" && ws.At(1) == "off" {
		out = append(out, claimOf(debtAttribute, taskThing(ws[2:]), true)...)
	}
	return append(out, claimOf(taskAttribute, taskOf(onceStem(ws[0].Text), ws), true)...)
}

// cameThrough reads "the visa was granted", "my passport has been renewed" and "my loan is paid off".
func (c *claim) cameThrough(ws english.Words) (out []Claim) {
	if !inAny(ws.At(0), english.Articles, possessives) || ws.Any(undone) || ws.Any(uncertain) || longAgo(ws) ||
		ws.At(0) == "a" || ws.At(0) == "an" {
		return nil
	}
	for i := 2; i < min(len(ws), maxTaskWords); i++ {
		what := taskThing(ws[:i])
		// Granted or refused, nothing is waited for any more.
		if n := answered.Match(ws, i); n > 0 {
			return claimOf(awaitAttribute, what, true)
		}
		// "Has been" and "got" tell of what was done as well as "is" does.
		been := ws[i].Text == "has" && ws.At(i+1) == "been"
		be := isBe(ws[i].Text) || pastBe.Has(ws[i].Text) || ws[i].Text == "got" || been
		if !be {
			continue
		}
		if ws[i].Text == "has" {
			i++
		}
		for i+1 < len(ws) && inAny(ws[i+1].Text, english.Adverbs, frontAdverbs) {
			i++
		}
		if done := ws.At(i + 1); english.Past(done) {
			if done == "paid" {
				out = claimOf(debtAttribute, what, true)
			}
			return append(out, claimOf(taskAttribute, join(onceStem(done), what), true)...)
		}
		return nil
	}
	return nil
}

// tasksOf are the ended tasks to do what any of the verbs tells with the thing that ws begins with.
func tasksOf(verbs []string, ws english.Words) (out []Claim) {
	for _, verb := range verbs {
		out = append(out, claimOf(taskAttribute, join(verb, taskThing(ws)), true)...)
	}
	return out
}

// onceStem is the stem of the past form of a verb of what is done once; "" of other verbs.
func onceStem(past string) string {
	if stem := verbStem(past); onceVerbs.Has(stem) || onceVerbs.Has(stem+"e") {
		return stem
	}
	return ""
}

// maxTaskWords bounds the words of the thing of a task.
const maxTaskWords = 6

// taskOf is a verb and its thing, past a particle: "hand thesis" of "hand in my thesis".
func taskOf(verb string, ws english.Words) string {
	if len(ws) < 2 || verb == "" {
		return ""
	}
	// "Hand in" has a particle, which may stand before the thing.
	ws = ws[1:]
	if taskParticle.Has(ws[0].Text) && len(ws) > 1 {
		ws = ws[1:]
	}
	return join(strings.TrimSuffix(verb, "e"), taskThing(ws))
}

// join is a verb and a thing; "" without either.
func join(verb, what string) string {
	if verb == "" || what == "" {
		return ""
	}
	return verb + " " + what
}

// taskThing is the thing that ws begins with, and for whom or what it is.
func taskThing(ws english.Words) string {
	for i := 1; i < len(ws); i++ {
		if inAny(ws[i].Text, english.DateWords, english.WeakDateWords, answerAfter) {
			ws = ws[:i] // "my taxes yesterday"
			break
		}
	}
	// Possessives of others leave no thing.
	what, rest := objectOf(ws)
	// For whom or of what the thing is tells it apart.
	if next := rest.At(0); what != "" && thingLinks.Has(next) {
		if behind := object(rest[1:]); behind != "" {
			what += " " + next + " " + behind
		}
	}
	return what
}
