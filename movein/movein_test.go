package movein_test

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/movein"
)

var update = flag.Bool("update", false, "write what comes out as what is wanted")

// now is when the tests run.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// convert converts files, and returns the report and the lines between the first and the
// last one. The archive must be one that can be imported.
func convert(t *testing.T, from movein.Format, user string, files ...string) (report, lines string, err error) {
	t.Helper()
	var out bytes.Buffer
	opts := movein.Options{App: "app", User: user, Now: func() time.Time { return now }}
	r, err := movein.Convert(t.Context(), from, files, &out, opts)
	if err != nil {
		return "", "", err
	}
	if _, _, err := archive.Verify(bytes.NewReader(out.Bytes()), nil); err != nil {
		t.Fatalf("what was converted cannot be imported: %v\n%s", err, out.Bytes())
	}
	var words strings.Builder
	if err := r.Write(&words); err != nil {
		t.Fatal(err)
	}
	all := strings.SplitAfter(strings.TrimSpace(out.String()), "\n")
	return words.String(), strings.Join(all[1:len(all)-1], ""), nil
}

// create makes a SQLite file of statements.
func create(t *testing.T, file, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	db := database(t, path)
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	return path
}

// database opens a SQLite file.
func database(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// history is history.db as mem0 makes it.
const history = `
CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
	created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT, created_at DATETIME);
INSERT INTO history VALUES
	('h1', '0b9f6a52-6c3e-4f7e-9d5e-0a7b6a1f0001', NULL, 'Ann is allergic to nuts', 'ADD', '2024-05-08T13:56:00.123456+00:00', NULL, 0, NULL, NULL),
	('h2', '0b9f6a52-6c3e-4f7e-9d5e-0a7b6a1f0001', 'Ann is allergic to nuts', 'Ann is allergic to peanuts', 'UPDATE',
		'2024-05-08T13:56:00.123456+00:00', '2024-05-09T10:00:00+00:00', 0, NULL, NULL),
	('h3', 'gone', NULL, 'Ann likes tea', 'ADD', '2024-05-08T13:56:00+00:00', NULL, 0, NULL, NULL),
	('h4', 'gone', 'Ann likes tea', NULL, 'DELETE', '2024-05-08T13:56:00+00:00', '2024-05-09T10:00:00+00:00', 1, NULL, NULL);
INSERT INTO messages VALUES
	('m1', 'agent_id=guide&run_id=trip&user_id=ann', 'user', 'I am allergic to peanuts.', NULL, '2024-05-08T13:55:00+00:00'),
	('m2', 'agent_id=guide&run_id=trip&user_id=ann', 'assistant', 'Noted.', NULL, '2024-05-08T13:55:01+00:00'),
	('m3', 'user_id=a%26b', 'user', 'I have a dog.', NULL, '2024-05-08T13:55:00+00:00'),
	('m4', 'user_id=a%26b', 'user', NULL, NULL, 'never'),
	('m5', '', 'user', 'Whose is this?', NULL, '2024-05-08T13:55:00+00:00');`

// adkShared are the tables that all schemas of ADK have.
const adkShared = `
CREATE TABLE app_states (app_name VARCHAR(128), state TEXT, update_time DATETIME);
CREATE TABLE user_states (app_name VARCHAR(128), user_id VARCHAR(128), state TEXT, update_time DATETIME);
CREATE TABLE sessions (app_name VARCHAR(128), user_id VARCHAR(128), id VARCHAR(128), state TEXT, create_time DATETIME, update_time DATETIME);
INSERT INTO app_states VALUES ('shop', '{"currency": "EUR"}', '2024-05-08 13:56:00.000000');
INSERT INTO user_states VALUES ('shop', 'ann', '{"name": "Ann"}', '2024-05-08 13:56:00.000000'), ('shop', 'ben', '{NaN', '');
INSERT INTO sessions VALUES
	('shop', 'ann', 's1', '{"step": 2, "user:x": 1}', '2024-05-08 13:56:00.000000', '2024-05-08 13:56:01.500000'),
	('shop', 'ann', 'a/b', '{}', '2024-05-08 13:56:00.000000', '2024-05-08 13:56:01.500000'),
	('shop', 'ben', 'state', '{"k": [1.50]}', 'once', '2024-05-08 13:56:01.500000'),
	('shop', 'ben', 'empty', '{}', '2024-05-08 13:56:00.000000', '2024-05-08 13:56:01.500000');`

const adk0 = adkShared + `
CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128),
	invocation_id VARCHAR(256), author VARCHAR(256), actions BLOB, long_running_tool_ids_json TEXT, branch VARCHAR(256),
	timestamp DATETIME, content TEXT, grounding_metadata TEXT, custom_metadata TEXT, partial BOOLEAN, error_code VARCHAR(256),
	turn_complete BOOLEAN, interrupted BOOLEAN);
INSERT INTO events VALUES
	('e1', 'shop', 'ann', 's1', 'i1', 'user', x'80059501', NULL, NULL, '2024-05-08 13:56:00.250000', '{"role": "user", "parts": [{"text": "I have a dog."}]}', NULL, '{"a": 1}', NULL, NULL, NULL, NULL),
	('e2', 'shop', 'ann', 's1', 'i1', 'guide', x'80', '["t1"]', 'b', '2024-05-08 13:56:01.500000', '{"role": "model", "parts": [{"text": "Nice."}]}', 'null', NULL, 0, 'E', 1, 1),
	('e3', 'shop', 'ann', 's1', 'i1', 'guide', x'80', NULL, NULL, '2024-05-08 13:56:01.400000', '{"role": "model", "parts": [{"text": "Ni"}]}', NULL, NULL, 1, NULL, 0, NULL),
	('e4', 'shop', 'ann', 's1', 'i1', 'guide', x'80', NULL, NULL, '2024-05-08 13:56:01.400000', '{"role": ', NULL, NULL, 0, NULL, 0, 0);`

const adk1 = adkShared + `
CREATE TABLE adk_internal_metadata ("key" VARCHAR(128), value VARCHAR(256));
INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');
CREATE TABLE events (id VARCHAR(128), app_name VARCHAR(128), user_id VARCHAR(128), session_id VARCHAR(128),
	invocation_id VARCHAR(256), timestamp DATETIME, event_data TEXT);
INSERT INTO events VALUES
	('e1', 'shop', 'ann', 's1', 'i1', '2024-05-08 13:56:00.250000', '{"id": "other", "author": "user", "invocation_id": "x", "timestamp": 1715176560.25, "content": {"role": "user", "parts": [{"text": "I have a dog."}]}, "actions": {"state_delta": {"step": 2, "temp:t": 1}}}'),
	('e2', 'shop', 'ann', 's1', 'i1', '2024-05-08 13:56:01.500000', '{"author": "guide", "content": {"role": "model", "parts": [{"text": "Nice."}]}}'),
	('e3', 'shop', 'ann', 's1', 'i1', '2024-05-08 13:56:02.500000', '{"author": "guide", "avg_logprobs": NaN}'),
	('e4', 'shop', 'ann', 's1', 'i1', '2024-05-08 13:56:02.500000', NULL);`

// A golden file has what becomes of each format: the report, and the lines of the archive.
func TestConvert(t *testing.T) {
	for _, c := range []struct {
		name  string
		from  movein.Format
		user  string
		files []string
	}{
		{"mem0", movein.Mem0, "", []string{"testdata/mem0.json"}},
		{"mem0-history", movein.Mem0, "", []string{create(t, "history.db", history), "testdata/mem0-scroll.json"}},
		{"adk-0", movein.ADKDatabase, "", []string{create(t, "adk.db", adk0)}},
		{"adk-1", movein.ADKDatabase, "", []string{create(t, "adk.db", adk1)}},
		{"agent-memory", movein.AgentMemoryServer, "", []string{"testdata/agent-memory.jsonl"}},
		{"letta", movein.Letta, "ann", []string{"testdata/letta.af", "testdata/letta-1.af", "testdata/letta-passages.json"}},
		{"chatgpt", movein.ChatGPT, "ann", []string{"testdata/conversations.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, lines, err := convert(t, c.from, c.user, c.files...)
			if err != nil {
				t.Fatal(err)
			}
			got := report + "\n" + indented(t, lines)
			for _, file := range c.files { // of a directory of this run
				got = strings.ReplaceAll(got, filepath.Dir(file)+string(filepath.Separator), "")
			}
			golden := filepath.Join("testdata", c.name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			_, again, err := convert(t, c.from, c.user, c.files...)
			if err != nil || again != lines {
				t.Errorf("a second time gives another archive: %v", cmp.Diff(lines, again))
			}
		})
	}
}

// State that sessions share is taken too: a report of it alone says so. One of sessions without words does not.
func TestTaken(t *testing.T) {
	for _, c := range []struct {
		name, also string
		taken      bool
	}{
		{"shared", "DELETE FROM sessions; DELETE FROM user_states;", true},
		{"left", "DELETE FROM app_states; DELETE FROM user_states; DELETE FROM sessions WHERE id != 'empty';", false},
	} {
		file := create(t, c.name+".db", adk1+"DELETE FROM events;"+c.also)
		r, err := movein.Convert(t.Context(), movein.ADKDatabase, []string{file}, &bytes.Buffer{}, movein.Options{App: "app"})
		if err != nil || r.Taken() != c.taken {
			t.Errorf("%s: %v, %v", c.name, r, err)
		}
	}
}

// indented shows lines of JSON.
func indented(t *testing.T, lines string) string {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(lines) {
		if err := json.Indent(&out, []byte(line), "", " "); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// The export of ChatGPT is read as it comes, packed; conversations may be in several files.
func TestPacked(t *testing.T) {
	text, err := os.ReadFile("testdata/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := convert(t, movein.ChatGPT, "ann", "testdata/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := convert(t, movein.ChatGPT, "ann", pack(t, map[string]string{"user.json": "{}", "shared_conversations.json": "[{}]",
		"export/conversations-000.json": "\ufeff" + string(text), "export/conversations-001.json": "[]"}))
	if err != nil || got != want {
		t.Errorf("%v, -want +got:\n%s", err, cmp.Diff(want, got))
	}
}

// A memory in the working memory of a session that names no user is the session's user's, and
// not the one of -user, who is another.
func TestWorkingMemoryOwner(t *testing.T) {
	file := write(t, `{"session_id": "s1", "user_id": "ann", "namespace": "shop", "messages": [], "memories": [
		{"id": "w1", "text": "Ann likes tea", "memory_type": "semantic", "created_at": "2025-01-01T10:00:00Z"}]}`)
	report, _, err := convert(t, movein.AgentMemoryServer, "ben", file)
	if err != nil || !strings.Contains(report, `app "shop", user "ann": 0 sessions with 0 events, 1 memories`) ||
		strings.Contains(report, `"ben"`) {
		t.Error(report, err)
	}
}

// What the entries of an archive unpack to is counted together, and their names do nothing to
// the terminal that shows them.
func TestPackedTogether(t *testing.T) {
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("conversations-%d.json", i)] = `[{"id": "` + strings.Repeat("a", 20<<20) + `"}]`
	}
	_, _, err := convert(t, movein.ChatGPT, "ann", pack(t, files))
	if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "it unpacks to more than 100 times its size") {
		t.Error(err)
	}
	report, _, err := convert(t, movein.ChatGPT, "ann", pack(t, map[string]string{"conversations\x1b[2J\n.json": "[1]"}))
	if err != nil || strings.ContainsAny(report, "\x1b") || strings.Count(report, "\n") != 2 {
		t.Errorf("%q, %v", report, err)
	}
}

// A password in a URL is in no message and in no report.
func TestScrollPassword(t *testing.T) {
	answer := "{}"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "pass" {
			t.Errorf("the server was given the password %q", password)
		}
		fmt.Fprint(w, answer)
	}))
	defer s.Close()
	at := strings.Replace(s.URL, "://", "://ben:pass@", 1)
	for _, c := range []struct{ url, answer, want string }{
		{at + "/collections/mem0", "{}", "nothing in http://ben:xxxxx@"},
		{at + "/collections/mem0", "{", "http://ben:xxxxx@"},
		{at + "/", "", "http://ben:xxxxx@"},
		{"http://ben:pass@127.0.0.1:1/collections/mem0", "", "http://ben:xxxxx@"},
		{"http://ben:pass@[/collections/mem0", "", "a URL that cannot be read"},
	} {
		answer = c.answer
		_, _, err := convert(t, movein.Mem0, "", c.url)
		if err == nil || strings.Contains(err.Error(), "pass") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.url, err, c.want)
		}
	}
	answer = `{"result": {"points": [{"id": 1, "payload": {"data": "one", "created_at": "2024-05-08T13:56:00Z"}}]}}`
	if report, _, err := convert(t, movein.Mem0, "", at+"/collections/mem0"); err != nil || strings.Contains(report, "pass") {
		t.Error(report, err)
	}
}

