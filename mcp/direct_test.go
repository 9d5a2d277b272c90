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

// scripted is a Bank whose tools return result, or fail as broken does.
type scripted struct {
	broken
	result string
}

func (b scripted) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if b.err != nil || b.panic != nil {
		return b.broken.CallTool(ctx, name, args)
	}
	return json.RawMessage(b.result), nil
}

// TestDirect checks that a direct answer is the same as the library's. The library
// answers the calls whose id has a decimal point.
func TestDirect(t *testing.T) {
	const (
		version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		meta    = version + `,"io.modelcontextprotocol/clientCapabilities":{}`
	)
	modern := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
		"Mcp-Name": "search_memory"}
	good := scripted{result: `{"memories":[{"fact":"a <b> & \"c\" d","score":0.1234567890123}]}`}
	const params = `"name":"search_memory","arguments":{"query":"x"}`
	of := func(member, value string) string {
		return params + `,"_meta":{` + version + `,"io.modelcontextprotocol/` + member + `":` + value
	}
	for name, c := range map[string]struct {
		bank    scripted
		params  string
		headers map[string]string
	}{
		"no capabilities":      {good, of("clientCapabilities", `null}`), modern},
		"good capabilities":    {good, of("clientCapabilities", `{"roots":{"listChanged":true},"sampling":{},"experimental":{"a":1},"x":1}}`), modern},
		"bad capabilities":     {good, of("clientCapabilities", `{"roots":1}}`), modern},
		"bad sampling":         {good, of("clientCapabilities", `{"sampling":"yes"}}`), modern},
		"good client":          {good, of("clientInfo", `{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`), modern},
		"bad client":           {good, of("clientInfo", `{"name":1},"io.modelcontextprotocol/clientCapabilities":{}}`), modern},
		"null client":          {good, of("clientInfo", `null,"io.modelcontextprotocol/clientCapabilities":{}}`), modern},
		"last event":           {good, params, map[string]string{"Last-Event-ID": "1"}},
		"empty last event":     {good, params, map[string]string{"Last-Event-ID": ""}},
		"unknown parameter":    {good, params + `,"x":1`, nil},
		"bad parameter":        {good, params + `,"inputResponses":1`, nil},
		"another spelling":     {good, params + `,"Name":"load_memory"`, nil},
		"bad member":           {good, params + `},"error":1,"x":{`, nil},
		"meta that is no map":  {good, params + `,"_meta":[]`, nil},
		"good":                 {good, params, nil},
		"good, by version":     {good, params, map[string]string{"Mcp-Protocol-Version": "2025-06-18"}},
		"good, with a session": {good, params, map[string]string{"Mcp-Session-Id": "x"}},
		"good, with a token":   {good, params + `,"_meta":{"progressToken":1}`, nil},
		"good, modern":         {good, params + `,"_meta":{` + meta + `}`, modern},
		"no header":            {good, params + `,"_meta":{` + meta + `}`, nil},
		"no meta":              {good, params, modern},
		"half of meta":         {good, params + `,"_meta":{` + version + `}`, modern},
		"another name":         {good, `"name":"load_memory","arguments":{"query":"x"},"_meta":{` + meta + `}`, modern},
		"unknown version":      {good, params, map[string]string{"Mcp-Protocol-Version": "2020-01-01"}},
		"version to come":      {good, params, map[string]string{"Mcp-Protocol-Version": "2999-01-01"}},
		"no arguments":         {good, `"name":"search_memory"`, nil},
		"unknown argument":     {good, `"name":"search_memory","arguments":{"query":"x","userId":"bob"}`, nil},
		"unknown, modern":      {good, `"name":"search_memory","arguments":{"userId":"bob"},"_meta":{` + meta + `}`, modern},
		"unknown tool":         {good, `"name":"x"`, nil},
		"failure":              {scripted{result: `{"error":"no memory has this id"}`}, params, nil},
		"failure, modern":      {scripted{result: `{"error":"no memory has this id"}`}, params + `,"_meta":{` + meta + `}`, modern},
		"out of range":         {scripted{broken: broken{err: fmt.Errorf("%w: topK", memory.ErrInvalid)}}, params, nil},
		"unavailable":          {scripted{broken: broken{err: memory.ErrUnavailable}}, params, nil},
		"fault":                {scripted{broken: broken{err: errors.New("secret")}}, params, nil},
		"panic":                {scripted{broken: broken{panic: "secret"}}, params, nil},
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(id string) (int, http.Header, any) {
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
				return w.Code, w.Header(), out
			}
			code, header, direct := answer("1")
			wantCode, wantHeader, want := answer("1.0")
			if code != wantCode {
				t.Errorf("%d, want %d", code, wantCode)
			}
			if diff := cmp.Diff(wantHeader, header); diff != "" {
				t.Errorf("(-library +direct):\n%s", diff)
			}
			if diff := cmp.Diff(want, direct); diff != "" {
				t.Errorf("(-library +direct):\n%s", diff)
			}
		})
	}
}

// TestDirectID checks that a direct answer has the same id as the library's. The
// library answers messages with a member that the protocol does not have.
func TestDirectID(t *testing.T) {
	for _, id := range []string{`1`, `0`, `123456789012345`, `1234567890123456`, `9007199254740993`,
		`123456789012345678901234567890`, `-1`, `-0`, `1e3`, `1.5`,
		`"a"`, `""`, `"\u00e9\n"`, `null`, `true`, `{}`, `[1]`} {
		answer := func(more string) (int, string) {
			body := `{"jsonrpc":"2.0",` + more + `"id":` + id + `,"method":"tools/call",
				"params":{"name":"search_memory","arguments":{"query":"x"}}}`
			w := httptest.NewRecorder()
			mcp.Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil), []byte(body),
				scripted{result: `{}`}, nil)
			var out struct{ ID json.RawMessage }
			if w.Code == http.StatusOK {
				if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
					t.Errorf("%s: %v", w.Body, err)
				}
			}
			var canonical any = string(out.ID)
			if strings.HasPrefix(string(out.ID), `"`) {
				if err := json.Unmarshal(out.ID, &canonical); err != nil {
					t.Errorf("%s: %v", out.ID, err)
				}
			}
			return w.Code, fmt.Sprint(canonical)
		}
		code, direct := answer("")
		wantCode, want := answer(`"x":1,`)
		if code != wantCode || direct != want {
			t.Errorf("id %s: %d %s, want %d %s", id, code, direct, wantCode, want)
		}
	}
}
