package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/console"
)

// HEAD asks for the console without its body, its path with a slash leads to it, by a
// relative way, and the page at / links to it. Without a console there are neither.
func TestConsoleWays(t *testing.T) {
	a := start(t, func(s *setup) { s.server.Console = console.New() })
	for path, status := range map[string]int{"/console": 200, "/console/app.js": 200, "/console/none.js": 404} {
		got := a.do("HEAD", path, nil)
		if got.status != status || len(got.raw) > 0 {
			t.Errorf("HEAD %s: %d with %d bytes, want %d", path, got.status, len(got.raw), status)
		}
	}
	const link = `<a href="console">`
	home := func(a *api) string { return string(a.do("GET", "/", nil).raw) }
	if page := home(a); !strings.Contains(page, link) {
		t.Errorf("the page at / has no link to the console: %s", page)
	}
	for _, method := range []string{"GET", "HEAD"} {
		w := httptest.NewRecorder()
		a.server.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1/console/", nil))
		same(t, "status of /console/", w.Code, http.StatusPermanentRedirect)
		same(t, "its location", w.Header().Get("Location"), "../console")
	}

	without := start(t)
	same(t, "status without", without.do("GET", "/console/", nil).status, 404)
	if page := home(without); strings.Contains(page, link) || strings.Contains(page, "{{") {
		t.Errorf("the page at / without a console: %s", page)
	}
}
