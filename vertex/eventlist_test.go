package vertex_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eventPage is a page of events.
type eventPage struct {
	SessionEvents []struct{ InvocationID, Author string }
	NextPageToken string
}

// append appends an event with a text of so many bytes, at a second. Its invocation is its name.
func (f *fixture) append(session, name, author string, second, bytes int) {
	f.t.Helper()
	f.must("POST", session+":appendEvent", fmt.Sprintf(`{"author": %q, "invocationId": %q,
		"timestamp": "2026-01-02T03:%02d:%02dZ", "content": {"role": "user", "parts": [{"text": %q}]}}`, author, name,
		second/60, second%60, strings.Repeat("x", bytes)))
}

// events reads a list of events page by page, and calls between after each page.
func (f *fixture) events(session, query string, size int, between func()) (names []string) {
	f.t.Helper()
	for token := ""; ; {
		answer := f.must("GET", fmt.Sprintf("%s/events?pageSize=%d&pageToken=%s&%s", session, size, token, query), "")
		var page eventPage
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			f.t.Fatal(err)
		}
		if token = page.NextPageToken; token != "" && len(page.SessionEvents) != size {
			f.t.Errorf("%s: a page of %d has %d events", query, size, len(page.SessionEvents))
		}
		for _, e := range page.SessionEvents {
			names = append(names, e.InvocationID)
		}
		if token == "" {
			return names
		}
		between()
	}
}

// Pages of any order and filter have each event once, also if others come meanwhile: an event that is
// newer than a page is on none behind it where the newest come first.
func TestEventPages(t *testing.T) {
	f := newFixture(t)
	const session = "/v1/reasoningEngines/1/sessions/s"
	f.must("POST", "/v1/reasoningEngines/1/sessions?sessionId=s", `{"userId": "ann"}`)
	var all, ann []string
	for i := range 150 {
		name := fmt.Sprint("e", i)
		author := []string{"ann", "agent", "agent"}[i%3]
		f.append(session, name, author, i/4, 10)
		all = append(all, name)
		if author == "ann" {
			ann = append(ann, name)
		}
	}
	reversed := func(names []string) []string {
		out := slices.Clone(names)
		slices.Reverse(out)
		return out
	}
	n, quiet := 0, func() {}
	for _, c := range []struct {
		query   string
		want    []string
		between func()
	}{
		{"", all, quiet}, {"orderBy=timestamp+desc", reversed(all), quiet},
		{"filter=author%3Dann", ann, quiet}, {"filter=author%3Dann&orderBy=timestamp+desc", reversed(ann), quiet},
		{"filter=author%3Dnone", nil, quiet}, {"filter=author%3Dnone&orderBy=timestamp+desc", nil, quiet},
		{"filter=" + url.QueryEscape(`timestamp>="2026-01-02T03:00:30Z"`), all[120:], quiet},
		{"orderBy=timestamp+desc&filter=" + url.QueryEscape(`timestamp>="2026-01-02T03:00:30Z"`), reversed(all[120:]), quiet},
		{"filter=author%3Dann&orderBy=timestamp+desc", reversed(ann), func() {
			for range 40 {
				n++
				f.append(session, fmt.Sprint("new", n), "ann", 1000+n, 10)
			}
		}},
	} {
		for _, size := range []int{50, 7, 1000} {
			if size == 7 && n > 0 {
				break // there are too many by now
			}
			if diff := cmp.Diff(c.want, f.events(session, c.query, size, c.between)); diff != "" {
				t.Errorf("%s by %d: -want +got\n%s", c.query, size, diff)
			}
			if n > 0 {
				break
			}
		}
	}
	token := func(query string) string {
		var page eventPage
		if err := json.Unmarshal([]byte(f.must("GET", session+"/events?pageSize=1&"+query, "")), &page); err != nil {
			t.Fatal(err)
		}
		return page.NextPageToken
	}
	for query, token := range map[string]string{"": token("orderBy=timestamp+desc"), "orderBy=timestamp+desc": token(""),
		"filter=author%3Dann": "e30"} {
		if code, answer := f.call("", "GET", session+"/events?pageSize=1&pageToken="+token+"&"+query, ""); code != 400 {
			t.Errorf("a token of another list: %d %s", code, answer)
		}
	}
}
