package qdranttest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The stand-in answers every call as the real server does.
func TestStandInAnswersAlike(t *testing.T) {
	real := StartReal(t)
	clients := []*qdrant.Client{real.Client(t), StandIn(t, version).Client(t)}
	for seed := range uint64(3) {
		name := fmt.Sprint("alike", seed)
		var transcripts [2]string
		for i, c := range clients {
			transcripts[i] = play(t, c, name, rand.New(rand.NewPCG(seed, 1)))
		}
		if diff := cmp.Diff(transcripts[0], transcripts[1]); diff != "" {
			t.Fatalf("seed %d (-real +stand-in):\n%s", seed, diff)
		}
		if n := strings.Count(transcripts[0], "\n"); n < 200 {
			t.Fatalf("only %d lines to compare", n)
		}
	}
}

var strong = &qdrant.WriteOrdering{Type: qdrant.WriteOrderingType_Strong}

// play makes calls of every kind and writes their answers down, sorted where no
// order is promised.
func play(t *testing.T, c *qdrant.Client, name string, random *rand.Rand) string {
	ctx := context.Background()
	var b strings.Builder
	say := func(what string, answer any, err error) {
		if err != nil {
			fmt.Fprintf(&b, "%s: %v\n", what, status.Code(err))
			return
		}
		fmt.Fprintf(&b, "%s: %v\n", what, answer)
	}
	health, err := c.HealthCheck(ctx)
	say("version", health.GetVersion(), err)
	_, err = c.GetCollectionInfo(ctx, name)
	say("missing collection", nil, err)
	_, err = c.Count(ctx, &qdrant.CountPoints{CollectionName: name})
	say("count there", nil, err)
	create := &qdrant.CreateCollection{CollectionName: name,
		VectorsConfig: qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{"dense": {Size: 3,
			Distance: qdrant.Distance_Cosine}}),
		SparseVectorsConfig: qdrant.NewSparseVectorsConfig(map[string]*qdrant.SparseVectorParams{"lexical": {}})}
	say("create", nil, c.CreateCollection(ctx, create))
	if err := c.CreateCollection(ctx, create); err == nil {
		say("create again", "accepted", nil)
	} else if status.Code(err) != codes.AlreadyExists && !strings.Contains(err.Error(), "already exists") {
		t.Fatal(err)
	}
	there, err := c.CollectionExists(ctx, name)
	say("exists", there, err)
	info, err := c.GetCollectionInfo(ctx, name)
	params := info.GetConfig().GetParams()
	say("vectors", params.GetVectorsConfig().GetParamsMap().GetMap()["dense"].GetSize(), err)
	say("distance", params.GetVectorsConfig().GetParamsMap().GetMap()["dense"].GetDistance(), err)
	say("sparse", params.GetSparseVectorsConfig().GetMap()["lexical"] != nil, err)
	for _, f := range []string{"at", "at", "number"} { // a second time does nothing
		_, err = c.CreateFieldIndex(ctx, &qdrant.CreateFieldIndexCollection{CollectionName: name,
			Wait: qdrant.PtrOf(true), FieldName: f,
			FieldType: qdrant.FieldType_FieldTypeInteger.Enum()})
		say("index", nil, err)
	}
	info, err = c.GetCollectionInfo(ctx, name)
	say("indexes", len(info.GetPayloadSchema()), err)
	say("an index", info.GetPayloadSchema()["at"] != nil, nil)
	ids := make([]string, 12)
	for i := range ids {
		ids[i] = uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)).String()
	}
	for round := range 40 {
		p := &qdrant.PointStruct{Id: qdrant.NewIDUUID(ids[random.IntN(len(ids))]), Payload: map[string]*qdrant.Value{
			"round":  qdrant.NewValueInt(int64(round)),
			"word":   qdrant.NewValueString([]string{"a", "b", "c"}[random.IntN(3)]),
			"flag":   qdrant.NewValueBool(random.IntN(2) == 0),
			"number": qdrant.NewValueFromList(qdrant.NewValueInt(random.Int64N(3)), qdrant.NewValueInt(7))}}
		if random.IntN(3) > 0 {
			p.Payload["at"] = qdrant.NewValueInt(1_700_000_000_000_000 + random.Int64N(5))
		}
		vectors := map[string]*qdrant.Vector{}
		if random.IntN(3) > 0 {
			vectors["dense"] = qdrant.NewVectorDense([]float32{random.Float32() - 0.5, random.Float32() - 0.5,
				random.Float32() + 0.01})
		}
		if random.IntN(3) > 0 {
			vectors["lexical"] = qdrant.NewVectorSparse([]uint32{uint32(random.IntN(2)),
				2 + uint32(random.IntN(2))*math.MaxInt32}, []float32{random.Float32() + 0.1, random.Float32() + 0.1})
		}
		p.Vectors = qdrant.NewVectorsMap(vectors)
		up := &qdrant.PointsUpdateOperation_PointStructList{Points: []*qdrant.PointStruct{p}}
		switch random.IntN(4) {
		case 0:
			up.UpdateMode = qdrant.UpdateMode_InsertOnly.Enum()
		case 1:
			up.UpdateMode = qdrant.UpdateMode_UpdateOnly.Enum()
			up.UpdateFilter = &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchInt("round",
				random.Int64N(int64(round)+1))}}
		case 2:
			up.UpdateMode = qdrant.UpdateMode_UpdateOnly.Enum()
			up.UpdateFilter = &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchBool("flag", true)}}
		}
		_, err = c.UpdateBatch(ctx, &qdrant.UpdateBatchPoints{CollectionName: name, Wait: qdrant.PtrOf(true),
			Ordering: strong, Operations: []*qdrant.PointsUpdateOperation{qdrant.NewPointsUpdateUpsert(up)}})
		say("upsert", nil, err)
		if round%5 == 4 {
			set := &qdrant.PointsUpdateOperation_SetPayload{
				Payload: map[string]*qdrant.Value{"at": qdrant.NewValueInt(1_700_000_000_000_000 + int64(round)%6)},
				PointsSelector: qdrant.NewPointsSelectorFilter(&qdrant.Filter{
					Must: []*qdrant.Condition{qdrant.NewHasID(qdrant.NewIDUUID(ids[round%len(ids)]),
						qdrant.NewIDUUID(ids[(round+1)%len(ids)]))},
					Should: []*qdrant.Condition{qdrant.NewIsEmpty("at"),
						qdrant.NewRange("at", &qdrant.Range{Lt: qdrant.PtrOf(1_700_000_000_000_003.0)})},
				}),
			}
			_, err = c.UpdateBatch(ctx, &qdrant.UpdateBatchPoints{CollectionName: name, Wait: qdrant.PtrOf(true),
				Ordering: strong, Operations: []*qdrant.PointsUpdateOperation{qdrant.NewPointsUpdateSetPayload(set)}})
			say("set payload", nil, err)
		}
		if round%4 == 3 {
			look(ctx, c, name, ids, random, say)
		}
	}
	tooShort := &qdrant.PointsUpdateOperation_PointStructList{Points: []*qdrant.PointStruct{{
		Id:      qdrant.NewIDUUID(ids[0]),
		Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{"dense": qdrant.NewVectorDense([]float32{1})}),
	}}}
	_, err = c.UpdateBatch(ctx, &qdrant.UpdateBatchPoints{
		CollectionName: name, Wait: qdrant.PtrOf(true), Ordering: strong,
		Operations: []*qdrant.PointsUpdateOperation{qdrant.NewPointsUpdateUpsert(tooShort)},
	})
	say("vector of the wrong length", nil, err)
	say("delete", nil, c.DeleteCollection(ctx, name))
	return b.String()
}

