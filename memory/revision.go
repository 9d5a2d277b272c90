package memory

import "time"

// Action is what a revision did to its memory.
type Action string

const (
	Created Action = "CREATED"
	Updated Action = "UPDATED"
	Deleted Action = "DELETED"
)

// Revision is one step in the history of a memory. Revisions count from 1
// without gaps and are never changed; a deletion is one too.
type Revision struct {
	Revision   int64     `json:"revision"`
	Action     Action    `json:"action"`
	Fact       string    `json:"fact"` // as it stood after the step; before it, for a deletion
	CreateTime time.Time `json:"createTime"`
	Actor      string    `json:"actor"`               // "client", or what extracted it
	Operation  string    `json:"operation,omitempty"` // id of the ingestion that made it
	Memory     Memory    `json:"-"`                   // the whole memory at that step
}
