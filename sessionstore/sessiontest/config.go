package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
		{"Apps", configApps},
		{"Exported", configExported},
		{"Restored", configRestored},
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

// An app with a configuration is one of the apps, before it has a session and until it is
// erased, and again once it has one. Lists of what apps declare rely on it.
func configApps(f *fixture) {
	f.putConfig("store", `{}`, 0)
	f.create(session(ann, "s"), `{}`)
	f.putConfig("bank", `{}`, 0)
	f.equal("apps", f.apps(), []string{"bank", ann.App, "store"})
	f.reopen()
	f.equal("apps after a restart", f.apps(), []string{"bank", ann.App, "store"})
	if err := f.EraseApp(f.t.Context(), "store"); err != nil {
		f.t.Fatal(err)
	}
	f.equal("apps after an erasing", f.apps(), []string{"bank", ann.App})
	f.putConfig("store", `{}`, 0)
	f.equal("apps afterwards", f.apps(), []string{"bank", ann.App, "store"})
	f.eraseAll(ann)
	if err := f.EraseApp(f.t.Context(), ann.App); err != nil {
		f.t.Fatal(err)
	}
	f.equal("apps without that of the session", f.apps(), []string{"bank", "store"})
	f.create(session(ann, "s"), `{}`)
	f.equal("apps with another session", f.apps(), []string{"bank", ann.App, "store"})
}

// An export of configurations has each with its revision, in the order of the apps, also
// those whose names look like keys of a store, and ends when a yield fails.
func configExported(f *fixture) {
	var want, got []sessionstore.ConfigRecord
	for i, app := range append(oddNames(), "a!") {
		doc := fmt.Sprintf(`{"n":%d}`, i)
		f.putConfig(app, `{}`, 0)
		f.putConfig(app, doc, 1)
		want = append(want, sessionstore.ConfigRecord{App: app, Revision: 2, Doc: json.RawMessage(doc)})
	}
	slices.SortFunc(want, func(a, b sessionstore.ConfigRecord) int { return strings.Compare(a.App, b.App) })
	f.putConfig("gone", `{}`, 0)
	f.must(f.EraseApp(f.t.Context(), "gone"))
	f.create(session(memory.Scope{App: "unconfigured", User: "ann"}, "s"), `{"app:config":1}`)
	f.must(f.ExportConfigs(f.t.Context(), func(r sessionstore.ConfigRecord) error { got = append(got, r); return nil }))
	f.equal("configurations", got, want)
	stop := errors.New("enough")
	err := f.ExportConfigs(f.t.Context(), func(sessionstore.ConfigRecord) error { return stop })
	if !errors.Is(err, stop) {
		f.t.Errorf("an export that is stopped ends with %v", err)
	}
}

// A configuration is restored with its revision, from which the next change counts on.
// That of an app which has one stays, whatever its revision: its owner has chosen it.
func configRestored(f *fixture) {
	restore := func(app, doc string, revision int64) error {
		return f.RestoreConfig(f.t.Context(), sessionstore.ConfigRecord{App: app, Revision: revision, Doc: []byte(doc)})
	}
	f.putConfig("bank", `{"own":1}`, 0)
	for range 2 {
		f.must(restore("shop", `{"n":1}`, 7))
		f.must(restore("bank", `{"n":1}`, 7))
	}
	f.must(restore("shop", `{"n":2}`, 9))
	f.reopen()
	f.hasConfig("shop", `{"n":1}`, 7)
	f.hasConfig("bank", `{"own":1}`, 1)
	f.equal("revision", f.putConfig("shop", `{"n":3}`, 7), int64(8))
	for what, err := range map[string]error{
		"no app":      restore("", `{}`, 1),
		"no JSON":     restore("new", `{`, 1),
		"revision 0":  restore("new", `{}`, 0),
		"revision -1": restore("new", `{}`, -1),
		"too large":   restore("new", `"`+strings.Repeat("x", sessionstore.MaxConfig)+`"`, 1),
	} {
		f.isA(what, err, memory.ErrInvalid)
	}
	f.hasConfig("new", "", 0)
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}
