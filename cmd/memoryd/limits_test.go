package main

import (
	"testing"

	"github.com/pbnjay/memory"

	"github.com/memoryd/memoryd/internal/assembly"
)

// The cache of a Qdrant's memories follows the machine, that of a file does not, and what
// -cache-bytes says holds for both.
func TestDefaultCache(t *testing.T) {
	const file, server = "", "qdrant://127.0.0.1:6334"
	most := max(assembly.DefaultCacheBytes, int64(memory.TotalMemory()/cacheShare))
	for _, c := range []struct {
		memories    string
		of          []string
		least, most int64
	}{
		{file, nil, assembly.DefaultCacheBytes, assembly.DefaultCacheBytes},
		{server, nil, assembly.DefaultCacheBytes, most},
		{server, []string{"-cache-bytes=2000000"}, 2_000_000, 2_000_000},
	} {
		cfg := &config{}
		args := append([]string{"-data", t.TempDir()}, c.of...)
		if c.memories != "" {
			args = append(args, "-memories", c.memories)
		}
		if err := serveFlags(cfg).Parse(args); err != nil {
			t.Fatal(err)
		}
		if err := cfg.check(); err != nil {
			t.Fatal(err)
		}
		if got := cfg.cacheBytes; got < c.least || got > c.most {
			t.Errorf("memories in %q with %q: a cache of %d bytes, want %d to %d", c.memories, c.of, got, c.least, c.most)
		}
	}
}
