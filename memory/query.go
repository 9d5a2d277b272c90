package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Filter narrows a List or Search within a scope. The zero value passes every
// memory that is current and live. Each field that is set must hold.
type Filter struct {
	Kinds     []Kind
	Topics    []string  // any of these
	Since     time.Time // Timestamp not before
	Until     time.Time // Timestamp not after
	SessionID string
	Metadata  Metadata // each name with just this value
	// AsOf asks for what was current at that time: said by then, and not yet
	// superseded then. Zero is now.
	AsOf time.Time
	// History takes in what is current no more. It is hidden otherwise.
	History bool
	// SupersededBy is the id of the memory that took the place of these.
	SupersededBy string
}

// Match reports whether m passes f at now. It is the definition that backends
// translate into their own filters.
func (f *Filter) Match(m *Memory, now time.Time) bool {
	if !m.Live(now) {
		return false
	}
	asOf := now
	if !f.AsOf.IsZero() {
		asOf = f.AsOf
		if m.Timestamp.After(asOf) {
			return false
		}
	}
	if !f.History && !m.ValidTo.IsZero() && !asOf.Before(m.ValidTo) {
		return false
	}
	if f.SupersededBy != "" && f.SupersededBy != m.SupersededBy {
		return false
	}
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, m.Kind) {
		return false
	}
	if len(f.Topics) > 0 && !slices.ContainsFunc(f.Topics, func(t string) bool { return slices.Contains(m.Topics, t) }) {
		return false
	}
	if !f.Since.IsZero() && m.Timestamp.Before(f.Since) || !f.Until.IsZero() && m.Timestamp.After(f.Until) {
		return false
	}
	if f.SessionID != "" && f.SessionID != m.Source.SessionID {
		return false
	}
	for k, v := range f.Metadata {
		if got, ok := m.Metadata[k]; !ok || !sameJSON(got, v) {
			return false
		}
	}
	return true
}

// Validate refuses values that no memory can have, naming the field.
func (f *Filter) Validate() error {
	for _, k := range f.Kinds {
		if err := k.Validate(); err != nil {
			return err
		}
	}
	for i, t := range f.Topics {
		if err := validateName(fmt.Sprintf("topics[%d]", i), t); err != nil {
			return err
		}
	}
	if f.SessionID != "" {
		if err := ValidateID("session", f.SessionID); err != nil {
			return err
		}
	}
	return f.Metadata.validate()
}

// CanonicalJSON writes a JSON value in one way, however it was written: 1 is
// 1.0, white space and the order of an object's fields do not count. What is no
// JSON comes back as it is.
func CanonicalJSON(raw json.RawMessage) string {
	v, err := readJSON(raw)
	if err != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil { // what was read can be written
		panic(err)
	}
	return string(out)
}

func sameJSON(a, b json.RawMessage) bool {
	return string(a) == string(b) || CanonicalJSON(a) == CanonicalJSON(b)
}

func readJSON(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return plainNumbers(v), err
}

// plainNumbers turns numbers into float64 where that is exact; integers above
// 2^53 stay as they are written.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && math.Abs(f) < 1<<53 {
			return f + 0 // -0 is 0
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}

// Order is the order of a List.
type Order struct {
	Field     string // "timestamp" (the default), "createTime" or "updateTime"
	Ascending bool   // oldest first; ties by id in the same direction
}

// ParseOrder reads "timestamp", "createTime asc", "updateTime desc"; "" is the
// default, newest said first.
func ParseOrder(s string) (Order, error) {
	name, dir, _ := strings.Cut(strings.TrimSpace(s), " ")
	o := Order{Field: "timestamp"}
	switch name {
	case "":
	case "timestamp", "createTime", "updateTime":
		o.Field = name
	default:
		return o, fmt.Errorf("%w: orderBy %q: want timestamp, createTime or updateTime, then asc or desc", ErrInvalid, s)
	}
	switch strings.ToLower(strings.TrimSpace(dir)) {
	case "", "desc":
	case "asc":
		o.Ascending = true
	default:
		return o, fmt.Errorf("%w: orderBy %q: want asc or desc after the field", ErrInvalid, s)
	}
	return o, nil
}

// Page sizes of lists.
const (
	DefaultPageSize = 100
	MaxPageSize     = 1000
)

