// Package qdrantstore keeps memories in Qdrant, for any number of memoryd
// processes at a time.
//
// # Points
//
// One collection holds the memories of one store, made with one model. A memory
// is one point, whose id derives from the memory's scope and id, so that a
// repeated write meets its own result. It has two named vectors: "dense", the
// embedding, once there is one, and "lexical", a sparse vector of its words,
// each with its term frequency part of BM25. The other part, the weight of the
// word, comes with the query. The payload holds the memory as JSON, its words,
// its last revision, and the fields that filters ask for:
//
//	scope     app/user: the tenant      gone      true once deleted
//	kind      session                   revision
//	app       for reads across users    id
//	event     of a turn: its event      words     numbers of the words, for counting
//	topics    any of them               by        the memory that superseded it
//	metadata  a digest of each pair     at, created, updated, until, expires   microseconds since 1970
//	change    the write that it was changed by, see head
//
// A deleted memory keeps its point, without vectors and words, so that a
// repeated write cannot bring it back. Each past revision has a point of its
// own, without vectors and without these fields, so that a memory may change as
// often as it likes: no search, list or write reads those points.
//
// # Writing
//
// A point is written only if it is missing, or is at the revision that was
// read. Qdrant checks that as it writes. Every write puts an id of its own into
// the revision, which shows afterwards whether it won. Two writers cannot both
// make one revision, and no writer waits for a lock. The point of a past
// revision is written before the revision that follows it. All writers who
// write that point write the same.
//
// # Moving
//
// Each collection has a manifest: a point that names its store and its state,
// and changes only from what was read. A move to another model copies into a
// collection of the same store that is still building, and that no start can
// open, until a comparison of all revisions finds no difference. The old
// collection is then draining while the comparison runs once more, and after
// that the old one is retired and the new one active. Every writer reads the
// manifest together with what it has just written, and acknowledges nothing if
// the collection is draining or retired by then. So every acknowledged write
// was there before the last comparison began.
//
// # Searches
//
// A search goes by an index of the scope in memory; see package index. One call
// brings it up to date: it reads the head of the scope and the points with a larger
// number than the index has seen. The head is a point with the number and the
// token of the scope's last write. A write sets the number of its points, and then
// changes the head from what it has read. It is acknowledged once it has read that
// the number is its own, and takes another number if it is not. Nothing is compared
// with a clock.
//
// Vectors are most of an index. The index of a scope that is too large to have them leaves
// them in Qdrant, which then gives the nearest memories while the index is brought up to
// date, and after that the cosines of the other memories that are found. A cosine comes
// with the revision that it is of, so that no answer mixes two revisions of a memory.
//
// Qdrant searches a scope that is too large for such an index too, and one of thousands of
// memories while its index is being read. The weight of a word
// depends on how many memories of the scope have it. Qdrant's own statistics cover
// all tenants together, so the words are counted by their payload index, exactly.
package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/index"
)

// Model identifies how the vectors, words and lookup keys of a store are made.
type Model = memory.Model

// Options are the settings of Open beside those of the URL. Nil is all
// defaults.
type Options struct {
	// Exact has searches compare every vector of the scope rather than walk a
	// graph.
	Exact bool
	Now   func() time.Time // Defaults to time.Now.
	// Timeout bounds one call. Defaults to 10 s.
	Timeout time.Duration
	// CacheBytes bounds the indexes of scopes that are kept in memory, all together. A
	// scope that would take more than half of it has an index without vectors, or none if
	// that would too. Defaults to index.DefaultBytes.
	CacheBytes int64
}

// Store implements memory.Store.
type Store struct {
	client     *qdrant.Client
	set        settings
	collection string
	model      Model
	id         string
	copying    bool      // a move copies memories to it, and no search reads it yet
	made       *manifest // the manifest of a collection that Open has made; nil if the collection was there
	whole      int       // wholeSession, except in tests
	atOnce     int       // readAtOnce, except in tests
	opts       Options
	asks       sync.WaitGroup // see follower.ask
	// The calls that writes and searches make, merged with those of others.
	reads    *merger[[]*qdrant.PointId, []*qdrant.RetrievedPoint]
	writes   *merger[writeCall, writeMark]
	follows  *merger[*qdrant.QueryPoints, []*qdrant.ScoredPoint] // of searches, see follower
	peeks    *merger[memory.Scope, writeMark]                    // of searches, see follower.refresh
	cache    *index.Cache                                        // of scopes that are not large
	sizes    sizes
	filler   *filler
	heads    heads
	failures atomic.Int64 // calls that failed because of Qdrant
	written  atomic.Int64 // calls that have written memories, since Open
	watch    watch
}

