package sessionstore

import "strings"

// Prefixes of the ids of sessions aside. They hold events that requests for memories have brought
// themselves: no client has opened them as a conversation.
const (
	StreamPrefix   = "~stream~"   // of a stream of events
	ContentsPrefix = "~contents~" // of the events of requests that name no session
)

// Aside reports whether the session of an id stands aside of a user's conversations: lists with
// NoAside leave it out, and it counts for the limit of sessions among its own kind alone. So a client
// that has many memories made still has room for conversations, and neither kind is without a bound.
//
// A session of ContentsPrefix whose events are all done makes room for another one aside: where the limit
// would refuse that, the one that was updated longest ago is deleted first. It has told all that it was
// made for, and clients of Google's API, for which such sessions are, can neither list nor delete them. A
// stream stays, as its trigger holds for what it brings later.
func Aside(id string) bool {
	return strings.HasPrefix(id, StreamPrefix) || strings.HasPrefix(id, ContentsPrefix)
}
