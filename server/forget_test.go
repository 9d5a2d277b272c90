package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// everywhere is all that a client can be told of a user's memories at present: by
// searches, contexts, tools and MCP.
func (a *api) everywhere(query string) string {
	a.t.Helper()
	var out []any
	for _, more := range []request{{}, {"asOf": "2026-01-03T00:00:00Z"}, {"lines": true}} {
		body := request{"query": query, "topK": 50}
		for k, v := range more {
			body[k] = v
		}
		out = append(out, a.want(200, "POST", scope+"/memories/search", body))
	}
	out = append(out, a.want(200, "POST", scope+"/memories/context", request{"query": query}),
		a.want(200, "GET", scope+"/memories", nil))
	for _, tool := range []string{"load_memory", "search_memory", "preload_memory"} {
		args := request{"query": query}
		out = append(out, a.want(200, "POST", scope+"/tools/"+tool, request{"args": args}))
		if tool != "preload_memory" {
			out = append(out, a.mcp(mcpPath, toolCall(tool, args)))
		}
	}
	return fmt.Sprint(out...)
}

// What a user asks to forget, in words or by DELETE, is told nowhere, as of no time.
// Lists with history, revisions and the session still have it.
func TestForgottenEverywhere(t *testing.T) {
	a := start(t)
	said := func(session, day, words string) any {
		t.Helper()
		return a.want(200, "POST", scope+"/memories/ingest?wait=true", request{"sessionId": session, "events": []any{
			request{"content": words, "timestamp": "2026-01-" + day + "T10:00:00Z"}}})
	}
	said("s", "01", "I earn 5000 euros a month.")
	said("s", "01", "My sister lives in Porto.")
	said("s", "02", "I own a sailboat named Kittiwake.")
	const query = "What do I earn? euros month sister Porto sailboat Kittiwake"
	told := a.everywhere(query)
	for _, word := range []string{"5000", "Porto", "Kittiwake"} {
		if n := strings.Count(told, word); n < 8 {
			t.Errorf("before: %q is told %d times in %s", word, n, told)
		}
	}
	op := said("s", "04", "Please forget my salary")
	same(t, "what the request deleted", text(op, "response", "memories", 0, "action"), "DELETED")
	op = said("s", "04", "Forget what I said about my aunt.")
	same(t, "not found", at(op, "response", "notFound"), []any{"Forget what I said about my aunt."})
	for _, m := range list(a.want(200, "GET", scope+"/memories?kind=fact", nil), "memories") {
		if strings.Contains(text(m, "fact"), "Kittiwake") {
			a.want(204, "DELETE", scope+"/memories/"+text(m, "id"), nil)
		}
	}
	told = a.everywhere(query)
	for _, word := range []string{"5000", "Kittiwake", "salary", "aunt"} {
		if strings.Contains(told, word) {
			t.Errorf("%q is told in %s", word, told)
		}
	}
	if !strings.Contains(told, "Porto") {
		t.Errorf("Porto is not told in %s", told)
	}
	past := fmt.Sprint(a.want(200, "GET", scope+"/memories?history=true", nil), a.want(200, "GET", scope+"/sessions/s", nil))
	if n := strings.Count(past, "5000"); n < 2 {
		t.Errorf("a list with history and the session have it %d times: %s", n, past)
	}
}

// A request to forget everything waits to be confirmed.
func TestConfirm(t *testing.T) {
	a := start(t)
	events := []any{request{"content": "I live in Rome."}, request{"content": "Delete everything you know about me."}}
	op := a.want(200, "POST", scope+"/memories/ingest?wait=true", request{"sessionId": "s", "events": events})
	id := text(op, "id")
	same(t, "id to confirm", text(op, "response", "confirm", "id"), id)
	if words := text(op, "response", "confirm", "text"); !strings.Contains(words, "Forget everything") {
		t.Errorf("text %q", words)
	}
	lapses, err := time.Parse(time.RFC3339, text(op, "response", "confirm", "expireTime"))
	if left := time.Until(lapses); err != nil || left > 7*24*time.Hour || left < 6*24*time.Hour {
		t.Errorf("it lapses in %v, %v", left, err)
	}
	if told := a.everywhere("Rome"); !strings.Contains(told, "Rome") {
		t.Errorf("forgotten without a confirmation: %s", told)
	}
	a.refused(400, "POST", "/v1/operations/"+id+"/confirm", `{"yes": true}`, "yes")
	did := a.want(200, "POST", "/v1/operations/"+id+"/confirm?wait=true", nil)
	equal(t, "forgotten", at(did, "response", "forgotten"), `{"facts": 1, "turns": 2}`)
	same(t, "as read", a.want(200, "GET", "/v1/operations/"+text(did, "id"), nil), did)
	same(t, "confirmed again", a.want(200, "POST", "/v1/operations/"+id+"/confirm", nil), did)
	told := a.everywhere("Rome everything know")
	for _, word := range []string{"Rome", "Delete"} {
		if strings.Contains(told, word) {
			t.Errorf("%q is told in %s", word, told)
		}
	}
	a.refused(400, "POST", "/v1/operations/"+text(did, "id")+"/confirm", nil, "nothing to confirm")
}
