package evals

import (
	"context"
	"slices"

	"github.com/memoryd/memoryd/extract"
)

// given is an extractor that finds the facts that came with a dataset.
type given struct {
	extract.Extractor
	facts map[statement][]extract.Fact
}

// statement identifies a turn. An id does not: an extractor does not know the
// user of a turn, and turns of several users may share an id.
type statement struct {
	session, event, text string
	at                   int64 // microseconds since 1970
}

// Extractor returns an extractor that finds the facts that came with the data, and
// compares them as like does.
func (d *Dataset) Extractor(like extract.Extractor) extract.Extractor {
	out := given{Extractor: like, facts: map[statement][]extract.Fact{}}
	for i := range d.Conversations {
		for _, f := range d.Conversations[i].Facts {
			key := statement{f.SessionID, f.EventIDs[0], f.Quote, f.Timestamp.UnixMicro()}
			out.facts[key] = append(out.facts[key], f)
		}
	}
	return out
}

// Name is "observations", LoCoMo's name for the facts that come with it.
func (g given) Name() string { return "observations" }

// Extract returns the facts whose first turn is in the batch. They rest on those
// of their turns that are in it, too.
func (g given) Extract(_ context.Context, b extract.Batch) (out extract.Found, err error) {
	for _, t := range b.Turns {
		for _, f := range g.facts[statement{t.SessionID, t.EventID, t.Text, t.Timestamp.UnixMicro()}] {
			f.EventIDs = slices.DeleteFunc(slices.Clone(f.EventIDs), func(id string) bool {
				return !slices.ContainsFunc(b.Turns, func(t extract.Turn) bool { return t.EventID == id })
			})
			out.Facts = append(out.Facts, f)
		}
	}
	return out, nil
}
