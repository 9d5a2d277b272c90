package movein_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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
			t.Skip(err)
		}
		if _, _, err := convert(t, movein.ADKDatabase, "", path); err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatalf("%v is no error of the file", err)
		}
	})
}
