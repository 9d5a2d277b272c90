package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/strict"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
	"github.com/memoryd/memoryd/sessionstore"
)

// ingestBody is {sessionId, events} or a whole Session, whose state is of no
// use here: ingestion never changes state. Or it is facts, without a session.
type ingestBody struct {
	SessionID            string             `json:"sessionId"`
	SessionSnake         string             `json:"session_id"`
	Facts                []ingest.GivenFact `json:"facts"`
	DisableConsolidation bool               `json:"disableConsolidation"`
	sessionFields
}

func (b *ingestBody) options() ingest.RequestOptions {
	return ingest.RequestOptions{DisableConsolidation: b.DisableConsolidation}
}

func (b *ingestBody) session(scope memory.Scope) (string, error) {
	if err := b.owned(scope); err != nil {
		return "", err
	}
	id := ""
	for _, given := range []string{b.SessionID, b.SessionSnake, b.ID} {
		given = strings.TrimSpace(given)
		if id != "" && given != "" && given != id {
			return "", invalid("sessionId is %.80q and also %.80q: want one of them", id, given)
		}
		id = cmp.Or(id, given)
	}
	if id == "" {
		return "", invalid("sessionId is missing")
	}
	return id, nil
}

func (s *Server) ingestEvents(c echo.Context, scope memory.Scope) error {
	wait, err := flag(c, "wait")
	if err != nil {
		return err
	}
	var req ingestBody
	if err := body(c, &req); err != nil {
		return err
	}
	var op *sessionstore.Operation
	if req.Facts != nil {
		if err := req.factsAlone(scope); err != nil {
			return err
		}
		op, err = s.ingest.IngestFacts(c.Request().Context(), scope, req.Facts, req.options())
	} else {
		key, events, err := req.read(scope)
		if err != nil {
			return err
		}
		op, err = s.ingest.Ingest(c.Request().Context(), key, events, req.options())
		if err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return s.answerOperation(c, op, wait)
}

// factsAlone refuses facts beside events.
func (b *ingestBody) factsAlone(scope memory.Scope) error {
	if b.SessionID != "" || b.SessionSnake != "" || b.ID != "" || len(b.Events) > 0 {
		return invalid("facts: want either facts or a session and its events")
	}
	return b.owned(scope)
}

// read gives the session and the events of the body.
func (b *ingestBody) read(scope memory.Scope) (key sessionstore.Key, events []sessionstore.Event, err error) {
	key.Scope = scope
	if key.ID, err = b.session(scope); err == nil {
		events, err = parseEvents("events", b.Events)
	}
	return key, events, err
}

// previewBody is the answer of a dry run.
type previewBody struct {
	Facts     []previewFact      `json:"facts"`
	Memories  []ingest.Changed   `json:"memories"`
	Usage     extract.Usage      `json:"usage"`
	Dropped   int                `json:"factsDropped"`
	Exchanges []extract.Exchange `json:"exchanges"`
	Error     string             `json:"error,omitzero"`
}

type previewFact struct {
	Fact      string    `json:"fact"`
	Topics    []string  `json:"topics"`
	EventIDs  []string  `json:"eventIds"`
	Quote     string    `json:"quote"`
	Timestamp time.Time `json:"timestamp"`
	ValidFrom time.Time `json:"validFrom,omitzero"`
	Forget    bool      `json:"forget,omitzero"`
}

func (s *Server) dryRun(c echo.Context, scope memory.Scope) error {
	var req ingestBody
	if err := body(c, &req); err != nil {
		return err
	}
	if req.Facts != nil {
		return invalid("facts: a dry run is of events")
	}
	key, events, err := req.read(scope)
	if err != nil {
		return err
	}
	p, err := s.ingest.DryRun(c.Request().Context(), key, events, req.options())
	if err != nil {
		return err
	}
	out := previewBody{Memories: p.Changes, Usage: p.Cost.Usage, Dropped: p.Cost.FactsDropped, Exchanges: p.Exchanges}
	for _, f := range p.Facts {
		out.Facts = append(out.Facts, previewFact{f.Text, f.Topics, f.EventIDs, f.Quote, f.Timestamp, f.ValidFrom, f.Forget})
	}
	if p.Err != nil {
		out.Error = p.Err.Error()
	}
	return answer(c, http.StatusOK, out)
}

func (s *Server) rollbackMemory(c echo.Context, scope memory.Scope, id string) error {
	var req struct {
		Revision int64 `json:"revision"`
	}
	if err := body(c, &req); err != nil {
		return err
	}
	if req.Revision < 1 {
		return invalid("revision: want the number of one of the memory's revisions, from 1 on")
	}
	m, err := s.ingest.Rollback(c.Request().Context(), scope, id, req.Revision)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, m)
}

func (s *Server) addMemory(c echo.Context, scope memory.Scope) error {
	var req struct {
		App       string          `json:"appName"`
		User      string          `json:"userId"`
		Fact      string          `json:"fact"`
		Topics    []string        `json:"topics"`
		Metadata  memory.Metadata `json:"metadata"`
		TTL       lifetime        `json:"ttl"`
		ValidFrom moment          `json:"validFrom"`
	}
	if err := body(c, &req); err != nil {
		return err
	}
	if err := owned(scope, req.App, req.User); err != nil {
		return err
	}
	m, err := s.ingest.Add(c.Request().Context(), scope, ingest.Given{Fact: req.Fact, Topics: req.Topics, Metadata: req.Metadata,
		TTL: req.TTL.Duration, ValidFrom: req.ValidFrom.Time})
	if err != nil {
		return err
	}
	return answer(c, http.StatusCreated, m)
}

