package vertex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/vertex"
	pb "github.com/memoryd/memoryd/vertex/vertexpb"
)

const memories = "/v1beta1/projects/p/locations/memoryd/reasoningEngines/1/memories"

// operation is an operation of REST.
type operation struct {
	Name     string
	Done     bool
	Response struct {
		GeneratedMemories []struct {
			Memory struct{ Name, Fact string }
			Action string
		}
	}
}

// begin makes a request that answers with an operation.
func (f *fixture) begin(path, body string) (out operation) {
	f.t.Helper()
	if err := json.Unmarshal([]byte(f.must("POST", path, body)), &out); err != nil {
		f.t.Fatal(err)
	}
	return out
}

// facts are the facts of a scope, the newest first.
func (f *fixture) facts(scope string) (out []string) {
	f.t.Helper()
	var page struct {
		RetrievedMemories []struct{ Memory struct{ Fact string } }
	}
	answer := f.must("POST", memories+":retrieve", `{"scope": `+scope+`, "simpleRetrievalParams": {"pageSize": 100}}`)
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		f.t.Fatal(err)
	}
	for _, m := range page.RetrievedMemories {
		out = append(out, m.Memory.Fact)
	}
	return out
}

// The sessions that hold what requests have brought take no place in a page of a list, and none of the
// sessions that a user may have.
func TestSessionsAside(t *testing.T) {
	bank, err := memoryd.Open(t.Context(), ":memory:", &memoryd.Options{MaxSessions: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bank.Close() })
	f := serve(t, bank, nil)
	const sessions = "/v1/reasoningEngines/1/sessions"
	for i := range 3 {
		f.must("POST", "/v1/reasoningEngines/1/memories:generate", fmt.Sprintf(`{"scope": {"user_id": "ann"},
			"directContentsSource": {"events": [{"content": {"parts": [{"text": "I like tea."}]}}]},
			"metadata": {"n": {"doubleValue": %d}}}`, i))
		f.must("POST", sessions, `{"userId": "ann"}`)
	}
	for token := ""; ; {
		var page struct {
			Sessions      []json.RawMessage
			NextPageToken string
		}
		list := f.must("GET", sessions+"?filter=user_id=ann&pageSize=1&pageToken="+token, "")
		if err := json.Unmarshal([]byte(list), &page); err != nil || len(page.Sessions) != 1 {
			t.Errorf("a page is %s (%v)", list, err)
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if code, answer := f.call("", "POST", sessions, `{"userId": "ann"}`); code != http.StatusTooManyRequests {
		t.Errorf("one session too many: %d %s", code, answer)
	}
}

// An operation that waits for its trigger is not done, under its name, until the memories are made.
// That of generated memories shows them to later callers, over both protocols.
func TestOperationsOfMemories(t *testing.T) {
	f := newFixture(t)
	const scope = `{"user_id": "ann"}`
	waits := f.begin(memories+":ingestEvents", `{"scope": `+scope+`, "streamId": "ü/s", "directContentsSource": {"events": [
		{"content": {"role": "user", "parts": [{"text": "I like dogs."}]}}]},
		"generationTriggerConfig": {"generationRule": {"eventCount": 2}}}`)
	again := f.begin(memories+":ingestEvents", `{"scope": `+scope+`, "streamId": "ü/s", "directContentsSource": {"events": [
		{"content": {"role": "user", "parts": [{"text": "I like dogs."}]}}]}}`)
	if waits.Done || again.Done || again.Name != waits.Name {
		t.Errorf("an event waits in %+v, and sent again in %+v", waits, again)
	}
	if got := f.facts(scope); len(got) != 0 {
		t.Errorf("while the trigger waits there are %q", got)
	}
	fired := f.begin(memories+":ingestEvents", `{"scope": `+scope+`, "streamId": "ü/s", "directContentsSource": {"events": [
		{"content": {"role": "user", "parts": [{"text": "I live in Graz."}]}}]}}`)
	if !fired.Done || fired.Name != waits.Name || len(f.facts(scope)) != 2 {
		t.Errorf("after the second event: %+v, %q", fired, f.facts(scope))
	}
	if got := f.must("GET", "/v1/"+waits.Name, ""); !strings.Contains(got, `v1beta1.IngestEventsResponse"}`) {
		t.Errorf("the operation became %s", got)
	}
	if list := f.must("GET", "/v1/reasoningEngines/1/sessions?filter=user_id=ann", ""); list != "{}" {
		t.Errorf("a stream is in the list of sessions: %s", list)
	}
	if code, _ := f.call("", "GET", "/v1/reasoningEngines/1/sessions/~stream~%C3%BC%252Fs", ""); code != 404 {
		t.Errorf("a stream is a session by name: %d", code)
	}
	made := f.begin(memories+":generate", `{"scope": `+scope+`, "directMemoriesSource": {"directMemories": [
		{"fact": "Ann keeps bees."}]}}`)
	var op pb.Operation
	if err := f.dial().Invoke(t.Context(), "/google.longrunning.Operations/GetOperation",
		&pb.GetOperationRequest{Name: made.Name}, &op); err != nil {
		t.Fatal(err)
	}
	var response pb.GenerateMemoriesResponse
	if err := proto.Unmarshal(op.GetResponse().GetValue(), &response); err != nil || !op.GetDone() ||
		len(response.GetGeneratedMemories()) != 1 ||
		response.GetGeneratedMemories()[0].GetMemory().GetName() != made.Response.GeneratedMemories[0].Memory.Name ||
		op.GetResponse().GetTypeUrl() != "type.googleapis.com/google.cloud.aiplatform.v1beta1.GenerateMemoriesResponse" {
		t.Errorf("over gRPC the operation is %v, of %v, %v", &op, &response, err)
	}
}

// Memories that gRPC generates are found by both protocols, at the same distance.
func TestRetrieveOverBoth(t *testing.T) {
	f := newFixture(t)
	conn := f.dial()
	const service = "/google.cloud.aiplatform.v1beta1.MemoryBankService/"
	const engine = "projects/p/locations/memoryd/reasoningEngines/1"
	scope := map[string]string{"user_id": "ann"}
	var op pb.Operation
	if err := conn.Invoke(t.Context(), service+"GenerateMemories", &pb.GenerateMemoriesRequest{Parent: engine, Scope: scope,
		Source: &pb.GenerateMemoriesRequest_DirectContentsSource_{
			DirectContentsSource: &pb.GenerateMemoriesRequest_DirectContentsSource{
				Events: []*pb.GenerateMemoriesRequest_DirectContentsSource_Event{{Content: &pb.Content{Role: "user",
					Parts: []*pb.Part{{Data: &pb.Part_Text{Text: "I have two cats."}}}}}}}}}, &op); err != nil {
		t.Fatal(err)
	}
	var found pb.RetrieveMemoriesResponse
	if err := conn.Invoke(t.Context(), service+"RetrieveMemories", &pb.RetrieveMemoriesRequest{Parent: engine, Scope: scope,
		RetrievalParams: &pb.RetrieveMemoriesRequest_SimilaritySearchParams_{
			SimilaritySearchParams: &pb.RetrieveMemoriesRequest_SimilaritySearchParams{SearchQuery: "cats"}}}, &found); err != nil {
		t.Fatal(err)
	}
	shown := f.must("POST", memories+":retrieve", `{"scope": {"user_id": "ann"}, "similaritySearchParams": {"searchQuery": "cats"}}`)
	if len(found.GetRetrievedMemories()) != 1 || !op.GetDone() {
		t.Fatalf("generated %v, found %v, and REST %s", &op, &found, shown)
	}
	m := found.GetRetrievedMemories()[0]
	for _, want := range []string{fmt.Sprintf(`"distance":%v`, math.Floor(1000*m.GetDistance())/1000), m.GetMemory().GetName(),
		m.GetMemory().GetFact()} {
		if !strings.Contains(shown, want) {
			t.Errorf("REST shows %s, without %s", shown, want)
		}
	}
}

// A page has a token, which leads to the next one. Google's SDK for Python gets all on one page, as
// it cannot ask for another.
func TestRetrievePages(t *testing.T) {
	f := newFixture(t)
	var want []string
	for i := range 7 {
		fact := fmt.Sprintf("Ann has bought painting %d.", i)
		f.begin(memories+":generate", `{"scope": {"user_id": "ann"}, "disableConsolidation": true,
			"directMemoriesSource": {"directMemories": [{"fact": "`+fact+`"}]}}`)
		want = append([]string{fact}, want...)
	}
	var got []string
	for token := ""; ; {
		var page struct {
			RetrievedMemories []struct{ Memory struct{ Fact string } }
			NextPageToken     string
		}
		answer := f.must("POST", memories+":retrieve", `{"scope": {"user_id": "ann"}, "simpleRetrievalParams": {"page_token": "`+
			token+`"}}`)
		if err := json.Unmarshal([]byte(answer), &page); err != nil || len(page.RetrievedMemories) > 3 {
			t.Fatal(err, answer)
		}
		for _, m := range page.RetrievedMemories {
			got = append(got, m.Memory.Fact)
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the pages have\n%q, want\n%q", got, want)
	}
	r := httptest.NewRequest("POST", memories+":retrieve", strings.NewReader(`{"scope": {"user_id": "ann"}}`))
	r.Header.Set("User-Agent", "google-genai-sdk/2.34.0 vertex-genai-modules/1.165.1 gl-python/3.12.3")
	w := httptest.NewRecorder()
	f.rest.ServeHTTP(w, r)
	if n := strings.Count(w.Body.String(), `"fact"`); n != 7 || strings.Contains(w.Body.String(), "nextPageToken") {
		t.Errorf("Google's SDK for Python gets %d memories: %s", n, w.Body)
	}
}

// The profiles of a user have the values of their fields.
func TestRetrieveProfiles(t *testing.T) {
	f := newFixture(t)
	for path, body := range map[string]string{"config": `{"profiles": [{"id": "person", "schema": {"type": "object",
		"properties": {"age": {"type": "integer"}, "city": {"type": "string"}}}}]}`} {
		r := httptest.NewRequest("PUT", "http://localhost/v1/apps/1/"+path, strings.NewReader(body))
		w := httptest.NewRecorder()
		if f.bank.ServeHTTP(w, r); w.Code >= 300 {
			t.Fatal(w.Code, w.Body)
		}
	}
	r := httptest.NewRequest("POST", "http://localhost/v1/apps/1/users/ann/memories", strings.NewReader(
		`{"kind": "profile", "schemaId": "person", "field": "age", "value": 30}`))
	w := httptest.NewRecorder()
	if f.bank.ServeHTTP(w, r); w.Code >= 300 {
		t.Fatal(w.Code, w.Body)
	}
	got := f.must("POST", memories+":retrieveProfiles", `{"scope": {"user_id": "ann"}}`)
	if want := `{"profiles":{"person":{"schemaId":"person","profile":{"age":30}}}}`; got != want {
		t.Errorf("the profiles are %s, want %s", got, want)
	}
	got = f.must("POST", memories+":retrieve", `{"scope": {"user_id": "ann"}, "memory_types": [2],
		"similaritySearchParams": {"searchQuery": "age"}}`)
	if !strings.Contains(got, `"structuredContent":{"schemaId":"person","data":{"age":30}}`) {
		t.Errorf("a search for values finds %s", got)
	}
}

// gated is the rules that wait, once for each batch, for what becomes of it: nil or an error.
type gated struct {
	*rules.Extractor
	verdicts chan error
}

func (g gated) Extract(ctx context.Context, b extract.Batch) (extract.Found, error) {
	select {
	case err := <-g.verdicts:
		if err != nil {
			return extract.Found{}, err
		}
		return g.Extractor.Extract(ctx, b)
	case <-ctx.Done():
		return extract.Found{}, ctx.Err()
	}
}

// A call does not wait for slow memories: its operation is not done, and becomes done. A request that is
// sent again meanwhile doubles nothing.
func TestSlowMemories(t *testing.T) {
	g := gated{rules.New(), make(chan error)}
	bank, err := memoryd.Open(t.Context(), ":memory:", &memoryd.Options{Extractor: g})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bank.Close(); err != nil {
			t.Error(err)
		}
	})
	f := serve(t, bank, &vertex.Options{Wait: time.Millisecond, Turns: true})
	const body = `{"scope": {"user_id": "ann"}, "directContentsSource": {"events": [{"content": {"role": "user",
		"parts": [{"text": "I live in Graz."}]}}]}}`
	first, second := f.begin(memories+":generate", body), f.begin(memories+":generate", body)
	if first.Done || second.Done || first.Name == second.Name || len(f.facts(`{"user_id": "ann"}`)) != 0 {
		t.Errorf("before the memories are made: %+v, %+v", first, second)
	}
	found := f.must("POST", memories+":retrieve", `{"scope": {"user_id": "ann"},
		"similaritySearchParams": {"searchQuery": "Graz"}}`)
	if !strings.Contains(found, `"fact":"I live in Graz."`) {
		t.Errorf("with turns a search finds %s", found)
	}
	g.verdicts <- nil
	for _, op := range []operation{first, second} {
		for !op.Done {
			if err := json.Unmarshal([]byte(f.must("GET", "/v1/"+op.Name, "")), &op); err != nil {
				t.Fatal(err)
			}
		}
		// The second request has asked for the same memories, and is told of them too.
		if of := op.Response.GeneratedMemories; len(of) != 1 || of[0].Action != "CREATED" {
			t.Errorf("the operation has made %+v", of)
		}
	}
	if got := f.facts(`{"user_id": "ann"}`); len(got) != 1 {
		t.Errorf("there are %q", got)
	}
}
