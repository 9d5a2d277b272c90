package rules

import (
	_ "embed" // for tables.txt

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed tables.txt
var tablesText string

// tables are the tables of this package; tables.txt gives the reason for each.
var tables = english.Parse(tablesText)

// Sentences: the words before and after a statement, and what keeps a sentence from being one.
var (
	hypothetical  = tables.Phrases("hypothetical")
	makeBelieve   = tables.Words("make-believe")
	speakerWords  = tables.Words("speaker-words")
	pasteVerbs    = tables.Words("paste-verbs")
	secrets       = tables.Phrases("secrets")
	tailJoints    = tables.Words("tail-joints")
	firmTails     = tables.Phrases("firm-tails")
	openTails     = tables.Phrases("open-tails")
	rememberTails = tables.Phrases("remember-tails")
	remarks       = tables.Phrases("remarks")
	generic       = tables.Words("generic")
	leaning       = tables.Words("leaning")
	ownersBefore  = tables.Words("owners-before")
	demonstrative = tables.Words("demonstrative")
	firstPerson   = tables.Words("first-person")
	alone         = tables.Words("alone")

	reporting  = tables.Words("reporting")
	textLabels = tables.Words("text-labels")
	reasons    = tables.Words("reasons")

	weekdays        = tables.Words("weekdays")
	correctionWords = tables.Words("correction-words")
)

// What is not so: irony, games, stories.
var (
	ironies     = tables.Phrases("ironies")
	jests       = tables.Phrases("jests")
	rolePlay    = tables.Phrases("role-play")
	stories     = tables.Phrases("stories")
	storyGoesOn = tables.Words("story-goes-on")
)

// Questions with their answers, and profiles.
var (
	noAnswers      = tables.Phrases("no-answers")
	yes            = tables.Words("yes")
	phatic         = tables.Phrases("phatic")
	greetings      = tables.Words("greetings")
	pointers       = tables.Words("pointers")
	appears        = tables.Words("appears")
	subordinates   = tables.Words("subordinates")
	notGerunds     = tables.Words("not-gerunds")
	objects        = tables.Words("objects")
	beenTimes      = tables.Phrases("been-times")
	asksForSelf    = tables.Words("asks-for-self")
	noOrYes        = tables.Words("no-or-yes")
	lifeQuestions  = tables.Words("life-questions")
	labels         = tables.Phrases("labels")
	labelsOfTaste  = tables.Phrases("labels-of-taste")
	singularLabels = tables.Words("singular-labels")
	noted          = tables.Words("noted")
	leadsToValue   = tables.Words("leads-to-value")
)

// Instructions: the verbs, the objects and the manners of an order that holds for good.
var (
	requestWords  = tables.Words("request-words")
	callMe        = tables.Phrases("call-me")
	wantedOfYou   = tables.Phrases("wanted-of-you")
	contactVerbs  = tables.Words("contact-verbs")
	stoppable     = tables.Words("stoppable")
	forGood       = tables.Words("for-good")
	sayings       = tables.Words("sayings")
	cheerful      = tables.Words("cheerful")
	answerNouns   = tables.Words("answer-nouns")
	answerManners = tables.Words("answer-manners")
	beforeManner  = tables.Words("before-manner")
)

// Subjects: adverbials before the subject, subjects other than the speaker, and possessions.
var (
	openers          = tables.Words("openers")
	openingPhrases   = tables.Phrases("opening-phrases")
	clauseOpeners    = tables.Words("clause-openers")
	spans            = tables.Words("spans")
	periodLeads      = tables.Words("period-leads")
	quantifiers      = tables.Words("quantifiers")
	addressee        = tables.Words("addressee")
	callers          = tables.Words("callers")
	notIdentified    = tables.Words("not-identified")
	reachPhrases     = tables.Phrases("reach-phrases")
	originPhrases    = tables.Phrases("origin-phrases")
	emptyPossessions = tables.Words("empty-possessions")
	elidedAdverbs    = tables.Words("elided-adverbs")
	events           = tables.Words("events")
	elidedTastes     = tables.Words("elided-tastes")
	tenselessPast    = tables.Words("tenseless-past")
	bareOwned        = tables.Words("bare-owned")
	records          = tables.Words("records")
	money            = tables.Words("money")
	valueVerbs       = tables.Words("value-verbs")
	persons          = tables.Words("persons")
	traits           = tables.Words("traits")
	healers          = tables.Words("healers")
	smallNumbers     = tables.Words("small-numbers")
	homes            = tables.Words("homes")
	changes          = tables.Words("changes")
	inCharge         = tables.Words("in-charge")
	contacts         = tables.Words("contacts")
	comers           = tables.Words("comers")
	deliveries       = tables.Words("deliveries")
	aids             = tables.Words("aids")
	streets          = tables.Words("streets")
	projects         = tables.Words("projects")
	over             = tables.Words("over")
	household        = tables.Words("household")
	appointments     = tables.Words("appointments")
	learnings        = tables.Phrases("learnings")
	opinions         = tables.Words("opinions")
	decisivePhrases  = tables.Phrases("decisive-phrases")
	measures         = tables.Words("measures")
	effects          = tables.Words("effects")
	otherTalk        = tables.Words("other-talk")
	determiners      = tables.Words("determiners")
	notSubjects      = tables.Words("not-subjects")
)

// Complements of "am": states, origins, tastes, roles, and what goes on.
var (
	degree               = tables.Words("degree")
	talkComplements      = tables.Words("talk-complements")
	origins              = tables.Words("origins")
	fears                = tables.Words("fears")
	ageUnits             = tables.Words("age-units")
	ageNumbers           = tables.Words("age-numbers")
	emptyHeads           = tables.Words("empty-heads")
	tastes               = tables.Words("tastes")
	abilities            = tables.Words("abilities")
	regimens             = tables.Words("regimens")
	happenings           = tables.Words("happenings")
	transient            = tables.Words("transient")
	memberships          = tables.Words("memberships")
	works                = tables.Words("works")
	lifeGoals            = tables.Words("life-goals")
	talkParticiples      = tables.Words("talk-participles")
	appointedParticiples = tables.Words("appointed-participles")
	weakParticiples      = tables.Words("weak-participles")
)

// Objects of "have" and of verbs of taste.
var (
	notOwned = tables.Words("not-owned")
	fleeting = tables.Words("fleeting")
	vague    = tables.Words("vague")
)

// Verbs, by how much they say of a life.
var (
	lifeVerbs      = tables.Words("life-verbs")
	ownTraits      = tables.Words("own-traits")
	dietVerbs      = tables.Words("diet-verbs")
	soloHabits     = tables.Words("solo-habits")
	commutes       = tables.Words("commutes")
	regular        = tables.Words("regular")
	taskHabits     = tables.Words("task-habits")
	pastToo        = tables.Words("past-too")
	planVerbs      = tables.Words("plan-verbs")
	wishVerbs      = tables.Words("wish-verbs")
	goals          = tables.Words("goals")
	weakGoals      = tables.Words("weak-goals")
	skills         = tables.Words("skills")
	toleranceVerbs = tables.Words("tolerance-verbs")
	talkPast       = tables.Words("talk-past")
	weakPast       = tables.Words("weak-past")
	decisivePast   = tables.Words("decisive-past")
	likingsPast    = tables.Words("likings-past")
	lifePast       = tables.Words("life-past")
)
