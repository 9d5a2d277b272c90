package vertex_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
)

// BenchmarkRetrieve compares a search through Memory Bank's call, over TLS, with the same search through
// the HTTP API: the medians of both, and their ratio. The two take turns.
func BenchmarkRetrieve(b *testing.B) {
	const facts = 2000
	f := newFixture(b)
	scope := memory.Scope{App: "1", User: "ann"}
	ctx := access.With(b.Context(), access.System)
	things := []string{"a painting of the sea", "a book about birds", "bread from the market", "a blue bicycle"}
	for i := range facts {
		fact := fmt.Sprintf("Ann has bought %s, number %d.", things[i%len(things)], i)
		if _, err := f.bank.Parts().Ingest.Add(ctx, scope, ingest.NewMemory{Fact: fact}); err != nil {
			b.Fatal(err)
		}
	}
	native, google := httptest.NewServer(f.bank), httptest.NewTLSServer(f.rest)
	defer native.Close()
	defer google.Close()
	ask := func(client *http.Client, url, body string) time.Duration {
		begin := time.Now()
		res, err := client.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		if raw, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res.Status, string(raw), err)
		}
		return time.Since(begin)
	}
	var own, others []time.Duration
	for i := 0; b.Loop(); i++ {
		question := fmt.Sprintf("Which of %s did Ann buy, %d?", things[i%len(things)], i%facts)
		own = append(own, ask(native.Client(), native.URL+"/v1/apps/1/users/ann/memories/search",
			fmt.Sprintf(`{"query": %q, "topK": 3, "kinds": ["fact"]}`, question)))
		others = append(others, ask(google.Client(), google.URL+memories+":retrieve",
			fmt.Sprintf(`{"scope": {"user_id": "ann"}, "similaritySearchParams": {"searchQuery": %q}}`, question)))
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Microseconds())
	}
	b.ReportMetric(median(own), "µs-native")
	b.ReportMetric(median(others), "µs-vertex")
	b.ReportMetric(median(others)/median(own), "ratio")
}