// List asks for one page.
type List struct {
	Filter
	Order     Order
	PageSize  int    // 1 to MaxPageSize; 0 is DefaultPageSize
	PageToken string // "" for the first page, else the last answer's NextPageToken
}

// Page is one page of a list. Memories written while a list is walked may or
// may not show up in it; every other one does exactly once.
type Page struct {
	Memories      []Memory
	NextPageToken string // "" on the last page
}

// Terms are the analyzed words of a memory and how often each occurs.
type Terms map[string]int

// Length is how many words there are, repetitions counted.
func (t Terms) Length() int {
	n := 0
	for _, f := range t {
		n += f
	}
	return n
}

// Query asks a store for candidates. A store finds and measures; it does not
// rank between its two lists, that is package retrieve's work, so that every
// backend ranks alike.
type Query struct {
	Filter
	// Terms are the distinct analyzed words of the question. The lexical list
	// holds the Limit best memories by LexicalScore among those that have one.
	Terms []string
	// Vector is the question's embedding, or nil for none. The dense list
	// holds the Limit best memories by cosine, above 0.
	Vector []float32
	Limit  int
	// Cited has the turns come along that facts of the lists cite, as if they
	// were found themselves.
	Cited bool
	// Context is how many turns around each turn found come along.
	Context int
	// Sessions asks for Stats.Sessions and Stats.SessionCount.
	Sessions bool
}

// Candidate is one memory and what it has in common with the query.
type Candidate struct {
	Memory Memory
	Freqs  []int   // how often each of Query.Terms occurs in it
	Length int     // Terms.Length
	Cosine float64 // with Query.Vector, -1 to 1; 0 where either has none
	Match  bool    // it passes the filter; context need not
}

// Stats are of all live memories of the scope, whatever the filter.
type Stats struct {
	Docs int   // how many
	DF   []int // how many have each of Query.Terms
	// Sessions are those with a turn that has any of Query.Terms, by id, if
	// Query.Sessions asks for them.
	Sessions map[string]SessionStats
	// SessionCount is how many sessions have turns.
	SessionCount int
}

// SessionStats are of the live turns of one session.
type SessionStats struct {
	Turns int   // how many
	DF    []int // how many have each of Query.Terms
}

// Found is the answer to a Query: the union of the lexical and the dense list,
// with the turns cited and the context that were asked for, as runs. A run is either one fact or consecutive turns of one session in order
// of (Timestamp, event id). Runs are disjoint; a turn's context of another
// run's turn puts both into one. All that is in a run is live; the order of
// runs means nothing.
type Found struct {
	Stats Stats
	Runs  [][]Candidate
}

// The constants of BM25 as Robertson and Zaragoza recommend them ("The
// Probabilistic Relevance Framework", 2009, section 3.4: k1 1.2 to 2, b 0.5 to
// 0.8). AvgLength stands for the mean length of a memory in words: a constant,
// so that the weight of a word in a memory does not change when others come
// and go, and is the same on every backend. It is the mean over turns of
// conversations after stop words, name and date included.
const (
	BM25K1    = 1.2
	BM25B     = 0.75
	AvgLength = 20.0
)

// MinDocs is how many memories a scope counts as at least when words are
// weighed. In one of three, counts say little of how rare a word is; left as
// they are they would make a word that two of them have nearly worthless.
const MinDocs = 100

// IDF is the weight of a term that df of docs memories have: ln(1 + (N - df +
// 0.5) / (df + 0.5)) with N = max(docs, MinDocs), BM25's inverse document
// frequency in the form that is never negative.
func IDF(docs, df int) float64 {
	return math.Log(1 + (float64(max(docs, MinDocs))-float64(df)+0.5)/(float64(df)+0.5))
}

// Saturate is BM25's term frequency part, 0 to k1+1: it grows ever slower with
// freq, and is less in a longer text. Neither need be whole: text of a
// neighbour may count in part.
func Saturate(freq, length float64) float64 {
	if freq == 0 {
		return 0
	}
	return freq * (BM25K1 + 1) / (freq + BM25K1*(1-BM25B+BM25B*length/AvgLength))
}

// LexicalScore is BM25 of one memory: the sum over terms of IDF and Saturate.
func LexicalScore(s Stats, freqs []int, length int) float64 {
	sum := 0.0
	for i, f := range freqs {
		sum += IDF(s.Docs, s.DF[i]) * Saturate(float64(f), float64(length))
	}
	return sum
}
