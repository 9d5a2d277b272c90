package vertex

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/retrieve"
)

const (
	// DefaultTopK is the default of Options.TopK, and that of Memory Bank. So is the size of a page.
	DefaultTopK     = 3
	defaultRetrieve = 3
	maxRetrieve     = 100
	// wholeRetrieve is how many memories a client gets that cannot ask for a second page, and
	// wholeBytes how many bytes these have.
	wholeRetrieve = 1000
	wholeBytes    = 32 << 20
	// retrievePatience is how long a retrieval waits for models: some clients fail a turn of the
	// agent on any error, and all hold it up meanwhile.
	retrievePatience = 300 * time.Millisecond
)

// retrieveIn is the body of a retrieval. Without a question it lists the memories of the scope.
type retrieveIn struct {
	Scope map[string]string `json:"scope"`
	// Similarity asks for the TopK memories that are nearest to a question.
	Similarity *struct {
		SearchQuery string `json:"searchQuery"`
		TopK        int    `json:"topK"`
	} `json:"similaritySearchParams"`
	// Simple asks for a page.
	Simple *struct {
		PageSize  int    `json:"pageSize"`
		PageToken string `json:"pageToken"`
	} `json:"simpleRetrievalParams"`
	// The filters and MemoryTypes must hold of what is found.
	filtersIn
	MemoryTypes []memoryType `json:"memoryTypes"`
}

// retrieved is a memory that was found. A page by time has no distances.
type retrieved struct {
	Memory   *memoryBody `json:"memory"`
	Distance *float64    `json:"distance,omitempty"`
	// Score is that of memoryd's own searches, 0 to 1. Google's answers have none.
	Score *float64 `json:"score,omitempty"`
}

// retrieveOut is the answer to a retrieval.
type retrieveOut struct {
	Memories      []retrieved `json:"retrievedMemories,omitempty"`
	NextPageToken string      `json:"nextPageToken,omitempty"`
}

// retrieveMemories carries out RetrieveMemories.
func (s *Service) retrieveMemories(ctx context.Context, call *Call) (any, error) {
	if call.Resource.Kind != "memories" || call.Resource.ID != "" {
		return nil, notHere(call)
	}
	var in retrieveIn
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	if in.Similarity != nil && in.Simple != nil {
		return nil, invalid("similaritySearchParams and simpleRetrievalParams: want one of them")
	}
	ctx, scope, err := s.within(ctx, call.Resource.Engine, in.Scope)
	if err != nil {
		return nil, err
	}
	filter, err := in.filter(s)
	if err != nil {
		return nil, err
	}
	if in.Similarity != nil {
		return s.retrieveSimilar(ctx, call.Resource, scope, &in, filter)
	}
	return s.retrieveByTime(ctx, call, scope, &in, filter)
}

// filter is what the body asks for beside the question.
func (in *retrieveIn) filter(s *Service) (f memory.Filter, err error) {
	f.Kinds = memoryKinds()
	for i, t := range in.MemoryTypes {
		if i == 0 {
			f.Kinds = nil
		}
		switch t {
		case "":
			return f, invalid("memoryTypes[%d]: want NATURAL_LANGUAGE_COLLECTION or %s", i, profileType)
		case profileType:
			f.Kinds = append(f.Kinds, memory.KindProfile)
		default:
			f.Kinds = append(f.Kinds, memory.KindFact)
		}
	}
	f.Where, err = s.where(in.filtersIn)
	return f, err
}

