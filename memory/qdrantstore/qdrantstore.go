// Package qdrantstore keeps memories in Qdrant, for any number of memoryd
// processes at a time.
//
// # Points
//
// One collection holds the memories made with one embedder and one analyzer.
// A memory is one point, whose id derives from the memory's scope and id, so
// that a write that is repeated meets itself. It has two named vectors: "dense",
// the embedding, once there is one, and "lexical", a sparse vector of its
// words, each with its share of BM25 but for the word's weight, which the query
// brings. The payload holds the memory as JSON, its words, its last revision,
// and what filters ask for:
//
//	scope     app/user: the tenant      gone      true once deleted
//	kind      session                   revision
//	event     of a turn: its first      words     numbers of the words, for counting
//	topics    of any
//	by        what superseded it
//	metadata  a digest of each pair     at, created, updated, until, expires   microseconds since 1970
//
// A deleted memory keeps its point, without vectors and words, so that nothing
// brings it back by chance. Each revision that another has followed has a point
// of its own, without vectors, so that a memory may change as often as it likes:
// no search, list or write comes near those.
//
// # Writing
//
// A point is written only if it is not there yet, or is there with the revision
// that was read, which Qdrant checks as it writes. Every write leaves a mark of
// its own in its revision, by which it is told afterwards who has won. Two
// writers cannot both make one revision, and nobody waits for a lock. A
// revision's own point is written before the one that follows it; all who write
// it write the same.
//
// # Moving
//
// A collection has a deed, a point that says whose memories it has and what
// becomes of them, and is changed only from what was read. A move to another
// model copies into a collection of the same store that nobody can open yet,
// until a comparison of all revisions finds no difference. Then it closes the
// old collection, compares once more, leaves the old one and opens the new one.
// Every writer reads the deed together with what it has just written, and
// acknowledges nothing in a collection that was closed by then: so whatever was
// acknowledged was there before the last comparison began.
//
// # Statistics
//
// The weight of a word depends on how many memories of the scope have it.
// Qdrant's own statistics are of all tenants together, so the words are counted
// by their payload index, exactly.
package qdrantstore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/memoryd/memoryd/memory"
)

// Model is what the vectors and words of a store are made with.
type Model = memory.Model

// Options are what Open lets one choose beside what the URL says.
type Options struct {
	// Exact has searches compare every vector of the scope rather than walk a
	// graph.
	Exact bool
	Now   func() time.Time // Defaults to time.Now.
	// Timeout bounds one call. Defaults to 10 s.
	Timeout time.Duration
}

// Store implements memory.Store.
type Store struct {
	client     *qdrant.Client
	set        settings
	collection string
	model      Model
	id         string
	whole      int // wholeSession, but for tests
	opts       Options
}

var _ memory.Store = (*Store)(nil)

// The named vectors.
const (
	dense   = "dense"
	lexical = "lexical"
)

// settings are what a URL says.
type settings struct {
	config       qdrant.Config
	collection   string
	shards       *uint32
	replicas     *uint32
	consistency  *uint32
	onDisk       bool
	quantization string
}

// Open connects to the Qdrant at a URL: qdrant://HOST:PORT, or qdrants:// for
// TLS, with the port of its gRPC interface (6334 if it has none) and an API key
// as the password, if there is one. The query may have, for a collection that
// is yet to be made:
//
//	collection=NAME       the name it begins with; defaults to memoryd
//	shards=N              how many parts it has
//	replicas=N            how many copies there are of each
//	write-consistency=N   how many copies must have a write before it is acknowledged
//	on-disk=true          vectors are read from disk rather than kept in memory
//	quantization=scalar   vectors are kept in memory as bytes; the exact ones are on disk
//
// The collection is made if it is missing. Open fails if Qdrant is away, refuses
// the key or is too old, and if the collection is of another shape.
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
	s := &Store{whole: wholeSession}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Timeout == 0 {
		s.opts.Timeout = 10 * time.Second
	}
	var err error
	if s.set, err = parse(url); err != nil {
		return nil, err
	}
	if s.client, err = qdrant.NewClient(&s.set.config); err != nil {
		return nil, fmt.Errorf("qdrant: %w", err)
	}
	if err := s.greet(ctx); err != nil {
		s.client.Close()
		return nil, s.where(err)
	}
	return s, nil
}

