package rules

import (
	"regexp"
	"slices"
	"strings"
)

// injection finds attempts to take the agent over. Nothing of a turn that holds one is kept: its author may have
// phrased the rest so that it is kept.
var injection = regexp.MustCompile(`(?i)(?:` + strings.Join([]string{
	// "ignore all the previous instructions"
	`\b(?:ignore|disregard|forget|override|bypass|violate)\s+` +
		`(?:(?:all|any|everything|the|your|of|these|those|every|and|other)\s+){0,4}` +
		`(?:(?:previous|prior|above|earlier|preceding|existing|initial|original|system|safety|current|past)\s+)*` +
		`(?:instructions?|prompts?|rules|guidelines|directives?|programming|restrictions|filters|policies)\b`,
	`\byou\s+are\s+now\b`,
	`\byou\s+(?:will|must|shall)\s+now\s+(?:act|be)\b`,
	`\bsystem\s+(?:prompt|message|override)\b`,
	`\b(?:developer|god|debug|jailbreak|dan)\s+mode\b`,
	`\bjailbr[eo]ak`,
	`\bdo\s+anything\s+now\b`,
	`\bpretend\s+(?:to\s+be|you\s+are|that\s+you)\b`,
	`\byour\s+(?:new|real|true)\s+(?:instructions?|role|task|goal|purpose)\b`,
	`\bnew\s+instructions?\s*:`,
	// the marks between the parts of prompts
	`<\|?(?:im_start|im_end|system|assistant|endoftext)\b`,
	`\[/?inst\]`,
	`<</?sys>>`,
	`#{2,}\s*(?:system|instructions?|assistant)\b`,
	`(?:^|\n)\s*(?:\[|<|\*\*)?(?:system|developer)(?:\]|>|\*\*)?\s*:`,
}, "|") + `)`)

// injectionSigns are texts in small letters of which every match of injection has one.
var injectionSigns = strings.Fields(`instruction prompt rules guideline directive programming restriction filter polic
	now system mode jailbr pretend role task goal purpose developer < inst] ##`)

// injects reports whether a text holds an attempt to take the agent over. It looks for signs first, which takes a
// fraction of the time.
func injects(text string) bool {
	folded := strings.ToLower(strings.ToUpper(text)) // also makes an s of the long s, and a k of the sign for kelvin
	return slices.ContainsFunc(injectionSigns, func(s string) bool { return strings.Contains(folded, s) }) &&
		injection.MatchString(text)
}
