package english

import _ "embed" // for tables.txt

//go:embed tables.txt
var tablesText string

// tables are the tables that several readers of English share; tables.txt gives the reason for each.
var tables = Parse(tablesText)

var (
	// StopWords say nothing alone, as "the" and "thing"; the evaluative words are among them.
	StopWords = tables.Words("stop-words", Evaluative)
	// Evaluative words judge: "great", "boring".
	Evaluative = tables.Words("evaluative")
	// Adverbs may stand between a subject and its verb, and "not" is one of them.
	Adverbs = tables.Words("adverbs")
	// Auxiliaries are the auxiliary and modal verbs.
	Auxiliaries = tables.Words("auxiliaries")
	// Modals are the modal verbs except "will", which tells of the future.
	Modals = tables.Words("modals")
	// Deictic words point at something that only the conversation shows.
	Deictic = tables.Words("deictic")
	// Articles open a noun phrase; "my" is one of them.
	Articles = tables.Words("articles")
	// Pronouns stand for something said before.
	Pronouns = tables.Words("pronouns")
	// Prepositions open an adverbial or an object.
	Prepositions = tables.Words("prepositions")
	// QuestionWords begin a question.
	QuestionWords = tables.Words("question-words")
	// States are lasting traits that one word names, peoples among them: "vegan", "polish".
	States = tables.Words("states")
	// Moods are feelings of the moment.
	Moods = tables.Words("moods")
	// OwnNouns are persons, pets and traits; a statement about one of them is personal.
	OwnNouns = tables.Words("own-nouns")
	// TaskWords name the work that agents do, which is of no use later.
	TaskWords = tables.Words("task-words")
	// TalkVerbs are verbs of thinking, speaking and asking.
	TalkVerbs = tables.Words("talk-verbs")
	// Likings are the verbs of taste, in the present.
	Likings = tables.Words("likings")
	// PresentVerbs are plain forms of verbs that tell of somebody's life.
	PresentVerbs = tables.Words("present-verbs")
	// Participles are past participles that are no past forms.
	Participles = tables.Words("participles")
	// DateWords name a day or a month, or count back to one.
	DateWords = tables.Words("date-words")
	// WeakDateWords are of the day itself, or are often no date: "today", "may".
	WeakDateWords = tables.Words("weak-date-words")
	// Periods are spans that "last" and "next" can point at.
	Periods = tables.Words("periods")
	// Polite phrases wrap a request: "could you please".
	Polite = tables.Phrases("polite")
	// Lasting phrases make an instruction hold beyond the next answer.
	Lasting = tables.Phrases("lasting")
	// AgentVerbs are the verbs that an order to an agent has.
	AgentVerbs = tables.Words("agent-verbs")
	// NotNames are words after "call me" that are no name.
	NotNames = tables.Words("not-names")
	// Reminders are requests for a reminder.
	Reminders = tables.Phrases("reminders")
	// Fillers end a message and say nothing: "lol".
	Fillers = tables.Words("fillers")
)

// Tables behind the functions of this package.
var (
	irregularPast       = tables.Words("irregular-past")
	notPast             = tables.Words("not-past")
	moreVerbs           = tables.Words("more-verbs")
	leads               = tables.Phrases("leads")
	softLeads           = tables.Words("soft-leads")
	coordinating        = tables.Words("coordinating")
	explaining          = tables.Words("explaining")
	titles              = tables.Words("titles")
	complements         = tables.Words("complements")
	notPlural           = tables.Words("not-plural")
	relative            = tables.Words("relative")
	subjects            = tables.Words("subjects")
	statementStarts     = tables.Words("statement-starts")
	addressLeads        = tables.Words("address-leads")
	rememberFirmly      = tables.Phrases("remember-firmly")
	rememberIfStatement = tables.Phrases("remember-if-statement")
	reminisced          = tables.Words("reminisced")
	abbreviations       = tables.Words("abbreviations")
	contractions        = tables.Variants("contractions")
	spellings           = tables.Variants("spellings")
	ourStems            = tables.Words("our-stems")
	iseStems            = tables.Words("ise-stems")
	iseEnds             = tables.Words("ise-ends")
	ordinalUnits        = tables.Variants("ordinal-units")
	englishWords        = tables.Words("english-words")
	foreignWords        = tables.Words("foreign-words")
	oftenMisspelled     = tables.Words("often-misspelled")
	spelledRight        = tables.Words("spelled-right")
)
