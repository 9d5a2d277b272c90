package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	reflectpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/memoryd/memoryd/vertex/vertexauth"
)

// gateClient calls the port of -vertex of a process.
type gateClient struct {
	t       *testing.T
	address string
	roots   *x509.CertPool
}

// gateOf finds the port by /readyz.
func gateOf(t *testing.T, p *process, key, dir string) *gateClient {
	t.Helper()
	code, answer := keyed(t, key, "GET", p.url+"/readyz", nil)
	address := regexp.MustCompile(`"https://([^,]+), with a certificate until 20\d\d-`).FindSubmatch(answer)
	if code != 200 || address == nil {
		t.Fatalf("/readyz answers %d %s", code, answer)
	}
	ca, err := os.ReadFile(filepath.Join(dir, vertexauth.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	c := &gateClient{t, string(address[1]), x509.NewCertPool()}
	c.roots.AppendCertsFromPEM(ca)
	return c
}

const vertexName = "memoryd-aiplatform.googleapis.com"

// get lists the sessions of engine 1, with headers in pairs.
func (c *gateClient) get(header ...string) (int, string) {
	c.t.Helper()
	req, err := http.NewRequest("GET", "https://"+c.address+"/v1beta1/reasoningEngines/1/sessions", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Host = vertexName
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.roots, ServerName: vertexName}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// dial connects to gRPC, under a name.
func (c *gateClient) dial(name string) *grpc.ClientConn {
	c.t.Helper()
	conn, err := grpc.NewClient(c.address, grpc.WithAuthority(name),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: c.roots, ServerName: name})))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// rpc makes a call of gRPC, with a token if there is one.
func (c *gateClient) rpc(conn *grpc.ClientConn, method, token string) error {
	ctx := c.t.Context()
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	return conn.Invoke(ctx, "/google.cloud.aiplatform.v1beta1.SessionService/"+method, &emptypb.Empty{}, &emptypb.Empty{})
}

// The port lets in a host of its certificate, no web page, and a caller with a token or a key that
// counts, over REST and over gRPC.
func TestVertexGate(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	runs := func(args ...string) string {
		t.Helper()
		return printed(t, append(args, "-data", data, "-vertex-dir", dir)...)
	}
	runs("vertex", "init", "-app", "1", "-can", "read,admin")
	sign := func() string {
		t.Helper()
		token, err := vertexauth.Sign(dir, vertexauth.DefaultLocation)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	key := keyIDOfAccount(t, filepath.Join(dir, vertexauth.Credentials))
	p := start(t, data, "-vertex", "127.0.0.1:0", "-vertex-dir", dir, "-vertex-metadata-key", key)
	admin := strings.TrimSpace(runs("keys", "create", "-app", "*", "-can", "read,write,admin"))
	other := strings.TrimSpace(runs("keys", "create", "-app", "2"))
	c := gateOf(t, p, admin, dir)
	for _, tt := range []struct {
		what   string
		want   int
		header []string
	}{
		{"no token", 401, nil},
		{"another token", 401, []string{"Authorization", "Bearer ya29.google"}},
		{"the account's token", 200, []string{"Authorization", "Bearer " + sign()}},
		{"a key", 200, []string{"X-Goog-Api-Key", admin}},
		{"a key of another engine", 403, []string{"X-Goog-Api-Key", other}},
		{"another host", 403, []string{"X-Goog-Api-Key", admin, "Host", "us-aiplatform.googleapis.com"}},
		{"a web page", 403, []string{"X-Goog-Api-Key", admin, "Origin", "https://evil.example"}},
	} {
		if code, answer := c.get(tt.header...); code != tt.want {
			t.Errorf("REST with %s: %d, want %d: %s", tt.what, code, tt.want, answer)
		}
	}
	conn := c.dial(vertexName)
	for _, tt := range []struct {
		what, token string
		want        codes.Code
	}{
		{"no token", "", codes.Unauthenticated},
		{"another token", "ya29.google", codes.Unauthenticated},
		{"a token", sign(), codes.InvalidArgument}, // it names no engine
	} {
		if err := c.rpc(conn, "ListSessions", tt.token); status.Code(err) != tt.want {
			t.Errorf("gRPC with %s: %v, want %v", tt.what, err, tt.want)
		}
	}
	reflects(t, conn)

	// Further accounts of the same key count until their file is gone, and one of another key has
	// its own rights.
	runs("vertex", "keys", "add", "nightly", "-key", key)
	runs("vertex", "keys", "add", "reader", "-app", "2", "-can", "read")
	token := signedBy(t, filepath.Join(dir, "credentials-nightly.json"))
	if code, answer := c.get("Authorization", "Bearer "+token); code != 200 {
		t.Errorf("a further account: %d %s", code, answer)
	}
	reader := signedBy(t, filepath.Join(dir, "credentials-reader.json"))
	if code, answer := c.get("Authorization", "Bearer "+reader); code != 403 {
		t.Errorf("an account of another engine: %d %s", code, answer)
	}
	if err := os.Remove(filepath.Join(dir, "accounts", key+"-nightly.pem")); err != nil {
		t.Fatal(err)
	}
	if code, answer := c.get("Authorization", "Bearer "+token); code != 401 {
		t.Errorf("an account that was removed: %d %s", code, answer)
	}
	runFails(t, "there is no such key", 1, "vertex", "keys", "add", "x", "-key", "none", "-data", data, "-vertex-dir", dir)
	runFails(t, "file already exists", 1, "vertex", "keys", "add", "reader", "-key", key, "-data", data, "-vertex-dir", dir)
	runFails(t, "want 1 to 32 small letters", 1, "vertex", "keys", "add", "A/B", "-key", key, "-data", data, "-vertex-dir", dir)
	runFails(t, "want -key", 2, "vertex", "keys", "add", "x", "-data", data, "-vertex-dir", dir)
}

// keyIDOfAccount is the key that credentials are of.
func keyIDOfAccount(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	var of struct {
		ID string `json:"private_key_id"`
	}
	if err == nil {
		err = json.Unmarshal(text, &of)
	}
	if err != nil {
		t.Fatal(err)
	}
	return of.ID
}

// signedBy makes a token with credentials, as vertexauth.Sign does.
func signedBy(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, vertexauth.Credentials), text, 0o600); err != nil {
		t.Fatal(err)
	}
	token, err := vertexauth.Sign(dir, vertexauth.DefaultLocation)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// reflects checks that reflection knows a service and the messages of its methods.
func reflects(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := reflectpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(in *reflectpb.ServerReflectionRequest) *reflectpb.ServerReflectionResponse {
		t.Helper()
		if err := stream.Send(in); err != nil {
			t.Fatal(err)
		}
		out, err := stream.Recv()
		if err != nil || out.GetErrorResponse() != nil {
			t.Fatalf("%v: %v, %v", in, out, err)
		}
		return out
	}
	services := ask(&reflectpb.ServerReflectionRequest{MessageRequest: &reflectpb.ServerReflectionRequest_ListServices{}})
	const session = "google.cloud.aiplatform.v1beta1.SessionService"
	if list := services.String(); !strings.Contains(list, session) || !strings.Contains(list, "MemoryBankService") {
		t.Errorf("services are %s", list)
	}
	file := ask(&reflectpb.ServerReflectionRequest{MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{
		FileContainingSymbol: session}})
	if raw := bytes.Join(file.GetFileDescriptorResponse().GetFileDescriptorProto(), nil); !bytes.Contains(raw,
		[]byte("AppendEvent")) || !bytes.Contains(raw, []byte("google/protobuf/struct.proto")) {
		t.Errorf("the files of %s are %q", session, raw)
	}
}

// With -vertex-any-token any token counts, from this machine.
func TestVertexAnyToken(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data, "-vertex", "127.0.0.1:0", "-vertex-tokens", "127.0.0.1:0", "-vertex-any-token")
	c := gateOf(t, p, "", filepath.Join(data, "vertex"))
	admin := strings.TrimSpace(printed(t, "keys", "create", "-app", "*", "-can", "admin", "-data", data))
	for _, header := range [][]string{nil, {"Authorization", "Bearer ya29.google"}} {
		if code, answer := c.get(header...); code != 200 {
			t.Errorf("with %v: %d %s", header, code, answer)
		}
	}
	if code, answer := c.get("Host", "us-aiplatform.googleapis.com"); code != 403 {
		t.Errorf("another host: %d %s", code, answer)
	}
	var ready map[string]string
	code, answer := keyed(t, admin, "GET", p.url+"/readyz", nil)
	if err := json.Unmarshal(answer, &ready); code != 200 || err != nil || ready["vertex"] == "" {
		t.Errorf("/readyz answers %d %s", code, answer)
	}
}
