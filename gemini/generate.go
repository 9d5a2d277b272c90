package gemini

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"google.golang.org/genai"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/internal/remote"
	"github.com/memoryd/memoryd/internal/tracing"
)

// DefaultModel is fast and cheap, and can be kept from thinking.
const DefaultModel = "gemini-2.5-flash"

// thinkingRoom is added to the token limit of an answer from a model that cannot be
// kept from thinking, because its thoughts count there. It is an estimate, several
// times what a little thinking about a question of this kind takes.
const thinkingRoom = 4096

// Generator implements extract.Generator.
type Generator struct {
	client *Client
	model  string
	caller remote.Caller
	// noThinkingConfig is set once the model has refused a setting of its thinking.
	noThinkingConfig atomic.Bool
}

var _ extract.Generator = (*Generator)(nil)

// Generator returns the generator of a model. The empty name is DefaultModel.
func (c *Client) Generator(model string) *Generator {
	if model == "" {
		model = DefaultModel
	}
	return &Generator{client: c, model: model, caller: c.callerOf(model, remote.GenerateTimeout)}
}

// Model implements extract.Generator.
func (g *Generator) Model() string { return g.caller.Name }

// Generate implements extract.Generator. The answer has the usage of a refusal, too.
func (g *Generator) Generate(ctx context.Context, p extract.Prompt) (a extract.Answer, err error) {
	ctx, span := g.caller.Span(ctx, tracing.Chat)
	defer func() {
		span.Answer(a.Text, a.Cut, a.InputTokens, a.OutputTokens, err)
		span.End(err)
	}()
	span.Prompt(p.System, p.Data, p.MaxTokens)
	thinking, _ := thinking(g.model)
	told := thinking != nil && !g.noThinkingConfig.Load()
	resp, err := g.ask(ctx, p, told)
	if e := (*remote.Error)(nil); told && errors.As(err, &e) && e.Status == http.StatusBadRequest &&
		strings.Contains(strings.ToLower(e.Message), "thinking") {
		if resp, err = g.ask(ctx, p, false); err == nil {
			g.noThinkingConfig.Store(true)
		}
	}
	if err != nil {
		return extract.Answer{}, err
	}
	return g.read(resp)
}

func (g *Generator) ask(ctx context.Context, p extract.Prompt, told bool) (*genai.GenerateContentResponse, error) {
	config := &genai.GenerateContentConfig{
		ResponseMIMEType:      "application/json",
		ResponseJsonSchema:    p.Schema,
		AutomaticContinuation: genai.Ptr(false), // its calls would have no limit
	}
	if p.System != "" {
		config.SystemInstruction = genai.NewContentFromText(p.System, genai.RoleUser)
	}
	thinking, room := thinking(g.model)
	switch {
	case told:
		config.ThinkingConfig = thinking
	case thinking != nil:
		room = thinkingRoom
	}
	if p.MaxTokens > 0 {
		config.MaxOutputTokens = int32(p.MaxTokens) + room
	}
	if generation(g.model) < 3 {
		config.Temperature = genai.Ptr[float32](0) // later ones may loop below 1, by Google's guide to Gemini 3
	}
	return remote.Do(ctx, &g.caller, func(ctx context.Context) (*genai.GenerateContentResponse, error) {
		sdk, err := g.client.connect()
		if err != nil {
			return nil, err
		}
		resp, err := sdk.Models.GenerateContent(
			ctx,
			g.model,
			[]*genai.Content{genai.NewContentFromText(p.Data, genai.RoleUser)},
			config,
		)
		return resp, tokenError(&g.caller, err)
	})
}

var named = regexp.MustCompile(`^gemini-(\d*)`)

// newest is the generation of names without a number, such as "gemini-flash-latest".
const newest = 1000

// generation returns the number in the name of a Gemini, or 0 for other models.
func generation(model string) int {
	m := named.FindStringSubmatch(base(model))
	switch {
	case m == nil:
		return 0
	case m[1] == "":
		return newest
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// base returns a model's name without the path before it.
func base(model string) string { return model[strings.LastIndex(model, "/")+1:] }

// thinking returns the setting with which a model thinks as little as it can, since
// finding facts needs no thinking, and how many tokens that may take.
// gemini-2.5-pro thinks with at least 128 tokens. From generation 3 on there are
// levels, of which "low" is the lowest that all models know. Other models do not
// think, or cannot be told how much.
func thinking(model string) (config *genai.ThinkingConfig, room int32) {
	switch name := base(model); {
	case strings.HasPrefix(name, "gemini-2.5-pro"):
		return &genai.ThinkingConfig{ThinkingBudget: genai.Ptr[int32](128)}, 128
	case strings.HasPrefix(name, "gemini-2.5-flash"):
		return &genai.ThinkingConfig{ThinkingBudget: genai.Ptr[int32](0)}, 0
	case generation(model) >= 3:
		return &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelLow}, thinkingRoom
	}
	return nil, 0
}

// read finds the answer in the first candidate.
func (g *Generator) read(resp *genai.GenerateContentResponse) (a extract.Answer, err error) {
	a.Calls = 1
	if u := resp.UsageMetadata; u != nil {
		a.InputTokens = int(u.PromptTokenCount)
		a.OutputTokens = int(u.CandidatesTokenCount + u.ThoughtsTokenCount)
	}
	if f := resp.PromptFeedback; f != nil && f.BlockReason != "" {
		return a, g.refusal("the prompt is blocked", string(f.BlockReason), f.BlockReasonMessage)
	}
	if len(resp.Candidates) == 0 {
		return a, g.refusal("no answer", "without a reason", "")
	}
	c := resp.Candidates[0]
	switch c.FinishReason {
	case genai.FinishReasonMaxTokens:
		a.Cut = true
	case genai.FinishReasonStop, genai.FinishReasonUnspecified, "":
	default: // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE, OTHER: stopped before its end
		return a, g.refusal("the answer is stopped", string(c.FinishReason), c.FinishMessage)
	}
	if c.Content == nil {
		return a, nil
	}
	var text strings.Builder
	for _, part := range c.Content.Parts {
		if !part.Thought {
			text.WriteString(part.Text)
		}
	}
	a.Text = text.String()
	return a, nil
}

func (g *Generator) refusal(what, reason, message string) error {
	if message != "" {
		reason += ": " + message
	}
	return fmt.Errorf("%s: %s (%s): %w", g.caller.Name, what, g.caller.Clean(reason), extract.ErrRefused)
}
