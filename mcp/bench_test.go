package mcp_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
)

// modelFile is the model of the built-in embedder. Its pieces are English words,
// the most frequent first. embed/static.go describes its layout.
const modelFile = "../embed/distill/static-1.bin"

// chatter returns a function that draws n words, each as often as it occurs in
// English text (Zipf's law).
func chatter(b *testing.B) func(n int) string {
	b.Helper()
	raw, err := os.ReadFile(modelFile)
	if err != nil {
		b.Fatal(err)
	}
	const header = 8 + 6*4
	name, pieces := int(binary.LittleEndian.Uint32(raw[24:])), int(binary.LittleEndian.Uint32(raw[28:]))
	var all []string
	for _, w := range strings.Fields(string(raw[header+name:][:pieces])) {
		if len(w) > 1 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			all = append(all, w)
		}
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.07, 3, uint64(len(all)-1))
	return func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = all[zipf.Uint64()]
		}
		return strings.Join(out, " ")
	}
}

// BenchmarkSearch sends the same queries over MCP and over the HTTP API to one
// memoryd, alternately, and reports the times and their ratios.
func BenchmarkSearch(b *testing.B) {
	for _, size := range []int{700, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchmarkSearch(b, size) })
	}
}

func benchmarkSearch(b *testing.B, size int) {
	draw := chatter(b)
	bank, err := memoryd.Open(b.Context(), ":memory:", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer bank.Close()
	const session = 30
	for i := range size / session {
		events := make([]client.Event, session)
		for j := range events {
			events[j] = client.Text([]string{"user", "helper"}[j%2], draw(6+j%17)+".")
			events[j].Timestamp = time.Unix(1_600_000_000+int64(i*session+j)*600, 0)
		}
		ann := client.InProcess(bank).User("app", "ann")
		if _, err := ann.Ingest(b.Context(), fmt.Sprint(i), events, true); err != nil {
			b.Fatal(err)
		}
	}
	s := httptest.NewServer(bank)
	defer s.Close()
	ask := func(c *http.Client, path string, body any) time.Duration {
		raw, err := json.Marshal(body)
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		req, err := http.NewRequest(http.MethodPost, s.URL+path, bytes.NewReader(raw))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := c.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		took := time.Since(begin)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"error":`)) ||
			!bytes.Contains(answer, []byte(`score`)) {
			b.Fatalf("%s: %d %s %v", path, res.StatusCode, answer, err)
		}
		return took
	}
	// Each has a transport of its own, and so a connection of its own.
	forHTTP, forMCP := &http.Client{Transport: &http.Transport{}}, &http.Client{Transport: &http.Transport{}}
	defer forHTTP.CloseIdleConnections()
	defer forMCP.CloseIdleConnections()
	var plain, mcp []time.Duration
	for b.Loop() {
		query := draw(8)
		overHTTP := func() {
			plain = append(plain, ask(forHTTP, "/v1/apps/app/users/ann/memories/search",
				map[string]any{"query": query}))
		}
		overMCP := func() {
			mcp = append(mcp, ask(forMCP, "/mcp/apps/app/users/ann", map[string]any{
				"jsonrpc": "2.0", "id": 1, "method": "tools/call",
				"params": map[string]any{"name": "search_memory", "arguments": map[string]any{"query": query}},
			}))
		}
		if len(plain)%2 == 0 {
			overHTTP()
			overMCP()
		} else {
			overMCP()
			overHTTP()
		}
	}
	slices.Sort(plain)
	slices.Sort(mcp)
	for _, p := range []int{50, 95} {
		at := len(plain) * p / 100
		b.ReportMetric(float64(plain[at].Microseconds())/1000, fmt.Sprintf("http-p%d-ms", p))
		b.ReportMetric(float64(mcp[at].Microseconds())/1000, fmt.Sprintf("mcp-p%d-ms", p))
		b.ReportMetric(float64(mcp[at])/float64(plain[at]), fmt.Sprintf("p%d-x", p))
	}
}
