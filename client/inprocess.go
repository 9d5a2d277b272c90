package client

import (
	"errors"
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
			w.WriteHeader(http.StatusOK) // if the handler has written nothing
			err := error(nil)
			if recover() != nil {
				err = errors.New("the handler panicked")
			}
			_ = out.CloseWithError(err) // never fails
		}()
		p.h.ServeHTTP(w, req)
	}()
	select {
	case <-w.began:
	case <-r.Context().Done():
		_ = body.Close() // so that the handler's writes fail
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: w.status, Status: http.StatusText(w.status), Proto: req.Proto, ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: -1, Request: r}, nil
}

// inProcessWriter is the http.ResponseWriter of such a handler.
type inProcessWriter struct {
	header, sent http.Header
	status       int
	once         sync.Once
	began        chan struct{}
	out          *io.PipeWriter
}

func (w *inProcessWriter) Header() http.Header { return w.header }

func (w *inProcessWriter) WriteHeader(status int) {
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
