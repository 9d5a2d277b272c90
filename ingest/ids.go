package ingest

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// namespace is that of the ids derived here; any fixed UUID serves.
var namespace = uuid.MustParse("6d656d6f-7279-5d00-8000-6d656d6f7279")

// derive makes an id from what a memory comes from, so that the same work done
// twice writes the same memory. No id has a NUL in it, and a text comes last,
// so different parts never read the same.
func derive(parts ...string) string {
	return uuid.NewSHA1(namespace, []byte(strings.Join(parts, "\x00"))).String()
}

// turnID names the memory of one event. The text is part of it because a
// session may be deleted and another of its name say something else under the
// same event id.
func turnID(key sessionstore.Key, eventID, text string) string {
	return derive("turn", key.App, key.User, key.ID, eventID, text)
}

// factID names a fact by the words it rests on; ordinal counts the facts that
// rest on the very same ones.
func factID(key sessionstore.Key, event, quote string, ordinal int) string {
	return derive("fact", key.App, key.User, key.ID, event, strconv.Itoa(ordinal), quote)
}

// provisionalID names the provisional fact of a fact with the given ID; see
// provisional.go.
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