// The key of a Qdrant goes nowhere else.
func TestScrollRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was called with the key %q", r.Header.Get("Api-Key"))
	}))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	_, err := movein.Convert(t.Context(), movein.Mem0, []string{s.URL + "/collections/mem0"}, &bytes.Buffer{},
		movein.Options{App: "app", Key: "secret"})
	if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "307") {
		t.Error(err)
	}
}

// pack packs files into one.
func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, out.String())
}

// write writes a file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A collection is read from a Qdrant page by page, with its key.
func TestScroll(t *testing.T) {
	pages := map[string]string{
		"null": `{"result":{"points":[{"id":1,"payload":{"data":"one","user_id":"ann","created_at":"2024-05-08T13:56:00Z"}}],"next_page_offset":2}}`,
		"2":    `{"result":{"next_page_offset":"3","points":[{"id":2,"payload":{"data":"two","user_id":"ann","created_at":"2024-05-08T13:56:00Z"}}]}}`,
		`"3"`:  `{"result":{"points":[],"next_page_offset":null}}`,
	}
	loop := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Offset json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Method != "POST" || r.URL.Path != "/collections/mem0/points/scroll" {
			t.Error(r.Method, r.URL.Path, err)
		}
		if r.Header.Get("Api-Key") != "secret" {
			http.Error(w, `{"status":{"error":"forbidden"}}`, http.StatusForbidden)
			return
		}
		if loop {
			fmt.Fprint(w, pages["null"])
			return
		}
		fmt.Fprint(w, pages[string(q.Offset)])
	}))
	defer s.Close()
	read := func(ctx context.Context, key, path string) (*movein.Report, error) {
		return movein.Convert(ctx, movein.Mem0, []string{s.URL + path}, &bytes.Buffer{}, movein.Options{App: "app", Key: key})
	}
	r, err := read(t.Context(), "secret", "/collections/mem0")
	if err != nil || r.Users[memory.Scope{App: "app", User: "ann"}].Memories != 2 {
		t.Error(r, err)
	}
	loop = true
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx             context.Context
		key, path, want string
	}{
		{t.Context(), "secret", "/collections/mem0", "was read before"},
		{t.Context(), "", "/collections/mem0", "403 Forbidden"},
		{t.Context(), "secret", "/", "want the URL of a collection"},
		{ended, "secret", "/collections/mem0", "context canceled"},
	} {
		if _, err := read(c.ctx, c.key, c.path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
	}
}

