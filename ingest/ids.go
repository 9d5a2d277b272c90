package ingest

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// namespace is that of the IDs derived here; any fixed UUID would do.
var namespace = uuid.MustParse("6d656d6f-7279-5d00-8000-6d656d6f7279")

// derive makes the ID of a memory from its origin, so that repeated work writes
// the same memory. No ID has a NUL in it, and a text comes last, so different
// parts never give the same text to hash.
func derive(parts ...string) string {
	return uuid.NewSHA1(namespace, []byte(strings.Join(parts, "\x00"))).String()
}

// turnID is the ID of the memory of one event. The text is part of it because a
// session may be deleted, and another one of its name may say something else
// under the same event ID.
func turnID(key sessionstore.Key, eventID, text string) string {
	return derive("turn", key.App, key.User, key.ID, eventID, text)
}

// factID is the ID of a fact that rests on a quote from an event. Ordinal counts
// the facts that rest on the same quote.
func factID(key sessionstore.Key, event, quote string, ordinal int) string {
	return derive("fact", key.App, key.User, key.ID, event, strconv.Itoa(ordinal), quote)
}

// requestID is the ID of a request to forget in an event, which turns have in
// Forgotten. All requests of an event have one, apart from those to forget everything.
func requestID(key sessionstore.Key, event string, everything bool) string {
	return derive("forget", key.App, key.User, key.ID, strconv.FormatBool(everything), event)
}

// provisionalID is the ID of a provisional fact, from the ID that the fact would
// have if the extractor had found it; see provisional.go.
func provisionalID(fact string) string { return derive("fallback", fact) }

// maxOrdinal is how many facts the fallback makes of the same words, at most:
// rules make one.
const maxOrdinal = 3

// isProvisional reports whether a memory is a provisional fact.
func isProvisional(m *memory.Memory) bool {
	if len(m.Source.EventIDs) == 0 {
		return false
	}
	key := sessionstore.Key{Scope: m.Scope, ID: m.Source.SessionID}
	for ordinal := range maxOrdinal {
		if m.ID == provisionalID(factID(key, m.Source.EventIDs[0], m.Source.Quote, ordinal)) {
			return true
		}
	}
	return false
}
