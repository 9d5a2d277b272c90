package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

var ann = memory.Scope{App: "notes", User: "ann"}

// open opens two empty stores that keep nothing.
func open(t *testing.T, m memory.Model) *assembly.Stores {
	t.Helper()
	st := assembly.NewStores()
	if err := st.OpenBoth(t.Context(), sqlitedb.Memory, m); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// filled opens stores with a session of many events, an empty one, one whose events wait for a trigger, shared state,
// and more memories than are imported at a time, one of them with a history.
func filled(t *testing.T, m memory.Model) *assembly.Stores {
	t.Helper()
	st := open(t, m)
	config := []byte(`{"customTopics":[{"label":"DIET","description":"<b>&amp; food"}],"redaction":{"kinds":["keys"]}}`)
	for range 2 {
		if _, err := st.Sessions.PutConfig(t.Context(), "notes", config, sessionstore.AnyRevision); err != nil {
			t.Fatal(err)
		}
	}
	state := sessionstore.State{"topic": []byte(`"boats"`), "user:language": []byte(`"pt"`), "app:motto": []byte(`["be","kind"]`)}
	if _, err := st.Sessions.Create(t.Context(), sessionstore.Key{Scope: ann, ID: "long"}, sessionstore.Create{State: state}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Sessions.Create(t.Context(), sessionstore.Key{Scope: ann, ID: "empty"}, sessionstore.Create{
		Details: sessionstore.Details{DisplayName: "Empty", Labels: map[string]string{"team": "blue"},
			ExpireTime: time.Date(2199, 1, 2, 3, 4, 5, 6000, time.UTC)}}); err != nil {
		t.Fatal(err)
	}
	var events []sessionstore.Event
	for i := range 120 {
		e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id":"e%d","timestamp":"2024-05-08T05:56:00-08:00","content":"<b>&amp;%d"}`, i, i))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if _, err := st.Sessions.Append(t.Context(), sessionstore.Key{Scope: ann, ID: "long"}, events, sessionstore.Append{}); err != nil {
		t.Fatal(err)
	}
	waits := sessionstore.Append{Create: true, Trigger: &sessionstore.Trigger{Count: 9, Overlap: 2}, OwnTrigger: true,
		Request: &sessionstore.Request{ID: sessionstore.OperationID(ann, "waits")}}
	if _, err := st.Sessions.Append(t.Context(), sessionstore.Key{Scope: ann, ID: "waits"}, events[:2], waits); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		w := memory.Write{Actor: "test", Terms: memory.Terms{"bees": 1}, Vector: unit(m.Dimension), Memory: memory.Memory{
			ID: fmt.Sprintf("m%d", i), Scope: ann, Kind: memory.KindFact, Fact: fmt.Sprintf("Ann keeps %d bees.", i), Timestamp: time.Unix(1e9, 0).UTC(), UTCOffset: "+05:30"}}
		if i == 8 {
			w.Memory.Kind = memory.KindProfile
			w.Memory.Profile = &memory.Profile{SchemaID: "keeper", Field: "bees", Value: []byte(`[1,"<b>"]`)}
		}
		if out, err := st.Memories.Put(t.Context(), ann, []memory.Write{w}); err != nil || out[0].Err != nil {
			t.Fatal(err, out)
		}
	}
	changed := memory.Write{Expect: 1, Actor: "test", Memory: memory.Memory{ID: "m7", Scope: ann, Kind: memory.KindFact, Fact: "Ann keeps hens.", Timestamp: time.Unix(1e9, 0).UTC()}}
	if out, err := st.Memories.Put(t.Context(), ann, []memory.Write{changed}); err != nil || out[0].Err != nil {
		t.Fatal(err, out)
	}
	return st
}

// unit is a vector of unit length.
func unit(dimension int) []float32 {
	v := make([]float32, dimension)
	v[0] = 1
	return v
}

// write writes an archive of stores and checks that it is whole.
func write(t *testing.T, st *assembly.Stores) (text string, head *archive.Heading, end *archive.Ending) {
	t.Helper()
	var out bytes.Buffer
	progress := 0
	written, err := archive.Write(t.Context(), &out, archive.NewHeading("v1", st.Memories.Model()), st.Sessions, st.Memories, func(n int) { progress += n })
	if err != nil {
		t.Fatal(err)
	}
	if progress != out.Len() {
		t.Errorf("progress is told of %d bytes of %d", progress, out.Len())
	}
	head, end, err = archive.Verify(bytes.NewReader(out.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, end); diff != "" {
		t.Errorf("ending (-written +read):\n%s", diff)
	}
	return out.String(), head, end
}

// An archive that is imported and written again is the same, and importing it once
// more changes nothing.
func TestRoundTrip(t *testing.T) {
	m := assembly.ModelOf(embed.Builtin{})
	text, head, end := write(t, filled(t, m))
	if want := (archive.Counts{Sessions: 3, Events: 122, Shared: 2, Memories: 60, Revisions: 61, Configs: 1}); end.Counts != want {
		t.Errorf("counts %+v, want %+v", end.Counts, want)
	}
	if head.Model() != m {
		t.Errorf("model %v, want %v", head.Model(), m)
	}
	to := open(t, m)
	for i, want := range []int{60, 0} {
		got, err := archive.Import(t.Context(), strings.NewReader(text), head, to.Sessions, to.Memories, embed.Builtin{}, nil, nil)
		if err != nil || got.Memories != want || got.KeptConfigs != nil {
			t.Errorf("import %d: %+v, %v, want %d new memories", i, got, err, want)
		}
	}
	again, _, _ := write(t, to)
	if diff := cmp.Diff(text, again); diff != "" {
		t.Errorf("(-archive +imported and written again):\n%s", diff)
	}
}

// An app that has a configuration keeps it, and the import names the app: the words that
// come in from now on are redacted, kept and forgotten as its owner has said here. An
// archive of a version that had no configurations brings none.
func TestConfigStays(t *testing.T) {
	m := assembly.ModelOf(embed.Builtin{})
	text, head, _ := write(t, filled(t, m))
	var old []string
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, `{"config"`) && !strings.HasPrefix(l, `{"end"`) {
			old = append(old, l)
		}
	}
	own := []byte(`{"person":"THIRD"}`)
	for _, c := range []struct {
		archive, before, after string
		revision               int64
		kept                   []string
	}{
		{text, string(own), string(own), 1, []string{"notes"}},
		{seal(t, old), string(own), string(own), 1, nil},
		{seal(t, old), "", "", 0, nil},
		{text, "", `{"customTopics":[{"label":"DIET","description":"<b>&amp; food"}],"redaction":{"kinds":["keys"]}}`, 2, nil},
	} {
		to := open(t, m)
		if c.before != "" {
			if _, err := to.Sessions.PutConfig(t.Context(), "notes", []byte(c.before), 0); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			got, err := archive.Import(t.Context(), strings.NewReader(c.archive), head, to.Sessions, to.Memories, embed.Builtin{}, nil, nil)
			if err != nil || !cmp.Equal(got.KeptConfigs, c.kept) {
				t.Errorf("import over %q: %+v, %v", c.before, got, err)
			}
		}
		doc, revision, err := to.Sessions.Config(t.Context(), "notes")
		if err != nil || string(doc) != c.after || revision != c.revision {
			t.Errorf("over %q there is %s of revision %d, %v", c.before, doc, revision, err)
		}
	}
}