// A file that is broken as a whole is an error that names the file, the place and what is
// wrong; items of another form are counted.
func TestHostile(t *testing.T) {
	valid := `{"id":"1","memory":"m","user_id":"ann","created_at":"2024-05-08T13:56:00Z"}`
	deep := strings.Repeat("[", 100_000)
	bomb := pack(t, map[string]string{"conversations.json": "[" + strings.Repeat(`{"title": "`+strings.Repeat("x", 1<<20)+`"},`, 100) + "{}]"})
	packed, err := os.ReadFile(pack(t, map[string]string{"conversations.json": "[{}]"}))
	if err != nil {
		t.Fatal(err)
	}
	damaged, err := os.ReadFile(create(t, "adk.db", adk1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		from movein.Format
		file string
		want string // of the error; of the report, if that begins with "left out"
	}{
		{"empty", movein.Mem0, write(t, ""), "it is cut off"},
		{"cut off", movein.Mem0, write(t, `{"results":[`+valid+`,{"id":`), "results[1]: it is cut off"},
		{"cut off between", movein.Mem0, write(t, `{"results":[`+valid), "it is cut off"},
		{"no JSON", movein.Mem0, write(t, "memory,user\n"), "near byte 0: invalid character 'm'"},
		{"another JSON", movein.Mem0, write(t, `"text"`), "it begins with text"},
		{"nothing in it", movein.Mem0, write(t, `{"results":[]}`), "nothing in"},
		{"nested", movein.Mem0, write(t, `{"results":[`+deep), "exceeded max depth"},
		{"nested at the top", movein.ChatGPT, write(t, deep), "exceeded max depth"},
		{"white space", movein.Mem0, write(t, "["+strings.Repeat(" ", 2<<20)+"]"), "more than 1 MiB of white space"},
		{"NUL", movein.Mem0, write(t, "{\"results\":[{\"id\":\"\x00\"}]}"), "invalid character '\\x00'"},
		{"a NUL in a user", movein.Mem0, write(t, strings.Replace(valid, "ann", `a\u0000`, 1)), "left out: 1: no memory"},
		{"null", movein.Mem0, write(t, `{"results":null}`), "nothing in"},
		{"wrong types", movein.Mem0, write(t, `[1,[],"x",null,{"id":{},"memory":{},"user_id":[]}]`), "left out: 4: it has another form"},
		{"a year", movein.Mem0, write(t, strings.Replace(valid, "2024", "9999", 1)), "left out: 1: no memory"},
		{"milliseconds", movein.Mem0, write(t, strings.Replace(valid, `"2024-05-08T13:56:00Z"`, "1715176560000", 1)), "left out: 1: no memory"},
		{"a database of another", movein.Mem0, create(t, "x.db", "CREATE TABLE x (y)"), "no table history"},
		{"a local Qdrant", movein.Mem0, create(t, "x.db", "CREATE TABLE points (id TEXT, point BLOB)"), "get_all"},
		{"missing", movein.Mem0, filepath.Join(t.TempDir(), "none"), "no such file"},
		{"a view", movein.ADKDatabase, create(t, "x.db", strings.ReplaceAll(strings.ReplaceAll(adk1, "CREATE TABLE events", "CREATE TABLE e"), "INTO events", "INTO e")+
			"CREATE VIEW events AS SELECT * FROM e"), "no tables sessions and events"},
		{"no database", movein.ADKDatabase, write(t, "{}"), "it is no SQLite file"},
		{"a damaged database", movein.ADKDatabase, write(t, string(damaged[:1000])), "malformed"},
		{"no zip", movein.ChatGPT, write(t, "PK\x03\x04 and no more"), "not a valid zip file"},
		{"a cut off zip", movein.ChatGPT, write(t, string(packed[:len(packed)-30])), "not a valid zip file"},
		{"an empty zip", movein.ChatGPT, pack(t, map[string]string{"chat.html": ""}), "there is no conversations.json in it"},
		{"a zip bomb", movein.ChatGPT, bomb, "it unpacks to more than 100 times its size"},
		{"a list of numbers", movein.AgentMemoryServer, write(t, "[1]"), "left out: 1: it has another form"},
		{"an agent of another form", movein.Letta, write(t, `{"agents":[{"name":5},{"name":"x","messages":[5]}]}`), "left out: 1: it has another form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, _, err := convert(t, c.from, "", c.file)
			if c.from == movein.ChatGPT || c.from == movein.Letta {
				report, _, err = convert(t, c.from, "ann", c.file)
			}
			if strings.HasPrefix(c.want, "left out") {
				if err != nil || !strings.Contains(report, c.want) {
					t.Errorf("%v\n%s", err, report)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
				t.Errorf("%v, want %q and the file\n%s", err, c.want, report)
			}
			if !errors.Is(err, memory.ErrInvalid) && c.name != "missing" {
				t.Errorf("%v is no error of the file", err)
			}
		})
	}
}

// A pipe, a directory or a device is refused before it is opened, as reading it could wait.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("no pipes here: %v: %s", err, out)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{pipe: "is a pipe", link: "is a pipe", socket: "is a socket",
		dir: "is a directory", os.DevNull: "is a device"} {
		for _, from := range movein.Formats() {
			_, _, err := convert(t, from, "ann", file)
			if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), file+" "+want+": name a file") {
				t.Errorf("%s: %v, want %s", from, err, want)
			}
		}
	}
}

