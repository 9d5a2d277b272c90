package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/appconfig"
	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/internal/inflight"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

// searchBody is the body of a search, and the part that a context shares with
// it.
type searchBody struct {
	App           string          `json:"appName"`
	User          string          `json:"userId"`
	Query         string          `json:"query"`
	Queries       []string        `json:"queries"`
	TopK          *int            `json:"topK"`          // nil is the default; 0 is refused
	MinScore      *float64        `json:"minScore"`      // nil is the default
	MinConfidence *float64        `json:"minConfidence"` // nil is the default
	Kinds         []memory.Kind   `json:"kinds"`
	Topics        []string        `json:"topics"`
	Since         moment          `json:"since"`
	Until         moment          `json:"until"`
	AsOf          moment          `json:"asOf"`
	SessionID     string          `json:"sessionId"`
	Metadata      memory.Metadata `json:"metadata"`
	Filter        string          `json:"filter"`
	Explain       bool            `json:"explain"`
	Lines         bool            `json:"lines"`
	Shared        *bool           `json:"shared"` // nil is the default
	TimeZone      timeZone        `json:"timeZone"`
}

// request checks the parts that package retrieve cannot check, and returns the
// rest as its request. The configuration of the app has what b does not say.
func (b *searchBody) request(scope memory.Scope, app *appconfig.Config) (retrieve.Request, error) {
	r := retrieve.Request{
		Query: b.Query, Queries: b.Queries, TopK: app.Search.TopK, MinScore: app.Search.MinScore,
		MinConfidence: app.Search.MinConfidence,
		Expand:        true, Explain: b.Explain, Lines: b.Lines, Zone: cmp.Or(b.TimeZone.Location, app.Zone()),
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
	if b.MinScore != nil {
		r.MinScore = *b.MinScore
	}
	if b.MinConfidence != nil {
		r.MinConfidence = *b.MinConfidence
	}
	if r.Shared = app.Search.Shared; b.Shared != nil {
		r.Shared = *b.Shared
	}
	var err error
	if r.Filter.Where, err = aip160.Parse(b.Filter, aip160.Memories); err != nil {
		return r, err
	}
	if b.Shared != nil && scope.OfApp() {
		return r, invalid("shared: the path is that of the shared knowledge, which this searches alone")
	}
	return r, checkScope(scope, b.App, b.User)
}

// show gives matches the form of the API.
func show(matches []memory.Match) {
	for i := range matches {
		matches[i].Memory.Show()
	}
}

// search answers POST {scope}/memories/search.
func (s *Server) search(c echo.Context, scope memory.Scope) error {
	var req searchBody
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	r, err := req.request(scope, s.ingest.Configs().Known(c.Request().Context(), scope.App))
	if err != nil {
		return err
	}
	found, share, err := foundWithRoom(c.Request().Context(), s, scope, func() (retrieve.Answer, error) {
		return s.retriever.Answer(c.Request().Context(), scope, r)
	}, func(found *retrieve.Answer) int64 { return matchBytes(found.Matches) })
	if err != nil {
		return err
	}
	defer share.Release()
	show(found.Matches)
	out := newAnswer(c, http.StatusOK)
	out.within(matchBytes(found.Matches))
	out.text(`{"memories":`)
	writeList(out, found.Matches)
	out.text(`,"confidence":`)
	out.value(found.Confidence)
	if len(found.Signs) > 0 {
		out.text(`,"signs":`)
		out.value(found.Signs)
	}
	out.text("}")
	return out.finish()
}

// foundWithRoom returns what find finds, with room to send it. Its bytes are known only
// then. If there is no room at once, what was found is dropped, so that a request that
// waits holds none of it, and found again when there is. Few bytes take no room.
func foundWithRoom[T any](ctx context.Context, s *Server, scope memory.Scope, find func() (T, error),
	size func(*T) int64) (out T, share *inflight.Share, err error) {
	var none T
	if out, err = find(); err != nil {
		return none, nil, err
	}
	bytes := size(&out)
	if bytes <= smallAnswer {
		return out, nil, nil
	}
	if share, ok := s.answers.TakeNow(scope, bytes); ok {
		return out, share, nil
	}
	out = none
	if share, err = s.answers.Take(ctx, scope, bytes, roomTime); err != nil {
		return none, nil, err
	}
	if out, err = find(); err == nil {
		err = share.Grow(ctx, size(&out), 0) // the memories may have grown
	}
	if err != nil {
		share.Release()
		return none, nil, err
	}
	return out, share, nil
}

// matchBytes is how many bytes of memories matches have.
func matchBytes(matches []memory.Match) (bytes int64) {
	for i := range matches {
		bytes += matches[i].Memory.Bytes()
	}
	return bytes
}

// smallAnswer is the size up to which an answer takes no room, in bytes. All answers of
// requests in progress take 64 MiB by that, with DefaultRequests.
const smallAnswer = 32 << 10

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
	r, err := req.request(scope, s.ingest.Configs().Known(c.Request().Context(), scope.App))
	if err != nil {
		return err
	}
	maxTokens := retrieve.DefaultMaxTokens
	if req.MaxTokens != nil {
		maxTokens = *req.MaxTokens
	}
	block, share, err := foundWithRoom(c.Request().Context(), s, scope, func() (retrieve.Block, error) {
		return s.retriever.Context(c.Request().Context(), scope, r, maxTokens)
	}, func(block *retrieve.Block) int64 { return matchBytes(block.Memories) })
	if err != nil {
		return err
	}
	defer share.Release()
	show(block.Memories)
	out := newAnswer(c, http.StatusOK)
	out.within(matchBytes(block.Memories))
	out.value(block)
	return out.finish()
}
