package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// searchBody is the body of a search, and the part that a context shares with
// it.
type searchBody struct {
	App       string          `json:"appName"`
	User      string          `json:"userId"`
	Query     string          `json:"query"`
	TopK      *int            `json:"topK"` // nil is the default; 0 is refused
	MinScore  float64         `json:"minScore"`
	Kinds     []memory.Kind   `json:"kinds"`
	Topics    []string        `json:"topics"`
	Since     moment          `json:"since"`
	Until     moment          `json:"until"`
	AsOf      moment          `json:"asOf"`
	SessionID string          `json:"sessionId"`
	Metadata  memory.Metadata `json:"metadata"`
	Explain   bool            `json:"explain"`
	Lines     bool            `json:"lines"`
}

// request checks the parts that package retrieve cannot check, and returns the
// rest as its request.
func (b *searchBody) request(scope memory.Scope) (retrieve.Request, error) {
	r := retrieve.Request{
		Query: b.Query, MinScore: b.MinScore, Explain: b.Explain, Lines: b.Lines,
		Filter: memory.Filter{
			Kinds: b.Kinds, Topics: b.Topics, Since: b.Since.Time, Until: b.Until.Time, AsOf: b.AsOf.Time,
			SessionID: b.SessionID, Metadata: b.Metadata,
		},
	}
	if b.TopK != nil {
		if r.TopK = *b.TopK; r.TopK < 1 || r.TopK > retrieve.MaxTopK {
			return r, invalid("topK: want 1 to %d, not %d", retrieve.MaxTopK, r.TopK)
		}
	}
	return r, checkScope(scope, b.App, b.User)
}

// search answers POST {scope}/memories/search.
func (s *Server) search(c echo.Context, scope memory.Scope) error {
	var req searchBody
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	r, err := req.request(scope)
	if err != nil {
		return err
	}
	matches, err := s.retriever.Search(c.Request().Context(), scope, r)
	if err != nil {
		return err
	}
	out, share, err := s.matchesAnswer(c, scope.App, matches)
	if err != nil {
		return err
	}
	defer share.Release()
	out.text(`{"memories":`)
	writeList(out, matches)
	out.text("}")
	return out.finish()
}

// matchesAnswer begins an answer with matches once there is room to send them. They
// are few, and held by then, so that small ones do not wait.
func (s *Server) matchesAnswer(c echo.Context, app string, matches []memory.Match) (*answer, *inflight.Share, error) {
	bytes := int64(0)
	for i := range matches {
		bytes += matches[i].Memory.Bytes()
	}
	out := newAnswer(c, http.StatusOK)
	out.within(bytes)
	if bytes <= smallAnswer {
		return out, nil, nil
	}
	share, err := s.answers.Take(c.Request().Context(), app, bytes, roomTime)
	return out, share, err
}

// smallAnswer is the size up to which an answer takes no room, in bytes.
const smallAnswer = 256 << 10

// promptContext answers POST {scope}/memories/context: the best matches of a
// search as one block of text for a prompt, within a budget of tokens.
func (s *Server) promptContext(c echo.Context, scope memory.Scope) error {
	var req struct {
		searchBody
		MaxTokens *int `json:"maxTokens"` // nil is the default; 0 is refused
	}
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	r, err := req.request(scope)
	if err != nil {
		return err
	}
	maxTokens := retrieve.DefaultMaxTokens
	if req.MaxTokens != nil {
		maxTokens = *req.MaxTokens
	}
	block, err := s.retriever.Context(c.Request().Context(), scope, r, maxTokens)
	if err != nil {
		return err
	}
	out, share, err := s.matchesAnswer(c, scope.App, block.Memories)
	if err != nil {
		return err
	}
	defer share.Release()
	out.value(block)
	return out.finish()
}
