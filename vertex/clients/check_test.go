package clients

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// memoryd vertex check says in one sentence why a client is refused: by the authority, the name, the
// way there, or the account.
func TestCheck(t *testing.T) {
	address, dir := memoryd(t)
	way, dead, other := "HTTPS_PROXY="+proxy(t, address), "HTTPS_PROXY="+nowhere(t), filepath.Dir(stranger(t, "127.0.0.1:1"))
	check := func(env string, args ...string) (string, error) {
		t.Helper()
		return runs(t, []string{env, "NO_PROXY=", "no_proxy=", "https_proxy="}, append([]string{built(t), "vertex", "check"},
			args...)...)
	}
	says := func(want string, fails bool, env string, args ...string) {
		t.Helper()
		out, err := check(env, args...)
		if (err != nil) != fails || !strings.Contains(out, want) {
			t.Errorf("check %v says %q, %v, want %q", args, out, err, want)
		}
	}
	says("is this memoryd, its certificate is good", false, way, "-vertex-dir", dir)
	declared, there := memoryd(t, "-vertex-engines", "declared")
	says("is this memoryd, its certificate is good", false, "HTTPS_PROXY="+proxy(t, declared), "-vertex-dir", there)
	says("is not of this authority", true, way, "-vertex-dir", other)
	says("is not for europe-aiplatform.googleapis.com: memoryd vertex init -renew", true, way, "-vertex-dir", dir,
		"-location", "europe")
	says("cannot be reached", true, dead, "-vertex-dir", dir)
	if out, err := runs(t, nil, built(t), "keys", "create", "-app", "*", "-data", filepath.Dir(dir)); err != nil {
		t.Fatal(err, out)
	}
	// A memoryd whose sessions are in Redis knows the first key within a second.
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if _, err := check(way, "-vertex-dir", dir); err != nil {
			break
		}
	}
	says("does not take the service account", true, way, "-vertex-dir", dir)
}
