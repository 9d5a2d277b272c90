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

const (
	// inProgress is how many calls are read before the first of them is answered: the
	// library refuses a call beside twice as many.
	inProgress = 256
	// lastAnswers bounds how long an answer is waited for, before more is read and at the
	// end of the input.
	lastAnswers = 10 * time.Second
)

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
			l.await(0)
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
	l.await(inProgress - 1)
	l.out.expect(line)
	return append(line, '\n'), nil
}

// await waits until so many calls have no answer, or fewer. It goes on while answers come.
func (l *lines) await(most int) {
	for {
		left, answered := l.out.unanswered()
		if left <= most {
			return
		}
		select {
		case <-answered:
		case <-l.closed:
			return
		case <-time.After(lastAnswers):
			return
		}
	}
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

// output writes messages of all senders one after the other, and knows
// which calls have no answer yet.
type output struct {
	io.WriteCloser
	mu     sync.Mutex
	calls  map[any]bool  // by id
	answer chan struct{} // closed with the next answer, if somebody waits for it
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.WriteCloser.Write(p)
	if id, call := callOf(p); !call {
		delete(o.calls, id)
		if o.answer != nil {
			close(o.answer)
			o.answer = nil
		}
	}
	return n, err
}

// expect notes that a message was read, which has an answer if it is a call.
func (o *output) expect(message []byte) {
	id, call := callOf(message)
	if !call || id == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls == nil {
		o.calls = map[any]bool{}
	}
	o.calls[id] = true
}

// unanswered returns how many calls have no answer, and a channel that is closed with
// the next answer.
func (o *output) unanswered() (n int, answered <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answer == nil {
		o.answer = make(chan struct{})
	}
	return len(o.calls), o.answer
}

// callOf returns the id of a message, nil for none, and whether it has a method. The id is as the library reads it: an
// answer may write the same one in another way, as 3 for 3.0.
func callOf(message []byte) (id any, call bool) {
	var parts struct {
		ID     any     `json:"id"`
		Method *string `json:"method"`
	}
	_ = json.Unmarshal(message, &parts) // what is no message has neither
	switch is := parts.ID.(type) {
	case string:
		id = is
	case float64:
		id = int64(is)
	}
	return id, parts.Method != nil
}
