package qdrantstore

import (
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/experimental"
)

// Qdrant compresses its answers for a client that reads gzip, and any package of a program can make all its gRPC
// clients read that. Vectors hardly become smaller, and the index of a scope took three times as long to read.
// experimental.AcceptCompressors has a client say what it reads, but takes no list for an empty one. So uncompressed
// names what no server knows, and is the only name that Qdrant is told.
var acceptUncompressed = func() grpc.CallOption {
	encoding.RegisterCompressor(uncompressed{}) // before main begins, as gRPC does not lock what is registered
	return experimental.AcceptCompressors(uncompressed{}.Name())
}()

// uncompressed is an encoding.Compressor that changes nothing.
type uncompressed struct{}

func (uncompressed) Name() string { return "uncompressed" }

func (uncompressed) Compress(w io.Writer) (io.WriteCloser, error) { return nopCloser{w}, nil }

func (uncompressed) Decompress(r io.Reader) (io.Reader, error) { return r, nil }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
