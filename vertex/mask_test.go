package vertex_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Changes of different names of the metadata at once are all kept: each is answered as done.
func TestMetadataMasksAtOnce(t *testing.T) {
	f := newFixture(t)
	const memories, n = "/v1beta1/reasoningEngines/1/memories", 12
	f.must("POST", memories+"?memoryId=m", `{"fact": "I like tea.", "scope": {"user_id": "ann"}, "metadata":
		{"old": {"stringValue": "o"}, "gone": {"stringValue": "g"}}}`)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			path := fmt.Sprintf("%s/m?updateMask=metadata.k%d", memories, i)
			body := fmt.Sprintf(`{"metadata": {"k%d": {"doubleValue": %d}, "old": {"stringValue": "new"}}}`, i, i)
			if code, answer := f.call("", "PATCH", path, body); code != http.StatusOK {
				t.Errorf("%s: %d %s", path, code, answer)
			}
		})
	}
	all.Wait()
	f.must("PATCH", memories+"/m?updateMask=metadata.gone", `{}`)
	got := f.must("GET", memories+"/m", "")
	for i := range n {
		if want := fmt.Sprintf(`"k%d":{"doubleValue":%d}`, i, i); !strings.Contains(got, want) {
			t.Errorf("%s: want %s", got, want)
		}
	}
	if !strings.Contains(got, `"old":{"stringValue":"o"}`) || strings.Contains(got, "gone") {
		t.Errorf("%s: want old as it was, and gone not", got)
	}
}
