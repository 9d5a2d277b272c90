package main

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/certificate"
	"github.com/memoryd/memoryd/internal/certtest"
)

// get asks for a URL with a configuration of TLS.
func get(t *testing.T, cfg *tls.Config, url string) (*http.Response, string) {
	t.Helper()
	hc := &http.Client{Transport: transport(cfg)}
	defer hc.CloseIdleConnections()
	res, err := hc.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(raw)
}

// A memoryd with a certificate serves TLS alone, and commands beside it find it.
func TestServesTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	certtest.Make(t, "127.0.0.1", time.Now().AddDate(1, 0, 0)).Write(t, cert, key)
	p := start(t, filepath.Join(dir, "data"), "-tls-cert", cert, "-tls-key", key)
	addr, ok := strings.CutPrefix(p.url, "https://")
	if !ok {
		t.Fatalf("memoryd says that it serves %s", p.url)
	}
	trusting, err := certificate.Trusting(cert)
	if err != nil {
		t.Fatal(err)
	}
	res, page := get(t, trusting, p.url+"/")
	if res.StatusCode != 200 || res.ProtoMajor != 2 || !strings.Contains(page, "curl -s "+p.url+"/v1") {
		t.Errorf("status %d by %s: %s", res.StatusCode, res.Proto, page)
	}
	old := trusting.Clone()
	old.NextProtos = []string{"http/1.1"}
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: old}}
	if res, err := hc.Get(p.url + "/livez"); err != nil || res.StatusCode != 200 || res.ProtoMajor != 1 {
		t.Errorf("by HTTP/1.1: %v, %v", res, err)
	}
	hc.CloseIdleConnections()
	old.MaxVersion = tls.VersionTLS11
	if res, err := hc.Get(p.url + "/livez"); err == nil {
		t.Errorf("by TLS 1.1: %v", res)
	}

	// Without TLS the port says what to do.
	res, err = http.Get("http://" + addr + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Error struct{ Status, Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != 400 ||
		answer.Error.Status != "INVALID_ARGUMENT" || !strings.Contains(answer.Error.Message, "https://") {
		t.Errorf("without TLS: status %d, %v: %+v", res.StatusCode, err, answer)
	}

	readied(t, "-listen", addr, "-tls-cert", cert)
	printed(t, "keys", "list", "-server", p.url, "-ca-file", cert)
	h := hosted(t, "-server", p.url, "-ca-file", cert, "-app", "notes", "-user", "ann")
	h.remember(t, "I adopted a cat called Moss.")
	beside := hosted(t, "-listen", addr, "-tls-cert", cert, "-tls-key", key, "-data", filepath.Join(dir, "data"),
		"-app", "notes", "-user", "ann")
	beside.recalls(t, "What is the cat called?", "I adopted a cat called Moss.")

	other := filepath.Join(dir, "other.crt")
	certtest.Make(t, "127.0.0.1", time.Now().AddDate(1, 0, 0)).Write(t, other, filepath.Join(dir, "other.key"))
	runFails(t, "another certificate", 1, "ready", "-listen", addr, "-tls-cert", other)
	runFails(t, "https://", 1, "ready", "-listen", addr)
	runFails(t, "certificate", 1, "keys", "list", "-server", p.url)
	runFails(t, "-ca-file", 1, "keys", "list", "-server", p.url, "-ca-file", key)

	// Another certificate is served without a restart.
	certtest.Make(t, "memory.example.com", time.Now().AddDate(1, 0, 0)).Write(t, cert, key)
	readied(t, "-listen", addr, "-tls-cert", cert)
}

// The names of -host are served beside those of loopback.
func TestHostFlag(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "-host", "memory.example.com,other.example.com", "-host", "[2001:db8::7]",
		"-trusted-proxies", "127.0.0.1")
	for host, want := range map[string]int{"memory.example.com:1": 200, "other.example.com": 200, "localhost": 200,
		"[2001:db8::7]": 200, "evil.com": 403} {
		for _, header := range []string{"Host", "X-Forwarded-Host"} {
			req, err := http.NewRequestWithContext(t.Context(), "GET", p.url+"/livez", nil)
			if err != nil {
				t.Fatal(err)
			}
			if req.Header.Set(header, host); header == "Host" {
				req.Host = host
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s %s: status %d, want %d", header, host, res.StatusCode, want)
			}
		}
	}
}

