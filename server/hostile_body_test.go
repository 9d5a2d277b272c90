package server_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// bodyRoute is a route that takes a body. good has the fields of a body that it
// accepts; bad has values that it refuses, by field.
type bodyRoute struct {
	method, path, good string
	bad                map[string][]string
}

// Values that a field of each type refuses.
var (
	notText   = []string{`5`, `true`, `[]`, `{}`, `["x"]`}
	notList   = []string{`5`, `"x"`, `true`, `{}`}
	notObject = []string{`5`, `"x"`, `true`, `[]`}
	notBool   = []string{`5`, `"true"`, `[]`, `{}`}
	notTopics = []string{`5`, `"x"`, `true`, `{}`, `[5]`, `[[]]`, `[{}]`}
	notTTL    = []string{`true`, `{}`, `[]`, `"x"`, `""`, `-1`, `"-1s"`, `1e30`, `1e999`, `"9999999h"`, `"1 day"`}
	notTime   = []string{
		`true`, `{}`, `[]`, `"x"`, `""`, `"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `1e999`, `-1e999`,
		`253402300800`,
	}
	notID = []string{
		`5`, `true`, `[]`, `{}`, `"a/b"`, `"."`, `".."`, `"a\u0000b"`, `"a\nb"`, `"\u007f"`, `"a\u0085b"`,
		quotedX(257), quotedX(10_000),
	}
	notMetaMap = []string{
		`5`, `"x"`, `true`, `[]`, `{"": 1}`, `{"a/b": 1}`, `{"a\u0000": 1}`, `{"a": 1, "a": 2}`,
		`{"a": ` + quotedX(17<<10) + `}`,
	}
	notEvents = []string{
		`5`, `"x"`, `true`, `{}`, `[5]`, `["x"]`, `[null]`, `[[]]`, `[true]`,
		`[{"id": 5}]`, `[{"id": "a/b"}]`, `[{"id": ` + quotedX(257) + `}]`, `[{"id": "a", "id": "b"}]`,
		`[{"author": 5}]`, `[{"invocationId": []}]`, `[{"timestamp": "x"}]`, `[{"partial": "yes"}]`,
		`[{"content": 5}]`, `[{"content": [5]}]`, `[{"content": true}]`, `[{"content": {"role": 5}}]`,
		`[{"content": {"parts": 5}}]`, `[{"content": {"parts": {}}}]`, `[{"content": {"parts": [5]}}]`,
		`[{"content": {"parts": [{"text": 5}]}}]`, `[{"content": {"parts": [{"thought": "x"}]}}]`,
		`[{"content": {"parts": [{"inlineData": 5}]}}]`,
		`[{"actions": 5}]`, `[{"actions": []}]`, `[{"actions": {"stateDelta": 5}}]`,
		`[{"actions": {"stateDelta": []}}]`, `[{"actions": {"stateDelta": {"": 1}}}]`,
		`[{"actions": {"stateDelta": {}, "state_delta": {}}}]`, `[{"actions": {"rewindBeforeInvocationId": 5}}]`,
		`[{"customMetadata": {"a": 1, "a": 2}}]`,
	}
)

// quotedX returns a JSON string of n bytes.
func quotedX(n int) string { return `"` + strings.Repeat("x", n) + `"` }

// notSearch has values that a search refuses, by field.
var notSearch = map[string][]string{
	"query":         join(notText, []string{`""`, `" "`, `null`}),
	"queries":       join(notList, []string{`["a", 5]`, `[null]`, `[""]`, `["a", " "]`, `["1","2","3","4","5","6","7","8","9"]`}),
	"topK":          {`"a"`, `true`, `[]`, `1.5`, `0`, `-1`, `101`, `1000000000`, `1e999`, `99999999999999999999`},
	"minScore":      {`"a"`, `true`, `[]`, `{}`, `-1`, `2`, `1.0000001`, `1e999`, `"NaN"`},
	"minConfidence": {`"a"`, `true`, `-1`, `2`, `1.0000001`, `"NaN"`},
	"kinds":         join(notList, []string{`["fax"]`, `[5]`, `[null]`, `[""]`}),
	"topics":        notTopics,
	"since":         notTime,
	"until":         notTime,
	"asOf":          notTime,
	"sessionId":     notID,
	"metadata":      notObject,
	"explain":       notBool,
	"appName":       notText,
	"userId":        notText,
}

// notContext has values that a context refuses, by field.
func notContext() map[string][]string {
	out := maps.Clone(notSearch)
	out["maxTokens"] = []string{
		`"a"`, `true`, `[]`, `{}`, `1.5`, `0`, `-1`, `100001`, `1e999`, `99999999999999999999`,
	}
	return out
}

// nested returns lists within lists.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func join(lists ...[]string) (out []string) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// bodyRoutes has all routes that take a body. {memory} and {operation} stand for
// the ids of existing ones, see startFilled.
var bodyRoutes = []bodyRoute{
	{"POST", scope + "/sessions", `"id": "new"`, map[string][]string{
		"id":     notID,
		"state":  join(notObject, []string{`{"": 1}`, `{"user:": 1}`, `{"k": 1, "k": 2}`}),
		"events": notEvents, "appName": notText, "userId": notText,
	}},
	{"PATCH", scope + "/sessions/s", `"stateDelta": {"k": 2}`, map[string][]string{
		"stateDelta": join(notObject, []string{`{"": 1}`}),
	}},
	{"POST", scope + "/sessions/s/events", `"events": [{"id": "new"}]`, map[string][]string{
		"events": notEvents,
	}},
	{"POST", scope + "/sessions/s/memories", ``, map[string][]string{
		"disableConsolidation": notBool, "startTime": notTime, "endTime": notTime,
	}},
	{"POST", scope + "/sessions/s/render", `"template": "figs"`, map[string][]string{
		"template": join(notText, []string{`null`}),
	}},
	{"POST", scope + "/memories/ingest", `"sessionId": "s", "events": [{"id": "new"}]`, map[string][]string{
		"sessionId": notID, "events": notEvents, "disableConsolidation": notBool,
		"appName": notText, "userId": notText, "app_name": notText, "user_id": notText,
		"facts": {`[]`, `[{"fact": "x"}]`, `5`, `"x"`},
	}},
	{"POST", scope + "/memories/ingest", `"facts": [{"fact": "new"}]`, map[string][]string{
		"facts": {
			`5`, `"x"`, `true`, `{}`, `[]`, `[5]`, `["x"]`, `[{}]`, `[{"fact": ""}]`, `[{"fact": 5}]`,
			`[{"fact": "x", "more": 1}]`, `[{"fact": "x", "topics": [""]}]`, `[{"fact": "x", "topics": "x"}]`,
			`[{"fact": ` + quotedX(65<<10) + `}]`, `[` + strings.Repeat(`{"fact":"a"},`, 5) + `{"fact":"a"}]`,
		},
		"appName": notText, "userId": notText, "disableConsolidation": notBool,
	}},
	{"POST", scope + "/memories/dryRun", `"sessionId": "s", "events": [{"id": "new"}]`, map[string][]string{
		"sessionId": notID, "events": notEvents, "disableConsolidation": notBool,
		"appName": notText, "userId": notText,
		"facts": {`[]`, `[{"fact": "x"}]`},
	}},
	{"POST", scope + "/memories", `"fact": "new"`, map[string][]string{
		"fact": join(notText, []string{`""`, `null`, quotedX(65 << 10)}),
		"topics": join(notTopics, []string{
			`[""]`, `["a/b"]`, `[` + quotedX(300) + `]`, `["a"` + strings.Repeat(`, "a"`, 32) + `]`,
		}),
		"metadata": notMetaMap, "ttl": notTTL, "validFrom": notTime, "appName": notText, "userId": notText,
	}},
	{"PATCH", scope + "/memories/{memory}", `"fact": "new"`, map[string][]string{
		"fact":   join(notText, []string{`""`}),
		"topics": join(notTopics, []string{`[""]`}), "metadata": notMetaMap, "ttl": notTTL,
	}},
	{"POST", scope + "/memories/{memory}/rollback", `"revision": 1`, map[string][]string{
		"revision": {`0`, `-1`, `1.5`, `"1"`, `null`, `true`, `[]`, `{}`, `1e999`},
	}},
	{"POST", scope + "/memories/search", `"query": "figs"`, notSearch},
	{"POST", scope + "/memories/context", `"query": "figs"`, notContext()},
	{"POST", scope + "/tools/search_memory", `"args": {"query": "figs"}`, notTool},
	{"POST", scope + "/tools/preload_memory", `"args": {"query": "figs"}`, notTool},
	{"POST", scope + "/tools/forget", `"args": {"id": "{memory}x"}`, notTool},
	{"POST", "/v1/operations/{operation}/retry", ``, nil},
	{"POST", "/v1/operations/{operation}/confirm", ``, nil},
	{"POST", "/v1/operations/{operation}/rollback", `"dryRun": true`, map[string][]string{
		"dryRun": {`1`, `"true"`, `[]`, `{}`},
	}},
}

// notTool has values that a call of any tool refuses, by field.
var notTool = map[string][]string{"args": notArgs, "appName": notText, "userId": notText}

// notArgs has arguments that every tool refuses.
var notArgs = join(notObject, []string{
	`{}`, `null`, `{"query": 5}`, `{"id": []}`, `{"query": "figs", "id": "x"}`, `{"query": "figs", "userId": "bob"}`,
})

// startFilled starts a server with one session, one memory and one operation. The
// function that it returns puts their ids into a path.
func startFilled(t testing.TB, choose ...func(*setup)) (*api, func(string) string) {
	t.Helper()
	a := start(t, choose...)
	a.want(200, "POST", scope+"/memories/ingest?wait=true",
		`{"sessionId": "s", "events": [{"id": "e", "content": "hello there"}]}`)
	op := text(a.want(200, "GET", scope+"/operations", nil), "operations", 0, "id")
	m := text(a.want(201, "POST", scope+"/memories", `{"fact": "a fact", "topics": ["t"], "metadata": {"a": 1}}`), "id")
	return a, strings.NewReplacer("{memory}", m, "{operation}", op, "{session}", "s").Replace
}

// unchanged checks that f changes nothing that a client can read.
func (a *api) unchanged(f func()) {
	a.t.Helper()
	before := a.contents()
	f()
	same(a.t, "what is stored after refused requests", a.contents(), before)
}

// TestBodiesOfTheWrongType checks that each route refuses bad values of each of its
// fields by name, and changes nothing.
func TestBodiesOfTheWrongType(t *testing.T) {
	a, fill := startFilled(t)
	for _, w := range bodyRoutes {
		t.Run(w.method+" "+w.path, func(t *testing.T) {
			a := a.with(t)
			a.unchanged(func() {
				for field, values := range w.bad {
					for _, v := range values {
						// All other fields of the body are good.
						body := fmt.Sprintf(`{%q: %s}`, field, v)
						if rest := w.good; rest != "" && !strings.Contains(rest, `"`+field+`"`) {
							body = fmt.Sprintf(`{%s, %q: %s}`, rest, field, v)
						} else if _, rest, more := strings.Cut(w.good, ", "); more && field == "sessionId" {
							body = fmt.Sprintf(`{%q: %s, %s}`, field, v, rest)
						} else if field == "events" && strings.Contains(w.good, "sessionId") {
							body = fmt.Sprintf(`{"sessionId": "s", "events": %s}`, v)
						}
						// Messages about ids name the thing: "session id is …".
						word := strings.TrimSuffix(field, "Id")
						if field == "kinds" {
							word = "kind"
						}
						if field == "app_name" || field == "user_id" || field == "appName" || field == "userId" {
							word = field[:3]
						}
						a.refused(400, w.method, fill(w.path), body, word)
					}
				}
			})
		})
	}
}

// TestMalformedBodies checks that each route refuses bodies that are not JSON, are
// not of its form, or nest too deep, and changes nothing.
func TestMalformedBodies(t *testing.T) {
	a, fill := startFilled(t)
	for _, w := range bodyRoutes {
		t.Run(w.method+" "+w.path, func(t *testing.T) {
			a := a.with(t)
			path := fill(w.path)
			comma := ", "
			if w.good == "" {
				comma = ""
			}
			fields := w.good + comma // and one more follows
			bodies := []string{
				`{`, `}`, `{"`, `{` + w.good, w.good + `}`, `{` + w.good + `,}`,
				`{` + w.good + `} x`, `{` + w.good + `}{}`, `{` + w.good + `}` + "\x00", "\xef\xbb\xbf{" + w.good + "}",
				`{` + fields + `"x": "` + "\xff" + `"}`, `{` + fields + `"` + "\xff" + `": 1}`,
				`{` + fields + `"x": ` + nested(100_000) + `}`,
				"\x00", "\xff\xfe", `'x'`, `{x: 1}`, `{"x": }`, `{"x": 01}`, `{"x": NaN}`, `{"x": -Infinity}`,
				`{"x": 0x10}`, `{"x": "` + "\n" + `"}`, `{"x": "\x"}`, `{"x": "\ud800"}`, `{"x": tru}`,
				`{/* */}`, `<xml/>`, `a=b&c=d`,
				`[]`, `[{}]`, `"x"`, `5`, `-0`, `1e999`, `true`, `false`,
				nested(100_000), strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000),
				strings.Repeat("x", 1<<20),
			}
			if !strings.HasSuffix(path, "/events") { // there an unknown field makes the body an event
				bodies = append(bodies, `{"`+strings.Repeat("x", 1<<20)+`": 1}`)
			}
			a.unchanged(func() {
				for _, body := range bodies {
					a.refused(400, w.method, path, body)
				}
				if w.good != "" {
					a.refused(400, w.method, path, `{`+w.good+`, `+w.good+`}`, "twice")
				}
				a.refused(400, w.method, path, `{`+fields+`"surplus": 1}`, "surplus")
				a.refused(400, w.method, path, `{`+fields+`"surplus": `+nested(73)+`}`, "nests deeper")
				if w.good != "" {
					field, _, _ := strings.Cut(w.good, ":")
					wrongCase := strings.ToUpper(field)
					a.refused(400, w.method, path, `{`+w.good+`, `+wrongCase+`: 1}`, strings.Trim(wrongCase, `"`))
				}
			})
		})
	}
}

