// Package console is the page at /console, on which people see what memoryd remembers
// and why. It is a client of the HTTP API like any other: the page itself holds no
// data, and sends the key of its reader with each call.
//
// The page is plain ES modules and a style sheet, embedded as they are written. The
// browser loads them from the memoryd that answers, and nothing from another host.
package console

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
)

//go:embed assets
var embedded embed.FS

// policy is the content security policy of the page. It runs the scripts of its own
// origin alone, no text of theirs becomes markup (trusted types), and forms go nowhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// types are the media types of the files, by extension. Package mime would ask the
// machine, which may know others.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// index is the file that the path of the page itself answers with.
const index = "index.html"

// file is an asset as it is sent.
type file struct{ text, kind, etag string }

// Page is the page with its files. It implements server.Console.
type Page struct{ files map[string]file }

// New returns the Page of the embedded files.
func New() *Page {
	p := &Page{files: map[string]file{}}
	names, err := fs.Glob(embedded, "assets/*")
	if err != nil {
		panic(err) // the pattern is a part of the program
	}
	for _, name := range names {
		text, err := fs.ReadFile(embedded, name)
		if err != nil {
			panic(err) // the file is one too
		}
		sum := sha256.Sum256(text)
		p.files[path.Base(name)] = file{string(text), types[path.Ext(name)], `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	return p
}

// Serve answers with a file of the page, or with the page itself if name is empty. Without
// such a file it answers nothing, and returns false. A browser may keep a file, and asks
// each time whether it has changed: files of two builds never mix.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, name string) bool {
	f, ok := p.files[cmp.Or(name, index)]
	if !ok {
		return false
	}
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Content-Security-Policy", policy)
	header.Set("Cache-Control", "private, no-cache")
	header.Set("ETag", f.etag)
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	_, _ = w.Write([]byte(f.text)) // a reader that is gone misses nothing
	return true
}
