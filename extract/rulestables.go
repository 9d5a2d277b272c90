package extract

import (
	_ "embed" // for rulestables.txt

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed rulestables.txt
var rulesTablesText string

// rulesTables are the tables that only the rules extractor reads; rulestables.txt gives the reason for each.
var rulesTables = english.Parse(rulesTablesText)

var (
	degree               = rulesTables.Words("degree")
	vague                = rulesTables.Words("vague")
	clauseOpeners        = rulesTables.Words("clause-openers")
	openers              = rulesTables.Words("openers")
	spans                = rulesTables.Words("spans")
	periodLeads          = rulesTables.Words("period-leads")
	quantifiers          = rulesTables.Words("quantifiers")
	callers              = rulesTables.Words("callers")
	elidedAdverbs        = rulesTables.Words("elided-adverbs")
	reachPhrases         = rulesTables.Phrases("reach-phrases")
	originPhrases        = rulesTables.Phrases("origin-phrases")
	hypothetical         = rulesTables.Phrases("hypothetical")
	fears                = rulesTables.Words("fears")
	regimens             = rulesTables.Words("regimens")
	lifeGoals            = rulesTables.Words("life-goals")
	regular              = rulesTables.Words("regular")
	secrets              = rulesTables.Phrases("secrets")
	ageUnits             = rulesTables.Words("age-units")
	ageNumbers           = rulesTables.Words("age-numbers")
	tastes               = rulesTables.Words("tastes")
	happenings           = rulesTables.Words("happenings")
	talkComplements      = rulesTables.Words("talk-complements")
	transient            = rulesTables.Words("transient")
	emptyHeads           = rulesTables.Words("empty-heads")
	talkParticiples      = rulesTables.Words("talk-participles")
	appointedParticiples = rulesTables.Words("appointed-participles")
	weakParticiples      = rulesTables.Words("weak-participles")
	emptyPossessions     = rulesTables.Words("empty-possessions")
	notOwned             = rulesTables.Words("not-owned")
	fleeting             = rulesTables.Words("fleeting")
	pasteVerbs           = rulesTables.Words("paste-verbs")
	taskHabits           = rulesTables.Words("task-habits")
	talkPast             = rulesTables.Words("talk-past")
	weakPast             = rulesTables.Words("weak-past")
	decisivePast         = rulesTables.Words("decisive-past")
	likingsPast          = rulesTables.Words("likings-past")
	goals                = rulesTables.Words("goals")
	weakGoals            = rulesTables.Words("weak-goals")
	pastToo              = rulesTables.Words("past-too")
	soloHabits           = rulesTables.Words("solo-habits")
	skills               = rulesTables.Words("skills")
	underway             = rulesTables.Words("underway")
	events               = rulesTables.Words("events")
	forGood              = rulesTables.Words("for-good")
	stoppable            = rulesTables.Words("stoppable")
	answerManners        = rulesTables.Words("answer-manners")
	answerNouns          = rulesTables.Words("answer-nouns")
	sayings              = rulesTables.Words("sayings")
	cheerful             = rulesTables.Words("cheerful")
	firmTails            = rulesTables.Phrases("firm-tails")
	openTails            = rulesTables.Phrases("open-tails")
	rememberTails        = rulesTables.Phrases("remember-tails")
)