// TestOddBodies checks that unusual but legal bodies are accepted and come back
// unchanged.
func TestOddBodies(t *testing.T) {
	a, _ := startFilled(t)
	odd := `{"a": 1e999, "b": 123456789012345678901234567890, "c": "\u0000\u001f\u2028\ud83d\ude42",
		"d": ` + nested(12) + `, "": null}`
	s := a.want(201, "POST", scope+"/sessions", " \r\n\t{\"state\" :"+`{"odd": `+odd+`}}`+"\n ")
	equal(t, "state", at(s, "state", "odd"), odd)
	same(t, "as read", a.want(200, "GET", scope+"/sessions/"+text(s, "id"), nil), s)
	m := a.want(201, "POST", scope+"/memories", `{"fact": "\u0000\ud83d\ude42", "metadata": {"odd": `+odd+`}}`)
	equal(t, "metadata", at(m, "metadata", "odd"), odd)
	same(t, "as read", a.want(200, "GET", scope+"/memories/"+text(m, "id"), nil), m)
	longest := strings.Repeat("é", 128)
	s = a.want(201, "POST", scope+"/sessions", request{"id": longest})
	same(t, "the longest id", text(s, "id"), longest)
	a.want(201, "POST", scope+"/sessions", `{"id": "...", "state": null, "events": null}`)
	a.want(200, "GET", scope+"/sessions/...", nil)
	a.want(200, "POST", scope+"/memories/search",
		`{"query": "x", "topK": 100, "minScore": 1, "topics": ["none"], "metadata": {"odd": `+odd+`}}`)
	big := strings.Repeat("word ", 12_000)
	a.want(201, "POST", scope+"/memories", request{"fact": big})
	long := request{"content": strings.Repeat("I love figs. ", 5_000)}
	a.want(200, "POST", scope+"/memories/ingest?wait=true", request{"sessionId": "big", "events": []any{long}})
	turns := list(a.want(200, "GET", scope+"/memories?kind=turn&sessionId=big", nil), "memories")
	same(t, "turns of a text of a megabyte", len(turns), 1)
}

