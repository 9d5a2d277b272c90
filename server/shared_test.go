package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// sharedPath is that of the shared knowledge of the app of scope.
var sharedPath = scope[:strings.Index(scope, "/users/")] + "/memories"

// factsOf are the facts of matches or of memories.
func factsOf(list []any) (out []string) {
	for _, m := range list {
		if of, ok := m.(map[string]any)["memory"]; ok {
			m = of
		}
		out = append(out, text(m, "fact"))
	}
	return out
}

// Shared knowledge has the verbs of a user's memories, and answers without a user.
func TestSharedKnowledge(t *testing.T) {
	a := start(t)
	made := a.want(201, "POST", sharedPath, request{"fact": "Returns are free for 30 days.", "topics": []string{"SHOP"}})
	id := text(made, "id")
	if of, ok := made.(map[string]any)["userId"]; ok || at(made, "shared") != true || text(made, "appName") != "app" {
		t.Errorf("a shared memory has the user %v: %v", of, made)
	}
	one := sharedPath + "/" + id
	changed := a.want(200, "PATCH", one, request{"fact": "Returns are free for 60 days."})
	if at(changed, "shared") != true || text(a.want(200, "GET", one, nil), "fact") != "Returns are free for 60 days." {
		t.Errorf("changed: %v", changed)
	}
	if n := len(list(a.want(200, "GET", one+"/revisions", nil), "revisions")); n != 2 {
		t.Errorf("%d revisions", n)
	}
	a.want(204, "DELETE", one, nil)
	a.refused(404, "GET", one, nil, "shared knowledge", id)
	back := a.want(200, "POST", one+"/rollback", request{"revision": 1})
	if text(back, "fact") != "Returns are free for 30 days." || at(back, "shared") != true {
		t.Errorf("rolled back: %v", back)
	}
	all := list(a.want(200, "GET", sharedPath+"?topic=SHOP", nil), "memories")
	if len(all) != 1 || at(all[0], "shared") != true {
		t.Errorf("listed: %v", all)
	}
	for _, path := range []string{"/search", "/context"} {
		found := list(a.want(200, "POST", sharedPath+path, request{"query": "returns"}), "memories")
		if len(found) != 1 || at(found[0], "memory", "shared") != true {
			t.Errorf("%s finds %v", path, found)
		}
	}
	a.refused(400, "POST", sharedPath+"/search", request{"query": "returns", "shared": true}, "shared")
	a.refused(400, "POST", sharedPath, request{"fact": "x", "userId": "ann"}, "userId")
	a.refused(400, "POST", sharedPath, request{"fact": "x", "userId": "/shared"}, "userId")
	a.refused(400, "GET", "/v1/apps/app/users/%2Fshared/memories", nil, "user", "slash")
	if users := list(a.want(200, "GET", "/v1/apps/app/users", nil), "users"); len(users) != 0 {
		t.Errorf("shared knowledge made the users %v", users)
	}
	if all := list(a.want(200, "GET", "/v1/apps/app/all/memories", nil), "memories"); len(all) != 0 {
		t.Errorf("the memories of all users are %v", all)
	}
	a.refused(404, "GET", "/v1/apps/app/all/memories/"+id, nil)
	a.want(200, "POST", "/v1/apps/app/all/memories/purge", request{"filter": "fact:returns"})
	a.refused(400, "POST", sharedPath+"/purge", request{}, "condition")
	if n := number(a.want(200, "POST", sharedPath+"/purge", request{"topics": []string{"SHOP"}, "dryRun": true}), "count"); n != 1 {
		t.Errorf("a purge would take %v", n)
	}
	gone := a.erased("POST", one+"/erase")
	if number(gone, "memories") != 1 || number(gone, "revisions") != 4 {
		t.Errorf("erased %v", gone)
	}
	a.refused(404, "GET", one+"/revisions", nil)
}

