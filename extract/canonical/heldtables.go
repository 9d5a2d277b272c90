package canonical

import (
	_ "embed" // for learned.txt

	"github.com/memoryd/memoryd/extract/english"
)

// The tables of learned.txt keep weights from what they cannot know. Weights see which words a statement has, and
// hardly how they stand to each other: a word of doubt, of another time or of somebody else turns a statement round
// and leaves its score nearly as it was. To let a statement through that a table stops, look first at what else the
// word stops; to stop one, a look-alike in extract/learned/train/texts.txt is mostly better, as it stops its like
// too.

//go:embed learned.txt
var learnedText string

var (
	learnedTables    = english.Parse(learnedText)
	dwelling         = learnedTables.Words("dwelling")
	fancies          = learnedTables.Words("fancies")
	passing          = learnedTables.Words("passing")
	others           = learnedTables.Words("others")
	leavings         = learnedTables.Words("leavings")
	workedAt         = learnedTables.Words("worked-at")
	tabledChange     = learnedTables.Words("tabled-change")
	general          = learnedTables.Words("general")
	leaning          = learnedTables.Words("leaning")
	lasting          = learnedTables.Words("lasting")
	orderAuxiliaries = learnedTables.Words("order-auxiliaries")
	ownForms         = learnedTables.Variants("own-forms")
	drinks           = learnedTables.Words("drinks")
	unsure           = learnedTables.Words("unsure")
	bereft           = learnedTables.Words("bereft")
	wordingLeads     = learnedTables.Words("wording-leads")
	strict           = learnedTables.Words("strict")
	orders           = learnedTables.Words("orders")
	sameSlot         = learnedTables.Variants("same-slot")
	boundBy          = learnedTables.Variants("bound")
	doses            = learnedTables.Words("doses")

	heldTopics = map[string]english.Variants{
		"name": learnedTables.Variants("name"), "pb": learnedTables.Variants("pb"),
		"pets": learnedTables.Variants("pets"),
		"kids": learnedTables.Variants("kids"), "cars": learnedTables.Variants("cars"),
		"extension": learnedTables.Variants("extension"), "bedtime": learnedTables.Variants("bedtime"),
		"favourite": learnedTables.Variants("favourite"), "provider": learnedTables.Variants("provider"),
		"budget": learnedTables.Variants("budget"),
	}
)
