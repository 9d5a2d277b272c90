package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// writesTogether is how many turns go into one call of the memory store, so that
// others get their turn.
const writesTogether = 100

// turnMemory is the memory of a turn. One that tries to instruct the agent is
// quarantined.
func turnMemory(key sessionstore.Key, t extract.Turn) memory.Memory {
	m := memory.Memory{
		ID: turnID(key, t.EventID, t.Text), Scope: key.Scope, Kind: memory.KindTurn,
		Fact: t.Text, Author: t.Author, Timestamp: t.Timestamp.UTC(), UTCOffset: memory.OffsetOf(t.Timestamp),
		Source: memory.Source{SessionID: key.ID, EventIDs: []string{t.EventID}}, Trust: t.Trust,
	}
	quarantine(&m)
	return m
}

// receipt is what is known of a turn that is in memory.
type receipt struct {
	at     time.Time // when it was received: when it was written there first
	hidden bool      // it is quarantined, or was rejected
}

func receiptOf(m *memory.Memory) receipt { return receipt{m.CreateTime, m.State.Hidden()} }

// putTurns writes turns of the events of work into memory, and returns what is known of
// each, by event. Those that a client has edited or deleted since stay as they are.
func (s *Service) putTurns(
	ctx context.Context, w sessionstore.Work, turns []extract.Turn, vectors bool,
) (map[string]receipt, error) {
	key, life, labels, end := w.Key, w.Life(), w.Request.Labels, s.revisionEnd(&w.Request)
	received := map[string]receipt{}
	for some := range slices.Chunk(turns, writesTogether) {
		writes := make([]memory.Write, 0, len(some))
		for _, t := range some {
			writes = append(writes, memory.Write{Actor: "turns", Memory: turnMemory(key, t), Life: life,
				Labels: labels, RevisionExpireTime: end})
		}
		if err := s.index(ctx, writes, vectors); err != nil {
			return nil, err
		}
		out, err := s.put(ctx, key.Scope, writes)
		if err != nil {
			return nil, err
		}
		for i, t := range some {
			if m := &out[i].Memory; m.ID == "" { // it was deleted
				received[t.EventID] = receiptOf(&writes[i].Memory)
			} else {
				received[t.EventID] = receiptOf(m)
			}
		}
	}
	return received, nil
}

// putMissing writes those turns into memory that are not there with vectors yet,
// and returns what is known of each, by event. Most are there, as findable wrote
// them, unless the embedder is remote.
func (s *Service) putMissing(
	ctx context.Context, w sessionstore.Work, turns []extract.Turn,
) (map[string]receipt, error) {
	if s.embedder.Model().Remote {
		return s.putTurns(ctx, w, turns, true)
	}
	received, err := s.received(ctx, w.Key, turns)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(turns), func(t extract.Turn) bool {
		_, there := received[t.EventID]
		return there
	})
	now, err := s.putTurns(ctx, w, missing, true)
	maps.Copy(received, now)
	return received, err
}

// received returns what is known of the turns that are in memory, by event.
func (s *Service) received(
	ctx context.Context, key sessionstore.Key, turns []extract.Turn,
) (map[string]receipt, error) {
	out := map[string]receipt{}
	for some := range slices.Chunk(turns, writesTogether) {
		ids, events := make([]string, len(some)), map[string]string{}
		for i, t := range some {
			ids[i] = turnID(key, t.EventID, t.Text)
			events[ids[i]] = t.EventID
		}
		stored, err := s.memories.Get(ctx, key.Scope, ids)
		// A turn that is damaged is written again: its event has all of it.
		if err != nil && !errors.As(err, new(*memory.Damage)) {
			return nil, err
		}
		for i := range stored {
			out[events[stored[i].ID]] = receiptOf(&stored[i])
		}
	}
	return out, nil
}
