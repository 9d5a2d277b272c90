package qdrantstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/qdrantstore"
)

// quick has a short timeout, for calls that get no answer. patient waits for the
// answer of a real server on a busy machine.
var (
	quick   = &qdrantstore.Options{Timeout: 3 * time.Second}
	patient = &qdrantstore.Options{Timeout: time.Minute}
)

// Open refuses a wrong URL, an unreachable server and one that is too old, and
// never shows the key.
func TestOpenRefuses(t *testing.T) {
	q := qdranttest.Start(t)
	at := "qdrant://" + q.Addr
	for _, c := range []struct{ url, want string }{
		{"http://127.0.0.1:6334", "want qdrant://"},
		{"qdrant://", "want qdrant://"},
		{"qdrant://:hunter2@127.0.0.1:nope", "cannot be read"},
		{"qdrant://:hunter2/x@127.0.0.1:1", "cannot be read"},
		{"qdrant://hunter2@127.0.0.1:1", "has a user"},
		{at + "/mine", "has a path"},
		{at + "#mine", "has a path"},
		{at + "?collection=a&collection=b", "twice"},
		{"qdrant://127.0.0.1:1", "refused"},
		{"qdrants://:hunter2@" + q.Addr, "unavailable"},
		{at + "?shards=0", "shards=0"},
		{at + "?replicas=x", "replicas=x"},
		{at + "?on-disk=maybe", "on-disk=maybe"},
		{at + "?quantization=odd", "quantization=odd"},
		{at + "?collection=a/b", "collection=a/b"},
		{at + "?colection=a", "there is no such option"},
		{"qdrant://" + qdranttest.StandIn(t, "1.12.0").Addr, "1.17 or later"},
	} {
		s, err := qdrantstore.Open(t.Context(), c.url, model, quick)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", c.url)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want something with %q", c.url, err, c.want)
		}
	}
}

// Qdrant builds a graph for few fields: those by which a search finds a part of a scope. A start leaves indexes as they
// are that were made before, even if it would make them in another way.
func TestGraphsOfFewFields(t *testing.T) {
	q := qdranttest.Start(t)
	url := q.URL(t)
	_, name, _ := strings.Cut(url, "collection=")
	name += "-test-8-test" // with the model
	c := q.Client(t)
	open := func() {
		t.Helper()
		s, err := qdrantstore.Open(t.Context(), url, model, patient)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	graph := func(field string) bool {
		t.Helper()
		info, err := c.GetCollectionInfo(t.Context(), name)
		if err != nil || info.GetPayloadSchema()[field] == nil {
			t.Fatal(field, info.GetPayloadSchema(), err)
		}
		// Params of another kind are nil, and nil has no graph turned off.
		p, off := info.GetPayloadSchema()[field].GetParams(), false
		if k := p.GetKeywordIndexParams(); k != nil {
			off = k.EnableHnsw != nil && !k.GetEnableHnsw()
		}
		if n := p.GetIntegerIndexParams(); n != nil {
			off = n.EnableHnsw != nil && !n.GetEnableHnsw()
		}
		if b := p.GetBoolIndexParams(); b != nil {
			off = b.EnableHnsw != nil && !b.GetEnableHnsw()
		}
		return !off
	}
	open()
	for field, want := range map[string]bool{
		"scope": true, "kind": true, "topics": true, "words": false, "gone": false, "created": false, "event": false,
	} {
		if graph(field) != want {
			t.Errorf("%q has a graph: %v, want %v", field, !want, want)
		}
	}
	_, err := c.CreateFieldIndex(t.Context(), &qdrant.CreateFieldIndexCollection{CollectionName: name,
		Wait: qdrant.PtrOf(true), FieldName: "created", FieldType: qdrant.FieldType_FieldTypeInteger.Enum()})
	if err != nil {
		t.Fatal(err)
	}
	open()
	if !graph("created") {
		t.Error("a start has made an index again that was there")
	}
}

// A collection of another shape under the expected name is refused.
func TestOtherCollection(t *testing.T) {
	q := qdranttest.Start(t)
	url := q.URL(t)
	_, name, _ := strings.Cut(url, "collection=")
	if err := q.Client(t).CreateCollection(t.Context(), &qdrant.CreateCollection{CollectionName: name + "-test-8-test",
		VectorsConfig: qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{"dense": {Size: 9,
			Distance: qdrant.Distance_Cosine}})}); err != nil {
		t.Fatal(err)
	}
	if _, err := qdrantstore.Open(t.Context(), url, model, patient); err == nil ||
		!strings.Contains(err.Error(), "collection=") {
		t.Errorf("another dimension: %v", err)
	}
}