var _ memory.Store = (*Store)(nil)

// Open connects to the Qdrant at a URL: qdrant://HOST:PORT, or qdrants:// for
// TLS, with the port of its gRPC interface (6334 if it has none) and an API key
// as the password, if there is one. The query may have, for a collection that
// is not there yet:
//
//	collection=NAME       the name it begins with; defaults to memoryd
//	shards=N              how many parts it has
//	replicas=N            how many copies there are of each
//	write-consistency=N   how many copies must have a write before it is acknowledged
//	on-disk=true          vectors are read from disk rather than kept in memory
//	quantization=scalar   vectors are kept in memory as bytes; the exact ones are on disk
//
// Open makes the collection if it is missing. It fails if Qdrant cannot be
// reached, refuses the key or is too old, and if the collection has another
// shape, is of another model, or cannot be served in its state.
func Open(ctx context.Context, url string, model Model, opts *Options) (*Store, error) {
	s, err := connect(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	s.use(model)
	if err := s.open(ctx); err != nil {
		s.client.Close()
		return nil, s.where(err)
	}
	return s, nil
}

// connect gives a store without a collection, of a Qdrant that answers.
func connect(ctx context.Context, url string, opts *Options) (*Store, error) {
	s := &Store{whole: wholeSession, atOnce: readAtOnce, filler: newFiller()}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Timeout == 0 {
		s.opts.Timeout = 10 * time.Second
	}
	s.merge()
	s.cache = index.NewCache(s.opts.CacheBytes, s.load)
	var err error
	if s.set, err = parseURL(url); err != nil {
		return nil, err
	}
	if s.client, err = qdrant.NewClient(&s.set.config); err != nil {
		return nil, fmt.Errorf("qdrant: %w", err)
	}
	if err := s.checkVersion(ctx); err != nil {
		s.client.Close()
		return nil, s.where(err)
	}
	return s, nil
}

// checkVersion fails if Qdrant does not answer or is too old.
func (s *Store) checkVersion(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	health, err := s.client.HealthCheck(ctx)
	if err != nil {
		return s.kind(ctx, err)
	}
	var major, minor int
	if fmt.Sscanf(health.GetVersion(), "%d.%d", &major, &minor); major == 0 || major == 1 && minor < 17 {
		return fmt.Errorf("it is version %s, and 1.17 or later is needed, for conditional updates", health.GetVersion())
	}
	return nil
}

// where adds the address of Qdrant to an error.
func (s *Store) where(err error) error {
	return fmt.Errorf("qdrant at %s:%d: %w", s.set.config.Host, s.set.config.Port, err)
}

// use sets the model of the store, and so its collection. A model without a
// version of the lookup keys has the name that collections had before there was
// one.
func (s *Store) use(model Model) {
	s.model = model
	name := fmt.Sprintf("%s-%d-%s", model.Embedder, model.Dimension, model.Analyzer)
	if model.Keys != "" {
		name += "-" + model.Keys
	}
	s.collection = s.set.collection + "-" + notInNames.ReplaceAllString(name, "_")
}

// notInNames matches the characters that names of collections are made without.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// open makes the collection if it is missing, and checks it.
func (s *Store) open(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	is, made, err := s.claim(ctx, manifest{Store: uuid.NewString(), Model: s.model, Removals: true})
	if err != nil {
		return err
	}
	if is.removing() {
		if is, err = s.takeBack(ctx, is); err != nil {
			return err
		}
	}
	if made {
		s.made = is
	}
	s.id = is.Store
	if err := is.checkServable(s); err != nil {
		return err
	}
	return s.noteUntold(ctx, is)
}

// takeBack makes a collection active again that a refused start was about to
// remove when it was cut off. It first waits for longer than a removal may
// take, as one that still runs would remove the collection under its new user.
func (s *Store) takeBack(ctx context.Context, was *manifest) (*manifest, error) {
	select {
	case <-time.After(s.opts.Timeout / 2):
	case <-ctx.Done():
		return nil, s.kind(ctx, ctx.Err())
	}
	now := *was
	now.State = active
	if ok, err := s.swap(ctx, s.collection, was, &now); err != nil || ok {
		return &now, err
	}
	return nil, fmt.Errorf("%w: collection %s was just removed by a start that was refused",
		memory.ErrUnavailable, s.collection)
}

// merge makes the mergers of the store's calls. Each caller bounds its own wait.
func (s *Store) merge() {
	limit := 10 * s.opts.Timeout // that of unhurried
	ended := func(ctx context.Context) error { return s.kind(ctx, ctx.Err()) }
	s.reads = &merger[[]*qdrant.PointId, []*qdrant.RetrievedPoint]{call: s.readAll, limit: limit, ended: ended}
	s.writes = &merger[writeCall, writeMark]{call: s.writeAll, limit: limit, ended: ended}
	s.peeks = &merger[memory.Scope, writeMark]{call: s.peek, limit: limit, ended: ended}
	s.follows = &merger[*qdrant.QueryPoints, []*qdrant.ScoredPoint]{call: s.followAll, limit: limit, ended: ended}
}

// Close closes the connections. Calls under way fail. Those that may outlast their callers
// end first: the client panics if it is called once it is closed.
func (s *Store) Close() error {
	s.filler.close()
	s.cache.Close()
	s.reads.close()
	s.writes.close()
	s.peeks.close()
	s.follows.close()
	s.asks.Wait()
	return s.client.Close()
}

// Discard closes the store, and before that removes the collection if Open has
// made it and no memory is in it. A start that is refused after Open calls it
// in place of Close, so that it leaves nothing behind.
func (s *Store) Discard() error {
	var err error
	if s.made != nil {
		ctx, cancel := context.WithTimeoutCause(context.Background(), s.opts.Timeout/4, errSlow)
		defer cancel()
		err = s.unmake(ctx)
	}
	return errors.Join(err, s.Close())
}

// unmake removes the collection that Open has made. It is retired first:
// another process may have opened it meanwhile, and none then has a write
// acknowledged that is about to be removed.
func (s *Store) unmake(ctx context.Context) error {
	retiring := *s.made
	retiring.State = retired
	swapped, err := s.swap(ctx, s.collection, s.made, &retiring)
	if err != nil || !swapped {
		return err
	}
	empty, err := s.empty(ctx)
	if err == nil && empty {
		return s.drop(ctx, s.collection)
	}
	back := *s.made
	_, swapErr := s.swap(ctx, s.collection, &retiring, &back)
	return errors.Join(err, swapErr)
}

// ID implements memory.Store.
func (s *Store) ID() string { return s.id }

// Check reports whether Qdrant can be reached and has the collection, and whether
// Watch has found that it has lost memories.
func (s *Store) Check(ctx context.Context) error {
	if err := s.damaged(); err != nil {
		return err
	}
	info, err := s.client.GetCollectionInfo(ctx, s.collection)
	if err != nil {
		return s.kind(ctx, err)
	}
	if info.GetStatus() == qdrant.CollectionStatus_Red {
		return fmt.Errorf("%w: qdrant: collection %s is red", memory.ErrUnavailable, s.collection)
	}
	return nil
}

// bounded gives a call the time it may take.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.opts.Timeout, errSlow)
}

