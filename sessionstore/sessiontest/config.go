package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

func configCases() []testCase {
	return []testCase{
		{"KeptWhole", configKeptWhole},
		{"Expected", configExpected},
		{"AtOnce", configAtOnce},
		{"LookAlikes", configLookAlikes},
		{"Refused", configRefused},
		{"Erased", configErased},
	}
}

func (f *fixture) putConfig(app, doc string, expect int64) int64 {
	f.t.Helper()
	revision, err := f.PutConfig(f.t.Context(), app, json.RawMessage(doc), expect)
	if err != nil {
		f.t.Fatalf("PutConfig(%q): %v", app, err)
	}
	return revision
}

// hasConfig compares the configuration of an app, byte for byte.
func (f *fixture) hasConfig(app, doc string, revision int64) {
	f.t.Helper()
	got, n, err := f.Config(f.t.Context(), app)
	if err != nil || string(got) != doc || n != revision {
		f.t.Errorf("app %q has configuration %.80q of revision %d, %v; want %.80q of %d", app, got, n, err, doc,
			revision)
	}
}

// A configuration comes back byte for byte, also after a restart, and leaves the state of
// the app alone. An app without one has none. The rules by which memories are made rely
// on it.
func configKeptWhole(f *fixture) {
	f.hasConfig("shop", "", 0)
	doc := `{ "customTopics": [{"label": "diet – ž 世界", "description": "\u0000"}], "big": "` +
		strings.Repeat("x", 200<<10) + `"}`
	f.equal("revision", f.putConfig("shop", doc, 0), int64(1))
	f.create(session(ann, "s"), `{"app:config":1}`)
	f.hasConfig("shop", doc, 1)
	f.reopen()
	f.hasConfig("shop", doc, 1)
	f.equal("app state", string(f.get(session(ann, "s")).State["app:config"]), "1")
	f.equal("revision", f.putConfig("shop", `{}`, 1), int64(2))
	f.hasConfig("shop", `{}`, 2)
}

// A change that expects another revision is refused, and the newer configuration stays:
// two admins who edit at once do not undo each other unseen.
func configExpected(f *fixture) {
	f.putConfig("shop", `{"n":1}`, sessionstore.AnyRevision)
	f.putConfig("shop", `{"n":2}`, 1)
	for _, stale := range []int64{0, 1, 3} {
		_, err := f.PutConfig(f.t.Context(), "shop", json.RawMessage(`{"n":3}`), stale)
		if !errors.Is(err, memory.ErrAborted) {
			f.t.Errorf("a change of revision %d: %v", stale, err)
		}
	}
	f.hasConfig("shop", `{"n":2}`, 2)
	f.equal("revision", f.putConfig("shop", `{"n":4}`, sessionstore.AnyRevision), int64(3))
}

// Of changes at once that expect the same revision, one is stored.
func configAtOnce(f *fixture) {
	var all sync.WaitGroup
	var stored atomic.Int64
	for i := range 16 {
		all.Go(func() {
			doc := json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
			_, err := f.PutConfig(context.Background(), "shop", doc, 0)
			if err == nil {
				stored.Add(1)
			} else if !errors.Is(err, memory.ErrAborted) {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
	f.equal("stored", stored.Load(), int64(1))
	if _, revision, err := f.Config(f.t.Context(), "shop"); err != nil || revision != 1 {
		f.t.Errorf("revision %d, %v", revision, err)
	}
}

// Apps whose names look alike have configurations of their own.
func configLookAlikes(f *fixture) {
	for i, app := range oddNames() {
		f.putConfig(app, fmt.Sprintf(`{"n":%d}`, i), 0)
	}
	for i, app := range oddNames() {
		f.hasConfig(app, fmt.Sprintf(`{"n":%d}`, i), 1)
	}
}

// A document that is not JSON or too large is refused, and what is there stays.
func configRefused(f *fixture) {
	f.putConfig("shop", `{"n":1}`, 0)
	for name, doc := range map[string]string{
		"nothing": "", "no JSON": `{"n":`, "large": `"` + strings.Repeat("x", sessionstore.MaxConfig) + `"`,
	} {
		if _, err := f.PutConfig(f.t.Context(), "shop", json.RawMessage(doc), 1); !errors.Is(err, memory.ErrInvalid) {
			f.t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.PutConfig(f.t.Context(), "", json.RawMessage(`{}`), 0); !errors.Is(err, memory.ErrInvalid) {
		f.t.Errorf("an app without a name: %v", err)
	}
	f.hasConfig("shop", `{"n":1}`, 1)
}

// Erasing an app erases its configuration, whose examples may have the words of people,
// and leaves that of another app.
func configErased(f *fixture) {
	f.putConfig("shop", `{"n":1}`, 0)
	f.putConfig("bank", `{"n":2}`, 0)
	if err := f.EraseApp(f.t.Context(), "shop"); err != nil {
		f.t.Fatal(err)
	}
	f.reopen()
	f.hasConfig("shop", "", 0)
	f.hasConfig("bank", `{"n":2}`, 1)
}
