package ingest_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// Requests that were stored before a session store kept them beside their
// operations are finished as what they were: each fact names the session that
// its events are of, given facts are taken as they are, and a saved plan is
// carried out.
func TestVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memoryd.db")
	unpack(t, filepath.Join("..", "sessionstore", "sqlitesession", "testdata", "version1.db.gz"), path)
	b := newBench(t, parts{file: path})
	b.run()
	facts := func(user string) []string {
		t.Helper()
		scope := memory.Scope{App: "shop", User: user}
		waiting, _, err := b.sessions.Operations(t.Context(), scope, sessionstore.List{})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range waiting {
			got, err := b.service.Wait(t.Context(), scope, op.ID, time.Minute)
			if err != nil || got.State != sessionstore.Succeeded {
				t.Fatalf("operation of %s: %+v, %v", user, got, err)
			}
		}
		facts := memory.Filter{Kinds: []memory.Kind{memory.KindFact}}
		page, err := b.memories.List(t.Context(), scope, memory.List{Filter: facts})
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, m := range page.Memories {
			out = append(out, fmt.Sprintf("%.5s %s %q %s", m.Source.SessionID, m.Source.EventIDs[0], m.Fact, m.Topics))
		}
		slices.Sort(out)
		return out
	}
	for user, want := range map[string][]string{
		"ann": {`chat e1 "I like coffee." [USER_PREFERENCES]`},
		"ben": {`chat e1 "I live in Bern." [USER_PERSONAL_INFO]`, `chat e2 "I like cheese." [USER_PREFERENCES]`},
		"cat": {`chat e2 "I live in Oslo." [USER_PERSONAL_INFO]`},
		"dan": {`facts fact-1 "Dan has a cat." [pets]`, `facts fact-2 "Dan lives in Paris." []`},
		"eve": {`chat e1 "I live in Lima." [USER_PERSONAL_INFO]`, `chat e2 "I like tea." [USER_PREFERENCES]`},
		"fay": {`gone e1 "I live in Cairo." [USER_PERSONAL_INFO]`},
		"hal": {`chat e1 "I love chess." [USER_PREFERENCES]`},
	} {
		if diff := cmp.Diff(want, facts(user)); diff != "" {
			t.Errorf("facts of %s (-want +got):\n%s", user, diff)
		}
	}
}

// unpack writes what is in a gzip file to another one.
func unpack(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
