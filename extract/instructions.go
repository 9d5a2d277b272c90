package extract

import (
	"regexp"
	"slices"
	"strings"
)

// What users tell the agent to remember, and how to behave. A request for one
// answer ("Answer this in French") is neither.

var (
	// asksFirm hand over whatever follows; asksSoft only a statement that would
	// be one without them ("Keep in mind that the API is slow" is about a task).
	asksFirm = phraseTable("remember that", "please remember that", "always remember that", "do not forget that", "never forget that",
		"make a note that", "take note that", "make sure to remember that", "make sure you remember that", "be sure to remember that", "i want you to remember that", "i would like you to remember that",
		"you should remember that", "save to memory that", "add to memory that", "add to your memory that", "store in memory that", "store in your memory that", "memorize that", "memorise that",
		"remind me that")
	asksSoft = phraseTable("remember", "remember this", "please remember this", "do not forget", "never forget", "keep in mind that", "keep in mind", "bear in mind that", "bear in mind",
		"make a note", "note", "take note", "please know that", "please be aware that", "be aware that", "for future reference", "for later", "memorize", "save this", "note to self")
	// reminders stay as they are said.
	reminders = phraseTable("remember to", "do not forget to", "do not let me forget to", "do not let me forget", "remind me to", "remember not to", "please remind me to")
	polite    = phraseTable("can you please", "could you please", "would you please", "will you please", "can you", "could you", "would you", "will you",
		"please", "also", "and", "but", "kindly", "i want you to", "i would like you to", "i need you to", "i would like it if you", "i prefer that you", "i would prefer that you",
		"i would prefer if you", "i would appreciate it if you", "you should", "you must", "you can", "you may", "you have to", "you need to", "make sure to", "make sure you",
		"make sure that you", "make sure", "be sure to", "try to", "it is important that you", "just", "feel free to")
	lasting = phraseTable("from now on", "from here on", "from here on out", "going forward", "moving forward", "in future", "in the future", "from today on", "every time", "each time", "whenever",
		"at all times", "for all future", "in all future", "as a rule", "by default", "as a general rule")
	// ended, after "don't", means for good.
	ended = words("again anymore ever future")
	// deeds are what an agent can be told to do or to leave.
	deeds = words(`answer reply respond speak talk write use call address keep give ask include add explain show format start end begin sign refer assume
		suggest recommend tell say mention send put cite make be provide check confirm translate spell schedule book remind contact phone text email disturb message
		share store avoid treat greet order quote round convert summarise summarize stick skip stay`)
	stopped = words("calling using asking sending apologising apologizing saying adding suggesting recommending being giving mentioning reminding writing talking telling repeating putting ending starting assuming")
	// languages and manners that an answer can be wanted in.
	manners = words(`english french german spanish italian portuguese dutch polish swedish norwegian danish finnish russian ukrainian turkish arabic hebrew hindi
		japanese chinese mandarin cantonese korean greek czech hungarian romanian vietnamese thai indonesian catalan latin
		metric imperial celsius fahrenheit kilometers kilometres miles kilograms pounds british american formal informal casual plain simple short
		brief concise succinct polite friendly markdown emoji emojis bullet bullets jargon slang swearwords exclamation sarcasm humor humour lists tables headings sentences paragraphs
		24-hour 12-hour he/him she/her they/them he she they pronouns nickname surname first-name firstname`)
	answers    = words("answers replies responses messages explanations summaries emails suggestions recommendations")
	notNames   = words("when if back later at tomorrow on in crazy a an the now today tonight again before after maybe as so what it whenever anytime by for from to up out and or old paranoid biased naive not never")
	sayings    = words("never up too")
	cheerful   = words("your yourself you enjoy relax breathe smile believe laugh fun breaks break")
	reminisced = words("time day night one trip movie when guy girl song book feeling moment what where who how why if whether the last back our")
)

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

// asked finds a request to remember at ws[i]: the index of what is to be
// remembered, and whether it is to be kept whatever it is.
func asked(ws []word, i int) (next int, firm, ok bool) {
	for j := i; ; {
		if n := asksFirm.at(ws, j); n > 0 {
			if j+n < len(ws) && reminisced[ws[j+n].text] && ws[j+n].text != "the" && ws[j+n].text != "our" {
				return i, false, false
			}
			return j + n, true, true
		}
		if reminders.at(ws, j) > 0 {
			return i, false, false
		}
		if n := asksSoft.at(ws, j); n > 0 {
			if j+n < len(ws) && reminisced[ws[j+n].text] {
				return i, false, false
			}
			return j + n, false, true
		}
		n := polite.at(ws, j)
		if n == 0 {
			return i, false, false
		}
		j += n
	}
}

