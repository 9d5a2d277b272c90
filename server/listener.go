package server

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/memoryd/memoryd/internal/strict"
)

// Listener makes JSON of the errors that net/http answers before it calls any
// handler: of a request that it cannot read (400, 505), headers that are too large
// (431), a transfer encoding that it does not know (501), and an expectation that
// nobody can meet (417). net/http has no setting for their form. A client that is
// too slow with its headers is disconnected without an answer.
//
// Under TLS, which comes on top of it, a Listener sees one such answer alone: that to a
// request without TLS (400). The others go out encrypted, in the form of net/http.
func Listener(of net.Listener) net.Listener { return listener{of} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
		return connection{tcp}, nil
	}
	return conn, err
}

// connection is a TCP connection. It has all methods of one, since net/http looks
// for some of them.
type connection struct{ *net.TCPConn }

// maxOwn is more than the longest answer that net/http writes by itself, in bytes.
const maxOwn = 1 << 10

// ownAnswer matches the answers of net/http itself, each of which is one write. An
// answer of a handler has more headers, and its body never has bare line breaks in
// front of a header.
var ownAnswer = regexp.MustCompile(`^HTTP/1\.[01] ([45]\d\d) [^\r\n]*\r\n` +
	`(?:Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n([^\r\n]*)` +
	`|\r\n([^\r\n]*HTTPS server\.)\n|Connection: close\r\nDate: [^\r\n]*\r\nContent-Length: 0\r\n\r\n)$`)

// Write implements io.Writer.
func (c connection) Write(p []byte) (int, error) {
	if len(p) <= maxOwn && bytes.HasPrefix(p, []byte("HTTP/1.")) {
		if own := ownAnswer.FindSubmatch(p); own != nil {
			if _, err := c.TCPConn.Write(asJSON(string(own[1]), string(own[2]), len(own[3]) > 0)); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	return c.TCPConn.Write(p)
}

// ownStatus has the status names of the errors that only net/http has.
var ownStatus = map[int]string{
	http.StatusBadRequest:                  "INVALID_ARGUMENT",
	http.StatusExpectationFailed:           "EXPECTATION_FAILED",
	http.StatusRequestHeaderFieldsTooLarge: "HEADERS_TOO_LARGE",
	http.StatusNotImplemented:              "UNIMPLEMENTED",
	http.StatusHTTPVersionNotSupported:     "HTTP_VERSION_NOT_SUPPORTED",
}

// ownMessages say what to do about errors of which net/http only gives the code.
var ownMessages = map[int]string{
	http.StatusExpectationFailed:           "Expect: the only expectation that can be met is 100-continue",
	http.StatusRequestHeaderFieldsTooLarge: "the headers have more than 1 MiB",
	http.StatusNotImplemented:              "Transfer-Encoding: want chunked, or none",
}

// asJSON returns an answer of net/http in the form of this API. withoutTLS says that it
// is that to a request without TLS.
func asJSON(code, text string, withoutTLS bool) []byte {
	status, _ := strconv.Atoi(code)
	message := ownMessages[status]
	if withoutTLS {
		message = "this port speaks TLS alone: use https://"
	}
	if message == "" {
		_, message, _ = strings.Cut(text, ": ") // after "400 Bad Request"
	}
	if message == "" {
		message = "the request is not HTTP/1.1 as it must be: see its first line and its headers"
	}
	name := ownStatus[status]
	if name == "" {
		name = strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_"))
	}
	body, err := strict.Encode(errorBody{errorDetail{status, name, message}})
	if err != nil {
		panic(err) // it is a number and two texts
	}
	header := http.Header{}
	secure(header)
	header.Set("Connection", "close")
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)+1))
	header.Set(echo.HeaderXRequestID, rand.Text())
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = header.Write(&out) // a buffer takes everything
	fmt.Fprintf(&out, "\r\n%s\n", body)
	return out.Bytes()
}