// other is an embedder with vectors of three numbers.
type other struct{ err error }

func (other) Model() embed.Model { return embed.Model{Name: "other", Dimension: 3} }

func (o other) Embed(_ context.Context, _ embed.Task, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = unit(3)
	}
	return out, o.err
}

// Memories for a store of another model get its embedder's vectors. If the embedder
// fails, the import fails with its error, and can be run again.
func TestImportOtherModel(t *testing.T) {
	text, head, _ := write(t, filled(t, assembly.ModelOf(embed.Builtin{})))
	to := open(t, assembly.ModelOf(other{}))
	for _, want := range []error{memory.ErrUnavailable, nil} {
		_, err := archive.Import(t.Context(), strings.NewReader(text), head, to.Sessions, to.Memories, other{want}, nil, nil)
		if !errors.Is(err, want) {
			t.Errorf("import: %v, want %v", err, want)
		}
	}
	vectors := 0
	err := to.Memories.Export(t.Context(), func(r memory.Record) error {
		if len(r.Vector) == 3 {
			vectors++
		}
		return nil
	})
	if err != nil || vectors != 60 {
		t.Errorf("%d memories have a vector of the other model, %v", vectors, err)
	}
}

// An archive that is cut off, changed, or of another program is refused.
func TestVerifyRefuses(t *testing.T) {
	text, _, _ := write(t, filled(t, assembly.ModelOf(embed.Builtin{})))
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	for says, spoilt := range map[string]string{
		"it is cut off":                strings.Join(lines[:len(lines)-1], ""),
		"its checksum is another":      strings.Replace(text, "keeps 3 bees", "keeps 4 bees", 1),
		"line 1 is none of an export":  "hello\n" + text,
		"does not begin as an export":  strings.Join(lines[1:], ""),
		"something follows the end":    text + text,
		"it is of format 2":            strings.Replace(text, `"format":1`, `"format":2`, 1),
		"line 2 is none of an export":  strings.Replace(text, "\n", "\n{\"new\":1}\n", 1),
		"it is cut off: it has no end": lines[0],
	} {
		if _, _, err := archive.Verify(strings.NewReader(spoilt), nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want an error that says %q", err, says)
		}
	}
	// Counts that do not agree with a right checksum are refused too.
	body := strings.Join(lines[:len(lines)-1], "")
	sum := sha256.Sum256([]byte(body))
	wrong := body + `{"end":{"sessions":1,"events":0,"shared":0,"memories":0,"revisions":0,"sha256":"` + hex.EncodeToString(sum[:]) + "\"}}\n"
	if _, _, err := archive.Verify(strings.NewReader(wrong), nil); err == nil {
		t.Error("wrong counts are accepted")
	}
}