// greet sees whether Qdrant is there, and new enough.
func (s *Store) greet(ctx context.Context) error {
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

func (s *Store) where(err error) error {
	return fmt.Errorf("qdrant at %s:%d: %w", s.set.config.Host, s.set.config.Port, err)
}

// use says which model the store is for, and so which collection.
func (s *Store) use(model Model) {
	s.model = model
	s.collection = s.set.collection + "-" + unfit.ReplaceAllString(fmt.Sprintf("%s-%d-%s", model.Embedder, model.Dimension, model.Analyzer), "_")
}

// unfit is what a name of a collection has not.
var unfit = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// Close closes the connections.
func (s *Store) Close() error { return s.client.Close() }

// ID implements memory.Store.
func (s *Store) ID() string { return s.id }

// again is how often a Qdrant that is away is looked for: by default gRPC would
// leave it alone for up to two minutes after it is back.
var again = grpc.ConnectParams{MinConnectTimeout: 5 * time.Second,
	Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}}

// maxMessage is the largest answer, in bytes: a page of the longest memories.
const maxMessage = 256 << 20

func parse(raw string) (set settings, err error) {
	u, err := url.Parse(raw)
	if err != nil { // which may repeat a part of the key
		return set, errors.New("the URL cannot be read: want qdrant://:API_KEY@HOST:PORT, with what is odd in the key as %XX")
	}
	if u.Scheme != "qdrant" && u.Scheme != "qdrants" || u.Hostname() == "" {
		return set, fmt.Errorf("%q is no URL of a Qdrant: want qdrant://HOST:PORT or qdrants://HOST:PORT", u.Scheme)
	}
	if name := u.User.Username(); name != "" {
		return set, errors.New("the URL has a user: write an API key as the password, behind a colon")
	}
	if u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return set, errors.New("the URL has a path: name a collection with ?collection=NAME")
	}
	set = settings{collection: "memoryd", config: qdrant.Config{Host: u.Hostname(), Port: 6334, UseTLS: u.Scheme == "qdrants", SkipCompatibilityCheck: true,
		PoolSize: 1, // of several, some would still be away when a check on another says that Qdrant is back

		GrpcOptions: []grpc.DialOption{grpc.WithConnectParams(again), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage))}}}
	if p := u.Port(); p != "" {
		if set.config.Port, err = strconv.Atoi(p); err != nil {
			return set, fmt.Errorf("port %q is no number", p)
		}
	}
	if key, ok := u.User.Password(); ok {
		// Not by the client's own option, which writes warnings to stderr.
		set.config.GrpcOptions = append(set.config.GrpcOptions, grpc.WithUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				return invoke(metadata.AppendToOutgoingContext(ctx, "api-key", key), method, req, reply, cc, opts...)
			}))
	}
	for name, values := range u.Query() {
		v := values[0]
		if len(values) > 1 {
			return set, fmt.Errorf("%s is given twice", name)
		}
		number := func(into **uint32) error {
			n, err := strconv.ParseUint(v, 10, 32)
			if err != nil || n == 0 {
				return fmt.Errorf("%s=%s: want a number from 1", name, v)
			}
			n32 := uint32(n)
			*into = &n32
			return nil
		}
		switch name {
		case "collection":
			set.collection = v
			if unfit.MatchString(v) || v == "" {
				return set, fmt.Errorf("collection=%s: want letters, digits, and any of _.-", v)
			}
		case "shards":
			err = number(&set.shards)
		case "replicas":
			err = number(&set.replicas)
		case "write-consistency":
			err = number(&set.consistency)
		case "on-disk":
			if set.onDisk, err = strconv.ParseBool(v); err != nil {
				err = fmt.Errorf("on-disk=%s: want true or false", v)
			}
		case "quantization":
			if set.quantization = v; v != "scalar" && v != "none" {
				err = fmt.Errorf("quantization=%s: want scalar or none", v)
			}
		default:
			err = fmt.Errorf("%s: there is no such option: want collection, shards, replicas, write-consistency, on-disk or quantization", name)
		}
		if err != nil {
			return set, err
		}
	}
	return set, nil
}

