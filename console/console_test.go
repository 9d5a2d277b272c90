package console_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/console"
)

// get asks the page for a file.
func get(t *testing.T, name string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/console/"+name, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if !console.New().Serve(w, r, name) {
		t.Errorf("there is no file %q", name)
	}
	return w
}

// assets reads the files of the page, by name.
func assets(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir("assets", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		files[filepath.Base(path)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Each file is served with its type and a policy that runs no text as a script, and
// again only if it has changed.
func TestServed(t *testing.T) {
	types := map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	for name, text := range assets(t) {
		w := get(t, name)
		if w.Code != http.StatusOK || w.Body.String() != text {
			t.Errorf("%s: %d, and another text", name, w.Code)
		}
		if got, want := w.Header().Get("Content-Type"), types[filepath.Ext(name)]; got != want || want == "" {
			t.Errorf("%s has the type %q, want %q", name, got, want)
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'",
			"form-action 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy lacks %s: %s", name, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy allows too much: %s", name, policy)
		}
		if again := get(t, name, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: %d with %d bytes", name, again.Code, again.Body.Len())
		}
	}
	if page := get(t, ""); page.Body.String() != assets(t)["index.html"] {
		t.Error("the page is another file")
	}
	for _, name := range []string{"none", "../console.go", "assets/app.js", "app.js/"} {
		w := httptest.NewRecorder()
		if console.New().Serve(w, httptest.NewRequest(http.MethodGet, "/", nil), name) || w.Body.Len() > 0 {
			t.Errorf("there is a file %q", name)
		}
	}
}

// maxBytes bounds all files of the page together: it must open at once on a slow line.
const maxBytes = 200_000

// The page is small, names no other host, and has no script or style in its markup. Its
// scripts make no markup or code of texts.
func TestAssets(t *testing.T) {
	total := 0
	for name, text := range assets(t) {
		total += len(text)
		if found := regexp.MustCompile(`(?i)\b(https?:)?//[a-z0-9-]+\.[a-z]`).FindString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")); found != "" {
			t.Errorf("%s has a link to another host: %s", name, found)
		}
		for _, sink := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser", "localStorage", "document.cookie"} {
			if strings.Contains(text, sink) {
				t.Errorf("%s uses %s", name, sink)
			}
		}
		if filepath.Ext(name) == ".html" {
			if found := regexp.MustCompile(`<style|<script[^>]*>[^<]|\s(style|on\w+)=`).FindString(text); found != "" {
				t.Errorf("%s has %q, which the policy refuses", name, found)
			}
		}
		for _, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(name, "icon") && len(line) > 200 {
				t.Errorf("%s has a line of %d columns: %.60s…", name, len(line), line)
			}
		}
	}
	if total > maxBytes || total < 10_000 {
		t.Errorf("the files have %d bytes: at most %d", total, maxBytes)
	}
	for name := range assets(t) {
		// Without that the browser asks for a module only once it has read another one.
		preload := `<link rel="modulepreload" href="console/` + name + `">`
		if filepath.Ext(name) == ".js" && name != "app.js" && !strings.Contains(assets(t)["index.html"], preload) {
			t.Errorf("the page does not preload %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`(?:href|src)="console/([^"]+)"`).FindAllStringSubmatch(assets(t)["index.html"], -1) {
		if _, ok := assets(t)[name[1]]; !ok {
			t.Errorf("the page asks for %s, which there is not", name[1])
		}
	}
}
