package evals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract"
	"github.com/memoryd/memoryd/extract/rules"
)

// locomoFile has the form of LoCoMo, and other words.
const locomoFile = `[
{"sample_id": "one",
 "conversation": {
  "speaker_a": "Ann", "speaker_b": "Bob",
  "session_2_date_time": "12:09 am on 13 September, 2023",
  "session_10": [{"dia_id": "D10:1", "speaker": "Ann", "text": "The goat is back."}],
  "session_10_date_time": "1:56 pm on 8 May, 2024",
  "session_2": [
   {"dia_id": "D2:1", "speaker": "Bob", "text": "Look at this!", "blip_caption": "a photo of a goat"},
   {"dia_id": "D2:2", "speaker": "Ann", "text": "Whose goat is that?"}],
  "session_3": [],
  "session_3_date_time": "9:00 am on 1 January, 2024",
  "session_4_date_time": "9:00 am on 2 January, 2024"},
 "observation": {
  "session_2_observation": {
   "Bob": [["Bob has met a goat.", "D2:1"], ["The goat is gone.", "D9:9"]],
   "Ann": [["Ann wonders about the goat, which came back.", ["D2:2", "D2:1", "D10:1"]]]},
  "session_10_observation": {"Ann": [["Ann's goat is back.", "D10:1"]]}},
 "qa": [
  {"question": "What did Bob show?", "answer": "a goat", "evidence": ["D2:1"], "category": 4},
  {"question": "When is the goat back?", "answer": 2024, "evidence": ["D:10:01; D2:02", "D2:2"], "category": 2},
  {"question": "What colour is it?", "evidence": [], "category": 3},
  {"question": "Who ate it?", "evidence": ["D7:1", "D"], "category": 1},
  {"question": "Whose cow is it?", "adversarial_answer": "Bob's", "evidence": ["D2:2"], "category": 5}]},
{"sample_id": "two",
 "conversation": {"session_1": [{"dia_id": "D2:1", "speaker": "Cleo", "text": "Hello."}], "session_1_date_time": "1:56 pm on 8 May, 2024"}, "qa": []}
]`

