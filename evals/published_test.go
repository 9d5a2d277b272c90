package evals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// realTalkFile has the form of REALTALK, and other words.
const realTalkFile = `{
 "name": {"speaker_1": "Ann", "speaker_2": "Bob"},
 "session_2": [{"clean_text": "The goat is back.", "speaker": "Ann", "date_time": "02.01.2024, 00:00:01", "dia_id": "D1:3"}],
 "events_session_2": {"agent_a": []},
 "session_1": [
  {"clean_text": "Look!", "speaker": "Bob", "date_time": "29.12.2023, 22:42:04", "img_file": ["x.jpg"], "dia_id": "D1:1", "blip_caption": "a photo of a goat"},
  {"clean_text": "Whose goat is that?", "speaker": "Ann", "date_time": "30.12.2023, 00:32:20", "dia_id": "D1:2"}],
 "session_1_date_time": "29.12.2023, 22:42:04",
 "qa": [
  {"question": "What did Bob show?", "answer": "a goat", "evidence": ["D1:1", "D9:9", ""], "category": 3},
  {"question": "Is it back?", "answer": "yes", "evidence": ["D1:3"], "category": 2},
  {"question": "Who ate it?", "answer": "", "evidence": ["D7:1"], "category": 1}]
}`

// beamChat and beamQuestions have the form of BEAM, and other words.
const beamChat = `[
 {"batch_number": 1, "time_anchor": null, "turns": [[
  {"role": "user", "id": 0, "time_anchor": "March-15-2024", "index": "1,1", "content": "I keep goats ->-> 1,1"},
  {"role": "assistant", "id": 1, "content": "How many -> do you keep?"}],
 [{"role": "user", "id": 2, "content": "Three."}]]},
 {"batch_number": 2, "turns": [[{"role": "user", "id": 3, "time_anchor": "April-05-2024", "content": "Now four. ->-> 2,N/A"}]]}]`

const beamQuestions = `{
 "abstention": [{"question": "What do they eat?"}],
 "knowledge_update": [{"question": "How many goats?", "source_chat_ids": {"updated_info": [3], "original_info": [2, 99]}}],
 "summarization": [{"question": "Tell me all.", "source_chat_ids": [[0, 1], [1, 3]]}]}`

// told gives the events of a conversation, a line each, and its questions.
func told(c *Conversation) (said, asked []string) {
	for _, s := range c.Sessions {
		for _, e := range s.Events {
			said = append(said, strings.Join([]string{s.ID, e.ID, e.Timestamp.Format(time.RFC3339), e.Author,
				e.Content.Role, e.Text()}, " | "))
		}
	}
	for _, q := range c.Questions {
		asked = append(asked, q.Category+": "+q.Text+" "+strings.Join(q.Evidence, " "))
	}
	return said, asked
}

// sameConversation compares what a file was read as with what it says.
func sameConversation(t *testing.T, c *Conversation, said, asked []string) {
	t.Helper()
	gotSaid, gotAsked := told(c)
	if diff := cmp.Diff(said, gotSaid); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(asked, gotAsked); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

// written writes a file of a directory, which is made.
func written(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRealTalk(t *testing.T) {
	d, err := RealTalk(written(t, realTalkFile, t.TempDir(), "Chat_1_Ann_Bob.json"))
	if err != nil {
		t.Fatal(err)
	}
	if name := d.Conversations[0].Name; name != "Chat_1_Ann_Bob" {
		t.Errorf("it is called %q", name)
	}
	sameConversation(t, &d.Conversations[0], []string{
		"session-1 | D1:1 | 2023-12-29T22:42:04Z | Bob | user | Look! [shares a photo of a goat]",
		"session-1 | D1:2 | 2023-12-30T00:32:20Z | Ann | user | Whose goat is that?",
		"session-2 | D1:3 | 2024-01-02T00:00:01Z | Ann | user | The goat is back.",
	}, []string{"commonsense: What did Bob show? D1:1", "temporal: Is it back? D1:3"})
}

func TestBEAM(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "7")
	written(t, beamChat, folder, "chat.json")
	written(t, beamQuestions, folder, "probing_questions", "probing_questions.json")
	all, err := BEAM(false, folder)
	if err != nil {
		t.Fatal(err)
	}
	if name := all.Conversations[0].Name; name != "7" {
		t.Errorf("it is called %q", name)
	}
	sameConversation(t, &all.Conversations[0], []string{
		"batch-1 | 0 | 2024-03-15T00:00:20Z | user | user | I keep goats",
		"batch-1 | 1 | 2024-03-15T00:00:40Z | assistant | model | How many -> do you keep?",
		"batch-1 | 2 | 2024-03-15T00:01:00Z | user | user | Three.",
		"batch-2 | 3 | 2024-04-05T00:00:20Z | user | user | Now four.",
	}, []string{"knowledge update: How many goats? 2 3", "summarization: Tell me all. 0 1 3"})
	users, err := BEAM(true, folder)
	if err != nil {
		t.Fatal(err)
	}
	sameConversation(t, &users.Conversations[0], []string{
		"batch-1 | 0 | 2024-03-15T00:00:20Z | user | user | I keep goats",
		"batch-1 | 2 | 2024-03-15T00:01:00Z | user | user | Three.",
		"batch-2 | 3 | 2024-04-05T00:00:20Z | user | user | Now four.",
	}, []string{"knowledge update: How many goats? 2 3", "summarization: Tell me all. 0 3"})
}

// An error names the file and the place in it.
func TestPublishedMistakes(t *testing.T) {
	for text, says := range map[string]string{
		"[]":               "is not REALTALK",
		realTalkFile[:200]: "line 4: ",
		`{"qa": []}`:       "it has no session_1",
		strings.Replace(realTalkFile, "02.01.2024, ", "2024-01-02 ", 1):     `session_2: message 1 (dia_id "D1:3"): date_time`,
		strings.Replace(realTalkFile, `"category": 3`, `"category": 4`, 1):  "qa 1: category 4 is not within 1 to 3",
		strings.Replace(realTalkFile, `"speaker": "Bob"`, `"by": "Bob"`, 1): `session_1: message 1 (dia_id "D1:1"): it has no dia_id or no speaker`,
		strings.Replace(realTalkFile, `"qa"`, `"questions"`, 1):             "it has no qa",
	} {
		if _, err := RealTalk(written(t, text, t.TempDir(), "chat.json")); err == nil || !strings.Contains(err.Error(), "chat.json: "+says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	for _, c := range []struct{ chat, questions, says string }{
		{"{}", beamQuestions, "chat.json: line 1: "},
		{beamChat, "[", "probing_questions.json: line 1: "},
		{strings.Replace(beamChat, `"assistant"`, `"robot"`, 1), beamQuestions, `batch 1: message 1: role "robot"`},
		{strings.Replace(beamChat, "March-15-2024", "15 March", 1), beamQuestions, `batch 1: message 0: time_anchor "15 March"`},
		{strings.Replace(beamChat, `"March-15-2024"`, `""`, 1), beamQuestions, "batch 1: its first message has no time_anchor"},
		{beamChat, strings.ReplaceAll(beamQuestions, "source_chat_ids", "sources"), "nothing is asked"},
		{beamChat, strings.ReplaceAll(beamQuestions, "summarization", "singing"), `no category "singing"`},
	} {
		folder := t.TempDir()
		written(t, c.chat, folder, "chat.json")
		written(t, c.questions, folder, "probing_questions", "probing_questions.json")
		if _, err := BEAM(false, folder); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