func (s *Server) listMemories(c echo.Context, scope memory.Scope) error {
	list := memory.List{PageToken: c.QueryParam("pageToken")}
	q := c.QueryParams()
	for _, k := range q["kind"] {
		list.Kinds = append(list.Kinds, memory.Kind(k))
	}
	list.Topics = q["topic"]
	list.SessionID = c.QueryParam("sessionId")
	if err := list.Filter.Validate(); err != nil {
		return err
	}
	var err error
	if list.History, err = flag(c, "history"); err != nil {
		return err
	}
	if list.Order, err = memory.ParseOrder(c.QueryParam("orderBy")); err != nil {
		return err
	}
	if list.PageSize, err = pageSize(c); err != nil {
		return err
	}
	page, err := s.memories.List(c.Request().Context(), scope, list)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, struct {
		Memories      []memory.Memory `json:"memories"`
		NextPageToken string          `json:"nextPageToken,omitzero"`
	}{page.Memories, page.NextPageToken})
}

func (s *Server) getMemory(c echo.Context, scope memory.Scope, id string) error {
	m, err := s.ingest.Get(c.Request().Context(), scope, id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, m)
}

func (s *Server) patchMemory(c echo.Context, scope memory.Scope, id string) error {
	// A pointer tells what is absent from what is null, which clears.
	var req struct {
		Fact     *string         `json:"fact"`
		Topics   json.RawMessage `json:"topics"`
		Metadata json.RawMessage `json:"metadata"`
		TTL      json.RawMessage `json:"ttl"`
	}
	if err := body(c, &req); err != nil {
		return err
	}
	patch := ingest.Patch{Fact: req.Fact}
	var err error
	if patch.Topics, err = optional[[]string]("topics", req.Topics); err != nil {
		return err
	}
	if patch.Metadata, err = optional[memory.Metadata]("metadata", req.Metadata); err != nil {
		return err
	}
	ttl, err := optional[lifetime]("ttl", req.TTL)
	if err != nil {
		return err
	}
	if ttl != nil {
		patch.TTL = &ttl.Duration
	}
	if patch == (ingest.Patch{}) {
		return invalid("nothing to change: want fact, topics, metadata or ttl")
	}
	m, err := s.ingest.Update(c.Request().Context(), scope, id, patch)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, m)
}

// optional reads a field of a patch: nil where it is absent, its zero value
// where it is null.
func optional[T any](name string, raw json.RawMessage) (*T, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	v := new(T)
	return v, strict.Decode(name, raw, v)
}

func (s *Server) deleteMemory(c echo.Context, scope memory.Scope, id string) error {
	if err := s.ingest.Delete(c.Request().Context(), scope, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) listRevisions(c echo.Context, scope memory.Scope, id string) error {
	revisions, err := s.memories.Revisions(c.Request().Context(), scope, id)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, struct {
		Revisions []memory.Revision `json:"revisions"`
	}{revisions})
}

// searchBody is what a search and a context ask for.
type searchBody struct {
	App       string          `json:"appName"`
	User      string          `json:"userId"`
	Query     string          `json:"query"`
	TopK      *int            `json:"topK"`
	MinScore  float64         `json:"minScore"`
	Kinds     []memory.Kind   `json:"kinds"`
	Topics    []string        `json:"topics"`
	Since     moment          `json:"since"`
	Until     moment          `json:"until"`
	AsOf      moment          `json:"asOf"`
	SessionID string          `json:"sessionId"`
	Metadata  memory.Metadata `json:"metadata"`
	Explain   bool            `json:"explain"`
}

func (b *searchBody) request(scope memory.Scope) (retrieve.Request, error) {
	r := retrieve.Request{Query: b.Query, MinScore: b.MinScore, Explain: b.Explain,
		Filter: memory.Filter{Kinds: b.Kinds, Topics: b.Topics, Since: b.Since.Time, Until: b.Until.Time, AsOf: b.AsOf.Time,
			SessionID: b.SessionID, Metadata: b.Metadata}}
	if b.TopK != nil {
		if r.TopK = *b.TopK; r.TopK < 1 || r.TopK > retrieve.MaxTopK {
			return r, invalid("topK: want 1 to %d, not %d", retrieve.MaxTopK, r.TopK)
		}
	}
	return r, owned(scope, b.App, b.User)
}

func (s *Server) search(c echo.Context, scope memory.Scope) error {
	var req searchBody
	if err := body(c, &req); err != nil {
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
	return answer(c, http.StatusOK, struct {
		Memories []memory.Match `json:"memories"`
	}{matches})
}

func (s *Server) promptContext(c echo.Context, scope memory.Scope) error {
	var req struct {
		searchBody
		MaxTokens *int `json:"maxTokens"`
	}
	if err := body(c, &req); err != nil {
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
	return answer(c, http.StatusOK, block)
}
