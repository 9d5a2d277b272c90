package server_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// number returns the number at a path; NaN if there is none.
func number(v any, path ...any) float64 {
	n, _ := at(v, path...).(json.Number)
	f, err := n.Float64()
	if err != nil {
		return math.NaN()
	}
	return f
}

// find searches and checks what holds for every answer: scores are in 0 to 1, the
// best comes first, and equal scores are ordered by id.
func (a *api) find(query map[string]any) []any {
	a.t.Helper()
	out := a.want(200, "POST", scope+"/memories/search", query)
	hits := list(out, "memories")
	if hits == nil {
		a.t.Fatalf("%v: memories is not a list: %v", query, out)
	}
	for i, h := range hits {
		score := number(h, "score")
		if !(score >= 0 && score <= 1) {
			a.t.Errorf("%v: a score is %v", query, score)
		}
		if i == 0 {
			continue
		}
		last, ordered := number(hits[i-1], "score"), text(h, "memory", "id") > text(hits[i-1], "memory", "id")
		if score > last || score == last && !ordered {
			a.t.Errorf("%v: %v comes after %v, or ties are not by id", query, score, last)
		}
	}
	return hits
}

// request is the body of a request.
type request = map[string]any

// startLibrary starts a server with two conversations and a fact of a client.
func startLibrary(t *testing.T) *api {
	t.Helper()
	a := start(t)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId": "old", "events": [
		{"id": "o1", "content": "I love ramen with figs.", "timestamp": "2020-01-01T00:00:00Z"},
		{"id": "o2", "author": "guide", "content": {"role": "model", "parts": [{"text": "Ramen it is."}]},
			"timestamp": "2020-01-01T00:00:10Z"}]}`)
	a.want(201, "POST", scope+"/memories",
		`{"fact": "Ramen on Fridays.", "topics": ["FOOD"], "metadata": {"source": "import", "n": 1, "list": [1, 2]}}`)
	return a
}

func TestSearch(t *testing.T) {
	a := startLibrary(t)
	all := a.find(request{"query": "ramen", "topK": 100})
	if len(all) < 5 {
		t.Fatalf("ramen is found %d times", len(all))
	}
	top := a.find(request{"query": "Who is allergic to peanuts?", "topK": 1})
	if len(top) != 1 || !strings.Contains(text(top, 0, "memory", "fact"), "peanuts") {
		t.Errorf("the best answer is %v", top)
	}
	if at(top, 0, "explain") != nil {
		t.Error("there is an explain that was not requested")
	}
	same(t, "as read", at(top, 0, "memory"), a.want(200, "GET", scope+"/memories/"+text(top, 0, "memory", "id"), nil))
	same(t, "topK 2 is the best two", a.find(request{"query": "ramen", "topK": 2}), all[:2])
	same(t, "no topK is ten", a.find(request{"query": "ramen"}), all[:min(10, len(all))])

	middle := number(all, len(all)/2, "score")
	for _, h := range a.find(request{"query": "ramen", "topK": 100, "minScore": middle}) {
		if number(h, "score") < middle {
			t.Errorf("minScore %v lets %v through", middle, number(h, "score"))
		}
	}
	same(t, "minScore 0", a.find(request{"query": "ramen", "topK": 100, "minScore": 0}), all)
	same(t, "minScore 1", len(a.find(request{"query": "ramen", "minScore": 1})), 0)

	// filtered checks that a filter passes exactly the memories that ok accepts,
	// and that they are some of all but not all.
	filtered := func(name string, filter request, ok func(m any) bool) {
		t.Helper()
		filter["query"], filter["topK"] = "ramen", 100
		want := 0
		for _, h := range all {
			if ok(at(h, "memory")) {
				want++
			}
		}
		got := a.find(filter)
		if len(got) != want || want == 0 || want == len(all) {
			t.Errorf("%s: %d of %d pass, want %d", name, len(got), len(all), want)
		}
		for _, h := range got {
			if !ok(at(h, "memory")) {
				t.Errorf("%s lets %v through", name, at(h, "memory"))
			}
		}
	}
	before := func(limit string) func(any) bool { return func(m any) bool { return text(m, "timestamp") <= limit } }
	const y2022 = "2022-01-01T00:00:00.000000Z"
	filtered("kinds", request{"kinds": []string{"turn"}}, func(m any) bool { return text(m, "kind") == "turn" })
	filtered("topics", request{"topics": []string{"FOOD", "none"}},
		func(m any) bool { return slices.Contains(list(m, "topics"), any("FOOD")) })
	filtered("since", request{"since": y2022}, func(m any) bool { return text(m, "timestamp") >= y2022 })
	filtered("until", request{"until": y2022}, before(y2022))
	filtered("until in epoch seconds", request{"until": 1640995200}, before(y2022))
	filtered("asOf", request{"asOf": "2022-01-01T00:00:00Z"}, before(y2022))
	filtered("sessionId", request{"sessionId": "old"},
		func(m any) bool { return text(m, "source", "sessionId") == "old" })
	filtered("metadata", request{"metadata": request{"source": "import", "n": 1.0}},
		func(m any) bool { return at(m, "metadata", "source") != nil })
	for name, filter := range map[string]request{
		"kinds and topics":            {"kinds": []string{"turn"}, "topics": []string{"FOOD"}},
		"metadata":                    {"metadata": request{"n": 2}},
		"metadata with one name more": {"metadata": request{"n": 1, "m": 1}},
		"sessionId":                   {"sessionId": "none"},
		"since":                       {"since": "2100-01-01T00:00:00Z"},
		"since after until":           {"since": "2024-01-01T00:00:00Z", "until": "2021-01-01T00:00:00Z"},
	} {
		filter["query"] = "ramen"
		same(t, name+" that nothing passes", len(a.find(filter)), 0)
	}
	same(t, "empty filters", a.find(request{"query": "ramen", "topK": 100, "kinds": []string{}, "topics": []string{},
		"sessionId": "", "metadata": request{}, "since": nil}), all)
}

// TestSearchExplain checks that the parts of a score add up to it.
func TestSearchExplain(t *testing.T) {
	a := startLibrary(t)
	for _, h := range a.find(request{"query": "ramen with peanuts", "topK": 100, "explain": true}) {
		score, weights := 0.0, 0.0
		for _, p := range list(h, "explain", "parts") {
			v, w := number(p, "value"), number(p, "weight")
			if !(v >= 0 && v <= 1 && w >= 0 && w <= 1) || text(p, "name") == "" {
				t.Errorf("a part is %v", p)
			}
			score += v * w
			weights += w
		}
		if math.Abs(score-number(h, "score")) > 1e-9 || math.Abs(weights-1) > 1e-9 {
			t.Errorf("the parts sum to %v, the weights to %v, the score is %v", score, weights, number(h, "score"))
		}
		if at(h, "explain", "terms") == nil {
			t.Error("terms is null")
		}
	}
	terms := list(a.find(request{"query": "peanuts", "topK": 1, "explain": true}), 0, "explain", "terms")
	same(t, "terms", len(terms), 1)
}

// TestSearchQueries checks that several wordings find what each of them finds, in a
// search and in a context, and that one wording is the same search in each form.
func TestSearchQueries(t *testing.T) {
	a := startLibrary(t)
	const peanuts = "Who is allergic to peanuts?"
	one := request{"query": peanuts, "explain": true}
	found := a.find(one)
	same(t, "queries alone", a.find(request{"queries": []string{peanuts}, "explain": true}), found)
	same(t, "both the same", a.find(request{"query": peanuts, "queries": []string{peanuts}, "explain": true}), found)
	same(t, "none", a.find(request{"query": peanuts, "queries": nil, "explain": true}), found)

	both := request{"query": peanuts, "queries": []string{"Ramen on Fridays."}, "explain": true, "topK": 2}
	wordings := map[string]bool{}
	for _, h := range a.find(both) {
		wordings[text(h, "explain", "query")] = true
	}
	same(t, "the wordings that find the best two", wordings, map[string]bool{peanuts: true, "Ramen on Fridays.": true})
	delete(both, "topK")
	block := text(a.block(1024, both), "text")
	if !strings.Contains(block, "allergic to peanuts") || !strings.Contains(block, "Ramen on Fridays.") {
		t.Errorf("the block is %s", block)
	}

	nine := strings.Split(strings.Repeat("x", 9), "")
	for _, path := range []string{"/memories/search", "/memories/context"} {
		a.refused(400, "POST", scope+path, request{"query": "x", "queries": nine}, "queries has 9 texts, more than 8")
		a.refused(400, "POST", scope+path, request{"query": "x", "queries": []string{"y", ""}}, "queries[1] is empty")
		a.refused(400, "POST", scope+path, request{"queries": []string{}}, "query is empty")
		a.refused(400, "POST", scope+path, request{"query": " ", "queries": []string{"x"}}, "query is empty")
		a.refused(400, "POST", scope+path, request{"queries": []string{strings.Repeat("a", 16<<10+1)}}, "more than 16384")
	}
}

// TestSearchEmpty checks that a search without matches is an empty list, and that
// an empty query is refused.
func TestSearchEmpty(t *testing.T) {
	a := start(t)
	queries := []string{"ramen", "🙂🎉👩‍👩‍👧‍👦", "?!", "the of and", "\u0000", "قهوة", "寿司", strings.Repeat("a", 16<<10),
		"' OR 1=1 --", "a* NEAR(b)", `"`, "\u202e\ufeff"}
	for _, q := range queries {
		equal(t, q[:min(len(q), 40)], a.want(200, "POST", scope+"/memories/search", request{"query": q}),
			`{"memories": [], "confidence": 0}`)
	}
	a.want(200, "POST", scope+"/memories/ingest?wait=true", talk(t))
	for _, q := range queries {
		a.find(request{"query": q, "explain": true})
	}
	a.refused(400, "POST", scope+"/memories/search", request{"query": strings.Repeat("a", 16<<10+1)}, "query")
	a.refused(400, "POST", scope+"/memories/search", request{"query": strings.Repeat("ab ", 350_000)}, "query")
	for _, body := range []string{``, `{}`, `null`, `{"query": ""}`, `{"query": " \n\t\u00a0"}`, `{"query": null}`} {
		a.refused(400, "POST", scope+"/memories/search", body, "query")
	}
}

// TestSearchTies checks that memories of the same words have the same score. find
// checks that they are ordered by id.
func TestSearchTies(t *testing.T) {
	a := start(t)
	for range 5 {
		a.want(201, "POST", scope+"/memories", `{"fact": "The key is under the mat."}`)
	}
	hits := a.find(request{"query": "where is the key"})
	if len(hits) != 5 || number(hits, 0, "score") != number(hits, 4, "score") {
		t.Errorf("five equal memories are found as %v", hits)
	}
}