// Of a memory that has changed more often than memoryd takes, the newest texts are taken, by
// number and by size, and the older ones are counted.
func TestLongHistory(t *testing.T) {
	const schema = `CREATE TABLE history (id, memory_id, old_memory, new_memory, event, created_at, updated_at);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
		INSERT INTO history SELECT i, 'm1', '', %s, iif(i = 1, 'ADD', 'UPDATE'), '2024-05-08T13:56:00Z',
			iif(i = 1, NULL, '2024-05-09T13:56:00Z') FROM n`
	for _, c := range []struct {
		changes   int
		text      string // of the i-th change, in SQL
		kept      int
		firstTime string // of the oldest one that is kept
	}{
		{999, "'text ' || i", 999, "2024-05-08T13:56:00Z"},
		{30_000, "'text ' || i", 999, "2024-05-09T13:56:00Z"},
		{500, "printf('%%s%%d', hex(zeroblob(16384)), i)", 255, "2024-05-09T13:56:00Z"},
	} {
		db := create(t, "history.db", fmt.Sprintf(schema, c.changes, strings.ReplaceAll(c.text, "%%", "%")))
		item := write(t, `[{"id": "m1", "memory": "now", "user_id": "ann", "created_at": "2024-05-08T13:56:00Z"}]`)
		report, lines, err := convert(t, movein.Mem0, "", db, item)
		if err != nil {
			t.Fatal(err)
		}
		var line struct {
			Memory memory.Record `json:"memory"`
		}
		if err := json.Unmarshal([]byte(lines), &line); err != nil {
			t.Fatal(err)
		}
		history := line.Memory.History
		if len(history) != c.kept+1 || line.Memory.Memory.Fact != "now" {
			t.Fatalf("%d changes became %d revisions, want %d and the present text", c.changes, len(history), c.kept)
		}
		newest, oldest := history[c.kept-1].Memory.Fact, history[0]
		if !strings.HasSuffix(newest, fmt.Sprint(c.changes)) || oldest.Time.Format(time.RFC3339) != c.firstTime {
			t.Errorf("the newest text ends %q, and the oldest is of %v", newest[max(0, len(newest)-20):], oldest.Time)
		}
		left := fmt.Sprintf("left out: %d: earlier texts", c.changes-c.kept)
		if c.changes > c.kept != strings.Contains(report, left) {
			t.Errorf("%d of %d changes are taken: %s", c.kept, c.changes, report)
		}
	}
}

