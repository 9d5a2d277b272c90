package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
)

// caller sends requests. It never repeats one: a measurement counts each answer.
type caller struct {
	base string
	key  string // to show; "" for none
	http *http.Client
}

// showKey puts the key into a request.
func (c *caller) showKey(req *http.Request) {
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
}

// answer is what came back for a request.
type answer struct {
	status int // 0 if no answer came
	body   []byte
	size   int64 // of the body in bytes, also if it was not kept
	err    error // of the connection
}

// ok reports whether the request was done.
func (a answer) ok() bool { return a.err == nil && a.status >= 200 && a.status < 300 }

// refused reports whether memoryd had no room for the request.
func (a answer) refused() bool { return a.err == nil && a.status == http.StatusTooManyRequests }

// class names a failure: the status, or how the connection failed.
func (a answer) class() string {
	var timeout net.Error
	switch {
	case a.err == nil:
		return strconv.Itoa(a.status)
	case errors.As(a.err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case a.status != 0:
		return "answer cut off"
	}
	return "no connection"
}

// into decodes the body of an answer that is ok. A body of another form leaves v
// as far as it was read.
func (a answer) into(v any) bool { return a.ok() && json.Unmarshal(a.body, v) == nil }

// do sends a request and keeps the body of its answer. A body of the request may
// be bytes, anything that becomes JSON, or nil.
func (c *caller) do(ctx context.Context, method, path string, body any) answer {
	var kept bytes.Buffer
	a := c.copy(ctx, method, path, body, &kept)
	a.body = kept.Bytes()
	return a
}

// copy sends a request and writes the body of its answer to w.
func (c *caller) copy(ctx context.Context, method, path string, body any, w io.Writer) (a answer) {
	raw, ok := body.([]byte)
	if !ok && body != nil {
		if raw, a.err = json.Marshal(body); a.err != nil {
			return a
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(raw))
	if err != nil {
		return answer{err: err}
	}
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.showKey(req)
	res, err := c.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	a.status = res.StatusCode
	a.size, a.err = io.Copy(w, res.Body)
	return a
}
