package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The metadata of a request is that of the facts which it makes, and comes to those which
// it says again as the request wants it.
func TestRequestMetadata(t *testing.T) {
	a := start(t)
	facts := func() (out []string) {
		t.Helper()
		for _, m := range list(a.want(200, "GET", scope+"/memories?kind=fact", nil), "memories") {
			out = append(out, fmt.Sprint(text(m, "fact"), " ", at(m, "metadata"), " ", at(m, "evidence")))
		}
		slices.Sort(out)
		return out
	}
	a.ingested("s1", `,"metadata":{"channel":"chat","n":1}`, "My dog is called Rex.", "I live in Porto.")
	same(t, "new", facts(), []string{"I live in Porto. map[channel:chat n:1] <nil>",
		"My dog is called Rex. map[channel:chat n:1] <nil>"})
	a.ingested("s2", ``, "My dog is called Rex.")
	a.ingested("s3", `,"metadata":{"channel":"mail","x":[1]},"metadataMergeStrategy":"MERGE"`, "My dog is called Rex.")
	a.ingested("s4", `,"metadata":{"y":true},"metadataMergeStrategy":"OVERWRITE"`, "I live in Porto.")
	same(t, "said again", facts(), []string{"I live in Porto. map[y:true] 2",
		"My dog is called Rex. map[channel:mail n:1 x:[1]] 3"})
	// What ends a fact says nothing of its metadata.
	a.ingested("s5", `,"metadata":{"z":1}`, "I moved to Lisbon.")
	ended := a.want(200, "GET", scope+"/memories?kind=fact&history=true&filter="+
		"fact:Porto%20AND%20valid_to:*%20AND%20revision%3E1", nil)
	found := false
	for _, m := range list(ended, "memories") {
		found = found || fmt.Sprint(at(m, "metadata")) == "map[y:true]"
	}
	same(t, "the ended fact keeps its own", any(found), any(true))

	// Facts of other metadata stay beside.
	const exact = `,"metadataMergeStrategy":"REQUIRE_EXACT_MATCH","metadata":{"tenant":"b"}`
	a.ingested("t1", exact, "My dog is called Rex.", "I moved to Rome.")
	beside := []string{"I moved to Lisbon. map[z:1] <nil>", "I moved to Rome. map[tenant:b] <nil>",
		"My dog is called Rex. map[channel:mail n:1 x:[1]] 3", "My dog is called Rex. map[tenant:b] <nil>"}
	same(t, "beside", facts(), beside)
	a.ingested("t2", exact, "My dog is called Rex.", "I moved to Berlin.")
	beside[1], beside[3] = "I moved to Rome. map[tenant:b] <nil>", "My dog is called Rex. map[tenant:b] 2"
	beside = append(beside[:1:1], "I moved to Berlin. map[tenant:b] <nil>", beside[2], beside[3])
	slices.Sort(beside)
	same(t, "compared with those of the same metadata", facts(), beside)
	// A request to forget is about all of them.
	a.ingested("t3", exact, "Please forget that my dog is called Rex.")
	same(t, "forgotten", strings.Contains(fmt.Sprint(facts()), "Rex"), false)
}

// The labels of a request are those of all revisions that it makes, of turns too.
func TestRequestLabels(t *testing.T) {
	a := start(t)
	a.ingested("s1", ``, "My dog is called Rex.")
	a.ingested("s2", `,"labels":{"release":"7"}`, "My dog is called Rex.", "I live in Porto.")
	labels := map[string]int{}
	for _, m := range list(a.want(200, "GET", scope+"/memories?history=true", nil), "memories") {
		for _, r := range list(a.want(200, "GET", scope+"/memories/"+text(m, "id")+"/revisions", nil), "revisions") {
			labels[fmt.Sprint(text(m, "kind"), " ", at(r, "action"), " ", at(r, "labels"))]++
		}
	}
	same(t, "revisions", labels, map[string]int{
		"turn CREATED <nil>": 1, "fact CREATED <nil>": 1,
		"turn CREATED map[release:7]": 2, "fact CREATED map[release:7]": 2, "fact UPDATED map[release:7]": 1,
	})
	a.want(200, "POST", scope+"/sessions/s1/events", `{"id":"later","author":"user","content":"I like tea."}`)
	a.want(200, "POST", scope+"/sessions/s1/memories?wait=true", `{"labels":{"run":"a"},"metadata":{"k":1}}`)
	m := list(a.want(200, "GET", scope+"/memories?kind=fact&filter=fact:tea", nil), "memories")[0]
	equal(t, "metadata", at(m, "metadata"), `{"k": 1}`)
	r := a.want(200, "GET", scope+"/memories/"+text(m, "id")+"/revisions", nil)
	equal(t, "labels", at(r, "revisions", 0, "labels"), `{"run": "a"}`)
}

// Options that are wrong get a 400 that names the field, and nothing is stored.
func TestRequestOptionsRefused(t *testing.T) {
	a := start(t)
	a.want(201, "POST", scope+"/sessions", `{"id":"s"}`)
	for want, more := range map[string]string{
		"metadata": `"metadata":{"k":"` + strings.Repeat("x", 16<<10) + `"}`,
		"metadataMergeStrategy: want OVERWRITE, MERGE or REQUIRE_EXACT_MATCH": `"metadataMergeStrategy":"merge"`,
		"labels: there are 65": `"labels":{` + strings.TrimSuffix(strings.Repeat(`"%d":"",`, 65), ",") + `}`,
		"labels: the value":    `"labels":{"a":"` + strings.Repeat("x", 64) + `"}`,
		"labels":               `"labels":[]`,
	} {
		for i := range 65 {
			more = strings.Replace(more, "%d", fmt.Sprint(i), 1)
		}
		body := `{"sessionId":"s","events":[{"id":"e","author":"user","content":"I like tea."}],` + more + `}`
		a.refused(400, "POST", scope+"/memories/ingest", body, want)
		a.refused(400, "POST", scope+"/memories/dryRun", body, want)
		a.refused(400, "POST", scope+"/sessions/s/memories", `{`+more+`}`, want)
	}
	equal(t, "memories", a.want(200, "GET", scope+"/memories", nil), `{"memories": []}`)
}
