package filetest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memoryd/memoryd/internal/filetest"
)

func TestWith(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{filepath.Join(deep, "f"): "\x00an axolotl\x00", filepath.Join(dir, "g"): "axolot"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := filetest.With(t, dir, "axolotl"); !slices.Equal(got, []string{filepath.Join("a", "b", "f")}) {
		t.Errorf("files %q", got)
	}
	if got := filetest.With(t, dir, "tapir"); len(got) > 0 {
		t.Errorf("files %q", got)
	}
}