// A server with a key refuses a missing key and a wrong one.
func TestAPIKey(t *testing.T) {
	q := qdranttest.StartReal(t, "QDRANT__SERVICE__API_KEY=right")
	for key, want := range map[string]string{"": "API key", ":wrong@": "API key", ":right@": ""} {
		s, err := qdrantstore.Open(t.Context(), "qdrant://"+key+q.Addr, model, patient)
		if err == nil {
			s.Close()
		}
		if got := fmt.Sprint(err); (want == "") != (err == nil) || !strings.Contains(got, want) ||
			strings.Contains(got, "wrong") {
			t.Errorf("with key %q: %v", key, err)
		}
	}
}

// While Qdrant is away every call fails as unavailable. Once it is back,
// everything acknowledged is there, and the same store goes on.
func TestAway(t *testing.T) {
	q := qdranttest.StartReal(t)
	s, err := qdrantstore.Open(t.Context(), "qdrant://"+q.Addr, model, quick)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	scope := memory.Scope{App: "app", User: "ann"}
	put := func(id string) error {
		_, err := s.Put(t.Context(), scope,
			[]memory.Write{{Memory: memory.Memory{ID: id, Scope: scope, Kind: memory.KindFact, Fact: "tea",
				Timestamp: time.Now()},
				Terms: memory.Terms{"tea": 1}, Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}}})
		return err
	}
	for i := range 20 {
		if err := put(fmt.Sprint("m", i)); err != nil {
			t.Fatal(err)
		}
	}
	q.Kill()
	ctx := t.Context()
	_, get := s.Get(ctx, scope, []string{"m1"})
	_, list := s.List(ctx, scope, memory.List{})
	_, search := s.Search(ctx, scope, memory.Query{Terms: []string{"tea"}, Limit: 1})
	_, del := s.Delete(ctx, scope, []memory.Removal{{ID: "m1"}})
	for call, err := range map[string]error{"put": put("lost"), "get": get, "list": list, "search": search,
		"delete": del, "check": s.Check(ctx)} {
		if !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("%s: %v", call, err)
		}
	}
	q.Run(t)
	for end := time.Now().Add(30 * time.Second); s.Check(ctx) != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(s.Check(ctx))
		}
	}
	page, err := s.List(ctx, scope, memory.List{})
	if err != nil || len(page.Memories) != 20 {
		t.Errorf("%d memories, %v; want 20", len(page.Memories), err)
	}
	if err := put("on"); err != nil {
		t.Error(err)
	}
}

// A new collection has the options that the URL asks for.
func TestCollectionOptions(t *testing.T) {
	q := qdranttest.StartReal(t)
	url := q.URL(t) + "&shards=3&replicas=1&write-consistency=1&on-disk=true&quantization=scalar"
	s, err := qdrantstore.Open(t.Context(), url, model, patient)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := q.Client(t)
	names, err := c.ListCollections(t.Context())
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	info, err := c.GetCollectionInfo(t.Context(), names[0])
	if err != nil {
		t.Fatal(err)
	}
	params := info.GetConfig().GetParams()
	if params.GetShardNumber() != 3 || !params.GetVectorsConfig().GetParamsMap().GetMap()["dense"].GetOnDisk() ||
		info.GetConfig().GetQuantizationConfig().GetScalar() == nil ||
		!info.GetPayloadSchema()["scope"].GetParams().GetKeywordIndexParams().GetIsTenant() {
		t.Errorf("the collection is %+v", info.GetConfig())
	}
	scope := memory.Scope{App: "app", User: "ann"}
	for i := range 20 {
		if _, err := s.Put(t.Context(), scope,
			[]memory.Write{{Memory: memory.Memory{ID: fmt.Sprint("m", i), Scope: scope, Kind: memory.KindFact,
				Fact: "tea", Timestamp: time.Now()},
				Terms: memory.Terms{"tea": 1 + i}, Vector: []float32{1, 0, 0, 0, 0, 0, 0, float32(i)}}}); err != nil {
			t.Fatal(err)
		}
	}
	found, err := s.Search(t.Context(), scope, memory.Query{Terms: []string{"tea"},
		Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}, Limit: 5})
	if err != nil || found.Stats.Docs != 20 || len(found.Runs) != 10 {
		t.Errorf("found %d runs of %+v, %v", len(found.Runs), found.Stats, err)
	}
}
