package qdrantstore

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // as other packages of a program do
	"google.golang.org/grpc/status"
)

// No call asks for a compressed answer, although the program could read one.
func TestAnswersAreNotCompressed(t *testing.T) {
	t.Parallel()
	accepted := make(chan []string, 1)
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		names, err := grpc.ClientSupportedCompressors(stream.Context())
		if err != nil {
			return err
		}
		accepted <- names
		return status.Error(codes.Internal, "no Qdrant")
	}))
	defer server.Stop()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	set, err := parseURL("qdrant://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client, err := qdrant.NewClient(&set.config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.HealthCheck(context.Background()); status.Code(err) != codes.Internal {
		t.Fatal(err)
	}
	if got := <-accepted; !slices.Equal(got, []string{"uncompressed"}) {
		t.Errorf("it takes answers compressed by %v", got)
	}
}
