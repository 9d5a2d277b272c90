package clients

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ADK for Java passes all checks, by configuration alone. It has no client of Memory Bank. The test needs
// Maven, which brings 200 MB once.
func TestJava(t *testing.T) {
	if os.Getenv("MEMORYD_TEST_CLIENTS") == "0" {
		t.Skip("MEMORYD_TEST_CLIENTS is 0")
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		t.Skip("there is no Maven")
	}
	list := filepath.Join(t.TempDir(), "classes")
	tries(t, nil, "mvn", "-q", "-B", "-f", "testdata/java/pom.xml", "dependency:build-classpath", "-Dmdep.outputFile="+list)
	classes, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	tokens := freePort(t)
	address, dir := memoryd(t, "-vertex-tokens", tokens)
	out, err := runs(t, nil, built(t), "vertex", "env", "java", "-vertex-dir", dir, "-vertex-tokens", tokens)
	if err != nil {
		t.Fatal(err, out)
	}
	var env []string
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		env = append(env, name+"="+strings.Trim(value, "'"))
	}
	to, err := url.Parse(proxy(t, address))
	if err != nil {
		t.Fatal(err)
	}
	passes(t, 5, env, "java", "-Dhttps.proxyHost="+to.Hostname(), "-Dhttps.proxyPort="+to.Port(), "-Dfile.encoding=UTF-8",
		"-cp", strings.TrimSpace(string(classes)), "testdata/java/Check.java")
}
