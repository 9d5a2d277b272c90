// Package filetest looks for texts in files: a test that has something erased checks that
// no file has it any longer.
package filetest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// With names the files in a directory, and in those below it, that have a text in their
// bytes, by their paths from there. It fails the test if there is no file at all. A file
// that is removed meanwhile is left out. Texts that a file has compressed are not found.
func With(t testing.TB, dir, text string) (out []string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		files++
		if bytes.Contains(raw, []byte(text)) {
			name, _ := filepath.Rel(dir, path)
			out = append(out, name)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files in %s: %v", files, dir, err)
	}
	return out
}
