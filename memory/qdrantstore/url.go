package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/metadata"

	"github.com/memoryd/memoryd/internal/fair"
)

// settings are the parts of a URL, as Open documents them.
type settings struct {
	config       qdrant.Config
	collection   string
	shards       *uint32
	replicas     *uint32
	consistency  *uint32
	onDisk       bool
	quantization string
}

// reconnect is how often a lost connection is tried again. By default gRPC
// would wait for up to two minutes after Qdrant is back.
var reconnect = grpc.ConnectParams{
	MinConnectTimeout: 5 * time.Second,
	Backoff: backoff.Config{
		BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second,
	},
}

// maxMessage is the largest answer, in bytes: a page of the longest memories.
const maxMessage = 256 << 20

// defaultPort is that of Qdrant's gRPC interface.
const defaultPort = 6334

// parseURL reads a URL. Its errors never repeat the API key.
func parseURL(raw string) (set settings, err error) {
	u, err := url.Parse(raw)
	if err != nil { // it may quote a part of the key
		return set, errors.New("the URL cannot be read: want qdrant://:API_KEY@HOST:PORT," +
			" with special characters in the key as %XX")
	}
	if err := checkForm(u); err != nil {
		return set, err
	}
	set = settings{collection: "memoryd", config: qdrant.Config{
		Host: u.Hostname(), Port: defaultPort, UseTLS: u.Scheme == "qdrants", SkipCompatibilityCheck: true,
		// One connection: of several, some could still be broken when a check
		// on another one says that Qdrant is back.
		PoolSize: 1,
		GrpcOptions: []grpc.DialOption{
			grpc.WithConnectParams(reconnect),
			grpc.WithChainUnaryInterceptor(pause),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage),
				acceptUncompressed),
		},
	}}
	if p := u.Port(); p != "" {
		if set.config.Port, err = strconv.Atoi(p); err != nil {
			return set, fmt.Errorf("port %q is no number", p)
		}
	}
	if key, ok := u.User.Password(); ok {
		set.config.GrpcOptions = append(set.config.GrpcOptions, grpc.WithUnaryInterceptor(withKey(key)))
	}
	return set, set.read(u.Query())
}

// pause has a request compute nothing while Qdrant does; see fair.Pause.
func pause(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	defer fair.Pause(ctx)()
	return invoke(ctx, method, req, reply, conn, opts...)
}

// checkForm refuses a URL with parts that a URL of Qdrant does not have.
func checkForm(u *url.URL) error {
	if u.Scheme != "qdrant" && u.Scheme != "qdrants" || u.Hostname() == "" {
		return fmt.Errorf("%q is no URL of a Qdrant: want qdrant://HOST:PORT or qdrants://HOST:PORT", u.Scheme)
	}
	if u.User.Username() != "" {
		return errors.New("the URL has a user: write an API key as the password, behind a colon")
	}
	if u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return errors.New("the URL has a path: name a collection with ?collection=NAME")
	}
	return nil
}

// withKey sends an API key with each call. The client's own option for it
// writes warnings to stderr.
func withKey(key string) grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		return invoke(metadata.AppendToOutgoingContext(ctx, "api-key", key), method, req, reply, cc, opts...)
	}
}

// read takes in the query of a URL.
func (set *settings) read(query url.Values) error {
	for name, values := range query {
		if len(values) > 1 {
			return fmt.Errorf("%s is given twice", name)
		}
		if err := set.option(name, values[0]); err != nil {
			return err
		}
	}
	return nil
}

func (set *settings) option(name, v string) (err error) {
	switch name {
	case "collection":
		if set.collection = v; v == "" || notInNames.MatchString(v) {
			return fmt.Errorf("collection=%s: want letters, digits, and any of _.-", v)
		}
	case "shards":
		set.shards, err = positive(name, v)
	case "replicas":
		set.replicas, err = positive(name, v)
	case "write-consistency":
		set.consistency, err = positive(name, v)
	case "on-disk":
		if set.onDisk, err = strconv.ParseBool(v); err != nil {
			return fmt.Errorf("on-disk=%s: want true or false", v)
		}
	case "quantization":
		if set.quantization = v; v != "scalar" && v != "none" {
			return fmt.Errorf("quantization=%s: want scalar or none", v)
		}
	default:
		return fmt.Errorf("%s: there is no such option: want collection, shards, replicas, write-consistency,"+
			" on-disk or quantization", name)
	}
	return err
}

// positive reads the number of an option.
func positive(name, v string) (*uint32, error) {
	n, err := strconv.ParseUint(v, 10, 32)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%s=%s: want a number from 1", name, v)
	}
	return qdrant.PtrOf(uint32(n)), nil
}
