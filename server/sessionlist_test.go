package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestSessionFilter checks that lists of sessions take a filter and an order, and that
// their tokens are bound to both.
func TestSessionFilter(t *testing.T) {
	a := start(t)
	for i := range 6 {
		a.want(201, "POST", fmt.Sprintf("/v1/apps/app/users/u%d/sessions", i%2), fmt.Sprintf(`{"id": "s%d",
			"displayName": "Talk %d", "labels": {"half": "h%d", "n": "%d"}, "events": [{"timestamp": %d, "content": "x"}]}`,
			i, i, i/3, i, 1_700_000_000-i))
	}
	const mine, all = "/v1/apps/app/users/u0/sessions", "/v1/apps/app/sessions"
	ids := func(path, filter, order string) []string {
		t.Helper()
		q := url.Values{"filter": {filter}, "orderBy": {order}}
		return each(list(a.want(200, "GET", path+"?"+q.Encode(), nil), "sessions"), "id")
	}
	for _, c := range []struct {
		path, filter, order string
		want                []string
	}{
		{mine, "", "", []string{"s4", "s2", "s0"}},
		{all, "labels.half = h1", "", []string{"s5", "s4", "s3"}},
		{mine, `display_name = "Talk 2"`, "", []string{"s2"}},
		{all, `user_id="u1" AND NOT labels.n = 3`, "create_time asc", []string{"s1", "s5"}},
		{all, `updateTime >= "2023-11-14T22:13:18Z"`, "updateTime", []string{"s0", "s1", "s2"}},
		{all, `expireTime:* OR id = s1`, "update_time asc", []string{"s1"}},
		{mine, "displayName : nobody", "", []string{}},
	} {
		same(t, c.filter, ids(c.path, c.filter, c.order), c.want)
	}
	first := a.want(200, "GET", all+"?pageSize=2&filter=labels.half%3Dh1", nil)
	token := "pageToken=" + at(first, "nextPageToken").(string)
	second := a.want(200, "GET", all+"?pageSize=2&filter=labels.half%3Dh1&"+token, nil)
	same(t, "the second page", each(list(second, "sessions"), "id"), []string{"s3"})
	for _, bad := range []string{"filter=labels.half%3Dh0&" + token, token, "orderBy=updateTime&filter=labels.half%3Dh1&" + token} {
		a.refused(400, "GET", all+"?"+bad, nil, "pageToken")
	}
	for _, bad := range []string{"filter=state.k%3D1", "filter=fact:x", "filter=labels%3Dx", "filter=createTime%3Dsoon",
		"filter=" + strings.Repeat("(", 1000), "filter=" + strings.Repeat("x", 1<<13+1)} {
		a.refused(400, "GET", mine+"?"+bad, nil, "filter")
		a.refused(400, "GET", all+"?"+bad, nil, "filter")
	}
	for _, bad := range []string{"timestamp", "createTime up", "createTime,updateTime", "id"} {
		a.refused(400, "GET", mine+"?orderBy="+url.QueryEscape(bad), nil, "orderBy")
	}
}

// TestFindSession checks that a session is found without its user, and that an id of
// several users is refused with their names.
func TestFindSession(t *testing.T) {
	a := start(t)
	made := a.want(201, "POST", scope+"/sessions", `{"id": "one", "state": {"k": 1}, "events": [{"id": "e1", "content": "x"}]}`)
	a.want(201, "POST", scope+"/sessions", `{"id": "two"}`)
	a.want(201, "POST", "/v1/apps/app/users/bob/sessions", `{"id": "two"}`)
	a.want(201, "POST", "/v1/apps/other/users/ann/sessions", `{"id": "three"}`)
	same(t, "found", a.want(200, "GET", "/v1/apps/app/sessions/one", nil), made)
	same(t, "without events", len(list(a.want(200, "GET", "/v1/apps/app/sessions/one?numRecentEvents=0", nil), "events")), 0)
	a.refused(400, "GET", "/v1/apps/app/sessions/two", nil, "ambiguous", "ann", "bob")
	a.refused(404, "GET", "/v1/apps/app/sessions/three", nil, "three")
	a.refused(400, "GET", "/v1/apps/app/sessions/%2F", nil, "session id")
}
