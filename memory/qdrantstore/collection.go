package qdrantstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The named vectors.
const (
	dense   = "dense"
	lexical = "lexical"
)

// prepare makes the collection if it is missing, and checks its shape.
func (s *Store) prepare(ctx context.Context) error {
	there, err := s.client.CollectionExists(ctx, s.collection)
	if err != nil {
		return s.kind(ctx, err)
	}
	if !there {
		if err := s.create(ctx); err != nil {
			return err
		}
	}
	info, err := s.collectionInfo(ctx, !there)
	if err != nil {
		return s.kind(ctx, err)
	}
	if err := s.checkShape(info.GetConfig().GetParams()); err != nil {
		return err
	}
	for name, ix := range indexes {
		// Qdrant would make an index again that an earlier version made in another way, and a start would wait.
		if info.GetPayloadSchema()[name] != nil {
			continue
		}
		if _, err := s.client.CreateFieldIndex(ctx, &qdrant.CreateFieldIndexCollection{
			CollectionName: s.collection, Wait: qdrant.PtrOf(!ix.later),
			FieldName: name, FieldType: ix.kind.Enum(), FieldIndexParams: ix.params,
		}); err != nil {
			return s.kind(ctx, err)
		}
	}
	return nil
}

// collectionInfo describes the collection. In a cluster a new collection may be
// known to another node than the one that is asked, so it waits for one.
func (s *Store) collectionInfo(ctx context.Context, isNew bool) (*qdrant.CollectionInfo, error) {
	for {
		info, err := s.client.GetCollectionInfo(ctx, s.collection)
		if err == nil || !isNew {
			return info, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// checkShape refuses a collection that has not the vectors of memoryd.
func (s *Store) checkShape(params *qdrant.CollectionParams) error {
	d := params.GetVectorsConfig().GetParamsMap().GetMap()[dense]
	_, words := params.GetSparseVectorsConfig().GetMap()[lexical]
	if d == nil || !words || d.GetSize() != uint64(s.model.Dimension) || d.GetDistance() != qdrant.Distance_Cosine {
		return fmt.Errorf("collection %s does not have the vectors of memoryd (dense of %d numbers by cosine,"+
			" lexical): name another with collection= in the URL", s.collection, s.model.Dimension)
	}
	return nil
}

// Qdrant links the vectors of all points that share a value of a field, in one graph for each value of each field. A
// search needs the graph of its scope, and those of the values that few points of a scope may have: without the graph
// of all facts it found none of those of a scope that had eight times as many turns. All other graphs are only work: of
// 100,000 turns Qdrant had not built the graphs of all fields after seven times the work for those of the scope alone.

type fieldIndex struct {
	kind   qdrant.FieldType
	params *qdrant.PayloadIndexParams
	// later has a start not wait for the index: reads across users are slow until Qdrant has
	// made it, and a collection that is there may be large.
	later bool
}

// indexes are the payload fields that filters ask for.
var indexes = map[string]fieldIndex{
	"scope":     {kind: qdrant.FieldType_FieldTypeKeyword, params: keyword(&qdrant.KeywordIndexParams{IsTenant: yes})},
	appField:    {kind: qdrant.FieldType_FieldTypeKeyword, params: keyword(noGraph), later: true},
	personField: {kind: qdrant.FieldType_FieldTypeKeyword, params: keyword(noGraph), later: true},
	"id": {kind: qdrant.FieldType_FieldTypeKeyword, later: true,
		params: keyword(&qdrant.KeywordIndexParams{OnDisk: yes, EnableHnsw: no})},
	"kind":     {kind: qdrant.FieldType_FieldTypeKeyword},
	"session":  {kind: qdrant.FieldType_FieldTypeKeyword},
	"event":    {kind: qdrant.FieldType_FieldTypeKeyword, params: keyword(noGraph)},
	"topics":   {kind: qdrant.FieldType_FieldTypeKeyword},
	"metadata": {kind: qdrant.FieldType_FieldTypeKeyword},
	"by":       {kind: qdrant.FieldType_FieldTypeKeyword, params: keyword(noGraph)},
	"words": {kind: qdrant.FieldType_FieldTypeInteger, params: qdrant.NewPayloadIndexParamsInt(
		&qdrant.IntegerIndexParams{Lookup: yes, Range: no, EnableHnsw: no})},
	"gone":      {kind: qdrant.FieldType_FieldTypeBool, params: flag},
	"edited":    {kind: qdrant.FieldType_FieldTypeBool, params: flag},
	"forgotten": {kind: qdrant.FieldType_FieldTypeBool, params: flag},
	hiddenField: {kind: qdrant.FieldType_FieldTypeBool, params: flag},
	"state":     {kind: qdrant.FieldType_FieldTypeKeyword},
	"known":     {kind: qdrant.FieldType_FieldTypeInteger},
	changeField: {kind: qdrant.FieldType_FieldTypeInteger, params: number},
	"at":        {kind: qdrant.FieldType_FieldTypeInteger},
	"created":   {kind: qdrant.FieldType_FieldTypeInteger, params: number},
	"updated":   {kind: qdrant.FieldType_FieldTypeInteger, params: number},
	"until":     {kind: qdrant.FieldType_FieldTypeInteger},
	"from":      {kind: qdrant.FieldType_FieldTypeInteger},
	"expires":   {kind: qdrant.FieldType_FieldTypeInteger, params: number},
	dueField:    {kind: qdrant.FieldType_FieldTypeInteger, params: number, later: true},

	revokedField: {kind: qdrant.FieldType_FieldTypeInteger, params: number},
}

var (
	yes, no = qdrant.PtrOf(true), qdrant.PtrOf(false)
	keyword = qdrant.NewPayloadIndexParamsKeyword
	noGraph = &qdrant.KeywordIndexParams{EnableHnsw: no}
	flag    = qdrant.NewPayloadIndexParamsBool(&qdrant.BoolIndexParams{EnableHnsw: no})
	// An index of numbers without parameters looks up both.
	number = qdrant.NewPayloadIndexParamsInt(&qdrant.IntegerIndexParams{Lookup: yes, Range: yes, EnableHnsw: no})
)

// graphsFrom is the size of a segment's vectors, in kB, from which Qdrant builds graphs of them. Below it compares the
// vectors of a scope one by one, as exactly as can be. Both lists of 100,000 vectors of 256 numbers take 34 ms so. In a
// run of another day they took 41 with the graphs that Qdrant builds from 10,000 kB by default, for minutes of both
// cores.
// Vectors on a disk are slower to compare, and Qdrant quantizes them when it builds the graphs: there it keeps to its
// default.
const graphsFrom = 100_000

// create makes the collection.
func (s *Store) create(ctx context.Context) error {
	set := &s.set
	vector := &qdrant.VectorParams{
		Size: uint64(s.model.Dimension), Distance: qdrant.Distance_Cosine, OnDisk: &set.onDisk,
	}
	words := &qdrant.SparseVectorParams{Index: &qdrant.SparseIndexConfig{OnDisk: &set.onDisk}}
	req := &qdrant.CreateCollection{
		CollectionName:      s.collection,
		VectorsConfig:       qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{dense: vector}),
		SparseVectorsConfig: qdrant.NewSparseVectorsConfig(map[string]*qdrant.SparseVectorParams{lexical: words}),
		// Every search is within one tenant, so there is a graph for each
		// tenant and none over all.
		HnswConfig:             &qdrant.HnswConfigDiff{M: qdrant.PtrOf(uint64(0)), PayloadM: qdrant.PtrOf(uint64(16))},
		ShardNumber:            set.shards,
		ReplicationFactor:      set.replicas,
		WriteConsistencyFactor: set.consistency,
		OnDiskPayload:          qdrant.PtrOf(true),
	}
	if set.quantization != "scalar" && !set.onDisk {
		req.OptimizersConfig = &qdrant.OptimizersConfigDiff{IndexingThreshold: qdrant.PtrOf(uint64(graphsFrom))}
	}
	if set.quantization == "scalar" {
		vector.OnDisk = qdrant.PtrOf(true)
		req.QuantizationConfig = qdrant.NewQuantizationScalar(&qdrant.ScalarQuantization{
			Type: qdrant.QuantizationType_Int8, AlwaysRam: qdrant.PtrOf(true),
		})
	}
	err := s.client.CreateCollection(ctx, req)
	if status.Code(err) == codes.AlreadyExists || err != nil && strings.Contains(err.Error(), "already exists") {
		return nil // another process was faster
	}
	return s.kind(ctx, err)
}

// drop removes a collection.
func (s *Store) drop(ctx context.Context, collection string) error {
	return s.kind(ctx, s.client.DeleteCollection(ctx, collection))
}

// empty reports whether the collection has no point except its manifest.
func (s *Store) empty(ctx context.Context) (bool, error) {
	n, err := s.client.Count(ctx, &qdrant.CountPoints{CollectionName: s.collection, Exact: qdrant.PtrOf(true)})
	return n <= 1, s.kind(ctx, err)
}
