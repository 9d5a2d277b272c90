package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/aip160"
	"github.com/memoryd/memoryd/memory"
)

// filtered lists memories with a filter, page by page, and returns their ids.
func (a *api) filtered(filter string, size int) (ids []string) {
	a.t.Helper()
	for token := ""; ; {
		q := url.Values{"filter": {filter}, "pageSize": {fmt.Sprint(size)}, "orderBy": {"createTime asc"}}
		if token != "" {
			q.Set("pageToken", token)
		}
		out := a.want(200, "GET", scope+"/memories?"+q.Encode(), nil)
		if list(out, "memories") == nil {
			a.t.Fatalf("%s: memories is not a list: %v", filter, out)
		}
		for _, m := range list(out, "memories") {
			ids = append(ids, text(m, "id"))
		}
		if token = text(out, "nextPageToken"); token == "" {
			return ids
		}
	}
}

// A list with a filter is, in pages of any size, the whole list without those that
// Match refuses, in its order. A search finds the same memories.
func TestFilter(t *testing.T) {
	a := startLibrary(t)
	for i := range 12 {
		a.want(201, "POST", scope+"/memories", request{
			"fact": fmt.Sprintf("I keep %d jars of ramen in the pantry.", i),
			"metadata": request{"n": i, "even": i%2 == 0, "name": fmt.Sprintf("jar \"%d\"", i),
				"due": fmt.Sprintf("2026-03-%02dT12:00:00Z", i+1)},
		})
	}
	var all []memory.Memory
	raw, err := json.Marshal(at(a.want(200, "GET", scope+"/memories?orderBy=createTime+asc", nil), "memories"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for filter, some := range map[string]bool{
		"":                          true,
		"kind=turn":                 true,
		"kind = fact AND fact:JARS": true,
		"metadata.n >= 3 metadata.n < 6 OR metadata.even = true": true,
		`metadata.name = "jar \"7\"" OR author = guide`:          true,
		"metadata.due > 2026-03-05T13:00:00+01:00":               true,
		"NOT metadata.n:*":                              true,
		`fact =~ "^I keep 1\\d"`:                        true,
		"-topics:FOOD timestamp < 2021-01-01T00:00:00Z": true,
		"source.session_id = old":                       true,
		"source.sessionId = older":                      false,
		"metadata.n > 100":                              false,
		"valid_to:*":                                    false,
	} {
		w, err := aip160.Parse(filter, aip160.Memories)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		f := memory.Filter{Where: w}
		for i := range all {
			if f.Match(&all[i], time.Now()) {
				want = append(want, all[i].ID)
			}
		}
		if some != (len(want) > 0) {
			t.Errorf("%s passes %d memories", filter, len(want))
		}
		for _, size := range []int{1, 4, 100} {
			same(t, fmt.Sprint(filter, " in pages of ", size), a.filtered(filter, size), want)
		}
		passes := map[string]bool{}
		for _, id := range want {
			passes[id] = true
		}
		for _, path := range []string{"/memories/search", "/memories/context"} {
			hits := list(a.want(200, "POST", scope+path, request{"query": "jars of ramen", "filter": filter, "topK": 100}), "memories")
			for _, h := range hits {
				if id := text(h, "memory", "id"); !passes[id] {
					t.Errorf("%s with %s finds %v", path, filter, at(h, "memory", "fact"))
				}
			}
			if strings.HasPrefix(filter, "metadata.n >=") && len(hits) == 0 {
				t.Errorf("%s with %s finds nothing", path, filter)
			}
		}
	}
}

// A filter that is wrong gets a 400 that names the place, in a query and in a body.
func TestFilterErrors(t *testing.T) {
	a := start(t)
	for filter, want := range map[string]string{
		"kind=":                                 "filter: at byte 5: want a value, not the end",
		"colour = red":                          "filter: at byte 0: no field colour: want author,",
		"topics = a":                            "filter: at byte 7: want : behind the field, not =",
		`fact =~ "("`:                           "filter: at byte 8: a pattern is not of RE2",
		strings.Repeat("(", 1000) + "kind=fact": "filter: at byte 32: more than 32",
		strings.Repeat("a", 10_000):             "filter: at byte 8192: a filter has at most 8192 bytes",
	} {
		out := a.want(400, "GET", scope+"/memories?filter="+url.QueryEscape(filter), nil)
		if got := text(out, "error", "message"); !strings.Contains(got, want) {
			t.Errorf("list with %.40q: %q, want %q", filter, got, want)
		}
		for _, path := range []string{"/memories/search", "/memories/context"} {
			out := a.want(400, "POST", scope+path, request{"query": "tea", "filter": filter})
			if got := text(out, "error", "message"); !strings.Contains(got, want) {
				t.Errorf("%s with %.40q: %q, want %q", path, filter, got, want)
			}
		}
	}
	huge := request{"query": "tea", "filter": strings.Repeat("a", 1<<20)}
	a.want(400, "POST", scope+"/memories/search", huge)
}
