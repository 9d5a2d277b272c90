package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// inProcess is a transport that has a handler of this process answer.
type inProcess struct{ h http.Handler }

// RoundTrip implements http.RoundTripper. The handler runs beside it, so that
// an answer that streams can be read while it is written.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	req := r.Clone(r.Context()) // the handler may change it
	if req.Body == nil {
		req.Body = http.NoBody
	}
	req.RequestURI = req.URL.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	req.Proto, req.ProtoMajor, req.ProtoMinor = "HTTP/1.1", 1, 1
	body, out := io.Pipe()
	w := &inProcessWriter{header: http.Header{}, out: out, began: make(chan struct{})}
	go func() {
		defer func() {
			var err error
			if v := recover(); v != nil {
				err = &panicked{v}
			}
			w.end(err)
			_ = req.Body.Close() // as a transport does, whatever comes of it
		}()
		p.h.ServeHTTP(w, req)
	}()
	// Whoever reads the answer does not wait longer than its context, and neither
	// does a handler that writes it.
	release := context.AfterFunc(r.Context(), func() { _ = body.CloseWithError(context.Cause(r.Context())) })
	select {
	case <-w.began:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if w.failed != nil {
		release()
		return nil, w.failed
	}
	return &http.Response{StatusCode: w.status, Status: fmt.Sprint(w.status, " ", http.StatusText(w.status)), Proto: req.Proto, ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: released{body, release}, ContentLength: -1, Request: r}, nil
}

// released is the body of an answer, which is closed when its context is over
// unless it was before.
type released struct {
	*io.PipeReader
	release func() bool
}

func (b released) Close() error {
	b.release()
	return b.PipeReader.Close()
}

// panicked is what came of a handler: a fault, which would only happen again.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprintf("memoryd panicked: %v", p.value) }

// inProcessWriter is the http.ResponseWriter of such a handler.
type inProcessWriter struct {
	header, sent http.Header
	status       int
	failed       error // before anything was written
	once         sync.Once
	began        chan struct{}
	out          *io.PipeWriter
}

// end is called when the handler has returned.
func (w *inProcessWriter) end(err error) {
	w.once.Do(func() {
		w.status, w.sent, w.failed = http.StatusOK, w.header, err // if it has written nothing
		close(w.began)
	})
	_ = w.out.CloseWithError(err) // never fails
}

func (w *inProcessWriter) Header() http.Header { return w.header }

func (w *inProcessWriter) WriteHeader(status int) {
	if status < http.StatusOK {
		return // the answer is yet to come
	}
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.began)
	})
}

func (w *inProcessWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(p)
}

// Flush implements http.Flusher: nothing is held back.
func (w *inProcessWriter) Flush() {}
