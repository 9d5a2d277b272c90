package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/certtest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// doctored runs memoryd doctor, and returns its exit status and its lines.
func doctored(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	cmd := command(append([]string{"doctor"}, args...)...)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// doctor finds what a start would be refused for and what an operator should know, and
// says nothing is wrong where nothing is.
func TestDoctor(t *testing.T) {
	t.Parallel()
	fresh, closed, served := t.TempDir(), t.TempDir(), t.TempDir()
	printed(t, "keys", "create", "-data", closed, "-app", "*")
	p := start(t, served)
	redis, qdrant := redistest.Start(t), qdranttest.Start(t).URL(t)
	evicting := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	cert, key := filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	certtest.Make(t, "localhost", time.Now().Add(-time.Hour)).Write(t, cert, key)
	for name, c := range map[string]struct {
		args []string
		code int
		want []string // patterns of lines
	}{
		"fresh": {[]string{"-data", fresh}, 0, []string{"^ok +sessions .*not there yet", "^ok +keys .*there are none"}},
		"exposed without keys": {[]string{"-data", fresh, "-listen", "0.0.0.0:0"}, 1,
			[]string{"^failed +keys .*make one", "^warning +tls"}},
		"exposed with keys": {[]string{"-data", closed, "-listen", "0.0.0.0:0"}, 0, []string{"^ok +keys .*must show"}},
		"served": {[]string{"-data", served, "-listen", strings.TrimPrefix(p.url, "http://")}, 0,
			[]string{"^ok +sessions .*that runs has the data.*memories", "^ok +listen .*taken"}},
		"redis, and a file that is served": {[]string{"-sessions", redis.URL(), "-memories",
			"sqlite:" + filepath.Join(served, dataFile)}, 0, []string{"^ok +memories .*that runs has the data"}},
		"redis and qdrant": {[]string{"-sessions", redis.URL(), "-memories", qdrant}, 0,
			[]string{"^(ok|warning) +sessions", "^ok +clock", "^ok +memories .*no collection"}},
		"redis that evicts": {[]string{"-sessions", evicting.URL()}, 1, []string{"^failed +sessions .*maxmemory-policy"}},
		"no redis, no qdrant": {[]string{"-sessions", "redis://:secret@127.0.0.1:1", "-memories", "qdrant://:secret@127.0.0.1:1"}, 1,
			[]string{"^failed +sessions", "^failed +memories", "^warning +keys"}},
		"no key of a model": {[]string{"-data", fresh, "-embedder", "openai:x"}, 1, []string{"^failed +model .*OPENAI_API_KEY"}},
		"expired": {[]string{"-data", fresh, "-tls-cert", cert, "-tls-key", key}, 1,
			[]string{"^failed +tls .*expired"}},
		"connections": {[]string{"-data", fresh, "-max-connections", "1000000000"}, 0, []string{"^warning +limits"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, said := doctored(t, c.args...)
			if code != c.code {
				t.Errorf("exit status %d, want %d:\n%s", code, c.code, said)
			}
			for _, line := range c.want {
				if !regexp.MustCompile("(?m)" + line).MatchString(said) {
					t.Errorf("no line %q:\n%s", line, said)
				}
			}
			if strings.Contains(said, "secret") {
				t.Errorf("it prints a password:\n%s", said)
			}
		})
	}
}
