package memory

import (
	"context"
	"time"
)

// Finding is a fault that the audit of a store has found.
type Finding struct {
	// Rule names the rule that is broken. Package check tells what each means.
	Rule string `json:"rule"`
	Scope
	// Of is what breaks it: the id of a session, an operation or a memory, or the
	// name of a key or of a file.
	Of   string `json:"of,omitempty"`
	Text string `json:"text"` // what is wrong
}

// The rules of a store of memories.
const (
	RuleFile       = "file"              // the data is sound and whole, as the store itself sees it
	RuleUnreadable = "unreadable"        // everything stored can be read
	RuleRecord     = "memory"            // a memory is valid, and its history complete
	RuleIndex      = "memory-index"      // what searches use agrees with the memory
	RuleSuperseded = "memory-superseded" // what has superseded a memory is there
	RuleSource     = "memory-source"     // the turns that a fact rests on are there
	RuleTurn       = "turn-missing"      // an event that is done has its turn
	RuleManifest   = "manifest"          // the store says whose it is
)

// Audited is a store of memories that can be checked while others use it.
type Audited interface {
	// Audit yields all records that can be read, as Export, until yield fails, and
	// calls found with each fault in how they are stored. The error is that of a
	// store that cannot be read at all, or of yield.
	Audit(ctx context.Context, yield func(Record) error, found func(Finding)) error
	// Removed tells when an erasing or a sweep last removed a memory for good, or records
	// were last imported, which may lack what was removed elsewhere. Zero is never. What
	// was said before may rightly have no memory. It never goes back. A store that was made before
	// stores told this has removed some, as far as it knows, when it was first opened after that.
	Removed(ctx context.Context) (time.Time, error)
}
