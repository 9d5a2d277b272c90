package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// socketSuffix follows the name of the data file in that of the socket beside it.
const socketSuffix = ".sock"

// maxSocketPath is how long the path of a Unix socket may be on Linux, in bytes; other
// systems have a little less.
const maxSocketPath = 103

// socket is the path of the Unix socket of a memoryd whose data is in a file; "" if none
// is. Only who may write to the directory of the file can use the socket.
func (c *config) socket() string {
	for _, place := range []string{c.sessions, c.memories} {
		if inFile(place) && place != sqlitedb.Memory {
			return place + socketSuffix
		}
	}
	return ""
}

// ownerOnSocket is who calls over the socket: it could read the data file as well.
var ownerOnSocket = &access.Principal{ID: "socket", App: access.AllApps,
	Can: access.Read | access.Write | access.Admin}

// errNoSocket is the error of a data file without a socket beside it.
var errNoSocket = errors.New("a memoryd has the data, but there is no way to ask it:" +
	" name its address with -server, and an admin key with -key-file")

// listenSocket serves the socket, for commands that run beside this process. It returns
// nil if there is to be none. A socket that an earlier process left is replaced: the data
// file belongs to this one.
func listenSocket(path string, log *slog.Logger) net.Listener {
	if path == "" {
		return nil
	}
	if len(path) > maxSocketPath {
		log.Warn("the path of the data is too long for a socket: memoryd keys needs -server and an admin key",
			"path", path)
		return nil
	}
	err := os.Remove(path)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		var on net.Listener
		if on, err = net.Listen("unix", path); err == nil {
			if err = os.Chmod(path, 0o600); err == nil {
				return on
			}
			err = errors.Join(err, on.Close())
		}
	}
	log.Warn("there is no socket for commands beside this memoryd", "err", err)
	return nil
}

// asOwner gives the requests of a connection over the socket their principal.
func asOwner(ctx context.Context, _ net.Conn) context.Context { return access.With(ctx, ownerOnSocket) }

// socketTransport sends requests over a socket.
func socketTransport(path string) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
}

// socketClient is a client of the memoryd that has the data file beside a socket.
func socketClient(path string) (*client.Client, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w (%w)", errNoSocket, err)
	}
	return client.New("http://localhost", &client.Options{Transport: socketTransport(path), Retries: -1})
}