// retrieveSimilar finds the memories that are nearest to a question, of those that hold now. The shared
// knowledge of the app is not among them: it is in no scope, so that clients could not read it by name.
func (s *Service) retrieveSimilar(ctx context.Context, r Resource, scope memory.Scope, in *retrieveIn,
	filter memory.Filter) (any, error) {
	switch n := in.Similarity.TopK; {
	case n < 0 || n > retrieve.MaxTopK:
		return nil, invalid("topK: want 1 to %d, not %d", retrieve.MaxTopK, n)
	case strings.TrimSpace(in.Similarity.SearchQuery) == "":
		return nil, invalid("searchQuery: want a question")
	}
	if s.opts.Turns && len(in.MemoryTypes) == 0 {
		filter.Kinds = memory.Kinds()
	}
	app := s.ingest.Configs().Known(ctx, scope.App)
	matches, err := s.retriever.Search(ctx, scope, retrieve.Request{
		Query: memory.Cut(in.Similarity.SearchQuery, retrieve.MaxQuery), TopK: cmp.Or(in.Similarity.TopK, s.opts.TopK),
		MinScore: app.Search.MinScore, MinConfidence: app.Search.MinConfidence, Zone: app.Zone(), Expand: true,
		Filter: filter, Patience: retrievePatience,
	})
	if err != nil {
		return nil, err
	}
	out := retrieveOut{}
	for i := range matches {
		distance, score := distanceOf(matches[i].Score), matches[i].Score
		out.Memories = append(out.Memories, retrieved{r.memoryOf(&matches[i].Memory, in.Scope), &distance, &score})
	}
	return out, nil
}

// distanceOf is the distance of two vectors of unit length whose cosine is the score.
func distanceOf(score float64) float64 { return math.Sqrt(max(0, 2-2*score)) }

// retrieveByTime returns a page of the memories of a scope, the newest first.
func (s *Service) retrieveByTime(ctx context.Context, call *Call, scope memory.Scope, in *retrieveIn,
	filter memory.Filter) (any, error) {
	list := memory.List{Filter: filter, Order: memory.Order{Field: "createTime"}, PageSize: defaultRetrieve}
	if in.Simple != nil {
		if in.Simple.PageSize < 0 {
			return nil, invalid("pageSize %d: want 1 or more", in.Simple.PageSize)
		}
		list.PageSize = min(cmp.Or(in.Simple.PageSize, defaultRetrieve), maxRetrieve)
		list.PageToken = in.Simple.PageToken
	}
	whole := call.onePage()
	if whole {
		list.PageSize = wholeRetrieve
	}
	out, bytes := retrieveOut{}, int64(0)
	for {
		page, err := s.memories.List(ctx, scope, list)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			m := &page.Memories[i]
			if bytes += m.Bytes(); len(out.Memories) > 0 && (len(out.Memories) == list.PageSize || bytes > wholeBytes) {
				return out, nil
			}
			out.Memories = append(out.Memories, retrieved{Memory: call.Resource.memoryOf(m, in.Scope)})
		}
		if !whole || page.NextPageToken == "" {
			if !whole {
				out.NextPageToken = page.NextPageToken
			}
			return out, nil
		}
		list.PageToken = page.NextPageToken
	}
}

// onePage reports whether the client reads one page only: Google's SDK for Python has no place
// for the token of the second one, and raises an error.
func (call *Call) onePage() bool {
	agent := call.Request.UserAgent()
	return strings.Contains(agent, "vertex-genai-modules") && strings.Contains(agent, "gl-python")
}

// profileOut is a profile in JSON: the values of the fields that have one.
type profileOut struct {
	SchemaID string `json:"schemaId"`
	Profile  object `json:"profile"`
}

// retrieveProfiles carries out RetrieveProfiles: it reads the structured profiles of a scope. One
// without a value is left out.
func (s *Service) retrieveProfiles(ctx context.Context, call *Call) (any, error) {
	if call.Resource.Kind != "memories" || call.Resource.ID != "" {
		return nil, notHere(call)
	}
	var in struct {
		Scope map[string]string `json:"scope"`
	}
	if err := Decode(call.Body, &in); err != nil {
		return nil, err
	}
	ctx, scope, err := s.within(ctx, call.Resource.Engine, in.Scope)
	if err != nil {
		return nil, err
	}
	if err := access.Check(ctx, scope, access.Read); err != nil { // an app without profiles reads no store
		return nil, err
	}
	found, err := s.ingest.Profiles(ctx, scope)
	if err != nil {
		return nil, err
	}
	out := struct {
		Profiles map[string]profileOut `json:"profiles,omitempty"`
	}{map[string]profileOut{}}
	for schema, fields := range found {
		p := profileOut{schema, object{}}
		for name := range fields {
			p.Profile[name] = fields[name].Value
		}
		out.Profiles[schema] = p
	}
	return out, nil
}
