package quota

import (
	"context"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// DayLimits are the quotas of an app on a day of UTC. A zero is none.
type DayLimits struct {
	ModelCalls  int64
	ModelTokens int64 // of prompts and answers
}

// Amount is what is added to a count of a day.
type Amount struct {
	Name string
	Add  int64
	// Most is the count from which on nothing is added; 0 for any.
	Most int64
}

// The counts of a day.
const (
	modelCalls  = "model-calls"
	modelTokens = "model-tokens"
)

// Meter holds the calls of models to the limits of a day.
type Meter struct {
	limits DayLimits
	*together
}

// NewMeter makes a Meter; nil if there is no limit.
func NewMeter(limits DayLimits, opts *Options) *Meter {
	if limits == (DayLimits{}) {
		return nil
	}
	return &Meter{limits, newTogether(opts)}
}

// Begin counts a call for an app before it is made. The error is a memory.Refusal if a
// limit of the day is reached; it lasts until the next day.
func (m *Meter) Begin(ctx context.Context, app string) error {
	amounts := []Amount{{modelCalls, 1, m.limits.ModelCalls}, {modelTokens, 0, m.limits.ModelTokens}}
	full, after, err := m.spend(ctx, app, amounts)
	if err != nil || full < 0 {
		return err
	}
	flag, what := "-app-model-calls", "calls of models"
	if amounts[full].Name == modelTokens {
		flag, what = "-app-model-tokens", "tokens of models"
	}
	until := m.own.now().Add(after).UTC().Round(time.Minute).Format(time.RFC3339)
	return memory.Refuse(after, "this app has had its %d %s of this day, which ends at %s: %s sets how many",
		amounts[full].Most, what, until, memory.Flag(flag))
}

// Add counts the tokens of a call that was made. A call may bring its app beyond the
// limit; the next one is refused.
func (m *Meter) Add(ctx context.Context, app string, tokens int) error {
	_, _, err := m.spend(ctx, app, []Amount{{Name: modelTokens, Add: int64(tokens)}})
	return err
}

func (m *Meter) spend(ctx context.Context, app string, amounts []Amount) (full int, after time.Duration, err error) {
	_, err = m.do(ctx, func(ctx context.Context, c Counter) (err error) {
		full, after, err = c.Spend(ctx, app, amounts)
		return err
	})
	return full, after, err
}
