package check

import (
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Advice is what a broken rule means, and what to do.
type Advice struct {
	Means  string `json:"means"`
	Remedy string `json:"remedy"`
}

const (
	salvage = "memoryd recover brings what can be read into a new store; or restore a backup"
	rebuild = "memoryd rebuild into an empty memory store has the memories made again from the sessions"
	missing = "memoryd rebuild -again has missing memories made again from the sessions"
	restart = "it mends itself while memoryd serves; if it is still there after some minutes, export and import into " +
		"new stores"
	again = "memoryd export and memoryd import into new stores write it again"
)

// advice has all rules.
var advice = map[string]Advice{
	memory.RuleFile: {
		"the data of a store is damaged, or is older than what was acknowledged",
		"the finding says it for Redis and Qdrant; for a file, " + salvage,
	},
	memory.RuleUnreadable: {"something stored cannot be read, and is left out of answers or makes them fail", salvage},
	memory.RuleRecord:     {"a memory is invalid, or its history is not complete", rebuild},
	memory.RuleIndex: {
		"searches and lists may miss the memory, or find it wrongly",
		"memoryd reembed writes it again; or " + rebuild,
	},
	memory.RuleSuperseded: {"a fact has ended for one that is not there", rebuild},
	memory.RuleSource:     {"a fact rests on words that are not there", rebuild},
	memory.RuleTurn: {
		"what was said is stored and counts as done, and cannot be found: the memory store has lost it, " +
			"or is older than the sessions",
		missing,
	},
	memory.RuleManifest: {
		"the memory store was emptied, or another one has taken its place",
		"name the right one; or " + rebuild,
	},

	sessionstore.RulePositions: {"a session says that more is done than it has", salvage},
	sessionstore.RuleEvents:    {"events of a session are missing, or cannot be found by id or time", salvage},
	sessionstore.RuleWork: {
		"memories may never be made of a session, or in vain",
		"POST …/sessions/{id}/memories asks for them again",
	},
	sessionstore.RulePlan: {
		"a stored plan is for events that do not wait: their memories may not be made",
		restart,
	},
	sessionstore.RuleOperations: {"an operation may never end, or speak of other events", restart},
	sessionstore.RuleLeases: {
		"the work of a user may wait for hours: a clock was wrong",
		"stop every memoryd and start again when the clock is right",
	},
	sessionstore.RuleOrphans: {"data is kept that nothing refers to, or a session cannot be found", again},
	sessionstore.RuleApp:     {"the list of all sessions of an app lacks one", again},
	sessionstore.RuleOutbox:  {"a change to app: state is not visible to other users yet", restart},
	sessionstore.RuleLost: {"Redis was emptied, or is older than what it has acknowledged",
		"bring back the newest data of Redis, or run memoryd accept to go on with what is left"},
}
