package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestSessionDetails checks what a client says of a session: it comes back from every
// route, a patch changes it in part, and null clears it.
func TestSessionDetails(t *testing.T) {
	a := start(t)
	path := scope + "/sessions/s"
	made := a.want(201, "POST", scope+"/sessions", `{"id": "s", "displayName": "Trams", "labels": {"team": "blue"},
		"ttl": "48h", "events": [{"id": "e1", "author": "user", "content": "x"}]}`)
	expires, err := time.Parse(time.RFC3339, at(made, "expireTime").(string))
	if left := time.Until(expires); err != nil || left < 47*time.Hour || left > 48*time.Hour {
		t.Errorf("expireTime is %v: %v", at(made, "expireTime"), err)
	}
	list := a.want(200, "GET", scope+"/sessions", nil)
	all := a.want(200, "GET", "/v1/apps/app/sessions", nil)
	for name, s := range map[string]any{"POST": made, "GET": a.want(200, "GET", path, nil),
		"list": at(list, "sessions", 0), "list of the app": at(all, "sessions", 0)} {
		same(t, name, at(s, "displayName"), "Trams")
		same(t, name, at(s, "labels", "team"), "blue")
		same(t, name, at(s, "expireTime"), at(made, "expireTime"))
		same(t, name, at(s, "createTime"), at(made, "createTime"))
	}
	s := a.want(200, "PATCH", path, `{"stateDelta": {"k": 1}, "labels": {"a.b": "", "日": "é"}, "expireTime": 4102444800}`)
	same(t, "name", at(s, "displayName"), "Trams")
	same(t, "labels", len(at(s, "labels").(map[string]any)), 2)
	same(t, "state", at(s, "state", "k"), json.Number("1"))
	same(t, "time", at(s, "expireTime"), "2100-01-01T00:00:00.000000Z")
	s = a.want(200, "PATCH", path, `{"displayName": null, "labels": null, "ttl": null}`)
	for _, field := range []string{"displayName", "labels", "expireTime"} {
		same(t, field, at(s, field), nil)
	}
	same(t, "state", at(s, "state", "k"), json.Number("1"))
	a.want(200, "PATCH", path, `{"ttl": null, "expireTime": 4102444800}`)
	s = a.want(200, "PATCH", path, `{"ttl": 0}`)
	same(t, "time", at(s, "expireTime"), nil)

	s = a.want(200, "PATCH", path, `{"state": {"new": null, "user:u": 2}, "stateDelta": {"d": 3}}`)
	equal(t, "state", at(s, "state"), `{"new": null, "user:u": 2, "d": 3}`)
	s = a.want(200, "PATCH", path, `{"state": {}}`)
	equal(t, "state", at(s, "state"), `{"user:u": 2}`)

	// What a GET answers can be sent back.
	a.want(200, "PATCH", path, `{"displayName": "again", "labels": {"k": "v"}, "expireTime": 4102444800}`)
	got := a.want(200, "GET", path, nil)
	a.want(204, "DELETE", path, nil)
	back := a.want(201, "POST", scope+"/sessions", got)
	for _, field := range []string{"displayName", "labels", "expireTime"} {
		same(t, field, at(back, field), at(got, field))
	}
	a.want(202, "POST", scope+"/memories/ingest", got)
}

// TestBadSessionDetails checks that a bad detail is a 400 that names the field, and that
// it changes nothing.
func TestBadSessionDetails(t *testing.T) {
	a := start(t)
	was := a.want(201, "POST", scope+"/sessions", `{"id": "s", "displayName": "x", "labels": {"k": "v"}}`)
	large := `"` + strings.Repeat("x", 1<<20) + `"`
	for body, field := range map[string]string{
		`"ttl": -1`:                               "ttl",
		`"ttl": "-1s"`:                            "ttl",
		`"ttl": "8760000000h"`:                    "ttl",
		`"ttl": 31557600000000`:                   "ttl",
		`"ttl": "soon"`:                           "ttl",
		`"ttl": "1h", "expireTime": 4102444800`:   "expireTime and ttl",
		`"expireTime": "2001-01-01T00:00:00Z"`:    "expireTime",
		`"expireTime": "1002026-01-01T00:00:00Z"`: "expireTime",
		`"expireTime": 31557600000000`:            "expireTime",
		`"expireTime": "tomorrow"`:                "expireTime",
		`"displayName": 1`:                        "displayName",
		`"displayName": ` + large:                 "displayName",
		`"displayName": "a\u0000"`:                "displayName",
		`"labels": "x"`:                           "labels",
		`"labels": {"k": 1}`:                      "labels",
		`"labels": {"": "x"}`:                     "labels",
		`"labels": {"k": ` + large + `}`:          "labels",
		`"labels": {` + large + `: "v"}`:          "labels",
		`"label": {"k": "v"}`:                     "label",
	} {
		a.refused(400, "POST", scope+"/sessions", `{"id": "s2", `+body+`}`, field)
		a.refused(400, "PATCH", scope+"/sessions/s", `{"stateDelta": {"a": 1}, `+body+`}`, field)
	}
	a.refused(400, "PATCH", scope+"/sessions/s", `{}`, "stateDelta", "displayName", "labels", "expireTime", "ttl")
	a.refused(400, "PATCH", scope+"/sessions/s", `{"stateDelta": null}`, "stateDelta")
	a.refused(400, "PATCH", scope+"/sessions/s", `{"state": null}`, "state")
	a.refused(400, "PATCH", scope+"/sessions/s", `{"state": []}`, "state")
	a.refused(400, "PATCH", scope+"/sessions/s", `{"state": {"user:": 1}}`, "state", "user:")
	a.refused(404, "PATCH", scope+"/sessions/other", `{"displayName": "x"}`, "other")
	a.refused(404, "GET", scope+"/sessions/s2", nil)
	same(t, "session", a.want(200, "GET", scope+"/sessions/s", nil), was)
}
