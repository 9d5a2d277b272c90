package ingest

import (
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/sessionstore"
)

// TurnID returns the ID of the memory of an event's turn; false if the event is no
// turn.
func TurnID(key sessionstore.Key, e sessionstore.Event) (string, bool) {
	t, ok := extract.ReadTurn(key.ID, e)
	return turnID(key, t.EventID, t.Text), ok
}
