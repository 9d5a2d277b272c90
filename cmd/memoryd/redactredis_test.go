package main

import (
	"strings"
	"testing"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// Secrets of an app that has them redacted are in no file: neither in the commands that
// Redis has logged, nor in what a rewrite makes of them, nor in the memories. A word beside
// each secret is, so that the test would find them.
func TestRedactedInRedisFiles(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--rdbcompression", "no") // so that a word is found
	dir := t.TempDir()
	p := start(t, dir, "-sessions", r.URL())
	const scope = "/v1/apps/shop/users/ann"
	secrets := []string{"AKIAQX7RZL5PWN2MKJ4T", "4539 5787 6362 1486", "4539578763621486", "DE89370400440532013000", "Zwiebel77!"}
	said := "My okapi key is AKIAQX7RZL5PWN2MKJ4T, my card is 4539578763621486, my IBAN DE89370400440532013000. My password is Zwiebel77!"
	do := func(method, path string, body any) {
		t.Helper()
		if code, err := call(method, p.url+path, body, nil); err != nil || code >= 300 {
			t.Fatal(method, path, code, err)
		}
	}
	do("PUT", "/v1/apps/shop/config", map[string]any{"redaction": map[string]any{
		"kinds": []string{"keys", "cards", "ibans", "passwords"}, "state": true}})
	event := func(id string) map[string]any {
		return map[string]any{"id": id, "author": "user", "content": map[string]any{"role": "user", "parts": []any{
			map[string]any{"text": said},
			map[string]any{"functionResponse": map[string]any{"id": "f", "name": "okapi", "response": map[string]any{"got": said}}}}},
			"actions": map[string]any{"stateDelta": map[string]any{"note": said, "user:note": said, "app:note": said}},
			"unknown": said}
	}
	do("POST", scope+"/sessions", map[string]any{"id": "s", "displayName": said, "labels": map[string]string{"k": "okapi"},
		"state": map[string]any{"x": said}, "events": []any{event("e1")}})
	do("PATCH", scope+"/sessions/s", map[string]any{"displayName": "My password is Zwiebel77!"})
	do("POST", scope+"/sessions/s/events", event("e2"))
	do("POST", scope+"/memories/ingest?wait=true", map[string]any{"sessionId": "s", "events": []any{event("e3")},
		"metadata": map[string]any{"note": said}, "trigger": map[string]any{"events": 9}})
	do("POST", scope+"/memories/ingest?wait=true", map[string]any{"sessionId": "t", "events": []any{event("e4")}})
	do("POST", scope+"/sessions/s/memories?wait=true", nil)
	do("POST", scope+"/memories/ingest", map[string]any{"facts": []any{map[string]any{"fact": said}}})
	do("POST", scope+"/memories", map[string]any{"fact": said, "displayName": "Zwiebel77", "description": said,
		"metadata": map[string]any{"note": said}})
	do("POST", scope+"/memories/search", map[string]any{"query": said})
	do("POST", "/v1/apps/shop/memories", map[string]any{"fact": said})
	p.terminate(t)
	look := func(when string) {
		t.Helper()
		for _, where := range []string{r.Dir(), dir} {
			if len(filetest.With(t, where, "okapi")) == 0 {
				t.Errorf("%s: no file in %s has the words beside the secrets", when, where)
			}
			for _, secret := range secrets {
				if files := filetest.With(t, where, secret); len(files) > 0 {
					t.Errorf("%s: %q is in %v", when, secret, files)
				}
			}
		}
	}
	look("as written")
	r.Rewrite(t)
	look("after a rewrite")
	if strings.Contains(p.logs.String(), "Zwiebel77!") {
		t.Error("the log has a password")
	}
}
