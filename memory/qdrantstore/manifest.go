package qdrantstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/memoryd/memoryd/memory"
)

// manifest describes a collection, in a point of its own. It changes only from
// what was read, which Qdrant checks as it writes.
type manifest struct {
	Store string `json:"store"` // the id of the store
	Model Model  `json:"model"`
	State state  `json:"state,omitempty"`
	Next  string `json:"next,omitempty"` // the collection that the memories are moving to, or have moved to
	// Removals says that the collection has told of removals from its start; see Store.Removed.
	Removals bool `json:"removals,omitempty"`
	// Version is of this manifest and no other. Collections of the first
	// versions have none.
	Version string `json:"mark"`
}

// state is the stage of a collection's life. Exactly one collection of a store
// is active or draining, except briefly between the retirement of the old one
// and the activation of the new one. Any process that sees that gap completes
// the move.
type state string

// The states. Their stored values are those of the first version that had
// moves.
const (
	active   state = ""        // the memories are here
	building state = "filling" // a move is copying them here
	draining state = "closing" // a move from here is about to end: writes are not acknowledged
	retired  state = "left"    // they have moved to Next
)

// manifestID is the point of the manifest.
var manifestID = qdrant.NewIDUUID(derive("store"))

// The payload fields of that point. The names are those of the first versions.
const (
	manifestField = "deed"
	storeField    = "store"
	versionField  = "mark"
)

func (m *manifest) point() (*qdrant.PointStruct, error) {
	raw, err := memory.EncodeJSON(m)
	return &qdrant.PointStruct{
		Id: manifestID, Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
		Payload: map[string]*qdrant.Value{
			storeField:    qdrant.NewValueString(m.Store),
			versionField:  qdrant.NewValueString(m.Version),
			manifestField: qdrant.NewValueString(string(raw)),
		},
	}, err
}

// manifestOf reads the manifest of a collection; nil if it has none, or is
// missing.
func (s *Store) manifestOf(ctx context.Context, collection string) (*manifest, error) {
	got, err := s.client.Get(ctx, &qdrant.GetPoints{
		CollectionName: collection, Ids: []*qdrant.PointId{manifestID}, WithPayload: qdrant.NewWithPayload(true),
	})
	if status.Code(err) == codes.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	if len(got) != 1 || got[0].GetPayload()[storeField].GetStringValue() == "" {
		return nil, nil
	}
	m := &manifest{Store: got[0].GetPayload()[storeField].GetStringValue()}
	if raw, ok := got[0].GetPayload()[manifestField]; ok {
		return m, decode(raw.GetStringValue(), m)
	}
	m.Model, err = s.guessModel(ctx, collection)
	return m, err
}

// guessModel reads the model from the name of a collection, as far as the name
// tells it. The first versions stored nothing else.
func (s *Store) guessModel(ctx context.Context, collection string) (m Model, err error) {
	info, err := s.client.GetCollectionInfo(ctx, collection)
	if err != nil {
		return m, s.kind(ctx, err)
	}
	m.Dimension = int(info.GetConfig().GetParams().GetVectorsConfig().GetParamsMap().GetMap()[dense].GetSize())
	name := strings.TrimPrefix(collection, s.set.collection+"-")
	between := fmt.Sprintf("-%d-", m.Dimension)
	if at := strings.LastIndex(name, between); at >= 0 {
		m.Embedder, m.Analyzer = name[:at], name[at+len(between):]
	}
	return m, nil
}

// claim gives the collection a manifest if it has none, and reads the one it
// has. made reports whether it is the given one.
func (s *Store) claim(ctx context.Context, m manifest) (is *manifest, made bool, err error) {
	m.Version = uuid.NewString()
	p, err := m.point()
	if err != nil {
		return nil, false, err
	}
	if err := s.update(ctx, s.collection, insertOnly(p)); err != nil {
		return nil, false, err
	}
	is, err = s.manifestOf(ctx, s.collection)
	if err == nil && is == nil {
		err = fmt.Errorf("collection %s has lost its id", s.collection)
	}
	return is, err == nil && is.Version == m.Version, err
}

