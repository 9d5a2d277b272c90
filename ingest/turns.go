package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// writesTogether is how many turns go into one call of the memory store, so that
// others get their turn.
const writesTogether = 100

// turnMemory is the memory of a turn.
func turnMemory(key sessionstore.Key, t extract.Turn) memory.Memory {
	return memory.Memory{
		ID: turnID(key, t.EventID, t.Text), Scope: key.Scope, Kind: memory.KindTurn,
		Fact: t.Text, Author: t.Author, Timestamp: t.Timestamp,
		Source: memory.Source{SessionID: key.ID, EventIDs: []string{t.EventID}},
	}
}

// putTurns writes turns into memory. Those that a client has edited or deleted
// since stay as they are.
func (s *Service) putTurns(ctx context.Context, key sessionstore.Key, turns []extract.Turn, vectors bool) error {
	for some := range slices.Chunk(turns, writesTogether) {
		writes := make([]memory.Write, 0, len(some))
		for _, t := range some {
			writes = append(writes, memory.Write{Actor: "turns", Memory: turnMemory(key, t)})
		}
		if err := s.index(ctx, writes, vectors); err != nil {
			return err
		}
		if _, err := s.memories.Put(ctx, key.Scope, writes); err != nil {
			return err
		}
	}
	return nil
}

// putMissing writes those turns into memory that are not there with vectors yet.
// Most are, as findable wrote them, unless the embedder is remote.
func (s *Service) putMissing(ctx context.Context, key sessionstore.Key, turns []extract.Turn) error {
	if s.embedder.Model().Remote {
		return s.putTurns(ctx, key, turns, true)
	}
	for some := range slices.Chunk(turns, writesTogether) {
		ids := make([]string, len(some))
		for i, t := range some {
			ids[i] = turnID(key, t.EventID, t.Text)
		}
		stored, err := s.memories.Get(ctx, key.Scope, ids)
		// A turn that is damaged is written again: its event has all of it.
		if err != nil && !errors.As(err, new(*memory.Damage)) {
			return err
		}
		there := map[string]bool{}
		for i := range stored {
			there[stored[i].ID] = true
		}
		var missing []extract.Turn
		for i, t := range some {
			if !there[ids[i]] {
				missing = append(missing, t)
			}
		}
		if err := s.putTurns(ctx, key, missing, true); err != nil {
			return err
		}
	}
	return nil
}
