package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/english"
)

// What users tell the agent to remember, and how to behave. A request for one
// answer ("Answer this in French") is neither.

// injection knows attempts to take the agent over. Nothing of a turn that
// holds one is kept: whoever wrote it may have phrased the rest to be kept.
var injection = regexp.MustCompile(`(?i)(?:\b(?:ignore|disregard|forget|override|bypass|violate)\s+(?:(?:all|any|everything|the|your|of|these|those|every|and|other)\s+){0,4}` +
	`(?:(?:previous|prior|above|earlier|preceding|existing|initial|original|system|safety|current|past)\s+)*(?:instructions?|prompts?|rules|guidelines|directives?|programming|restrictions|filters|policies)\b` +
	`|\byou\s+are\s+now\b|\byou\s+(?:will|must|shall)\s+now\s+(?:act|be)\b|\bsystem\s+(?:prompt|message|override)\b|\b(?:developer|god|debug|jailbreak|dan)\s+mode\b|\bjailbr[eo]ak|\bdo\s+anything\s+now\b` +
	`|\bpretend\s+(?:to\s+be|you\s+are|that\s+you)\b|\byour\s+(?:new|real|true)\s+(?:instructions?|role|task|goal|purpose)\b|\bnew\s+instructions?\s*:` +
	`|<\|?(?:im_start|im_end|system|assistant|endoftext)\b|\[/?inst\]|<</?sys>>|#{2,}\s*(?:system|instructions?|assistant)\b` +
	`|(?:^|\n)\s*(?:\[|<|\*\*)?(?:system|developer)(?:\]|>|\*\*)?\s*:)`)

// injectionSigns are what a text has one of, in small letters, that injection
// matches.
var injectionSigns = strings.Fields(`instruction prompt rules guideline directive programming restriction filter polic now system mode jailbr pretend role task goal purpose developer < inst] ##`)

// injects reports whether a text holds an attempt to take the agent over. To
// look for signs first takes a fraction of the time.
func injects(text string) bool {
	folded := strings.ToLower(strings.ToUpper(text)) // of the long s, and the sign for kelvin, too
	return slices.ContainsFunc(injectionSigns, func(s string) bool { return strings.Contains(folded, s) }) && injection.MatchString(text)
}

// directive reads ws[i:] as an instruction that lasts beyond the answer.
func directive(ws english.Words, i int) topics {
	standing, question := false, false
	for {
		if n := english.Lasting.Match(ws, i); n > 0 {
			standing = true
			if i += n; ws[i-1].Text == "whenever" || ws[i-1].Text == "time" {
				i = afterClause(ws, i)
			}
			continue
		}
		n := english.Polite.Match(ws, i)
		if n == 0 {
			break
		}
		question = question || ws[i].Text == "can" || ws[i].Text == "could" || ws[i].Text == "would" || ws[i].Text == "will"
		i += n
	}
	if i >= len(ws) {
		return 0
	}
	rest := ws[i+1:]
	if english.Reminders.Match(ws, i) > 0 {
		return reminder(ws[i+english.Reminders.Match(ws, i):])
	}
	for j := range rest {
		standing = standing || english.Lasting.Match(rest, j) > 0 || rest[j].Text == "always"
	}
	switch ws[i].Text {
	case "always", "never":
		if len(rest) > 1 && english.AgentVerbs.Has(rest[0].Text) && rest[0].Text != "be" && !sayings.Has(rest[1].Text) {
			return naming(rest) | instruction
		}
	case "do":
		if len(rest) > 2 && rest[0].Text == "not" {
			return forbidden(rest[1:], standing)
		}
	case "stop", "avoid":
		if len(rest) > 1 && (stoppable.Has(rest[0].Text) || standing) {
			return instruction
		}
	default:
		if english.AgentVerbs.Has(ws[i].Text) && (standing && len(rest) > 0 || !question && mannered(ws[i:])) {
			return naming(ws[i:]) | instruction
		}
		return naming(ws[i:])
	}
	return 0
}

// afterClause skips "I ask for code," after "whenever".
func afterClause(ws english.Words, i int) int {
	for ; i < len(ws); i++ {
		if ws[i-1].Stop == ',' {
			return i
		}
	}
	return len(ws)
}

func reminder(what english.Words) topics {
	if what.Content() == 0 || len(what) < 2 {
		return 0
	}
	for _, w := range what {
		if cheerful.Has(w.Text) {
			return 0 // "Remember to take care of yourself" is kindness, not a task
		}
	}
	return instruction
}

// forbidden reads what follows "don't".
func forbidden(ws english.Words, standing bool) topics {
	if ws[0].Text == "ever" {
		standing, ws = true, ws[1:]
	}
	if len(ws) < 2 || !english.AgentVerbs.Has(ws[0].Text) || ws[0].Text == "be" {
		return 0
	}
	standing = standing || forGood.Has(ws[len(ws)-1].Text)
	if standing || mannered(ws) || (ws[0].Text == "call" || ws[0].Text == "contact" || ws[0].Text == "disturb" || ws[0].Text == "phone") && ws[1].Text == "me" {
		return instruction
	}
	return 0
}

// naming reads "call me Bob".
func naming(ws english.Words) topics {
	n := 2
	switch {
	case ws.StartWith("call", "me"):
	case ws.StartWith("address", "me", "as"):
		n = 3
	case ws.StartWith("refer", "to", "me", "as"):
		n = 4
	default:
		return 0
	}
	if len(ws) == n || len(ws) > n+6 || english.NotNames.Has(ws[n].Text) {
		return 0
	}
	return instruction | personal
}

// mannered reports whether ws is about the manner of all answers: "Answer in
// French", "Keep your answers short", "Use metric units".
func mannered(ws english.Words) bool {
	switch ws[0].Text {
	case "answer", "reply", "respond", "speak", "talk", "write":
		for j := 1; j+1 < len(ws) && j < 5; j++ {
			if ws[j].Text == "in" {
				return answerManners.Has(ws[j+1].Text) || j+2 < len(ws) && answerManners.Has(ws[j+2].Text)
			}
			if ws[j].Text != "to" && ws[j].Text != "me" && ws[j].Text != "only" && ws[j].Text != "with" && ws[j].Text != "us" {
				return false
			}
		}
	case "use":
		for _, w := range ws[1:min(len(ws), 5)] {
			if w.Text == "this" || w.Text == "that" {
				return false
			}
			if answerManners.Has(w.Text) {
				return true
			}
		}
	case "keep", "make":
		return len(ws) > 2 && (answerNouns.Has(ws[1].Text) || answerNouns.Has(ws[2].Text))
	}
	return false
}