// A search finds shared knowledge if it or the configuration of the app asks for it, and
// otherwise does not.
func TestSearchShared(t *testing.T) {
	a := start(t)
	a.want(201, "POST", sharedPath, request{"fact": "Peanuts are in aisle 7."})
	a.want(201, "POST", scope+"/memories", request{"fact": "I am allergic to peanuts."})
	a.want(201, "POST", "/v1/apps/other/memories", request{"fact": "Peanuts are not sold here."})
	both, own := []string{"I am allergic to peanuts.", "Peanuts are in aisle 7."}, []string{"I am allergic to peanuts."}
	query := func(more ...any) request {
		out := request{"query": "peanuts", "explain": true, "lines": true}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	check := func(body request, want []string) {
		t.Helper()
		found := a.find(body)
		facts := factsOf(found)
		if slices.Sort(facts); !slices.Equal(facts, want) {
			t.Errorf("%v finds %q, want %q", body, facts, want)
		}
		for _, m := range found {
			shared := strings.Contains(text(m, "memory", "fact"), "aisle")
			if _, user := at(m, "memory").(map[string]any)["userId"]; shared == user || shared != (at(m, "memory", "shared") == true) {
				t.Errorf("whose is %v?", m)
			}
			if line := text(m, "line"); shared != strings.HasPrefix(line, "(shared knowledge) ") {
				t.Errorf("its line is %q", line)
			}
		}
	}
	check(query(), own)
	check(query("shared", true), both)
	check(query("shared", true, "topK", 1), factsOf(a.find(query("shared", true)))[:1])
	check(query("shared", true, "filter", "fact:aisle"), both[1:])
	check(query("shared", true, "kinds", []string{"turn"}), []string{})
	check(query("shared", true, "sessionId", "none"), []string{})
	check(query("shared", true, "queries", []string{"nuts", "allergic"}), both)
	block := a.want(200, "POST", scope+"/memories/context", request{"query": "peanuts", "shared": true})
	if got := text(block, "text"); !strings.Contains(got, "Shared knowledge:\n") || !strings.Contains(got, "I am allergic") {
		t.Errorf("the block is\n%s", got)
	}
	tool := func(name, of string) string {
		return string(a.do("POST", scope+"/tools/"+name, `{"args": {"query": "peanuts"}}`).raw)
	}
	for _, name := range []string{"load_memory", "search_memory", "preload_memory"} {
		if got := tool(name, ""); strings.Contains(got, "aisle") || !strings.Contains(got, "allergic") {
			t.Errorf("%s answers %s", name, got)
		}
	}
	a.refused(400, "POST", scope+"/tools/search_memory", `{"args": {"query": "peanuts", "shared": true}}`, "shared")
	a.known(`{"search": {"shared": true}}`)
	check(query(), both)
	check(query("shared", false), own)
	for _, name := range []string{"load_memory", "search_memory", "preload_memory"} {
		got := tool(name, "")
		if !strings.Contains(got, "aisle") || !strings.Contains(got, "allergic") || !strings.Contains(got, `"shared":true`) {
			t.Errorf("%s answers %s", name, got)
		}
	}
	// A key of a user finds what is shared, and reaches it by no other way.
	admin := a.admin()
	key := []string{"Authorization", "Bearer " + a.key(admin, "app", "ann", "read", "write", "admin")}
	if got := a.want(200, "POST", scope+"/memories/search", query(), key...); len(list(got, "memories")) != 2 {
		t.Errorf("a key of the user finds %v", got)
	}
	all := list(a.want(200, "GET", sharedPath, nil, "Authorization", "Bearer "+admin), "memories")
	for _, c := range [][2]string{{"GET", ""}, {"POST", ""}, {"POST", "/search"}, {"GET", "/" + text(all[0], "id")},
		{"DELETE", "/" + text(all[0], "id")}} {
		if r := a.do(c[0], sharedPath+c[1], nil, key...); r.status != http.StatusForbidden {
			t.Errorf("%s %s with a key of a user: %d %s", c[0], c[1], r.status, r.raw)
		}
	}
	if r := a.do("GET", scope+"/memories/"+text(all[0], "id"), nil, key...); r.status != http.StatusNotFound {
		t.Errorf("a shared memory by a path of the user: %d %s", r.status, r.raw)
	}
}

// To forget an app erases what is shared, and to forget a user does not.
func TestEraseAppShared(t *testing.T) {
	a := start(t)
	made := a.want(201, "POST", sharedPath, request{"fact": "Peanuts are in aisle 7."})
	a.want(201, "POST", scope+"/memories", request{"fact": "I am allergic to peanuts."})
	a.want(200, "DELETE", scope+"?confirm=ann", nil)
	a.want(200, "GET", sharedPath+"/"+text(made, "id"), nil)
	gone := a.want(200, "DELETE", "/v1/apps/app?confirm=app", nil)
	if number(gone, "memories") != 1 || at(gone, "users") != nil {
		t.Errorf("erased %v", gone)
	}
	a.refused(404, "GET", sharedPath+"/"+text(made, "id"), nil)
	if apps := list(a.want(200, "GET", "/v1/apps", nil), "apps"); len(apps) != 0 {
		t.Errorf("there are %v", apps)
	}
}

// A document is found by passages that cite their place in it, beside what the user said,
// and is listed, replaced, deleted and erased as a whole.
func TestDocuments(t *testing.T) {
	a := start(t)
	returns := "# Returns\n\n## Shoes\n\nShoes come back within 60 days if they were worn indoors only and the box is whole.\n\n" +
		"## Hats\n\nHats are not taken back at all, for reasons of hygiene, except if they came damaged or late.\n"
	documents := strings.TrimSuffix(sharedPath, "/memories") + "/documents"
	d := request{"id": "returns", "title": "Return policy", "uri": "https://shop.example/returns", "text": returns, "topics": []string{"SHOP"}}
	made := a.want(201, "POST", documents, d)
	if number(made, "passages") != 2 || number(made, "added") != 2 || at(made, "complete") != true {
		t.Fatalf("made %v", made)
	}
	if same := a.want(200, "POST", documents, d); number(same, "added")+number(same, "changed")+number(same, "removed") != 0 {
		t.Errorf("the same again: %v", same)
	}
	a.want(201, "POST", scope+"/memories", request{"fact": "I bought red shoes and a hat."})
	query := request{"query": "Can I bring my shoes back?", "shared": true, "lines": true}
	var cited any
	for _, m := range a.find(query) {
		if strings.HasPrefix(text(m, "memory", "fact"), "Shoes come back") {
			cited = m
		}
	}
	place := at(cited, "memory", "source", "passage")
	if text(place, "documentId") != "returns" || text(place, "title") != "Return policy" || text(place, "headings", 1) != "Shoes" ||
		returns[int(number(place, "start")):int(number(place, "end"))] != text(cited, "memory", "fact") {
		t.Errorf("cited as %v", place)
	}
	if line := text(cited, "line"); !strings.HasPrefix(line, `(shared knowledge, from "Return policy", section Returns > Shoes) Shoes`) {
		t.Errorf("its line is %q", line)
	}
	block := text(a.want(200, "POST", scope+"/memories/context", query), "text")
	if !strings.Contains(block, "Shared knowledge, from \"Return policy\":\n") || !strings.Contains(block, "(section Returns > Shoes) Shoes") {
		t.Errorf("the block is\n%s", block)
	}
	if found := a.find(request{"query": "hats", "shared": true, "topics": []string{"SHOP"}}); len(found) == 0 {
		t.Error("a passage is not found by the topic of its document")
	}
	d["text"] = strings.Replace(returns, "60 days", "90 days", 1)
	if next := a.want(200, "POST", documents, d); number(next, "added") != 1 || number(next, "removed") != 1 || number(next, "changed") != 0 {
		t.Errorf("another text: %v", next)
	}
	if all := list(a.want(200, "GET", documents, nil), "documents"); len(all) != 1 || text(all[0], "title") != "Return policy" {
		t.Errorf("listed: %v", all)
	}
	if n := len(list(a.want(200, "GET", sharedPath+"?sessionId=returns", nil), "memories")); n != 2 {
		t.Errorf("%d passages are listed", n)
	}
	unnamed := a.want(201, "POST", documents, request{"text": "Opening hours are from nine to five."})
	a.want(200, "POST", documents, request{"text": "Opening hours are from nine to five."})
	a.want(204, "DELETE", documents+"/"+text(unnamed, "id"), nil)
	a.refused(404, "GET", documents+"/"+text(unnamed, "id"), nil)
	a.refused(404, "DELETE", documents+"/none", nil)
	a.refused(400, "POST", documents, request{"id": "a/b", "text": "x"}, "document id")
	a.refused(400, "POST", documents, request{"id": "x", "text": strings.Repeat("x", 1<<20+1)}, "text has 1048577 bytes")
	a.refused(400, "POST", sharedPath, request{"id": "documents", "fact": "x"}, "documents")
	if users := list(a.want(200, "GET", "/v1/apps/app/users", nil), "users"); len(users) != 1 {
		t.Errorf("documents made the users %v", users)
	}
	if gone := a.erased("POST", documents+"/returns/erase"); number(gone, "memories") != 3 {
		t.Errorf("erased %v", gone)
	}
	a.refused(404, "GET", documents+"/returns", nil)
	if found := a.find(query); len(found) != 1 {
		t.Errorf("after it was erased: %v", factsOf(found))
	}
}