// directive reads ws[i:] as an instruction that lasts beyond the answer.
func directive(ws []word, i int) topics {
	standing, question := false, false
	for {
		if n := lasting.at(ws, i); n > 0 {
			standing = true
			if i += n; ws[i-1].text == "whenever" || ws[i-1].text == "time" {
				i = afterClause(ws, i)
			}
			continue
		}
		n := polite.at(ws, i)
		if n == 0 {
			break
		}
		question = question || ws[i].text == "can" || ws[i].text == "could" || ws[i].text == "would" || ws[i].text == "will"
		i += n
	}
	if i >= len(ws) {
		return 0
	}
	rest := ws[i+1:]
	if reminders.at(ws, i) > 0 {
		return reminder(ws[i+reminders.at(ws, i):])
	}
	for j := range rest {
		standing = standing || lasting.at(rest, j) > 0 || rest[j].text == "always"
	}
	switch ws[i].text {
	case "always", "never":
		if len(rest) > 1 && deeds[rest[0].text] && rest[0].text != "be" && !sayings[rest[1].text] {
			return naming(rest) | instruction
		}
	case "do":
		if len(rest) > 2 && rest[0].text == "not" {
			return forbidden(rest[1:], standing)
		}
	case "stop", "avoid":
		if len(rest) > 1 && (stopped[rest[0].text] || standing) {
			return instruction
		}
	default:
		if deeds[ws[i].text] && (standing && len(rest) > 0 || !question && mannered(ws[i:])) {
			return naming(ws[i:]) | instruction
		}
		return naming(ws[i:])
	}
	return 0
}

// afterClause skips "I ask for code," after "whenever".
func afterClause(ws []word, i int) int {
	for ; i < len(ws); i++ {
		if ws[i-1].stop == ',' {
			return i
		}
	}
	return len(ws)
}

func reminder(what []word) topics {
	if content(what) == 0 || len(what) < 2 {
		return 0
	}
	for _, w := range what {
		if cheerful[w.text] {
			return 0 // "Remember to take care of yourself" is kindness, not a task
		}
	}
	return instruction
}

// forbidden reads what follows "don't".
func forbidden(ws []word, standing bool) topics {
	if ws[0].text == "ever" {
		standing, ws = true, ws[1:]
	}
	if len(ws) < 2 || !deeds[ws[0].text] || ws[0].text == "be" {
		return 0
	}
	standing = standing || ended[ws[len(ws)-1].text]
	if standing || mannered(ws) || (ws[0].text == "call" || ws[0].text == "contact" || ws[0].text == "disturb" || ws[0].text == "phone") && ws[1].text == "me" {
		return instruction
	}
	return 0
}

// naming reads "call me Bob".
func naming(ws []word) topics {
	n := 2
	switch {
	case hasPhrase(ws, []string{"call", "me"}):
	case hasPhrase(ws, []string{"address", "me", "as"}):
		n = 3
	case hasPhrase(ws, []string{"refer", "to", "me", "as"}):
		n = 4
	default:
		return 0
	}
	if len(ws) == n || len(ws) > n+6 || notNames[ws[n].text] {
		return 0
	}
	return instruction | personal
}

// mannered reports whether ws is about the manner of all answers: "Answer in
// French", "Keep your answers short", "Use metric units".
func mannered(ws []word) bool {
	switch ws[0].text {
	case "answer", "reply", "respond", "speak", "talk", "write":
		for j := 1; j+1 < len(ws) && j < 5; j++ {
			if ws[j].text == "in" {
				return manners[ws[j+1].text] || j+2 < len(ws) && manners[ws[j+2].text]
			}
			if ws[j].text != "to" && ws[j].text != "me" && ws[j].text != "only" && ws[j].text != "with" && ws[j].text != "us" {
				return false
			}
		}
	case "use":
		for _, w := range ws[1:min(len(ws), 5)] {
			if w.text == "this" || w.text == "that" {
				return false
			}
			if manners[w.text] {
				return true
			}
		}
	case "keep", "make":
		return len(ws) > 2 && (answers[ws[1].text] || answers[ws[2].text])
	}
	return false
}