// look reads the points in every way.
func look(ctx context.Context, c *qdrant.Client, name string, ids []string, random *rand.Rand,
	say func(string, any, error)) {
	var all []*qdrant.PointId
	for _, id := range append(ids, uuid.NewSHA1(uuid.Nil, []byte("none")).String()) {
		all = append(all, qdrant.NewIDUUID(id))
	}
	got, err := c.Get(ctx, &qdrant.GetPoints{CollectionName: name, Ids: all, WithPayload: qdrant.NewWithPayload(true),
		WithVectors: qdrant.NewWithVectorsInclude("dense")})
	var lines []string
	for _, p := range got {
		lines = append(lines, fmt.Sprint(p.GetId().GetUuid(), payload(p.GetPayload()), dense(p.GetVectors())))
	}
	slices.Sort(lines)
	say("get", strings.Join(lines, "\n"), err)
	var from *qdrant.PointId
	for page := 0; page == 0 || from != nil; page++ {
		some, next, err := c.ScrollAndOffset(ctx,
			&qdrant.ScrollPoints{CollectionName: name, Offset: from, Limit: qdrant.PtrOf(uint32(4)),
				WithPayload: qdrant.NewWithPayload(true), WithVectors: qdrant.NewWithVectorsInclude("dense")})
		for _, p := range some {
			say("scrolled", fmt.Sprint(p.GetId().GetUuid(), payload(p.GetPayload()),
				len(p.GetVectors().GetVectors().GetVectors()["dense"].GetDense().GetData())), err)
		}
		say("next", next.GetUuid(), err)
		from = next
	}

	filters := []*qdrant.Filter{nil,
		{Must: []*qdrant.Condition{qdrant.NewMatch("word", "a")}},
		{Must: []*qdrant.Condition{qdrant.NewMatchKeywords("word", "a", "c"), qdrant.NewMatchBool("flag", true)}},
		{Must: []*qdrant.Condition{qdrant.NewMatchInt("number", 1)},
			MustNot: []*qdrant.Condition{qdrant.NewMatch("word", "b")}},
		{Must: []*qdrant.Condition{qdrant.NewRange("at", &qdrant.Range{Lte: qdrant.PtrOf(1_700_000_000_000_002.0)})}},
		{Must: []*qdrant.Condition{qdrant.NewRange("at",
			&qdrant.Range{Gt: qdrant.PtrOf(1_700_000_000_000_001.0), Lt: qdrant.PtrOf(1_700_000_000_000_004.0)})}},
		{MustNot: []*qdrant.Condition{qdrant.NewRange("at", &qdrant.Range{Lt: qdrant.PtrOf(1_700_000_000_000_002.0)}),
			qdrant.NewMatchBool("flag", true)}},
		{Must: []*qdrant.Condition{qdrant.NewHasID(all[:5]...)}},
		{Must: []*qdrant.Condition{qdrant.NewMatch("nothing", "x")}},
		{Should: []*qdrant.Condition{qdrant.NewHasID(all[3]), qdrant.NewFilterAsCondition(&qdrant.Filter{
			Must: []*qdrant.Condition{qdrant.NewMatch("word", "a"),
				qdrant.NewRange("at", &qdrant.Range{Gt: qdrant.PtrOf(1_700_000_000_000_001.0)})},
		})}},
	}
	var queries []*qdrant.QueryPoints
	for _, f := range filters {
		n, err := c.Count(ctx, &qdrant.CountPoints{CollectionName: name, Filter: f, Exact: qdrant.PtrOf(true)})
		say("count", n, err)
		for _, q := range []*qdrant.QueryPoints{
			{Query: qdrant.NewQueryDense([]float32{random.Float32(), random.Float32(), random.Float32()}),
				Using: qdrant.PtrOf("dense"), Params: &qdrant.SearchParams{Exact: qdrant.PtrOf(true)}},
			{Query: qdrant.NewQuerySparse([]uint32{0, 2, 99}, []float32{1.5, 0.5, 3}), Using: qdrant.PtrOf("lexical")},
			{Query: qdrant.NewQueryOrderBy(&qdrant.OrderBy{Key: "at", Direction: qdrant.Direction_Desc.Enum()})},
			{Query: qdrant.NewQueryOrderBy(&qdrant.OrderBy{Key: "at", Direction: qdrant.Direction_Asc.Enum()})},
			{},
		} {
			q.CollectionName, q.Filter, q.WithPayload = name, f, qdrant.NewWithPayloadInclude("word", "none")
			q.WithVectors = qdrant.NewWithVectorsInclude("dense")
			q.Limit = qdrant.PtrOf(uint64(50))
			queries = append(queries, q)
		}
	}
	answers, err := c.QueryBatch(ctx, &qdrant.QueryBatchPoints{CollectionName: name, QueryPoints: queries})
	for i, a := range answers {
		say(fmt.Sprint("query ", i), ranked(a.GetResult()), err)
		one, err := c.Query(ctx, queries[i])
		say("alone", ranked(one), err)
		if len(one) > 1 {
			queries[i].Limit = qdrant.PtrOf(uint64(1))
			first, err := c.Query(ctx, queries[i])
			say("the first's score", fmt.Sprintf("%.4f %v of %d", first[0].GetScore(),
				first[0].GetOrderValue().GetInt(), len(first)), err)
		}
	}
}

func payload(p map[string]*qdrant.Value) string {
	var out []string
	for k, v := range p {
		out = append(out, k+"="+strings.ReplaceAll(v.String(), " ", ""))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func dense(v *qdrant.VectorsOutput) (out []string) {
	for _, x := range v.GetVectors().GetVectors()["dense"].GetDense().GetData() {
		out = append(out, fmt.Sprintf("%.4f", x))
	}
	return out
}

// ranked writes points in their order, and ties by id.
func ranked(points []*qdrant.ScoredPoint) string {
	var out []string
	for _, p := range points {
		order := int64(-1)
		if p.GetOrderValue() != nil {
			order = p.GetOrderValue().GetInt()
		}
		out = append(out, fmt.Sprintf("%.4f %d %s %s %v", p.GetScore(), order, p.GetId().GetUuid(),
			payload(p.GetPayload()), dense(p.GetVectors())))
	}
	place := func(line string) string { f := strings.Fields(line); return f[0] + f[1] }
	for i := 0; i < len(out); {
		j := i
		for j < len(out) && place(out[j]) == place(out[i]) {
			j++
		}
		slices.Sort(out[i:j])
		i = j
	}
	return strings.Join(out, "\n")
}