// TestTooLarge checks that a body above the limit answers 413, whether its length
// is declared or not.
func TestTooLarge(t *testing.T) {
	a, fill := startFilled(t, func(s *setup) { s.server.MaxBody = 10_000 })
	for _, w := range bodyRoutes {
		if strings.HasPrefix(w.path, "/v1/operations/") {
			continue // it takes no fields
		}
		a.unchanged(func() {
			body := `{` + w.good + strings.Repeat(" ", 10_000) + `}`
			a.refused(413, w.method, fill(w.path), body, "10000")
			chunked := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"+
				"%x\r\n%s\r\n0\r\n\r\n", w.method, fill(w.path), a.addr, len(body), body)
			if r := a.socket(chunked); r.status != 413 {
				t.Errorf("%s in chunks: status %d", w.path, r.status)
			}
		})
	}
	a.want(201, "POST", scope+"/memories", `{"fact": "`+strings.Repeat("x", 9_000)+`"}`)
	// A client that sends its whole body before it reads gets an answer too.
	const size = 60_000
	whole := fmt.Sprintf("POST %s/memories HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s",
		scope, a.addr, size, strings.Repeat(" ", size))
	next := "GET /livez HTTP/1.1\r\nHost: " + a.addr + "\r\nConnection: close\r\n\r\n"
	if r := a.socket(whole + next); r.status != 413 {
		t.Errorf("of %d bytes: status %d", size, r.status)
	}
}
