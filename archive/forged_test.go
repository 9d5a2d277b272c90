package archive_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/assembly"
)

// seal gives lines a right ending: counts, and the checksum.
func seal(t *testing.T, lines []string) string {
	t.Helper()
	var counts archive.Counts
	for _, text := range lines {
		var l struct {
			Shared, Session *json.RawMessage
			Events          *struct{ Events []json.RawMessage }
			Memory          *struct{ History []json.RawMessage }
			Config          *json.RawMessage
		}
		if json.Unmarshal([]byte(text), &l) != nil {
			continue
		}
		switch {
		case l.Config != nil:
			counts.Configs++
		case l.Shared != nil:
			counts.Shared++
		case l.Session != nil:
			counts.Sessions++
		case l.Events != nil:
			counts.Events += len(l.Events.Events)
		case l.Memory != nil:
			counts.Memories++
			counts.Revisions += len(l.Memory.History)
		}
	}
	body := strings.Join(lines, "")
	sum := sha256.Sum256([]byte(body))
	end, err := json.Marshal(map[string]archive.Ending{"end": {Counts: counts, SHA256: hex.EncodeToString(sum[:])}})
	if err != nil {
		t.Fatal(err)
	}
	return body + string(end) + "\n"
}

// A forged archive, whose counts and checksum are right, is refused with the line
// that no export has, before anything is imported.
func TestForged(t *testing.T) {
	text, _, _ := write(t, filled(t, assembly.ModelOf(embed.Builtin{})))
	good := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	good = good[:len(good)-1]
	if _, _, err := archive.Verify(strings.NewReader(seal(t, good)), nil); err != nil {
		t.Fatal(err)
	}
	first := func(begin string) int {
		for i, l := range good {
			if strings.HasPrefix(l, begin) {
				return i
			}
		}
		t.Fatalf("no line begins %s", begin)
		return 0
	}
	config := first(`{"config"`)
	events, session, mem, shared := first(`{"events"`), first(`{"session"`), first(`{"memory":`), first(`{"shared"`)
	longSession := session
	if !strings.Contains(good[session], `"events":120`) {
		t.Fatalf("the first session is %.200s", good[session])
	}
	changed := 0 // the memory with two revisions
	for i, l := range good {
		if strings.Contains(l, "keeps hens") {
			changed = i
		}
	}
	type forge struct {
		line     int
		old, new string
		says     string
	}
	for what, f := range map[string]forge{
		"done ahead of events":           {longSession, `"done":0`, `"done":500`, "done 500"},
		"requested and done ahead":       {longSession, `"requested":0,"done":0`, `"requested":500,"done":500`, "events 120"},
		"all ahead":                      {longSession, `"events":120,"requested":0,"done":0`, `"events":500,"requested":500,"done":500`, "120 events, not 500"},
		"done ahead of requested":        {longSession, `"done":0`, `"done":1`, "requested 0"},
		"a trigger ahead of events":      {longSession, `"done":0`, `"done":0,"waiting":{"trigger":"3 0 0 0","to":121,"since":"2024-05-08T05:56:00Z","last":"2024-05-08T05:56:00Z","due":"2024-05-09T05:56:00Z"}`, "event 121 waits"},
		"a trigger that is none":         {longSession, `"done":0`, `"done":0,"waiting":{"trigger":"3 0 0 9"}`, "overlap 9"},
		"negative":                       {longSession, `"done":0`, `"done":-1`, "done -1"},
		"temp: state":                    {longSession, `"topic":`, `"temp:topic":`, "temp:topic"},
		"user: state":                    {longSession, `"topic":`, `"user:topic":`, "user:topic"},
		"a session without a user":       {longSession, `"userId":"ann"`, `"userId":""`, "user"},
		"a session far ahead":            {longSession, `"lastUpdateTime":"20`, `"lastUpdateTime":"92`, "lastUpdateTime"},
		"another session's events":       {longSession, `"id":"long"`, `"id":"short"`, "short"},
		"a plan that is none":            {longSession, `"done":0`, `"done":0,"plan":[1]`, "plan"},
		"a plan of another scope":        {longSession, `"requested":0,"done":0`, `"requested":9,"done":0,"planTo":3,"plan":{"decided":true,"changes":[{"seq":1,"action":"DELETED","memory":{"id":"m1","appName":"notes","userId":"bob","kind":"fact","fact":"x","timestamp":"2024-05-08T13:56:00Z"}}]}`, "another scope"},
		"an event without id":            {events, `"id":"e0",`, ``, "no id"},
		"an event without time":          {events, `"timestamp":"2024-05-08T13:56:00.000000Z",`, ``, "no timestamp"},
		"an event of an odd time":        {events, `"timestamp":"2024-`, `"timestamp":"2624-`, "timestamp"},
		"an event twice":                 {events, `"id":"e1",`, `"id":"e0",`, `event "e0" comes twice`},
		"an event with temp: state":      {events, `"id":"e0",`, `"id":"e0","actions":{"stateDelta":{"temp:x":1}},`, "temp:x"},
		"a partial event":                {events, `"id":"e0",`, `"id":"e0","partial":true,`, "partial"},
		"an event that is none":          {events, `"events":[{`, `"events":[7,{`, "events[0]"},
		"events of no session":           {events, `"sessionId":"long"`, `"sessionId":"a/b"`, "slash"},
		"shared state of a bad app":      {shared, `"appName":"notes"`, `"appName":".."`, "app"},
		"a memory without a user":        {mem, `"userId":"ann"`, `"userId":""`, "user"},
		"revisions out of order":         {changed, `"revision":2,"action":"UPDATED"`, `"revision":3,"action":"UPDATED"`, "no revision 2"},
		"a revision of another memory":   {changed, `"memory":{"id":"m7","appName":"notes","userId":"ann","kind":"fact","fact":"Ann keeps 7`, `"memory":{"id":"m8","appName":"notes","userId":"ann","kind":"fact","fact":"Ann keeps 7`, "another memory"},
		"a revision of another user":     {changed, `"userId":"ann","kind":"fact","fact":"Ann keeps 7`, `"userId":"bob","kind":"fact","fact":"Ann keeps 7`, "another memory"},
		"an action that is none":         {changed, `"action":"UPDATED"`, `"action":"STOLEN"`, "STOLEN"},
		"a deletion that is none":        {changed, `"action":"UPDATED"`, `"action":"DELETED"`, "deleted is false"},
		"a revision too many":            {mem, `"revision":1,"source"`, `"revision":2,"source"`, "revision"},
		"words a negative time":          {mem, `"terms":{"bees":1}`, `"terms":{"bees":-1}`, "bees"},
		"a vector of another length":     {mem, `"vector":[1,`, `"vector":[1,1,`, "vector"},
		"a configuration of a bad app":   {config, `"app":"notes"`, `"app":"a/b"`, "slash"},
		"a configuration of no revision": {config, `"revision":2`, `"revision":0`, "revision"},
		"a configuration with no kind":   {config, `["keys"]`, `["stamps"]`, "stamps"},
		"a configuration against rules":  {config, `"DIET"`, `"USER_PREFERENCES"`, "customTopics[0].label"},
		"a configuration that is none":   {config, `"doc":{`, `"doc":[],"doc":{"search":7,`, "search"},
		"a configuration twice":          {config, "\n", "\n" + good[config], "comes twice"},
		"two things in a line":           {mem, `{"memory":`, `{"shared":{"appName":"a","userId":"b","state":{}},"memory":`, "2 things"},
		"nothing in a line":              {mem, good[mem], "{}\n", "0 things"},
		"a second beginning":             {mem, good[mem], good[0], "second beginning"},
		"a line that is not UTF-8":       {mem, "Ann keeps", "Ann\xff keeps", "UTF-8"},
		"two lines in one":               {mem, "\n", "{}\n", "follows"},
		"a memory said long ago":         {mem, `"timestamp":"2001`, `"timestamp":"1001`, "timestamp"},
		"a session twice":                {longSession, "\n", "\n" + good[longSession], "comes twice"},
		"a memory among a session":       {longSession, good[longSession], good[mem], "no line of its own"},
		"the events of a session at end": {longSession, good[longSession], "", "of session"},
	} {
		lines := append([]string{}, good...)
		lines[f.line] = strings.Replace(lines[f.line], f.old, f.new, 1)
		if lines[f.line] == good[f.line] {
			t.Errorf("%s: line %d has no %q: %.400s", what, f.line, f.old, good[f.line])
			continue
		}
		_, _, err := archive.Verify(strings.NewReader(seal(t, lines)), nil)
		if err == nil || !strings.Contains(err.Error(), f.says) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v, want an error that says %q and names the line", what, err, f.says)
		}
	}
	huge := io.MultiReader(strings.NewReader(strings.Join(good[:mem], "")+`{"memory":"`), endless{})
	if _, _, err := archive.Verify(huge, nil); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("line %d: it has more than", mem+1)) {
		t.Errorf("a huge line: %.300v", err)
	}
}

// endless is a text without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
