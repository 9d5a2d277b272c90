package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/memoryd/memoryd/access"
)

// inProcess is a transport that calls a handler in this process.
type inProcess struct{ h http.Handler }

// RoundTrip implements http.RoundTripper. The handler runs in a goroutine of its
// own: the caller waits no longer than its context allows, and reads a stream
// while the handler writes it. The goroutine ends with its handler, which the end
// of the context or of the body's reader tells to stop; [memoryd.Bank.Close]
// waits for it.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	// The handler may change it. A program that has the handler in its process is the owner.
	req := r.Clone(access.With(r.Context(), access.Owner))
	if req.Body == nil {
		req.Body = http.NoBody
	}
	req.RequestURI = req.URL.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	req.Proto, req.ProtoMajor, req.ProtoMinor = "HTTP/1.1", 1, 1
	w := newWriter()
	go func() {
		defer func() {
			err := io.EOF
			switch v := recover(); {
			case v == http.ErrAbortHandler: // it broke its answer off
				err = io.ErrUnexpectedEOF
			case v != nil:
				err = &panicked{v}
			}
			w.end(err)
			_ = req.Body.Close() // a transport closes it in any case
		}()
		p.h.ServeHTTP(w, req)
	}()
	release := context.AfterFunc(r.Context(), func() { w.end(context.Cause(r.Context())) })
	<-w.began
	if w.status == 0 {
		release()
		return nil, w.err
	}
	return &http.Response{
		StatusCode:    w.status,
		Status:        fmt.Sprint(w.status, " ", http.StatusText(w.status)),
		Proto:         req.Proto,
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.sent,
		Body:          body{w, release},
		ContentLength: -1,
		Request:       r,
	}, nil
}

// panicked is the error of a handler that panicked. A retry would panic again.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprintf("memoryd panicked: %v", p.value) }

// writer is the http.ResponseWriter of such a handler. It buffers the answer until
// it is read. The answer begins when the handler flushes or returns.
type writer struct {
	header http.Header
	began  chan struct{}

	mu      sync.Mutex
	changed *sync.Cond
	status  int         // 0 until the handler sets it
	sent    http.Header // the header at that time
	open    bool        // began is closed
	buf     bytes.Buffer
	err     error // ends the answer; io.EOF after a complete one
}

func newWriter() *writer {
	w := &writer{header: http.Header{}, began: make(chan struct{})}
	w.changed = sync.NewCond(&w.mu)
	return w
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeHeader(status)
}

func (w *writer) writeHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // a lower status is informational
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, io.ErrClosedPipe
	}
	w.writeHeader(http.StatusOK)
	defer w.changed.Signal()
	return w.buf.Write(p)
}

// Flush implements http.Flusher.
func (w *writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeHeader(http.StatusOK)
	w.begin()
}

func (w *writer) begin() {
	if !w.open {
		w.open = true
		close(w.began)
	}
}

// end ends the answer: its handler returned, or its reader left.
func (w *writer) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	if w.err = err; err == io.EOF {
		w.writeHeader(http.StatusOK) // if it has written nothing
	} else if !w.open {
		w.status = 0 // the answer is incomplete
	}
	w.begin()
	w.changed.Signal()
}

// body reads an answer.
type body struct {
	w       *writer
	release func() bool
}

func (b body) Read(p []byte) (int, error) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	for b.w.buf.Len() == 0 && b.w.err == nil {
		b.w.changed.Wait()
	}
	if b.w.buf.Len() == 0 || b.w.err != nil && b.w.err != io.EOF {
		return 0, b.w.err
	}
	return b.w.buf.Read(p)
}

func (b body) Close() error {
	b.release()
	b.w.end(io.ErrClosedPipe) // fails the next write of the handler
	return nil
}
