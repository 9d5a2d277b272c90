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

// ErrUnreadable: a model has answered twice with something else than what it
// was asked for.
var ErrUnreadable = errors.New("the model's answer cannot be read")

// ask asks a model, reads its answer and checks it. An answer that cannot be
// read, or does not pass, is asked for once more, with what is wrong with it,
// unless that was done before.
func ask[T any](ctx context.Context, g Generator, p Prompt, repaired bool, check func(*T) error) (v T, cost Cost, err error) {
	cost.Repaired = repaired
	for data := p.Data; ; {
		a, err := g.Generate(ctx, p)
		cost.Usage = cost.Usage.Add(a.Usage)
		cost.Asked = append(cost.Asked, Exchange{System: p.System, Data: p.Data, Answer: a.Text})
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
		p.Data = data + "\n\nYour last answer could not be used: " + err.Error() + ". Answer again, with nothing but the JSON object asked for."
		if a.Cut {
			p.Data += " Leave out what matters least."
		}
	}
}

// thought is what some local models think aloud before they answer.
var thought = regexp.MustCompile(`(?s)^\s*<think>.*?</think>`)

// readJSON reads an answer as JSON. Models wrap it in fences and prose, and
// slip in its syntax; that is mended. One that ends in the middle is not: what
// it leaves out would be lost without a trace.
func readJSON(a *Answer, v any) error {
	if a.Cut {
		return errors.New("it is too long, and was cut off")
	}
	text := strings.TrimSpace(thought.ReplaceAllString(strings.TrimPrefix(a.Text, "\ufeff"), ""))
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
		mended, err := jsonrepair.Repair(raw)
		if err != nil {
			return errors.New("it is no JSON")
		}
		raw = mended
	}
	if err := json.Unmarshal([]byte(raw), v); err != nil {
		return fmt.Errorf("its JSON is not as asked for: %w", err)
	}
	return nil
}
