package movein_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fill has ADK's own services write a session into databases of each schema.
const fill = `
import asyncio
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.sessions.schemas import v0
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from sqlalchemy import create_engine

def event(id, at, role, author, text, **more):
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(id=id, invocation_id="i1", author=author, timestamp=at, content=content, **more)

async def fill(service):
    s = await service.create_session(app_name="shop", user_id="ann", session_id="s1",
        state={"step": 1, "user:name": "Ann", "app:currency": "EUR", "temp:x": 1})
    await service.append_event(s, event("e1", 1715176560.25, "user", "user", "I have a dog."))
    await service.append_event(s, event("e2", 1715176561.5, "model", "guide", "Nice.",
        actions=EventActions(state_delta={"step": 2, "user:diet": "no nuts"})))

v0.Base.metadata.create_all(create_engine("sqlite:///v0.db")) # ADK keeps to the schema that it finds
asyncio.run(fill(DatabaseSessionService("sqlite+aiosqlite:///v0.db")))
asyncio.run(fill(DatabaseSessionService("sqlite+aiosqlite:///v1.db")))
asyncio.run(fill(SqliteSessionService("own.db")))
`

// What ADK itself has written is taken whole, with all of its schemas.
func TestWrittenByADK(t *testing.T) {
	required := os.Getenv("MEMORYD_TEST_CLIENTS")
	if required == "0" {
		t.Skip("MEMORYD_TEST_CLIENTS is 0")
	}
	dir := t.TempDir()
	venv := os.Getenv("MEMORYD_TEST_VENV")
	do := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil && required == "1" {
			t.Fatalf("%.100q: %v\n%s", args, err, out)
		} else if err != nil {
			t.Skipf("%.100q: %v\n%s", args, err, out)
		}
	}
	if venv == "" {
		venv = filepath.Join(dir, "venv")
		do("python3", "-m", "venv", venv)
	}
	constraints, err := filepath.Abs("../docs/testdata/constraints.txt")
	if err != nil {
		t.Fatal(err)
	}
	do(filepath.Join(venv, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--retries=3", "--constraint="+constraints,
		"google-adk", "sqlalchemy[asyncio]", "aiosqlite")
	do(filepath.Join(venv, "bin", "python"), "-W", "ignore", "-c", fill)
	for _, file := range []string{"v0.db", "v1.db", "own.db"} {
		report, lines, err := convert(t, "adk-database", "", filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if want := "app \"shop\", user \"ann\": 1 sessions with 2 events, 0 memories\n"; report != want {
			t.Errorf("%s: %s", file, report)
		}
		for _, want := range []string{`{"appName":"shop","state":{"currency":"EUR"}}`, `"diet":"no nuts"`, `"name":"Ann"`, `"state":{"step":2}`,
			`"text":"I have a dog."`, `"timestamp":"2024-05-08T13:56:00.250000Z"`, `"timestamp":"2024-05-08T13:56:01.500000Z"`, `"author":"guide"`,
			`"invocationId":"i1"`} {
			if !strings.Contains(lines, want) {
				t.Errorf("%s: no %s in\n%s", file, want, lines)
			}
		}
	}
}
