package server_test

import (
	"strings"
	"testing"
)

// A rollback is an operation of its own, whose response lists what it has brought back. A
// dry run tells the same before, and changes nothing.
func TestRollbackOperation(t *testing.T) {
	a := start(t)
	told := func(session, id, content string) string {
		op := a.want(200, "POST", scope+"/memories/ingest?wait=true", request{"sessionId": session,
			"events": []any{request{"id": id, "author": "user", "content": content}}})
		return text(op, "id")
	}
	told("s1", "e1", "I live in Rome.")
	id := told("s2", "e2", "I moved to Oslo.")
	path := "/v1/operations/" + id + "/rollback"
	before := a.want(200, "GET", scope+"/memories?history=true", nil)
	a.refused(400, "POST", path, `{"dryrun": true}`, "dryrun")
	a.refused(400, "POST", path, `{"dryRun": 1}`, "dryRun")
	a.refused(404, "POST", "/v1/operations/none/rollback", nil, "none")

	dry := a.want(200, "POST", path, request{"dryRun": true})
	if at(dry, "done") != true || at(dry, "id") != nil {
		t.Errorf("dry run %v", dry)
	}
	same(t, "after the dry run", a.want(200, "GET", scope+"/memories?history=true", nil), before)
	did := a.want(200, "POST", path+"?wait=true", nil)
	same(t, "rollbackOf", text(did, "metadata", "rollbackOf"), id)
	same(t, "sessionId", at(did, "metadata", "sessionId"), nil)
	same(t, "as read", a.want(200, "GET", "/v1/operations/"+text(did, "id"), nil), did)
	for _, v := range []any{dry, did} {
		got := []string{}
		for i := range 2 {
			got = append(got, text(v, "response", "memories", i, "action")+" "+
				text(v, "response", "memories", i, "memory", "fact"))
		}
		if all := strings.Join(got, "|"); !strings.Contains(all, "DELETED I moved to Oslo.") ||
			!strings.Contains(all, "UPDATED I live in Rome.") || at(v, "response", "memories", 2) != nil {
			t.Errorf("changes %q of %v", all, v)
		}
	}
	if facts := a.want(200, "GET", scope+"/memories?kind=fact", nil); text(facts, "memories", 0, "fact") != "I live in Rome." ||
		at(facts, "memories", 1) != nil || at(facts, "memories", 0, "validTo") != nil {
		t.Errorf("facts %v", facts)
	}
	a.refused(409, "POST", path, nil, text(did, "id"))
	a.refused(409, "POST", path, `{"dryRun": true}`, text(did, "id"))
	a.refused(400, "POST", "/v1/operations/"+id+"/retry", nil, text(did, "id"))
	a.want(200, "POST", "/v1/operations/"+text(did, "id")+"/rollback?wait=true", nil)
	if facts := a.want(200, "GET", scope+"/memories?kind=fact", nil); text(facts, "memories", 0, "fact") != "I moved to Oslo." ||
		at(facts, "memories", 1) != nil {
		t.Errorf("facts after the rollback was rolled back %v", facts)
	}
}
