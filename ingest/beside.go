package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/memoryd/memoryd/consolidate"
	"github.com/memoryd/memoryd/memory"
)

// applyBeside makes those of the changes at some places that the store refused
// because a client has changed no more than the labels of the memory since they
// were planned. Labels say nothing about the text, so both changes count.
func (s *Service) applyBeside(
	ctx context.Context, a *application, places []int, outcomes []memory.Outcome,
) error {
	for i, place := range places {
		for try := 0; try < maxRewrites && errors.Is(outcomes[i].Err, memory.ErrAborted); try++ {
			ok, err := s.beside(ctx, a, &a.changes[place])
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			again, err := s.applySome(ctx, a, a.changes[place].Action, []int{place})
			if err != nil {
				return err
			}
			outcomes[i] = again[0]
		}
	}
	return nil
}

// beside changes a change so that it fits the memory as it is stored now, and
// reports whether that can be done: a client has changed no more than its labels.
func (s *Service) beside(ctx context.Context, a *application, c *consolidate.Change) (bool, error) {
	if c.Memory.Kind == memory.KindProfile {
		return s.valueBeside(ctx, a, c)
	}
	if c.Expect == 0 {
		return false, nil
	}
	latest, earlier, err := s.revision(ctx, a.work.Key.Scope, c.Memory.ID, c.Expect)
	if err != nil {
		return false, err
	}
	now := &latest.Memory
	if earlier == nil || latest.Revision == c.Expect || latest.Action == memory.Deleted {
		return false, nil
	}
	then := earlier.Memory
	if labelled := withLabels(then, now); !labelled.SameContent(now) {
		return false, nil
	}
	if c.Action == memory.Updated {
		m := withLabels(c.Memory, now)
		if slices.Equal(then.Topics, now.Topics) {
			m.Topics = c.Memory.Topics
		}
		c.Memory = m
	}
	c.Expect = now.Revision
	return true, nil
}

// withLabels returns m with the labels of another state of the same memory: what a
// client can set beside its text.
func withLabels(m memory.Memory, labels *memory.Memory) memory.Memory {
	m.Topics, m.Labelled = slices.Clone(labels.Topics), labels.Labelled
	m.ExpireTime, m.DefaultExpiry = labels.ExpireTime, labels.DefaultExpiry
	m.Metadata = maps.Clone(labels.Metadata)
	m.DisplayName, m.Description = labels.DisplayName, labels.Description
	return m
}
