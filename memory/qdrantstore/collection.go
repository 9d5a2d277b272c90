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
		if _, err := s.client.CreateFieldIndex(ctx, &qdrant.CreateFieldIndexCollection{
			CollectionName: s.collection, Wait: qdrant.PtrOf(true),
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

type fieldIndex struct {
	kind   qdrant.FieldType
	params *qdrant.PayloadIndexParams
}

// indexes are the payload fields that filters ask for. Making one that is there
// does nothing.
var indexes = map[string]fieldIndex{
	"scope": {qdrant.FieldType_FieldTypeKeyword,
		qdrant.NewPayloadIndexParamsKeyword(&qdrant.KeywordIndexParams{IsTenant: qdrant.PtrOf(true)})},
	appField: {qdrant.FieldType_FieldTypeKeyword, nil},
	"id": {qdrant.FieldType_FieldTypeKeyword,
		qdrant.NewPayloadIndexParamsKeyword(&qdrant.KeywordIndexParams{OnDisk: qdrant.PtrOf(true)})},
	"kind":     {qdrant.FieldType_FieldTypeKeyword, nil},
	"session":  {qdrant.FieldType_FieldTypeKeyword, nil},
	"event":    {qdrant.FieldType_FieldTypeKeyword, nil},
	"topics":   {qdrant.FieldType_FieldTypeKeyword, nil},
	"metadata": {qdrant.FieldType_FieldTypeKeyword, nil},
	"by":       {qdrant.FieldType_FieldTypeKeyword, nil},
	"words": {qdrant.FieldType_FieldTypeInteger, qdrant.NewPayloadIndexParamsInt(
		&qdrant.IntegerIndexParams{Lookup: qdrant.PtrOf(true), Range: qdrant.PtrOf(false)})},
	"gone":      {qdrant.FieldType_FieldTypeBool, nil},
	"edited":    {qdrant.FieldType_FieldTypeBool, nil},
	"forgotten": {qdrant.FieldType_FieldTypeBool, nil},
	hiddenField: {qdrant.FieldType_FieldTypeBool, nil},
	"state":     {qdrant.FieldType_FieldTypeKeyword, nil},
	"known":     {qdrant.FieldType_FieldTypeInteger, nil},
	changeField: {qdrant.FieldType_FieldTypeInteger, nil},
	"at":        {qdrant.FieldType_FieldTypeInteger, nil},
	"created":   {qdrant.FieldType_FieldTypeInteger, nil},
	"updated":   {qdrant.FieldType_FieldTypeInteger, nil},
	"until":     {qdrant.FieldType_FieldTypeInteger, nil},
	"from":      {qdrant.FieldType_FieldTypeInteger, nil},
	"expires":   {qdrant.FieldType_FieldTypeInteger, nil},

	revokedField: {qdrant.FieldType_FieldTypeInteger, nil},
}

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
