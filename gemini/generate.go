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
)

// DefaultModel is quick and cheap, and can be told not to think.
const DefaultModel = "gemini-2.5-flash"

// thinkingRoom is how many tokens are added to what an answer may have where a
// model cannot be kept from thinking: what it thinks counts there. An estimate,
// several times what little thinking of a question of this kind takes.
const thinkingRoom = 4096

// Generator implements extract.Generator.
type Generator struct {
	client *Client
	model  string
	caller remote.Caller
	// untold is set once the model has refused to be told how much to think.
	untold atomic.Bool
}

var _ extract.Generator = (*Generator)(nil)

// Generator is a model that answers. The empty name is DefaultModel.
func (c *Client) Generator(model string) *Generator {
	if model == "" {
		model = DefaultModel
	}
	return &Generator{client: c, model: model, caller: c.of(model, remote.GenerateTimeout)}
}

// Model implements extract.Generator.
func (g *Generator) Model() string { return g.caller.Name }

// Generate implements extract.Generator. A refusal comes with what it has cost.
func (g *Generator) Generate(ctx context.Context, p extract.Prompt) (extract.Answer, error) {
	thinking, _ := thinking(g.model)
	told := thinking != nil && !g.untold.Load()
	resp, err := g.ask(ctx, p, told)
	if e := (*remote.Error)(nil); told && errors.As(err, &e) && e.Status == http.StatusBadRequest &&
		strings.Contains(strings.ToLower(e.Message), "thinking") {
		if resp, err = g.ask(ctx, p, false); err == nil {
			g.untold.Store(true)
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
		AutomaticContinuation: genai.Ptr(false), // which would be calls that nobody bounds
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
		return resp, refused(&g.caller, err)
	})
}

var named = regexp.MustCompile(`^gemini-(\d*)`)

// newest is what names without a number, as "gemini-flash-latest", stand for.
const newest = 1000

// generation is the number in the name of a Gemini; 0 for other models.
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

// base is a model's name without the path that may be before it.
func base(model string) string { return model[strings.LastIndex(model, "/")+1:] }

// thinking is what to tell a model about how much to think, as little as it
// lets one, and how many tokens that may take: finding facts needs none.
// gemini-2.5-pro cannot be turned off and has at least 128; from 3 on there are
// levels, of which "low" is the lowest that all know. The others do not think, or
// are left to think as they do.
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

// read finds the answer in what the model says.
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
	default: // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE, OTHER: it has stopped before its end
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
