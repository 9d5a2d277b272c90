package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// ErrUnreadable means that a model has answered twice with something other than
// the object it was asked for.
var ErrUnreadable = errors.New("the model's answer cannot be read")

// ask asks a model, reads its answer and checks it. After an unreadable answer,
// or one that check refuses, it asks once more and says what was wrong. If
// repaired is true, that second call has been spent, and such an answer is
// ErrUnreadable at once.
func ask[T any](ctx context.Context, g Generator, p Prompt, repaired bool, check func(*T) error,
) (v T, cost Cost, err error) {
	cost.Repaired = repaired
	for data := p.Data; ; {
		a, err := g.Generate(ctx, p)
		cost.Usage = cost.Usage.Add(a.Usage)
		cost.Exchanges = append(cost.Exchanges, Exchange{System: p.System, Data: p.Data, Answer: a.Text})
		if err != nil {
			return v, cost, err
		}
		var got T
		if err = readJSON(&a, &got); err == nil {
			err = check(&got)
		}
		if err == nil {
			return got, cost, nil
		}
		if cost.Repaired {
			return v, cost, fmt.Errorf("%w: %w: it begins %.80q", ErrUnreadable, err, a.Text)
		}
		cost.Repaired = true
		p.Data = data + "\n\nYour last answer could not be used: " + err.Error() +
			". Answer again, with nothing but the JSON object asked for."
		if a.Cut {
			p.Data += " Leave out what matters least."
		}
	}
}

// thinking matches the reasoning that some local models write before the answer.
var thinking = regexp.MustCompile(`(?s)^\s*<think>.*?</think>`)

// readJSON reads an answer as JSON. Models wrap JSON in fences and prose, and
// make slips in its syntax; both are repaired. An answer that stops in the
// middle is refused, since the facts after that point would be lost unseen.
func readJSON(a *Answer, v any) error {
	if a.Cut {
		return errors.New("it is too long, and was cut off")
	}
	text := strings.TrimSpace(thinking.ReplaceAllString(strings.TrimPrefix(a.Text, "\ufeff"), ""))
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if text == "" {
		return errors.New("it is empty")
	}
	if from < 0 || to < from {
		return errors.New("it holds no JSON object")
	}
	rest := strings.TrimSpace(text[to+1:])
	if strings.ContainsAny(rest, `[",:`) && !strings.Contains(rest, "```") {
		return errors.New("its JSON object has no end")
	}
	raw := text[from : to+1]
	if !json.Valid([]byte(raw)) {
		if strings.Count(raw, "{") > strings.Count(raw, "}") || strings.Count(raw, "[") > strings.Count(raw, "]") {
			return errors.New("its JSON object has no end")
		}
		repaired, err := jsonrepair.Repair(raw)
		if err != nil {
			return errors.New("it is not JSON")
		}
		raw = repaired
	}
	if err := json.Unmarshal([]byte(raw), v); err != nil {
		return fmt.Errorf("its JSON is not as asked for: %w", err)
	}
	return nil
}
