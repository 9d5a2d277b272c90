package vertex_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// unstable are the parts of answers that differ from run to run, and what stands for them.
var unstable = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`20[2-9]\d-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{regexp.MustCompile(`\b[1-9]\d{18}\b`), "NUMBER"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`/operations/[A-Za-z0-9_-]+`), "/operations/OPERATION"},
	{regexp.MustCompile(`here: it has [^"]+`), "here: it has METHODS"},
	{regexp.MustCompile(`("nextPageToken":)"[A-Za-z0-9_-]{9,}"`), `$1"TOKEN"`},
	{regexp.MustCompile(`("(?:distance|score)":\d\.\d\d)\d+`), "$1"}, // newer memories score higher
}

// The requests that clients send get the answers in the golden file. In it a line that begins with
// > is a request: its verb, its path and its body. The times of 2020 are those of clients. The answers
// are the same whatever the stores.
func TestWire(t *testing.T) {
	for _, name := range []string{"sessions", "generate", "memories", "engines"} {
		t.Run(name, func(t *testing.T) { wire(t, name, newFixture(t), *update) })
		if !*update {
			t.Run(name+" over Redis and Qdrant", func(t *testing.T) {
				t.Parallel()
				wire(t, name, newScaledFixture(t), false)
			})
		}
	}
}

// wire makes the requests of a golden file, and compares the answers, or writes them.
func wire(t *testing.T, name string, f *fixture, update bool) {
	file := "testdata/" + name + ".txt"
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for line := range strings.Lines(string(golden)) {
		request, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
		if !ok {
			if strings.HasPrefix(line, "#") {
				got.WriteString(line)
			}
			continue
		}
		verb, rest, _ := strings.Cut(request, " ")
		path, body, _ := strings.Cut(rest, " ")
		base := "/v1beta1/projects/p/locations/memoryd/reasoningEngines"
		if of, ok := strings.CutPrefix(path, "^"); ok { // of the collection
			path = of
		} else {
			base += "/1"
		}
		code, answer := f.call("", verb, base+path, body)
		for _, u := range unstable {
			answer = u.re.ReplaceAllString(strings.ReplaceAll(answer, "2020-", "then-"), u.to)
			answer = strings.ReplaceAll(answer, "then-", "2020-")
		}
		answer = strings.ReplaceAll(answer, "projects/p/locations/memoryd/reasoningEngines/1", "E")
		fmt.Fprintf(&got, "> %s\n%d %s\n", request, code, answer)
	}
	if update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(golden), got.String()); diff != "" {
		t.Errorf("answers: -want +got\n%s", diff)
	}
}
