package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memoryd/memoryd/internal/legible"
	"github.com/memoryd/memoryd/memory"
)

// maxReason is how many bytes of a verdict's reason are kept.
const maxReason = 200

// Consolidate implements Extractor. It makes one call, and none if there is
// nothing known to compare with. An answer that names a number it was not given
// counts as unreadable. A fact that the answer leaves out is created, so that a
// slip of the model loses nothing. The errors are the generator's, and
// ErrUnreadable.
func (m *Model) Consolidate(ctx context.Context, c Comparison, repaired bool) (Consolidated, error) {
	out := Consolidated{Verdicts: CreateAll(c), Cost: Cost{Repaired: repaired}}
	if len(c.Known) == 0 || len(c.New) == 0 {
		return out, nil
	}
	type reply struct {
		Verdicts []modelVerdict `json:"verdicts"`
	}
	p := Prompt{
		System: c.Policy.instructComparison(systemText(consolidateInstructions)), Data: comparisonData(c),
		Schema: consolidateSchema, MaxTokens: maxAnswer,
	}
	answer, cost, err := ask(ctx, m.generator, p, repaired, func(r *reply) error {
		if r.Verdicts == nil {
			return errors.New("it has no list named verdicts")
		}
		for i := range r.Verdicts {
			if err := r.Verdicts[i].check(c); err != nil {
				return err
			}
		}
		return nil
	})
	out.Cost = cost
	if err != nil {
		return out, err
	}
	for i := range answer.Verdicts {
		v := &answer.Verdicts[i]
		out.Verdicts[int(v.Fact)-len(c.Known)-1] = v.verdict()
	}
	return out, nil
}

// modelVerdict is a verdict as a model writes it; numbers count from 1.
type modelVerdict struct {
	Fact    lineNumber   `json:"fact"`
	Action  Action       `json:"action"`
	Same    lineNumber   `json:"same"`
	Text    string       `json:"text"`
	Against []lineNumber `json:"against"`
	Reason  string       `json:"reason"`
}

// check reports the first thing that is wrong with a verdict, in words that tell
// the model what to mend. It makes every verdict on a request to forget a DELETE.
func (v *modelVerdict) check(c Comparison) error {
	known, all := lineNumber(len(c.Known)), lineNumber(len(c.Known)+len(c.New))
	if v.Fact <= known || v.Fact > all {
		return fmt.Errorf("there is no new fact with the number %d", v.Fact)
	}
	for _, n := range v.Against {
		if n < 1 || n > all || n == v.Fact {
			return fmt.Errorf("the verdict on %d is against %d, which is no other line's number", v.Fact, n)
		}
	}
	if c.New[v.Fact-known-1].Forget {
		v.Action = Delete
		return nil
	}
	switch v.Action {
	case Create:
		return nil
	case Delete:
		return fmt.Errorf("the verdict on %d is DELETE, but nothing asks for that", v.Fact)
	case Update:
		return v.checkUpdate(known)
	case Nothing:
		// The fact it repeats comes earlier, so that no two facts repeat only each other.
		if v.Same < 1 || v.Same >= v.Fact {
			return v.wrongSame()
		}
		return nil
	}
	return fmt.Errorf("the verdict on %d is %.40q, which is not an action", v.Fact, v.Action)
}

// checkUpdate checks that an UPDATE extends a known memory, and has a text.
func (v *modelVerdict) checkUpdate(known lineNumber) error {
	if v.Same < 1 || v.Same > known {
		return v.wrongSame()
	}
	if !validText(v.Text) {
		return fmt.Errorf("the verdict on %d is UPDATE, and its text is empty or too long", v.Fact)
	}
	return nil
}

func (v *modelVerdict) wrongSame() error {
	return fmt.Errorf("the verdict on %d is %s of %d, which is not the number of a line that it could mean",
		v.Fact, v.Action, v.Same)
}

// verdict converts a checked verdict: numbers become indexes.
func (v *modelVerdict) verdict() Verdict {
	out := Verdict{Action: v.Action, Same: -1, Reason: memory.Cut(v.Reason, maxReason)}
	switch v.Action {
	case Update:
		out.Same, out.Text = int(v.Same)-1, legible.Line(v.Text)
	case Nothing:
		out.Same = int(v.Same) - 1
		return out // it ends nothing
	}
	for _, n := range v.Against {
		if at := int(n) - 1; at != out.Same && !slices.Contains(out.Against, at) {
			out.Against = append(out.Against, at)
		}
	}
	return out
}