// open makes the collection if it is missing, and checks it.
func (s *Store) open(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	of, err := s.claim(ctx, deed{Store: uuid.NewString(), Model: s.model})
	if err != nil {
		return err
	}
	s.id = of.Store
	return of.refuse(s)
}

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
	info, err := s.client.GetCollectionInfo(ctx, s.collection)
	for ; err != nil && ctx.Err() == nil && !there; info, err = s.client.GetCollectionInfo(ctx, s.collection) {
		time.Sleep(100 * time.Millisecond) // another node has made it, and this one is yet to hear of it
	}
	if err != nil {
		return s.kind(ctx, err)
	}
	params := info.GetConfig().GetParams()
	d := params.GetVectorsConfig().GetParamsMap().GetMap()[dense]
	_, words := params.GetSparseVectorsConfig().GetMap()[lexical]
	if d == nil || !words || d.GetSize() != uint64(s.model.Dimension) || d.GetDistance() != qdrant.Distance_Cosine {
		return fmt.Errorf("collection %s has not the vectors of memoryd (dense of %d numbers by cosine, lexical): name another with collection= in the URL",
			s.collection, s.model.Dimension)
	}
	for name, params := range indexes {
		field := params.kind
		if _, err := s.client.CreateFieldIndex(ctx, &qdrant.CreateFieldIndexCollection{CollectionName: s.collection, Wait: qdrant.PtrOf(true),
			FieldName: name, FieldType: &field, FieldIndexParams: params.params}); err != nil {
			return s.kind(ctx, err)
		}
	}
	return nil
}

type index struct {
	kind   qdrant.FieldType
	params *qdrant.PayloadIndexParams
}

// indexes are the payload fields that filters ask for. Making one that is there
// does nothing.
var indexes = map[string]index{
	"scope":    {qdrant.FieldType_FieldTypeKeyword, qdrant.NewPayloadIndexParamsKeyword(&qdrant.KeywordIndexParams{IsTenant: qdrant.PtrOf(true)})},
	"kind":     {qdrant.FieldType_FieldTypeKeyword, nil},
	"session":  {qdrant.FieldType_FieldTypeKeyword, nil},
	"event":    {qdrant.FieldType_FieldTypeKeyword, nil},
	"topics":   {qdrant.FieldType_FieldTypeKeyword, nil},
	"metadata": {qdrant.FieldType_FieldTypeKeyword, nil},
	"by":       {qdrant.FieldType_FieldTypeKeyword, nil},
	"words":    {qdrant.FieldType_FieldTypeInteger, qdrant.NewPayloadIndexParamsInt(&qdrant.IntegerIndexParams{Lookup: qdrant.PtrOf(true), Range: qdrant.PtrOf(false)})},
	"gone":     {qdrant.FieldType_FieldTypeBool, nil},
	"at":       {qdrant.FieldType_FieldTypeInteger, nil},
	"created":  {qdrant.FieldType_FieldTypeInteger, nil},
	"updated":  {qdrant.FieldType_FieldTypeInteger, nil},
	"until":    {qdrant.FieldType_FieldTypeInteger, nil},
	"expires":  {qdrant.FieldType_FieldTypeInteger, nil},
}

