package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message on standard input, in bytes: as much as the library
// takes.
const maxLine = sdk.DefaultMaxLineLength

// lastAnswers bounds how long calls that were read are waited for at the end of the input.
const lastAnswers = 10 * time.Second

// lines reads messages, a line each, for the library. It answers lines that are
// not messages itself, since the library would end the connection. The library
// drops the calls that run when it reads the end, so lines tells it of the end
// when they are answered: what is piped into the process is done.
type lines struct {
	in     *bufio.Reader
	closer io.Closer
	out    *output
	rest   []byte // of a message that was not read to its end
	close  sync.Once
	closed chan struct{}
}

func newLines(in io.ReadCloser, out *output) *lines {
	return &lines{in: bufio.NewReader(in), closer: in, out: out, closed: make(chan struct{})}
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next reads a line and returns it with a line break, or nothing if it has no
// message.
func (l *lines) next() ([]byte, error) {
	line, whole, err := l.line()
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		if errors.Is(err, io.EOF) {
			select {
			case <-l.out.answered():
			case <-l.closed:
			case <-time.After(lastAnswers):
			}
		}
		return nil, err
	}
	line = bytes.TrimSpace(line)
	var answer *refusal
	switch {
	case !whole:
		answer = refuse(nil, jsonrpc.CodeInvalidRequest, "the message has more than %d bytes", maxLine)
	case len(line) > 0:
		answer = malformed(line)
	}
	switch {
	case answer != nil:
		_, err := l.out.Write(append(answer.encode(), '\n'))
		return nil, err
	case len(line) == 0:
		return nil, nil
	}
	l.out.expect(line)
	return append(line, '\n'), nil
}

// line reads to the end of a line and returns it. If the line has more than
// maxLine bytes, it returns the first of them and whole is false.
func (l *lines) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := l.in.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= maxLine; whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// Close implements io.Closer.
func (l *lines) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.closer.Close()
}

// output writes messages one after the other, whoever they come from, and knows
// which calls have no answer yet.
type output struct {
	io.WriteCloser
	mu    sync.Mutex
	calls map[string]bool // by id, as JSON has it
	idle  chan struct{}   // closed when there are no calls, if somebody waits
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.WriteCloser.Write(p)
	if id, call := callOf(p); !call {
		delete(o.calls, id)
		o.wake()
	}
	return n, err
}

// expect notes that a message was read, which has an answer if it is a call.
func (o *output) expect(message []byte) {
	id, call := callOf(message)
	if !call || id == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls == nil {
		o.calls = map[string]bool{}
	}
	o.calls[id] = true
}

// answered returns a channel that is closed when each call has an answer.
func (o *output) answered() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle == nil {
		o.idle = make(chan struct{})
	}
	defer o.wake()
	return o.idle
}

// wake closes idle if there are no calls. The caller holds mu.
func (o *output) wake() {
	if o.idle == nil || len(o.calls) > 0 {
		return
	}
	select {
	case <-o.idle:
	default:
		close(o.idle)
	}
}

// callOf returns the id of a message, and whether it has a method.
func callOf(message []byte) (id string, call bool) {
	var parts struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	_ = json.Unmarshal(message, &parts) // what is no message has neither
	return string(parts.ID), parts.Method != nil
}