// Two agents of one name and number, of two files, are two sessions. A later file of the first
// one is the same session.
func TestLettaAgents(t *testing.T) {
	const agent = `{"agents": [{"id": "agent-0", "name": "Guide", "messages": [
		{"role": "system", "content": "You are Guide.", "created_at": "%s"},
		{"role": "user", "content": "%s", "created_at": "2025-10-10T08:00:00Z"}]}]}`
	first := write(t, fmt.Sprintf(agent, "2025-10-10T07:14:29.912403Z", "I have a dog."))
	second := write(t, fmt.Sprintf(agent, "2025-10-10T07:14:29.912404Z", "I have a cat."))
	later := write(t, fmt.Sprintf(agent, "2025-10-10T07:14:29.912403Z", "I have two dogs."))
	report, lines, err := convert(t, movein.Letta, "ann", first, second)
	if err != nil || !strings.Contains(report, "2 sessions with 2 events") || strings.Contains(report, "came before") {
		t.Errorf("%v\n%s", err, report)
	}
	_, again, err := convert(t, movein.Letta, "ann", later)
	if err != nil || id(t, lines) != id(t, again) {
		t.Errorf("a later file of one agent is another session: %v", err)
	}
}

// id returns the id of the first session in lines of an archive.
func id(t *testing.T, lines string) string {
	t.Helper()
	var line struct {
		Session struct{ ID string } `json:"session"`
	}
	for text := range strings.Lines(lines) {
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.Session.ID != "" {
			break
		}
	}
	return line.Session.ID
}

// Options that cannot be are refused before anything is read.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		from movein.Format
		opts movein.Options
		want string
	}{
		{"zep", movein.Options{App: "a"}, "none of"},
		{movein.Mem0, movein.Options{}, "app id is empty"},
		{movein.Mem0, movein.Options{App: "a", User: "b/c"}, "has a slash"},
		{movein.Letta, movein.Options{App: "a"}, "name no user"},
	} {
		if err := movein.Check(c.from, []string{"f"}, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %s", err, c.want)
		}
	}
}

// An item is read alone: a file of many times the size takes no more memory.
func TestStreams(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"results":[`)
	for i := range 5_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"%d","memory":"fact %d of many","user_id":"u%d","created_at":"2024-05-08T13:56:00Z"}`, i, i, i%7)
	}
	b.WriteString("]}")
	report, _, err := convert(t, movein.Mem0, "", write(t, b.String()))
	if err != nil || !strings.Contains(report, "together: 0 sessions with 0 events, 5000 memories") {
		t.Errorf("%v\n%s", err, report)
	}
}
