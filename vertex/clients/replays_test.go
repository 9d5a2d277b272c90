package clients

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// replayed are the files of Google's tests of its SDK that are about sessions, Memory Bank and engines,
// in a checkout of github.com/googleapis/python-aiplatform.
var replayed = []string{"test_ae_memor*", "test_ae_session*", "test_*agent_engine_memor*",
	"test_*agent_engine_session*", "test_ingest_events_memory_bank.py", "test_agent_engine_private_*",
	"test_delete_agent_engine.py", "test_update_agent_engine.py", "test_create_agent_engine.py"}

// notReplayed are tests that only Google's service can pass: they name operations and revisions that it
// has made, or want an identity of a runtime.
const notReplayed = "not get_generate_memories_operation and not get_memory_operation and not private_rollback" +
	" and not get_memory_revisions and not get_session_operation and not identity_type"

// replaysEngine is the engine that Google's tests take for granted, and engineToDelete one that they delete.
const (
	replaysEngine  = "reasoningEngines/2886612747586371584"
	engineToDelete = "7571341522470174720"
)

// Google's own tests of its SDK pass, live, if MEMORYD_TEST_REPLAYS names a checkout of
// github.com/googleapis/python-aiplatform. They want an empty store with what they take for granted.
func TestReplays(t *testing.T) {
	checkout := os.Getenv("MEMORYD_TEST_REPLAYS")
	if checkout == "" {
		t.Skip("MEMORYD_TEST_REPLAYS names no checkout of python-aiplatform")
	}
	venv, root := t.TempDir(), t.TempDir()
	bin := filepath.Join(venv, "bin")
	tries(t, nil, "python3", "-m", "venv", venv)
	// The tests are of the SDK that had this version.
	tries(t, nil, filepath.Join(bin, "pip"), "install", "--quiet", "google-cloud-aiplatform==1.165.1", "pandas==3.0.0",
		"pytest==8.4.2", "pytest-asyncio==1.2.0")
	const within = "tests/unit/agentplatform/genai/replays"
	tests := filepath.Join(root, within)
	if err := os.CopyFS(tests, os.DirFS(filepath.Join(checkout, within))); err != nil {
		t.Fatal(err)
	}
	for dir := tests; dir != root; dir = filepath.Dir(dir) { // they import each other by their path
		if err := os.WriteFile(filepath.Join(dir, "__init__.py"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tokens := freePort(t)
	address, dir := memoryd(t, "-vertex-tokens", tokens)
	furnish(t, address, dir)
	s := &server{dir: dir, tokens: tokens, proxy: proxy(t, address), bin: bin}
	args := []string{"env", "-C", tests, filepath.Join(bin, "python"), "-m", "pytest", "-q", "--mode", "api",
		"-k", notReplayed}
	for _, pattern := range replayed {
		files, err := filepath.Glob(filepath.Join(tests, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			args = append(args, filepath.Base(file))
		}
	}
	out, err := runs(t, s.asPython(t, "PYTHONPATH="+root, "GOOGLE_CLOUD_PROJECT=964831358985",
		"GOOGLE_CLOUD_LOCATION=memoryd", "GCS_BUCKET=none",
		"GOOGLE_APPLICATION_CREDENTIALS="+filepath.Join(dir, "credentials.json")), args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	t.Log(lines[len(lines)-1])
}

// furnish makes what Google's tests take for granted.
func furnish(t *testing.T, address, dir string) {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: func(ctx context.Context,
		network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	send := func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method,
			"https://memoryd-aiplatform.googleapis.com/v1beta1/projects/p/locations/l/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s %s, %v", method, path, resp.Status, answer, err)
		}
	}
	send("POST", "reasoningEngines?reasoningEngineId="+engineToDelete, `{}`)
	for _, id := range []string{"6922431337672474624", "8521561049109889024", "3080649749292908544"} {
		send("POST", replaysEngine+"/sessions?sessionId="+id, `{"userId": "test-user-id"}`)
	}
	for _, id := range []string{"3858070028511346688", "5605466683931099136"} {
		send("POST", replaysEngine+"/memories?memoryId="+id, `{"fact": "A fact.", "scope": {"user_id": "123"}}`)
	}
	send("PATCH", replaysEngine, `{"labels": {"test-label": "test-value"}}`)
}

// The script of docs copies all sessions and memories of an engine to another one, and a second run
// finds nothing that is missing.
func TestMove(t *testing.T) {
	bin := installed(t)
	tokens := freePort(t)
	address, dir := memoryd(t, "-vertex-tokens", tokens)
	s := &server{dir: dir, tokens: tokens, proxy: proxy(t, address), bin: bin}
	account := filepath.Join(dir, "credentials.json")
	passes(t, 4, s.asPython(t, "GOOGLE_APPLICATION_CREDENTIALS="+account), filepath.Join(bin, "python"),
		"testdata/moved.py", "../../docs/vertex/move.py", account)
}
