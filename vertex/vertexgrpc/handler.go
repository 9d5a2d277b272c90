package vertexgrpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/memoryd/memoryd/vertex"
)

// Handler serves gRPC as an http.Handler. A library of gRPC reads the message of a call before the
// code of the call runs. Handler comes before it: it refuses a caller who is not known, and has
// room for the message, before more than the length of the message is read.
type Handler struct {
	server *server
	grpc   *grpc.Server
	names  map[string]string // of the methods, by their paths
}

// NewHandler makes a Handler.
func NewHandler(service *vertex.Service) *Handler {
	h := &Handler{server: &server{service}, grpc: New(service), names: map[string]string{}}
	for _, s := range services() {
		for _, m := range s.methods {
			h.names["/"+s.name+"/"+m.name] = m.name
		}
	}
	return h
}

// heldKey is the key of a context in which the room for the message is taken.
type heldKey struct{}

// prefixBytes is the length of what comes before a message: whether it is compressed, and its
// length.
const prefixBytes = 5

// ServeHTTP implements http.Handler. Health and reflection, which tell nothing of what is stored, are
// served to all.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := h.names[r.URL.Path]
	if !ok {
		h.grpc.ServeHTTP(w, r)
		return
	}
	room, err := h.server.service.Authenticate(r, "gRPC", name)
	if err != nil {
		h.refuse(w, err)
		return
	}
	prefix := make([]byte, prefixBytes)
	n, _ := io.ReadFull(r.Body, prefix) // what is missing, the library misses
	if size := messageSize(prefix[:n]); size > 0 && size <= MaxReceived {
		release, err := room(r.Context(), size)
		if err != nil {
			h.refuse(w, err)
			return
		}
		defer release()
	} // a message that is larger, the library refuses unread
	r = r.WithContext(context.WithValue(r.Context(), heldKey{}, true))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(prefix[:n]), r.Body), r.Body}
	h.grpc.ServeHTTP(w, r)
}

// messageSize is how many bytes the message behind a prefix may have, 0 if the prefix is cut off.
func messageSize(prefix []byte) int64 {
	switch {
	case len(prefix) < prefixBytes:
		return 0
	case prefix[0] != 0: // it is compressed
		return MaxReceived
	}
	return int64(binary.BigEndian.Uint32(prefix[1:]))
}

// refuse answers a call whose message is not read.
func (h *Handler) refuse(w http.ResponseWriter, err error) {
	st := status.Convert(h.server.failed(err, ""))
	head := w.Header()
	head.Set("Content-Type", "application/grpc")
	head.Set("Grpc-Status", strconv.Itoa(int(st.Code())))
	head.Set("Grpc-Message", strings.ReplaceAll(url.PathEscape(st.Message()), "+", "%2B"))
	if len(st.Details()) > 0 {
		if raw, err := proto.Marshal(st.Proto()); err == nil {
			head.Set("Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(raw))
		}
	}
	w.WriteHeader(http.StatusOK)
}
