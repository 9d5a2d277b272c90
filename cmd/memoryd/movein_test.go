package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// moved is an export of mem0 with one secret in it.
const moved = `{"results": [
	{"id": "1", "memory": "Ann is allergic to peanuts", "created_at": "2024-05-08T13:56:00Z", "user_id": "ann"},
	{"id": "2", "memory": "Ann's key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", "created_at": "2024-05-08T13:57:00Z", "user_id": "ann"},
	{"id": "3", "memory": "Whose?", "created_at": "2024-05-08T13:58:00Z"}]}`

// talked is an export of ChatGPT with one conversation.
const talked = `[{"title": "Pets", "create_time": 1715176500, "conversation_id": "talk", "current_node": "n2", "mapping": {
	"n1": {"message": {"id": "n1", "author": {"role": "user"}, "create_time": 1715176501, "content": {"content_type": "text", "parts": ["My cat is called Miau."]}}, "parent": null, "children": ["n2"]},
	"n2": {"message": {"id": "n2", "author": {"role": "assistant"}, "create_time": 1715176502, "content": {"content_type": "text", "parts": ["Hello Miau."]}}, "parent": "n1", "children": []}}}]`

// Files of other programs are imported: facts are found at once, and sessions have their
// memories once memoryd serves. A dry run changes nothing, and a second import adds
// nothing. Secrets are replaced where the app asks for that.
func TestImportFrom(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	facts, talk := write("facts.json", moved), write("conversations.json", talked)
	said := runs(t, "import", "-from", "mem0", "-dry-run", "-data", data, "-app", "shop", facts)
	for _, want := range []string{`app "shop", user "ann": 0 sessions with 0 events, 2 memories`, "left out: 1: it names no user", "nothing is imported"} {
		if !strings.Contains(said, want) {
			t.Errorf("a dry run says %s", said)
		}
	}
	runFails(t, "is cut off", 1, "import", "-from", "chatgpt", "-user", "ann", "-data", data, write("cut", talked[:99]))
	if _, err := os.Stat(data); err == nil {
		t.Error("a dry run and a refused file have made a store")
	}
	// Of what is left out as a whole a script must notice that nothing was moved.
	nobodys := write("nobodys.json", `{"results": [{"id": "1", "memory": "Whose?", "created_at": "2024-05-08T13:58:00Z"}]}`)
	for _, args := range [][]string{{"-dry-run", nobodys}, {nobodys}} {
		runFails(t, "left out: 1: it names no user", 1, append([]string{"import", "-from", "mem0", "-data", data}, args...)...)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("an import that takes nothing has made a store")
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"name no user", []string{"-from", "letta", facts}},
		{"is none of", []string{"-from", "zep", facts}},
		{"want one file, not 2", []string{facts, talk}},
		{"are for -from alone", []string{"-user", "ann", facts}},
		{"want one file", []string{"-from", "mem0"}},
	} {
		runFails(t, c.says, 2, append([]string{"import", "-data", data}, c.args...)...)
	}

	p := start(t, data)
	if code, err := call("PUT", p.url+"/v1/apps/shop/config", map[string]any{"redaction": map[string]any{"kinds": []string{"keys"}}}, nil); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	p.terminate(t)
	for _, want := range []string{"; 2 of the memories were new\nthe data is in " + filepath.Join(data, dataFile), "; 0 of the memories were new"} {
		if said := runs(t, "import", "-from", "mem0", "-data", data, "-app", "shop", facts); !strings.Contains(said, want) {
			t.Errorf("an import says %s", said)
		}
	}
	runs(t, "import", "-from", "chatgpt", "-user", "ann", "-data", data, "-app", "shop", talk)
	runs(t, "import", "-from", "chatgpt", "-user", "ann", "-data", data, "-app", "shop", talk)
	p = start(t, data)
	scope := p.url + "/v1/apps/shop/users/ann"
	var found struct {
		Memories []struct{ Memory struct{ Fact string } }
	}
	var all string
	for _, query := range []string{"peanuts", "key", "Miau"} {
		if code, err := call("POST", scope+"/memories/search", map[string]any{"query": query}, &found); err != nil || code != 200 {
			t.Fatal(code, err)
		}
		for _, m := range found.Memories {
			all += m.Memory.Fact + "\n"
		}
	}
	for _, want := range []string{"allergic to peanuts", "Ann's key is"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not found in\n%s", want, all)
		}
	}
	if strings.Contains(all, "sk-proj") {
		t.Errorf("the secret was stored:\n%s", all)
	}
	hasTurns(t, scope, 2)
	var session struct {
		Events         []any
		DisplayName    string
		LastUpdateTime time.Time
	}
	get := func(events int) {
		t.Helper()
		if code, err := call("GET", scope+"/sessions/talk", nil, &session); err != nil || code != 200 || len(session.Events) != events {
			t.Error(code, err, session)
		}
	}
	get(2)
	p.terminate(t)

	// A later file may lack old messages. Its new ones are remembered, and nothing goes back.
	runs(t, "import", "-from", "chatgpt", "-user", "ann", "-data", data, "-app", "shop", write("later.json", talkedLater))
	p = start(t, data)
	scope = p.url + "/v1/apps/shop/users/ann"
	hasTurns(t, scope, 3)
	was := session.LastUpdateTime
	if get(3); session.DisplayName != "Pets" || session.LastUpdateTime.Before(was) {
		t.Errorf("after a second import: %v, before %v", session, was)
	}
}

// talkedLater is a later export of that conversation: a message is new, and one is missing.
const talkedLater = `[{"title": "Cats", "create_time": 1715176400, "conversation_id": "talk", "current_node": "n3", "mapping": {
	"n3": {"message": {"id": "n3", "author": {"role": "user"}, "create_time": 1715176400, "content": {"content_type": "text", "parts": ["My dog is called Wuff."]}}, "parent": null, "children": []}}}]`

// hasTurns waits until a user has so many turns.
func hasTurns(t *testing.T, scope string, want int) {
	t.Helper()
	var list struct {
		Memories []struct{ Fact, Kind string }
	}
	turns := 0
	for end := time.Now().Add(time.Minute); turns != want && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if code, err := call("GET", scope+"/memories", nil, &list); err != nil || code != 200 {
			t.Fatal(code, err)
		}
		turns = 0
		for _, m := range list.Memories {
			if m.Kind == "turn" {
				turns++
			}
		}
	}
	if turns != want {
		t.Errorf("there are %d turns, want %d: %v", turns, want, list)
	}
}