func TestLoCoMo(t *testing.T) {
	d, err := readLoCoMo([]byte(locomoFile))
	if err != nil {
		t.Fatal(err)
	}
	if d.events() != 4 || d.sessions() != 3 || d.questions() != 3 || len(d.Conversations) != 2 {
		t.Errorf("%d events, %d sessions, %d questions", d.events(), d.sessions(), d.questions())
	}
	c := d.Conversations[0]
	var said []string
	for _, s := range c.Sessions {
		for _, e := range s.Events {
			said = append(said, strings.Join([]string{s.ID, e.ID, e.Timestamp.Format(time.RFC3339), e.Author, e.Content.Role, e.Text()}, " | "))
		}
	}
	if diff := cmp.Diff([]string{
		"session-2 | D2:1 | 2023-09-13T00:09:00Z | Bob | user | Look at this! [shares a photo of a goat]",
		"session-2 | D2:2 | 2023-09-13T00:09:20Z | Ann | user | Whose goat is that?",
		"session-10 | D10:1 | 2024-05-08T13:56:00Z | Ann | user | The goat is back.",
	}, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Question{
		{"What did Bob show?", "single-hop", []string{"D2:1"}},
		{"When is the goat back?", "temporal", []string{"D10:1", "D2:2"}},
		{"Whose cow is it?", "adversarial", []string{"D2:2"}},
	}, c.Questions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	at := time.Date(2023, 9, 13, 0, 9, 0, 0, time.UTC)
	if diff := cmp.Diff([]extract.Fact{
		{SessionID: "session-2", Text: "Ann wonders about the goat, which came back.", Author: "Ann", Timestamp: at.Add(20 * time.Second), EventIDs: []string{"D2:2", "D2:1"}, Quote: "Whose goat is that?"},
		{SessionID: "session-2", Text: "Bob has met a goat.", Author: "Bob", Timestamp: at, EventIDs: []string{"D2:1"}, Quote: "Look at this! [shares a photo of a goat]"},
		{SessionID: "session-10", Text: "Ann's goat is back.", Author: "Ann", Timestamp: time.Date(2024, 5, 8, 13, 56, 0, 0, time.UTC), EventIDs: []string{"D10:1"}, Quote: "The goat is back."},
	}, c.Facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The facts that come with the data are found in the turns that they rest on,
// and not in turns of other users with the same id.
func TestGiven(t *testing.T) {
	d, err := readLoCoMo([]byte(locomoFile))
	if err != nil {
		t.Fatal(err)
	}
	x := d.Extractor(rules.New())
	find := func(sessions []Session, skip int) (out []string) {
		var b extract.Batch
		for _, s := range sessions {
			for _, e := range s.Events {
				turn, _ := extract.ReadTurn(s.ID, e)
				b.Turns = append(b.Turns, turn)
			}
		}
		b.Turns = b.Turns[skip:]
		found, err := x.Extract(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found.Facts {
			out = append(out, f.Text+" "+strings.Join(f.EventIDs, " "))
		}
		return out
	}
	one, two := d.Conversations[0].Sessions, d.Conversations[1].Sessions
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"a session", find(one[:1], 0), []string{"Bob has met a goat. D2:1", "Ann wonders about the goat, which came back. D2:2 D2:1"}},
		{"its end alone", find(one[:1], 1), []string{"Ann wonders about the goat, which came back. D2:2"}},
		{"another conversation", find(two, 0), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if x.Name() != "observations" {
		t.Errorf("it is called %s", x.Name())
	}
}

// An error in the data is reported with its place.
func TestLoCoMoDamaged(t *testing.T) {
	for _, c := range []struct{ name, old, new, says string }{
		{"cut off", locomoFile[strings.Index(locomoFile, `"qa": []`):], "", "damaged.json: line 26: unexpected end of JSON input"},
		{"a comma missing", `"speaker": "Bob", "text"`, `"speaker": "Bob" "text"`, "line 9: invalid character"},
		{"another kind", `"category": 4`, `"category": "four"`, "line 20: json: cannot unmarshal string"},
		{"a word for a turn", `[{"dia_id": "D10:1", "speaker": "Ann", "text": "The goat is back."}]`, `["The goat is back."]`, `conversation 1 (sample_id "one"): session_10: json: cannot unmarshal string`},
		{"no date", `"session_2_date_time"`, `"session_20_date_time"`, `conversation 1 (sample_id "one"): session_2: its session_2_date_time is missing`},
		{"another date", "12:09 am on 13 September, 2023", "2023-09-13", `session_2_date_time: "2023-09-13" is not as 1:56 pm on 8 May, 2023`},
		{"a turn without an id", `"dia_id": "D2:2", `, "", "session_2: turn 2 has no dia_id or no speaker"},
		{"an id that is none", `"dia_id": "D2:2"`, `"dia_id": "D2/2"`, "session_2: turn D2/2: "},
		{"no such category", `"category": 5`, `"category": 6`, "qa 5: category 6 is not within 1 to 5"},
		{"no question", "Whose cow is it?", " ", "qa 5: it has no question"},
		{"no conversation", `"conversation": {"session_1"`, `"dialogue": {"session_1"`, `conversation 2 (sample_id "two"): no session_1`},
		{"no name", `"sample_id": "two"`, `"sample_id": ""`, `conversation ""`},
		{"the same twice", `"sample_id": "two"`, `"sample_id": "one"`, `conversation "one" is there twice`},
		{"an observation of one part", `["Bob has met a goat.", "D2:1"]`, `["Bob has met a goat."]`, "an observation is not [text, ids]"},
		{"an object", "[\n{\"sample_id\"", "{\"sample_id\"", "damaged.json: is not LoCoMo"},
		{"another list", locomoFile, `[1, 2, 3]`, "cannot unmarshal number"},
		{"nothing", locomoFile, "", "is not LoCoMo"},
		{"an empty list", locomoFile, "[]", "nothing is asked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "damaged.json")
			if !strings.Contains(locomoFile, c.old) {
				t.Fatalf("%q is not in it", c.old)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(locomoFile, c.old, c.new, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := LoCoMo(file); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
	if _, err := LoCoMo(filepath.Join(t.TempDir(), "none.json")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
