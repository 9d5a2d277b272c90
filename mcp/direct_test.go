package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/mcp"
	"github.com/memoryd/memoryd/memory"
)

// told is a memory whose tools answer as they are told to.
type told struct {
	broken
	result string
}

func (b told) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if b.err != nil || b.panic != nil {
		return b.broken.CallTool(ctx, name, args)
	}
	return json.RawMessage(b.result), nil
}

// A call that is answered directly is answered as the library would: it gets
// those whose id has a decimal point.
func TestDirect(t *testing.T) {
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	modern := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search_memory"}
	good := told{result: `{"memories":[{"fact":"a <b> & \"c\" d","score":0.1234567890123}]}`}
	const params = `"name":"search_memory","arguments":{"query":"x"}`
	for name, c := range map[string]struct {
		bank    told
		params  string
		headers map[string]string
	}{
		"good":                 {good, params, nil},
		"good, by version":     {good, params, map[string]string{"Mcp-Protocol-Version": "2025-06-18"}},
		"good, with a session": {good, params, map[string]string{"Mcp-Session-Id": "x"}},
		"good, with a token":   {good, params + `,"_meta":{"progressToken":1}`, nil},
		"good, modern":         {good, params + `,"_meta":{` + meta + `}`, modern},
		"no header":            {good, params + `,"_meta":{` + meta + `}`, nil},
		"no meta":              {good, params, modern},
		"half of meta":         {good, params + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, modern},
		"another name":         {good, `"name":"load_memory","arguments":{"query":"x"},"_meta":{` + meta + `}`, modern},
		"unknown version":      {good, params, map[string]string{"Mcp-Protocol-Version": "2020-01-01"}},
		"version to come":      {good, params, map[string]string{"Mcp-Protocol-Version": "2999-01-01"}},
		"no arguments":         {good, `"name":"search_memory"`, nil},
		"unknown argument":     {good, `"name":"search_memory","arguments":{"query":"x","userId":"bob"}`, nil},
		"unknown, modern":      {good, `"name":"search_memory","arguments":{"userId":"bob"},"_meta":{` + meta + `}`, modern},
		"unknown tool":         {good, `"name":"x"`, nil},
		"failure":              {told{result: `{"error":"no memory has this id"}`}, params, nil},
		"failure, modern":      {told{result: `{"error":"no memory has this id"}`}, params + `,"_meta":{` + meta + `}`, modern},
		"out of range":         {told{broken: broken{err: fmt.Errorf("%w: topK", memory.ErrInvalid)}}, params, nil},
		"away":                 {told{broken: broken{err: memory.ErrUnavailable}}, params, nil},
		"fault":                {told{broken: broken{err: errors.New("secret")}}, params, nil},
		"panic":                {told{broken: broken{panic: "secret"}}, params, nil},
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(id string) (int, string, any) {
				body := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + c.params + `}}`
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
				for k, v := range c.headers {
					r.Header.Set(k, v)
				}
				w := httptest.NewRecorder()
				mcp.Serve(w, r, []byte(body), c.bank, nil)
				if got := w.Header().Get("Mcp-Session-Id"); got != "" {
					t.Errorf("a session %q", got)
				}
				var out any = w.Body.String()
				if media := w.Header().Get("Content-Type"); media == "application/json" {
					if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
						t.Errorf("%s: %v", w.Body, err)
					}
				}
				if strings.Contains(w.Body.String(), "secret") {
					t.Errorf("a secret is told: %s", w.Body)
				}
				return w.Code, w.Header().Get("Content-Type"), out
			}
			code, media, direct := answer("1")
			wantCode, wantMedia, want := answer("1.0")
			if code != wantCode || media != wantMedia {
				t.Errorf("%d %s, want %d %s", code, media, wantCode, wantMedia)
			}
			if diff := cmp.Diff(want, direct); diff != "" {
				t.Errorf("(-library +direct):\n%s", diff)
			}
		})
	}
}