// swap replaces a manifest, and reports whether it was still the one that was
// read.
func (s *Store) swap(ctx context.Context, collection string, was, now *manifest) (bool, error) {
	now.Version = uuid.NewString()
	p, err := now.point()
	if err != nil {
		return false, err
	}
	unchanged := qdrant.NewMatch(versionField, was.Version)
	if was.Version == "" {
		unchanged = qdrant.NewIsEmpty(versionField)
	}
	if err := s.update(ctx, collection, updateOnly(p, unchanged)); err != nil {
		return false, err
	}
	is, err := s.manifestOf(ctx, collection)
	return is != nil && is.Version == now.Version, err
}

// removing reports whether Discard is about to remove the collection, or was cut
// off: it is retired, but its memories have not moved.
func (m *manifest) removing() bool { return m.State == retired && m.Next == "" }

// checkServable is the error of a start that finds the manifest at its
// collection; nil if it can be served.
func (m *manifest) checkServable(s *Store) error {
	switch {
	case m.State == building:
		return fmt.Errorf("a move is still copying memories into collection %s: continue it with memoryd reembed and"+
			" the flags of this start, or start with the -embedder they were made with", s.collection)
	case m.State == retired:
		return fmt.Errorf("the memories of collection %s have moved to %s: start with the -embedder of that, or move"+
			" them with memoryd reembed and the flags of this start", s.collection, m.Next)
	case m.Version != "" && m.Model != s.model:
		return fmt.Errorf("the memories of collection %s were made with %v, but this start has %v: %s",
			s.collection, m.Model, s.model, m.Model.Remedy(s.model))
	}
	return nil
}

// checkWritable is ErrUnavailable if the manifest, as read with a write, says
// that writes no longer count.
func checkWritable(p *qdrant.RetrievedPoint, collection string) error {
	var m manifest
	if raw, ok := p.GetPayload()[manifestField]; ok {
		if err := decode(raw.GetStringValue(), &m); err != nil {
			return err
		}
	}
	if m.State == draining || m.State == retired {
		return fmt.Errorf("%w: the memories of collection %s are moving to %s: start memoryd with the -embedder of"+
			" that", memory.ErrUnavailable, collection, m.Next)
	}
	return nil
}

// described is a collection with its manifest.
type described struct {
	collection string
	manifest
}

// collections lists the collections of the URL's name that have a manifest. It
// completes a move that lacks only the activation of the new collection.
func (s *Store) collections(ctx context.Context) ([]*described, error) {
	names, err := s.client.ListCollections(ctx)
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	var out []*described
	targets := map[string]bool{} // collections that memories have moved to
	for _, name := range names {
		if !strings.HasPrefix(name, s.set.collection+"-") {
			continue
		}
		m, err := s.manifestOf(ctx, name)
		if err != nil {
			return nil, err
		}
		if m != nil {
			out = append(out, &described{name, *m})
			targets[m.Next] = targets[m.Next] || m.State == retired
		}
	}
	for _, c := range out {
		if c.State == building && targets[c.collection] {
			if err := s.activate(ctx, c.collection); err != nil {
				return nil, err
			}
			c.State = active
		}
	}
	return out, nil
}

// activate makes a collection the active one, after the one before was retired.
func (s *Store) activate(ctx context.Context, collection string) error {
	for {
		m, err := s.manifestOf(ctx, collection)
		if err != nil {
			return err
		}
		if m == nil {
			return fmt.Errorf("%w: collection %s is gone", memory.ErrAborted, collection)
		}
		if m.State != building {
			return nil
		}
		now := *m
		now.State = active
		if ok, err := s.swap(ctx, collection, m, &now); ok || err != nil {
			return err
		}
	}
}

// StoredModels gives the models of the stores under a URL's collection name, by
// the ID of the store.
func StoredModels(ctx context.Context, url string, opts *Options) (map[string]Model, error) {
	s, err := connect(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	all, err := s.collections(ctx)
	if err != nil {
		return nil, s.where(err)
	}
	out := map[string]Model{}
	for _, c := range all {
		if c.State == active || c.State == draining {
			out[c.Store] = c.Model
		}
	}
	return out, nil
}
