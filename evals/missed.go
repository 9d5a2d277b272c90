package evals

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/extract/canonical"
	"github.com/memoryd/memoryd/memory"
)

// missedReasons tell at which step a change was lost, in the order of the steps. Each calls for work in another place:
// the first two in extract/rules, the third in the keys of extract/canonical, the last in its judgement.
var missedReasons = []string{missedOld, missedNew, missedKeys, missedJudge}

const (
	missedOld   = "no fact has the old value"
	missedNew   = "no fact tells of the change"
	missedKeys  = "the facts share no attribute"
	missedJudge = "both were kept"
)

// missed is the step at which a change was lost: one of missedReasons.
func (v *verdict) missed() string {
	old, now := v.factsOf(v.story.old), v.factsOf(v.story.new)
	old = slices.DeleteFunc(old, func(m *memory.Memory) bool { return !has(m.Fact, v.story.Ended) })
	switch {
	case len(old) == 0:
		return missedOld
	case len(now) == 0:
		return missedNew
	}
	for _, o := range old {
		was := canonical.Of(o.Fact)
		keys := was.Keys()
		for _, n := range now {
			is := canonical.Of(n.Fact)
			if slices.ContainsFunc(is.LookupKeys(), func(k string) bool { return slices.Contains(keys, k) }) {
				return missedJudge
			}
		}
	}
	return missedKeys
}

// factsOf are the facts that come from a turn.
func (v *verdict) factsOf(id turnID) (out []*memory.Memory) {
	for _, m := range v.all {
		if m.Kind == memory.KindFact && from(m, id) {
			out = append(out, m)
		}
	}
	return out
}

// MissedLine tells how many changes were not noticed for which reason, in the order of arrival that lost them first;
// "" if all were noticed.
func MissedLine(scores []StoryScore) string {
	count := map[string]int{}
	for i := range scores {
		if s := &scores[i]; !s.Story.control() {
			for k := range s.Orders {
				if reason := s.Orders[k].Missed; reason != "" {
					count[reason]++
					break
				}
			}
		}
	}
	var out []string
	for _, reason := range missedReasons {
		if count[reason] > 0 {
			out = append(out, fmt.Sprintf("%s %d", reason, count[reason]))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "not noticed: " + strings.Join(out, ", ") + "\n"
}
