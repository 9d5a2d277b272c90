package docs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/internal/openapitest"
)

// TestCommands runs every curl command of the README and of the pages here, in
// order. None may get an error, all requests and answers are as /openapi.json says, and
// tools must find the facts that the page stored before.
func TestCommands(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			bank, err := memoryd.Open(t.Context(), ":memory:", nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { bank.Close() })
			r := &reader{bank: openapitest.Checked(t, bank), ids: map[string]string{}}
			for _, command := range commands(string(text)) {
				if err := r.follow(command); err != nil {
					t.Errorf("%s\n%v", command, err)
				}
			}
		})
	}
}

// commands returns the curl commands in the indented blocks of a page.
func commands(page string) []string {
	var out []string
	quoted := false
	for line := range strings.Lines(page) {
		code, ok := strings.CutPrefix(line, "    ")
		switch {
		case quoted:
			out[len(out)-1] += line
		case ok && strings.HasPrefix(code, "curl "):
			out = append(out, code)
		default:
			continue
		}
		quoted = strings.Count(out[len(out)-1], "'")%2 == 1
	}
	return out
}

// reader runs the commands of a page, with the ids of the answers before.
type reader struct {
	bank http.Handler
	ids  map[string]string // of the last memory and operation
}

// words matches the words of a command line. Quoted words may contain blanks.
var words = regexp.MustCompile(`(?:'[^']*'|\S)+`)

func (r *reader) follow(command string) error {
	command, _, _ = strings.Cut(command, " | ") // without the program that reads the answer
	method, url, body, header := http.MethodGet, "", "", http.Header{}
	args := words.FindAllString(command, -1)[1:]
	for i := 0; i < len(args); i++ {
		value := func() string { i++; return strings.ReplaceAll(args[i], "'", "") }
		switch args[i] {
		case "-s":
		case "-X":
			method = value()
		case "-d":
			body = value()
			if method == http.MethodGet {
				method = http.MethodPost
			}
		case "-H":
			name, v, _ := strings.Cut(value(), ": ")
			header.Set(name, v)
		default:
			url = strings.ReplaceAll(args[i], "'", "")
		}
	}
	path, ok := strings.CutPrefix(url, "http://127.0.0.1:8080")
	if !ok {
		return fmt.Errorf("not a URL of memoryd: %s", url)
	}
	for kind, id := range r.ids {
		path = strings.Replace(path, "/"+kind+"/ID", "/"+kind+"/"+id, 1)
	}
	body = strings.Replace(body, "TIME", time.Now().UTC().Format(time.RFC3339), 1)
	req := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	req.Header = header
	w := httptest.NewRecorder()
	r.bank.ServeHTTP(w, req)
	if w.Code >= 300 {
		return fmt.Errorf("%d %s", w.Code, w.Body)
	}
	var answer struct {
		ID       string
		Done     *bool
		Memories []struct{ Memory struct{ ID string } }
		Result   struct{ Memories []any } // of a tool
	}
	if json.Unmarshal(w.Body.Bytes(), &answer) != nil {
		return nil // a stream
	}
	if found := answer.Result.Memories; found != nil && len(found) == 0 {
		return fmt.Errorf("nothing is remembered: %s", w.Body)
	}
	if len(answer.Memories) > 0 {
		r.keep("memories", answer.Memories[0].Memory.ID)
	}
	if answer.Done != nil {
		r.keep("operations", answer.ID)
	} else if !strings.Contains(path, "/sessions") {
		r.keep("memories", answer.ID)
	}
	return nil
}

func (r *reader) keep(kind, id string) {
	if id != "" {
		r.ids[kind] = id
	}
}
