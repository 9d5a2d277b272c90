package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memoryd/memoryd/mcp"
)

// malformed are texts that are no messages of JSON-RPC, with the code and the id of
// the answer.
var malformed = []struct {
	text string
	code int
	id   string
}{
	{`{"jsonrpc":`, -32700, "null"},
	{`hello`, -32700, "null"},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"}}`, -32700, "null"},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700, "null"},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffing\"}", -32700, "null"},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\x28\",\"method\":\"ping\"}", -32700, "null"},
	{"\x00\x01\x02", -32700, "null"},
	{"\ufeff{}", -32700, "null"},
	{strings.Repeat(`{"a":`, 20_000), -32700, "null"},
	{strings.Repeat(`[`, 200_000) + strings.Repeat(`]`, 200_000), -32700, "null"},
	{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
	{`[]`, -32600, "null"},
	{`null`, -32600, "null"},
	{`7`, -32600, "null"},
	{`"ping"`, -32600, "null"},
	{`true`, -32600, "null"},
	{`{}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":1}`, -32600, "1"},
	{`{"jsonrpc":"2.0","id":"a","params":{}}`, -32600, `"a"`},
	{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, "7"},
	{`{"id":7,"method":"ping"}`, -32600, "7"},
	{`{"jsonrpc":"2.0","id":7,"method":5}`, -32600, "7"},
	{`{"jsonrpc":"2.0","id":7,"method":["ping"]}`, -32600, "7"},
	{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":7,"error":"x"}`, -32600, "7"},
}

// answerOf is an error of JSON-RPC.
type answerOf struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int
		Message string
	} `json:"error"`
}

func (a *answerOf) check(t *testing.T, text string, code int, id string) {
	t.Helper()
	if a.Version != "2.0" || a.Error == nil || a.Error.Code != code || string(a.ID) != id || a.Error.Message == "" || len(a.Error.Message) > 1000 {
		t.Errorf("%.100q: answered %+v %+v, want %d with id %s", text, a, a.Error, code, id)
	}
}

// stdio is a client of Run that writes lines and reads answers.
type stdio struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Reader
}

func overStdio(t *testing.T, bank mcp.Bank) *stdio {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.Run(t.Context(), bank, nil, in, out) }()
	t.Cleanup(func() {
		toServer.Close()
		go io.Copy(io.Discard, fromServer)
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return &stdio{t, toServer, bufio.NewReader(fromServer)}
}

// send writes text and a line break.
func (s *stdio) send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, text+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stdio) answer() *answerOf {
	s.t.Helper()
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	var a answerOf
	if err := json.Unmarshal(line, &a); err != nil {
		s.t.Fatalf("%v: %.200q", err, line)
	}
	return &a
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// A malformed line is answered, before the handshake and after it, and the next
// line is read as if it had not been there.
func TestMalformedLines(t *testing.T) {
	s := overStdio(t, scripted{result: `{"memories":[]}`})
	all := func() {
		for _, c := range malformed {
			s.send(c.text)
			s.answer().check(t, c.text, c.code, c.id)
		}
	}
	all()
	s.send("\r\n  " + hello + " \t\r")
	if a := s.answer(); a.Error != nil || string(a.ID) != "0" {
		t.Fatalf("initialize: %+v %+v", a, a.Error)
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	all()
	long := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, strings.Repeat("x", sdk.DefaultMaxLineLength))
	s.send(long)
	s.answer().check(t, long, -32600, "null")
	// Odd messages that are answered, or not, by the library.
	s.send(`{"jsonrpc":"2.0","id":99,"result":{}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/nonsense","params":[]}`)
	for _, odd := range []string{`"method":""`, `"method":"tools/call"`, `"method":"tools/call","params":[]`, `"method":"tools/call","params":7`,
		`"method":"tools/call","params":{"name":7}`, `"method":"prompts/get","params":null`, `"method":"nonsense"`} {
		s.send(`{"jsonrpc":"2.0","id":8,` + odd + `}`)
		if a := s.answer(); a.Error == nil || string(a.ID) != "8" {
			t.Errorf("%s: %+v", odd, a)
		}
	}
	s.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"x"}}}`)
	if a := s.answer(); a.Error != nil || string(a.ID) != "9" || !strings.Contains(string(a.Result), "memories") {
		t.Errorf("a call after all that: %+v %+v", a, a.Error)
	}
}

// Over HTTP a malformed message is answered 400, with the same error.
func TestMalformedBodies(t *testing.T) {
	serve := func(body string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		mcp.Serve(w, r, []byte(body), scripted{}, nil)
		return w
	}
	check := func(w *httptest.ResponseRecorder, text string, code int, id string) {
		t.Helper()
		var a answerOf
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusBadRequest ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%.100q: %d %v %.200q", text, w.Code, w.Header(), w.Body)
			return
		}
		a.check(t, text, code, id)
	}
	for _, c := range malformed {
		check(serve(c.text), c.text, c.code, c.id)
	}
	check(serve(``), "nothing", -32700, "null")
	check(serve(hello, "Mcp-Protocol-Version", "2000-01-01"), "an old version", -32600, "null")
	check(serve(hello, "Last-Event-ID", "x\ny"), "an event", -32600, "null")
}

// Whatever lines have, the connection goes on.
func TestRandomLines(t *testing.T) {
	parts := []string{"{", "}", "[", "]", ",", ":", "null", "1", " ", "\n", "\xff", `\`, `"jsonrpc"`, `"2.0"`, `"id"`, `"method"`,
		`"ping"`, `"params"`, `"result"`, `"error"`, hello, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":`,
		`{"jsonrpc":"2.0","id":-1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"}`}
	random := rand.New(rand.NewPCG(5, 1))
	for range 300 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		s := overStdio(t, scripted{result: `{"memories":[]}`})
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(s.in, text.String()+"\n"+`{"jsonrpc":"2.0","id":"the last","method":"ping"}`+"\n")
			sent <- err
		}()
		for string(s.answer().ID) != `"the last"` {
		}
		if err := <-sent; err != nil {
			t.Fatalf("%q: %v", text.String(), err)
		}
	}
}
