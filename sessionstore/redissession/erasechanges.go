package redissession

import (
	"context"
	"encoding/json"

	"github.com/memoryd/memoryd/memory"
)

// changesTogether is how many changes one script reads of those that an erasing looks at.
const changesTogether = 200

// EraseChanges implements sessionstore.Eraser. Redis's own files follow as in
// EraseSession.
func (s *Store) EraseChanges(ctx context.Context, scope memory.Scope, has func(json.RawMessage) bool) (int, error) {
	n, err := s.eraseChanges(ctx, scope, has)
	if err != nil {
		return n, scope.Wrap("erase changes", err)
	}
	return n, nil
}

func (s *Store) eraseChanges(ctx context.Context, scope memory.Scope, has func(json.RawMessage) bool) (
	n int, err error) {
	v, err := s.run(ctx, livesOfScript, scopePrefix(scope), name(scope))
	if err != nil {
		return 0, err
	}
	for _, ref := range replyOf(v).texts() {
		for from, more := 0, true; more; {
			v, err := s.run(ctx, recordedScript, scopePrefix(scope), ref, from, changesTogether)
			if err != nil {
				return n, err
			}
			r := replyOf(v)
			members := r.list(1).texts()
			more = len(members) == changesTogether
			gone := []any{ref, ""}
			if plan := r.text(0); from == 0 && plan != "" && has(json.RawMessage(plan)) {
				gone[1] = plan
				n++
			}
			for _, m := range members { // behind the number of the change
				if has(json.RawMessage(m[memberBytes:])) {
					gone = append(gone, m)
					n++
				}
			}
			if len(gone) > 2 || gone[1] != "" {
				if _, err := s.run(ctx, unrecordScript, scopePrefix(scope), gone...); err != nil {
					return n, err
				}
			}
			from += len(members) - (len(gone) - 2)
		}
	}
	return n, nil
}

// memberBytes is how long the number is in front of a stored change; see common.lua.
const memberBytes = 16
