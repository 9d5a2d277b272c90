package quota

import (
	"context"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// DayLimits are the quotas of an app, and of one user of an app, on a day of UTC: calls of
// models, and their tokens, those of prompts and answers. A zero is none.
type DayLimits struct {
	AppCalls, AppTokens   int64
	UserCalls, UserTokens int64
}

// Amount is what is added to a count of a day.
type Amount struct {
	Name string
	Add  int64
	// Most is the count from which on nothing is added; 0 for any.
	Most int64
}

// The counts of a day. Those of a user have the prefix "user/USER/".
const (
	modelCalls  = "model-calls"
	modelTokens = "model-tokens"
)

// UserAmounts names the counts of a day that are of one user.
func UserAmounts(user string) []string {
	of := "user/" + user + "/"
	return []string{of + modelCalls, of + modelTokens}
}

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

// amounts are the counts of a scope, to which calls and tokens are added: first those of
// the app, then, if there are limits of users, those of the user.
func (m *Meter) amounts(scope memory.Scope, calls, tokens int64) []Amount {
	out := []Amount{{modelCalls, calls, m.limits.AppCalls}, {modelTokens, tokens, m.limits.AppTokens}}
	if m.limits.UserCalls == 0 && m.limits.UserTokens == 0 || scope.User == "" {
		return out
	}
	of := UserAmounts(scope.User)
	return append(out, Amount{of[0], calls, m.limits.UserCalls}, Amount{of[1], tokens, m.limits.UserTokens})
}

// Begin counts a call for a scope before it is made. The error is a memory.Refusal if a
// limit of the day is reached; it lasts until the next day.
func (m *Meter) Begin(ctx context.Context, scope memory.Scope) error {
	amounts := m.amounts(scope, 1, 0)
	full, after, err := m.spend(ctx, scope.App, amounts)
	if err != nil || full < 0 {
		return err
	}
	of := []string{"app", "app", "user", "user"}[full]
	what := []string{"calls", "tokens"}[full%2]
	until := m.own.now().Add(after).UTC().Round(time.Minute).Format(time.RFC3339)
	return memory.Refuse(after, "this %s has had its %d %s of models of this day, which ends at %s: %s sets how many",
		of, amounts[full].Most, what, until, memory.Flag("-"+of+"-model-"+what))
}

// Add counts the tokens of a call that was made. A call may bring its app or its user
// beyond the limit; the next one is refused.
func (m *Meter) Add(ctx context.Context, scope memory.Scope, tokens int) error {
	amounts := m.amounts(scope, 0, int64(tokens))
	for i := range amounts {
		amounts[i].Most = 0 // what is spent counts in any case
	}
	_, _, err := m.spend(ctx, scope.App, amounts)
	return err
}

func (m *Meter) spend(ctx context.Context, app string, amounts []Amount) (full int, after time.Duration, err error) {
	_, err = m.do(ctx, func(ctx context.Context, c Counter) (err error) {
		full, after, err = c.Spend(ctx, app, amounts)
		return err
	})
	return full, after, err
}
