package openapitest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/memoryd/memoryd/access"
)

// maxKept bounds the bodies that are checked, in bytes: a test of large ones would
// measure this package.
const maxKept = 256 << 10

// checked are the documents that were read, by their text: tests make many servers of
// one.
var checked sync.Map

// Of reads the document that a handler serves at /openapi.json.
func Of(t testing.TB, h http.Handler) *Document {
	t.Helper()
	w := httptest.NewRecorder()
	ctx := access.With(t.Context(), access.Owner) // who needs no key
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://127.0.0.1/openapi.json", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("/openapi.json: status %d: %.300s", w.Code, w.Body)
	}
	if d, ok := checked.Load(w.Body.String()); ok {
		return d.(*Document)
	}
	d, err := Read(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	checked.Store(w.Body.String(), d)
	return d
}

// Checked returns a handler that does what h does, and reports the requests and answers
// that h's own document does not allow as errors of the test.
func Checked(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	doc := Of(t, h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &Exchange{Method: r.Method, URL: r.URL}
		out := &recorder{ResponseWriter: w, status: http.StatusOK}
		in := &tee{ReadCloser: r.Body}
		copied := *r // the server looks at the body of its own request
		if copied.Body = in; r.Body == nil || r.Body == http.NoBody {
			copied.Body, in.ended = r.Body, true
		}
		u := *r.URL // which the handler may change
		x.URL = &u
		// An answer that breaks off panics, and is not checked.
		h.ServeHTTP(out, &copied)
		x.Status, x.Header = out.status, w.Header()
		if !out.long {
			x.Answer = append([]byte{}, out.data.Bytes()...)
		}
		if in.ended && !in.long {
			x.Body = append([]byte{}, in.data.Bytes()...)
		}
		if err := doc.Check(x); err != nil {
			t.Errorf("/openapi.json is not true: %v\nrequest: %s %.300s %.1000s", err, r.Method, u.String(), x.Body)
		}
	})
}

// kept is a copy of the first bytes of a body.
type kept struct {
	data bytes.Buffer
	long bool // there were more than maxKept
}

func (k *kept) add(p []byte) {
	if k.long = k.long || k.data.Len()+len(p) > maxKept; !k.long {
		k.data.Write(p)
	}
}

// tee keeps what is read of a body.
type tee struct {
	io.ReadCloser
	kept
	ended bool
}

// Read implements io.Reader.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.add(p[:n])
	t.ended = t.ended || err == io.EOF
	return n, err
}

// recorder keeps what is written of an answer.
type recorder struct {
	http.ResponseWriter
	kept
	status int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.add(p[:n])
	return n, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
