// Package modeltest has servers for tests with the APIs of Google's and OpenAI's
// models. They serve real HTTP, check requests as strictly as the originals, and
// give the answers that a test scripts.
package modeltest

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
)

// Key is the only key that the servers accept. It has characters that URLs and JSON
// escape.
const Key = "key-of-the-tests-7Qx/9+Zt3&="

// NoKey fails a test if text has the key, or a part of it.
func NoKey(t testing.TB, text string) {
	t.Helper()
	for _, form := range []string{Key, url.QueryEscape(Key), url.PathEscape(Key), "key-of-the-tests", "7Qx"} {
		if strings.Contains(text, form) {
			t.Errorf("the key is in %q", text)
			return
		}
	}
}

// Request is a request to a server, in one form for both services.
type Request struct {
	Kind  string // "generate" or "embed"
	Path  string
	Model string
	// The fields of a request to generate.
	System    string // the instructions
	Data      string // the words of the user
	Schema    map[string]any
	MaxTokens int
	// The fields of a request to embed.
	Texts     []string
	Task      string // Google's alone
	Dimension int    // 0 if the request has none

	Header http.Header
	Body   json.RawMessage
}

// The ends of an answer, for Reply. Any other word is sent as it is.
const (
	Stop     = ""
	Length   = "length"
	Filtered = "filtered"
)

// Reply is the answer of a server. The zero value is a valid one: the text {}, or
// vectors of the texts in the request.
type Reply struct {
	Text       string
	Thought    string // the model's thoughts, which are not a part of the text
	Finish     string
	Refusal    string // in place of an answer: why the prompt is blocked, or the model declines
	NoAnswer   bool   // neither a text nor a reason
	Vectors    [][]float64
	Input      int // tokens
	Output     int
	Thinking   int           // tokens of the thought, which Google counts apart and OpenAI in Output
	Status     int           // of an error; 0 is none
	Message    string        // of an error
	Code       string        // of an error: Google's status or OpenAI's code; defaults to that of Status
	Param      string        // of an error, at OpenAI
	RetryAfter string        // the header
	RetryDelay string        // Google's detail of an error: "12s"
	Header     http.Header   // more headers
	Delay      time.Duration // before anything is answered, unless the client leaves
	Cut        bool          // the connection breaks amid the answer
	Reset      bool          // the connection is reset without one
	Body       string        // the answer as it is, in place of all that
}

// Script chooses the reply to a request. It is called for one request at a time.
type Script func(Request) Reply

// Replies returns a script that gives replies one after the other, and then repeats
// the last.
func Replies(replies ...Reply) Script {
	n := 0
	return func(Request) Reply {
		r := replies[min(n, len(replies)-1)]
		n++
		return r
	}
}

// Server is a running server.
type Server struct {
	t      testing.TB
	base   string
	env    map[string]string
	speak  dialect
	script Script
	http   *httptest.Server

	mu       sync.Mutex
	requests []Request
}

// dialect has the differences between the services.
type dialect interface {
	// read decodes and checks a request. What it can decode of a refused request
	// comes with the fault, for Requests.
	read(r *http.Request, body []byte) (Request, *fault)
	// answer returns the body of a reply to a valid request.
	answer(q Request, r Reply) any
	// fault returns the body of an error.
	fault(f fault) any
}

// fault is an error in a service's answer. Each service has its own fields, and
// leaves out those of the other.
type fault struct {
	status                                   int
	message, code, param, reason, retryDelay string
}

// start runs a server until the test is over. A nil script gives zero replies.
func start(t testing.TB, speak dialect, script Script) *Server {
	t.Helper()
	if script == nil {
		script = Replies(Reply{})
	}
	s := &Server{t: t, speak: speak, script: script}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	s.base = s.http.URL
	return s
}

// Close stops the server. Later calls find no server at its address.
func (s *Server) Close() { s.http.CloseClientConnections(); s.http.Close() }

// URL returns the base URL for clients.
func (s *Server) URL() string { return s.base }

// Getenv reads an environment in which clients use this server, with its key.
func (s *Server) Getenv(name string) string { return s.env[name] }

// With returns Getenv with one variable set to another value; "" unsets it.
func (s *Server) With(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return s.env[asked]
	}
}

// Requests returns the requests until now, including those that the server refused
// for their form.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// serve reads a request, records it, and answers as the script says. The script runs
// under the lock, so that the order of its replies is that of Requests.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	if r.URL.Path == tokenPath {
		s.token(w, r, body)
		return
	}
	q, refused := s.speak.read(r, body)
	q.Path, q.Header, q.Body = r.URL.Path, r.Header, body
	s.mu.Lock()
	s.requests = append(s.requests, q)
	var reply Reply
	if refused == nil {
		reply = s.script(q)
	}
	s.mu.Unlock()
	if refused != nil {
		s.write(w, refused.status, s.speak.fault(*refused))
		return
	}
	if reply.Delay > 0 {
		select {
		case <-time.After(reply.Delay):
		case <-r.Context().Done():
			return
		}
	}
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	if reply.RetryAfter != "" {
		w.Header().Set("Retry-After", reply.RetryAfter)
	}
	switch {
	case reply.Reset:
		s.reset(w)
	case reply.Body != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(max(reply.Status, 200))
		io.WriteString(w, reply.Body)
	case reply.Status != 0:
		s.write(w, reply.Status, s.speak.fault(fault{status: reply.Status, message: reply.Message,
			code: reply.Code, param: reply.Param, retryDelay: reply.RetryDelay}))
	case reply.Cut:
		whole, _ := json.Marshal(s.speak.answer(q, reply)) // of strings, numbers and maps
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
		w.Write(whole[:len(whole)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler) // closes the connection
	default:
		s.write(w, http.StatusOK, s.speak.answer(q, reply))
	}
}

// write sends JSON with the content type that Google's services use.
func (s *Server) write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

// reset ends a connection so that the client sees it reset.
func (s *Server) reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		s.t.Error(err)
		return
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// decode reads JSON as a service does that refuses unknown fields.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// vector returns a vector of length scale in which each word of the text has a place
// of its own, so that texts with the same words are near each other.
func vector(text string, dimension int, scale float64) []float64 {
	out := make([]float64, dimension)
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	for _, word := range strings.FieldsFunc(strings.ToLower(text), between) {
		h := fnv.New32a()
		io.WriteString(h, word)
		out[int(h.Sum32())%dimension]++
	}
	length := 0.0
	for _, x := range out {
		length += x * x
	}
	if length = math.Sqrt(length); length == 0 {
		out[0], length = 1, 1
	}
	for i := range out {
		out[i] *= scale / length
	}
	return out
}

// vectors returns the vectors of a reply or, if it has none, those of the texts.
func vectors(q Request, r Reply, dimension int, scale float64) [][]float64 {
	if r.Vectors != nil {
		return r.Vectors
	}
	var out [][]float64
	for _, text := range q.Texts {
		out = append(out, vector(text, dimension, scale))
	}
	return out
}

// text returns the text of a reply, {} by default.
func (r Reply) text() string {
	if r.Text == "" && r.Finish == Stop {
		return "{}"
	}
	return r.Text
}
