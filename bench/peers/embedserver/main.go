// Embedserver answers OpenAI's embeddings call with memoryd's built-in embedder, so
// that all peers of a comparison search the same vectors. It serves loopback only.
//
//	embedserver 8091
package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/memoryd/memoryd/embed"
)

// maxBody is the most that one request may have, in bytes.
const maxBody = 16 << 20

// input is a text, or a list of texts.
type input []string

func (in *input) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*in = input{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(in))
}

type request struct {
	Model      string `json:"model"`
	Input      input  `json:"input"`
	Dimensions int    `json:"dimensions"`
	Format     string `json:"encoding_format"`
}

type datum struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // numbers, or base64 of their float32 in little endian
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: embedserver PORT")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", serve)
	server := &http.Server{
		Addr: net.JoinHostPort("127.0.0.1", os.Args[1]), Handler: mux, ReadHeaderTimeout: 10 * time.Second,
	}
	log.Fatal(server.ListenAndServe())
}

func serve(w http.ResponseWriter, r *http.Request) {
	status, answer := embeddings(r.Context(), http.MaxBytesReader(w, r.Body, maxBody))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		log.Print("answer: ", err) // the client is gone
	}
}

// embeddings answers a request with a status and a body.
func embeddings(ctx context.Context, body io.Reader) (int, any) {
	var q request
	if err := json.NewDecoder(body).Decode(&q); err != nil {
		return refuse("read the request: %v", err)
	}
	dimension := embed.Builtin{}.Model().Dimension
	if q.Dimensions != 0 && q.Dimensions != dimension {
		return refuse("dimensions %d: vectors have %d", q.Dimensions, dimension)
	}
	vectors, err := embed.Vectors(ctx, embed.Builtin{}, embed.Document, q.Input)
	if err != nil {
		return refuse("embed: %v", err)
	}
	data := make([]datum, len(vectors))
	for i, v := range vectors {
		data[i] = datum{Object: "embedding", Index: i, Embedding: v}
		if q.Format == "base64" {
			raw, err := binary.Append(nil, binary.LittleEndian, v)
			if err != nil {
				return refuse("encode: %v", err)
			}
			data[i].Embedding = base64.StdEncoding.EncodeToString(raw)
		}
	}
	usage := map[string]int{"prompt_tokens": 0, "total_tokens": 0} // tokens are not counted
	return http.StatusOK, map[string]any{"object": "list", "model": q.Model, "data": data, "usage": usage}
}

func refuse(format string, args ...any) (int, any) {
	return http.StatusBadRequest, map[string]any{
		"error": map[string]string{"message": fmt.Sprintf(format, args...), "type": "invalid_request_error"},
	}
}
