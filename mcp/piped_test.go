package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/mcp"
)

// Calls that are piped into the process are done and answered before it ends.
func TestPiped(t *testing.T) {
	bank := open(t)
	user := client.InProcess(bank).User("app", "ann")
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	const calls = 600 // more than the library takes at a time
	for i := range calls {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"remember","arguments":{"fact":"I own boat number %d."}}}`+"\n", i, i)
	}
	var out bytes.Buffer
	if err := mcp.Run(context.Background(), user, nil, io.NopCloser(strings.NewReader(in)), nopCloser{&out}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != calls+1 {
		t.Errorf("%d answers of %d: %s", got, calls+1, out.String())
	}
}

// The end of the input waits for no answer that was given, however its id was written.
func TestPipedIDs(t *testing.T) {
	bank := open(t)
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	for _, id := range []string{`"\u00e9"`, "3.0", "1e2", `"a\/b"`, `"<"`} {
		in += `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` + "\n"
	}
	var out bytes.Buffer
	began := time.Now()
	err := mcp.Run(t.Context(), client.InProcess(bank).User("app", "ann"), nil,
		io.NopCloser(strings.NewReader(in)), nopCloser{&out})
	if err != nil || strings.Count(out.String(), "\n") != 6 {
		t.Errorf("%v: %s", err, out.String())
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
}
