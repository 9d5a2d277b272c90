package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message on standard input, in bytes: as much as the library
// takes.
const maxLine = sdk.DefaultMaxLineLength

// lines reads messages, a line each, for the library. It answers lines that are
// not messages itself, since the library would end the connection.
type lines struct {
	in     *bufio.Reader
	closer io.Closer
	out    io.Writer
	rest   []byte // of a message that was not read to its end
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in: bufio.NewReader(in), closer: in, out: out}
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
func (l *lines) Close() error { return l.closer.Close() }

// output writes messages one after the other, whoever they come from.
type output struct {
	io.WriteCloser
	mu sync.Mutex
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.WriteCloser.Write(p)
}