// unhurried gives a page of an export, an import or a move its time. It is
// longer, as no request waits for it.
func (s *Store) unhurried(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, 10*s.opts.Timeout, errSlow)
}

var errSlow = errors.New("no answer in time")

// kind gives a failure of Qdrant the kind it has for callers.
func (s *Store) kind(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && context.Cause(ctx) != errSlow:
		return ctx.Err()
	}
	if strings.Contains(err.Error(), "larger than max") {
		return fmt.Errorf("the answer or the request is too large for one message: %w", err)
	}
	hint := "qdrant"
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied:
		hint = "qdrant refuses the API key in the URL"
	case codes.ResourceExhausted:
		hint = "qdrant has no room"
	case codes.NotFound:
		hint = "the collection is gone"
	case codes.InvalidArgument, codes.Unimplemented:
		return err // a fault of this package
	}
	s.failures.Add(1)
	return fmt.Errorf("%w: %s: %w", memory.ErrUnavailable, hint, err)
}

// CacheStats returns figures of the indexes that searches keep in memory.
func (s *Store) CacheStats() index.Stats { return s.cache.Stats() }

// Failures counts the calls that failed since Open as Qdrant could not serve, for
// metrics. A call that its caller gave up is not among them.
func (s *Store) Failures() int64 { return s.failures.Load() }
