package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Consolidate implements Extractor, in one call; in none where nothing is known
// that the new facts could be compared with. An answer that names a number it
// was not given is refused. A fact that it leaves out is created, as nothing is
// to be lost by a slip. The errors are the generator's, and ErrUnreadable.
func (m *Model) Consolidate(ctx context.Context, c Comparison, repaired bool) (Consolidated, error) {
	out := Consolidated{Verdicts: unjudged(c), Cost: Cost{Repaired: repaired}}
	if len(c.Known) == 0 || len(c.New) == 0 {
		return out, nil
	}
	type reply struct {
		Verdicts []modelVerdict `json:"verdicts"`
	}
	answer, cost, err := ask(ctx, m.generator, Prompt{System: consolidateSystem, Data: beside(c), Schema: consolidateSchema, MaxTokens: maxAnswer}, repaired, func(r *reply) error {
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

// modelVerdict is a verdict as a model gives it; places count from 1.
type modelVerdict struct {
	Fact    place   `json:"fact"`
	Action  Action  `json:"action"`
	Same    place   `json:"same"`
	Text    string  `json:"text"`
	Against []place `json:"against"`
	Reason  string  `json:"reason"`
}

func (v *modelVerdict) check(c Comparison) error {
	known, all := place(len(c.Known)), place(len(c.Known)+len(c.New))
	if v.Fact <= known || v.Fact > all {
		return fmt.Errorf("there is no new fact with the number %d", v.Fact)
	}
	for _, n := range v.Against {
		if n < 1 || n > all || n == v.Fact {
			return fmt.Errorf("the verdict on %d is against %d, and nothing else has that number", v.Fact, n)
		}
	}
	if c.New[v.Fact-known-1].Forget {
		v.Action = Delete // whatever it calls it
	} else if v.Action == Delete {
		return fmt.Errorf("the verdict on %d is DELETE, and nothing asks for that", v.Fact)
	}
	same := v.Action == Update && v.Same >= 1 && v.Same <= known ||
		v.Action == Nothing && v.Same >= 1 && v.Same < v.Fact // an earlier one, so that no two of them stand for each other alone
	switch {
	case !slices.Contains([]Action{Create, Update, Delete, Nothing}, v.Action):
		return fmt.Errorf("the verdict on %d is %.40q, which is none", v.Fact, v.Action)
	case (v.Action == Update || v.Action == Nothing) && !same:
		return fmt.Errorf("the verdict on %d is %s of %d, and nothing has that number that it could be", v.Fact, v.Action, v.Same)
	case v.Action == Update && (strings.TrimSpace(v.Text) == "" || len(v.Text) > maxFactBytes || !utf8.ValidString(v.Text)):
		return fmt.Errorf("the verdict on %d is UPDATE, and its text is empty or too long", v.Fact)
	}
	return nil
}

func (v *modelVerdict) verdict() Verdict {
	out := Verdict{Action: v.Action, Same: -1, Reason: Cut(v.Reason, maxReason)}
	switch v.Action {
	case Update:
		out.Same, out.Text = int(v.Same)-1, plain(v.Text)
	case Nothing:
		out.Same = int(v.Same) - 1
	}
	if v.Action != Nothing {
		for _, n := range v.Against {
			if at := int(n) - 1; at != out.Same && !slices.Contains(out.Against, at) {
				out.Against = append(out.Against, at)
			}
		}
	}
	return out
}

// maxReason is how much of a reason is kept, in bytes.
const maxReason = 200