func (s *Store) create(ctx context.Context) error {
	set := &s.set
	vector := &qdrant.VectorParams{Size: uint64(s.model.Dimension), Distance: qdrant.Distance_Cosine, OnDisk: &set.onDisk}
	req := &qdrant.CreateCollection{
		CollectionName:      s.collection,
		VectorsConfig:       qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{dense: vector}),
		SparseVectorsConfig: qdrant.NewSparseVectorsConfig(map[string]*qdrant.SparseVectorParams{lexical: {Index: &qdrant.SparseIndexConfig{OnDisk: &set.onDisk}}}),
		// Searches are always within one tenant, so there is a graph for each
		// tenant and none over all.
		HnswConfig:  &qdrant.HnswConfigDiff{M: qdrant.PtrOf(uint64(0)), PayloadM: qdrant.PtrOf(uint64(16))},
		ShardNumber: set.shards, ReplicationFactor: set.replicas, WriteConsistencyFactor: set.consistency,
		OnDiskPayload: qdrant.PtrOf(true),
	}
	if set.quantization == "scalar" {
		vector.OnDisk = qdrant.PtrOf(true)
		req.QuantizationConfig = qdrant.NewQuantizationScalar(&qdrant.ScalarQuantization{Type: qdrant.QuantizationType_Int8, AlwaysRam: qdrant.PtrOf(true)})
	}
	err := s.client.CreateCollection(ctx, req)
	if status.Code(err) == codes.AlreadyExists || err != nil && strings.Contains(err.Error(), "already exists") {
		return nil // another process was faster
	}
	return s.kind(ctx, err)
}

// Check reports whether Qdrant can be reached and has the collection.
func (s *Store) Check(ctx context.Context) error {
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

// unhurried gives a page of an export or import its time: nobody waits for it.
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
		return fmt.Errorf("what was asked for is too large for one message: %w", err)
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
		return err // a fault of ours
	}
	return fmt.Errorf("%w: %s: %w", memory.ErrUnavailable, hint, err)
}

// namespace is that of the ids derived here; any fixed UUID serves.
var namespace = uuid.MustParse("6d656d6f-7279-5d01-8000-716472616e74")

func derive(parts ...string) string {
	return uuid.NewSHA1(namespace, []byte(strings.Join(parts, "\x00"))).String()
}

// pointID names the point of a memory.
func pointID(scope memory.Scope, id string) *qdrant.PointId {
	return qdrant.NewIDUUID(derive("memory", scope.App, scope.User, id))
}

// pastID names the point of a revision that others have followed.
func pastID(scope memory.Scope, id string, revision int64) *qdrant.PointId {
	return qdrant.NewIDUUID(derive("revision", scope.App, scope.User, id, strconv.FormatInt(revision, 10)))
}

func name(scope memory.Scope) string { return scope.App + "/" + scope.User }

// wordNumber stands for a word of a scope in "words", where it is counted.
func wordNumber(scope memory.Scope, word string) int64 {
	sum := sha256.Sum256([]byte(name(scope) + "\x00" + word))
	return int64(binary.LittleEndian.Uint64(sum[:8]) >> 1)
}

// wordPlace is a word's place in a sparse vector. Two words that share one are
// told apart when the memories found are counted through.
func wordPlace(word string) uint32 {
	sum := sha256.Sum256([]byte(word))
	return binary.LittleEndian.Uint32(sum[:4])
}

// pairs are digests of metadata: equal values have equal ones.
func pairs(md memory.Metadata) []string {
	var out []string
	for k, v := range md {
		sum := sha256.Sum256([]byte(k + "\x00" + memory.CanonicalJSON(v)))
		out = append(out, hex.EncodeToString(sum[:16]))
	}
	return out
}

func wrap(call string, scope memory.Scope, err error) error {
	return fmt.Errorf("%s of app %q, user %q: %w", call, scope.App, scope.User, err)
}