// Pages of the origins of -cors-origin may call, and are told so by the address of the server.
func TestCORSFlag(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "-cors-origin", "https://app.example.com:443,http://localhost:5173",
		"-cors-origin", "https://b.example.com")
	for origin, named := range map[string]bool{"https://app.example.com": true, "http://localhost:5173": true,
		"https://b.example.com": true, "https://app.example.com:443": false, "http://localhost": false} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", p.url+"/v1/tools", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Access-Control-Allow-Origin"); (got == origin) != named || got != "" && !named {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", origin, got)
		}
	}
}

func TestNetworkRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	certtest.Make(t, "a", time.Now().AddDate(1, 0, 0)).Write(t, cert, key)
	other := filepath.Join(dir, "other.key")
	certtest.Make(t, "a", time.Now().AddDate(1, 0, 0)).Write(t, filepath.Join(dir, "other.crt"), other)
	data := filepath.Join(dir, "data")
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"go together", 2, []string{"-tls-cert", cert}},
		{"go together", 2, []string{"-tls-key", key}},
		{"no such file", 1, []string{"-tls-cert", filepath.Join(dir, "none"), "-tls-key", key}},
		{"private key does not match", 1, []string{"-tls-cert", cert, "-tls-key", other}},
		{"-host \"https://a\"", 2, []string{"-host", "https://a"}},
		{"-host \"a:80\"", 2, []string{"-host", "a:80"}},
		{"-host \"*\"", 2, []string{"-host", "*"}},
		{"with commas between", 2, []string{"-host", "a,,b"}},
		{"-cors-origin \"*\": every page of the web", 2, []string{"-cors-origin", "*"}},
		{"name each origin", 2, []string{"-cors-origin", "https://*.example.com"}},
		{"want an origin such as", 2, []string{"-cors-origin", "https://a.example.com,app.example.com"}},
		{"want an origin such as", 2, []string{"-cors-origin", "null"}},
		{"write https://app.example.com", 2, []string{"-cors-origin", "https://app.example.com/page"}},
		{"write https://app.example.com", 2, []string{"-cors-origin", "https://ann:secret@app.example.com"}},
		{"want an address or a network", 2, []string{"-trusted-proxies", "proxy"}},
		{"every client", 2, []string{"-trusted-proxies", "10.0.0.0/8,0.0.0.0/0"}},
		{"every client", 2, []string{"-trusted-proxies", "::/0"}},
		{"every client", 2, []string{"-trusted-proxies", "::ffff:0.0.0.0/96"}},
	} {
		runFails(t, c.want, c.code, append(c.args, "-listen", "127.0.0.1:0", "-data", data)...)
	}
	runFails(t, "without TLS", 2, "bench", "-tls-cert", cert, "-tls-key", key)
	if left := tree(t, dir); slices.Contains(left, "data") {
		t.Errorf("a start that was refused left %v", left)
	}
}

// Every command that serves is closed: reembed as well as serve.
func TestReembedIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runFails(t, "no keys yet", 2, "reembed", "-data", dir, "-listen", "0.0.0.0:0")
	start(t, dir).terminate(t)
	runFails(t, "no keys yet", 1, "reembed", "-data", dir, "-listen", "0.0.0.0:0")
	issuer := []string{"-oidc-issuer", "http://" + freeAddress(t), "-oidc-audience", "m", "-oidc-app", "shop"}
	startAs(t, "reembed", nil, dir, issuer...).terminate(t)
	p := start(t, dir)
	if status, err := call("GET", p.url+"/v1/tools", nil, nil); status != 401 {
		t.Errorf("after a reembed with an issuer: status %d, %v", status, err)
	}
}

func TestProxies(t *testing.T) {
	n := network{proxies: list{"10.1.2.3/8", "192.0.2.1", "::ffff:192.0.2.0/120", "fd00::/8"}}
	if err := n.check(); err != nil {
		t.Fatal(err)
	}
	var want []netip.Prefix
	for _, text := range []string{"10.0.0.0/8", "192.0.2.1/32", "192.0.2.0/24", "fd00::/8"} {
		want = append(want, netip.MustParsePrefix(text))
	}
	if diff := cmp.Diff(want, n.trusted, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}
