package movein_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/movein"
)

// fuzz has each format read any bytes: it fails with ErrInvalid, or makes an archive that
// can be imported.
func fuzz(f *testing.F, from movein.Format, seeds ...string) {
	for _, seed := range seeds {
		text, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err := movein.Convert(t.Context(), from, []string{file}, &out, movein.Options{App: "app", User: "ann"})
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("%v is no error of the file", err)
			}
			return
		}
		if _, _, err := archive.Verify(&out, nil); err != nil {
			t.Fatalf("what was converted cannot be imported: %v", err)
		}
	})
}

func FuzzMem0(f *testing.F) { fuzz(f, movein.Mem0, "testdata/mem0.json", "testdata/mem0-scroll.json") }

func FuzzAgentMemory(f *testing.F) {
	fuzz(f, movein.AgentMemoryServer, "testdata/agent-memory.jsonl")
}

func FuzzLetta(f *testing.F) {
	fuzz(f, movein.Letta, "testdata/letta.af", "testdata/letta-1.af", "testdata/letta-passages.json")
}

func FuzzChatGPT(f *testing.F) { fuzz(f, movein.ChatGPT, "testdata/conversations.json") }

// FuzzPacked has any text be the conversations of a packed export.
func FuzzPacked(f *testing.F) {
	f.Add("conversations.json", `[{"id": "c1", "current_node": "a", "mapping": {"a": {"parent": "a"}}}]`)
	f.Add("x/conversations-1.json", "\ufeff[]")
	f.Fuzz(func(t *testing.T, name, text string) {
		if strings.HasSuffix(name, "/") { // a folder, which has no text
			name += "conversations.json"
		}
		_, _, err := convert(t, movein.ChatGPT, "ann", pack(t, map[string]string{name: text}))
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("%v is no error of the file", err)
		}
	})
}

// FuzzMem0History has a row of a change and one of a message be any texts.
func FuzzMem0History(f *testing.F) {
	f.Add("m1", "Ann likes tea", "2024-05-08T13:56:00Z", "user_id=ann&run_id=r1", "user")
	f.Add("m1", "", "1715176560.25", "user_id=%2F&run_id=%", "tool")
	f.Fuzz(func(t *testing.T, id, text, at, scope, role string) {
		path := filepath.Join(t.TempDir(), "history.db")
		db := database(t, path)
		_, err := db.Exec(`CREATE TABLE history (memory_id, old_memory, new_memory, event, created_at, updated_at);
			CREATE TABLE messages (id, session_scope, role, content, name, created_at);
			INSERT INTO history VALUES (?1, '', ?2, 'ADD', ?3, ?3), ('m1', '', ?2, 'UPDATE', ?3, ?3);
			INSERT INTO messages VALUES (?1, ?4, ?5, ?2, ?5, ?3)`, id, text, at, scope, role)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		item := write(t, `[{"id": "m1", "memory": "now", "user_id": "ann", "created_at": "2024-05-08T13:56:00Z"}]`)
		if _, _, err := convert(t, movein.Mem0, "", path, item); err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("%v is no error of the file", err)
		}
	})
}

// FuzzADK has a row of an event and the state of its session be any texts.
func FuzzADK(f *testing.F) {
	f.Add("e1", "2024-05-08 13:56:00.25", `{"author": "user", "content": {"role": "user", "parts": [{"text": "hi"}]}}`, `{"step": 1}`)
	f.Add("", "1715176560.25", `{"timestamp": 1e300}`, `{"user:x": 1}`)
	f.Fuzz(func(t *testing.T, id, at, data, state string) {
		path := filepath.Join(t.TempDir(), "adk.db")
		db := database(t, path)
		_, err := db.Exec(`CREATE TABLE sessions (app_name, user_id, id, state, update_time);
			CREATE TABLE events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data);
			INSERT INTO sessions VALUES ('shop', 'ann', 's1', ?1, ?2);
			INSERT INTO events VALUES (?3, 'shop', 'ann', 's1', 'i1', ?2, ?4)`, state, at, id, data)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := convert(t, movein.ADKDatabase, "", path); err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("%v is no error of the file", err)
		}
	})
}
