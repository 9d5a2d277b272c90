package memory

import "time"

// Action is what a revision did to its memory.
type Action string

// The actions.
const (
	Created Action = "CREATED"
	Updated Action = "UPDATED"
	Deleted Action = "DELETED"
)

// Revision is one step in the history of a memory. Revisions count from 1
// without gaps and are never changed. A deletion is a revision too.
type Revision struct {
	Revision   int64     `json:"revision"`
	Action     Action    `json:"action"`
	Fact       string    `json:"fact"` // after the step; for a deletion, before it
	CreateTime time.Time `json:"createTime"`
	Actor      string    `json:"actor"`               // "client", or the name of the extractor
	Operation  string    `json:"operation,omitempty"` // id of the ingestion that made it
	Memory     Memory    `json:"-"`                   // the whole memory at that step
}

// RevisionsOf turns a history, oldest first, into what Store.Revisions answers:
// newest first.
func RevisionsOf(history []Step) []Revision {
	out := make([]Revision, len(history))
	for i, st := range history {
		out[len(history)-1-i] = Revision{
			Revision: st.Revision, Action: st.Action, Fact: st.Memory.Fact, CreateTime: st.Time,
			Actor: st.Actor, Operation: st.Operation, Memory: st.Memory,
		}
	}
	return out
}
