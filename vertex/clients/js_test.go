package clients

import (
	"os"
	"path/filepath"
	"testing"
)

// ADK for JavaScript passes all checks, by configuration alone.
func TestJavaScript(t *testing.T) {
	bin, dir := installed(t), t.TempDir()
	path := "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	// The date pins indirect dependencies. npm has the packages in its cache if a test of typescript/ has run, which installs them too.
	tries(t, []string{path}, filepath.Join(bin, "npm"), "install", "--prefix="+dir, "--before=2026-11-15", "--ignore-scripts",
		"--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries=2", "--prefer-offline", "@google/adk@2.0.0")
	tokens := freePort(t)
	address, made := memoryd(t, "-vertex-tokens", tokens)
	script, err := filepath.Abs("testdata/check.mjs")
	if err != nil {
		t.Fatal(err)
	}
	passes(t, 5, []string{path, "NODE_EXTRA_CA_CERTS=" + filepath.Join(made, "ca.pem"), "GCE_METADATA_HOST=" + tokens,
		"NODE_USE_ENV_PROXY=1", "HTTPS_PROXY=" + proxy(t, address), "NO_PROXY=127.0.0.1"},
		"sh", "-c", "cd "+dir+" && exec node "+script)
}
