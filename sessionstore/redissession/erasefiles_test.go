package redissession_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// A user is erased among a thousand, while others write. The others are as before, byte
// for byte, and Redis's own files have nothing of the user after a rewrite: neither words
// nor ids, of events, state, operations, their changes and stored plans.
func TestEraseInFiles(t *testing.T) {
	const users = 1000
	r := redistest.Start(t, "--rdbcompression", "no") // so that a word is found
	s := open(t, r.URL(), nil)
	defer s.Close()
	at := time.Unix(1_700_000_000, 0)
	said := func(scope memory.Scope, session, word string) {
		e, err := sessionstore.ParseEvent(fmt.Appendf(nil, `{"id": "event-of-%s", "author": "user", "timestamp": %d,
			"content": "My %s is green.", "actions": {"stateDelta": {"user:pet": %q}}}`, scope.User, at.Unix(), word, word))
		if err == nil {
			_, err = s.Append(t.Context(), sessionstore.Key{Scope: scope, ID: session}, []sessionstore.Event{e},
				sessionstore.Append{Create: true, Request: &sessionstore.Request{
					ID: sessionstore.OperationID(scope, "op-of-"+scope.User+session)}})
		}
		if err != nil {
			t.Error(err)
		}
	}
	zoe := memory.Scope{App: "shop", User: "zoe-okapi"}
	said(zoe, "talk-numbat", "axolotl")
	for _, w := range claimed(t, s, 1) { // its changes are stored
		err := s.Finish(t.Context(), w, 1, []sessionstore.Change{{Seq: 1, Doc: json.RawMessage(`{"fact": "pangolin"}`)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	said(zoe, "talk-dugong", "quetzal")
	for _, w := range claimed(t, s, 1) {
		if err := s.Save(t.Context(), w, 1, json.RawMessage(`{"plan": "marimba"}`)); err != nil {
			t.Fatal(err)
		}
	}
	other := func(n int) memory.Scope { return memory.Scope{App: "shop", User: fmt.Sprintf("u%04d", n)} }
	var making sync.WaitGroup
	for i := range 8 {
		making.Go(func() {
			for n := i; n < users; n += 8 {
				said(other(n), "s", "tapir")
			}
		})
	}
	making.Wait()
	others := func() string {
		var out []any
		for n := range users {
			session, err := s.Get(t.Context(), sessionstore.Key{Scope: other(n), ID: "s"}, sessionstore.Get{})
			if err != nil {
				t.Fatal(err)
			}
			ops, _, err := s.Operations(t.Context(), other(n), sessionstore.List{})
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, session, ops)
		}
		raw, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	before := others()
	r.Rewrite(t)
	words := []string{"axolotl", "quetzal", "pangolin", "marimba", "zoe-okapi", "talk-numbat", "talk-dugong",
		sessionstore.OperationID(zoe, "op-of-zoe-okapitalk-numbat")}
	for _, word := range words {
		if len(filetest.With(t, r.Dir(), word)) < 2 {
			t.Errorf("%q is not in both of Redis's files before", word)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	var talking sync.WaitGroup
	for i := range 4 {
		talking.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				said(memory.Scope{App: "shop", User: fmt.Sprint("talker", i)}, fmt.Sprint("s", n), "tea")
			}
		})
	}
	gone, err := s.EraseUser(t.Context(), zoe, false)
	cancel()
	talking.Wait()
	if err != nil || gone.Sessions != 2 || gone.Events != 2 {
		t.Fatalf("%+v, %v", gone, err)
	}
	if others() != before {
		t.Error("what others have is not as before")
	}
	r.Rewrite(t)
	for _, word := range words {
		if files := filetest.With(t, r.Dir(), word); len(files) > 0 {
			t.Errorf("%q is still in %v", word, files)
		}
	}
}

// claimed is work, which there must be so much of.
func claimed(t *testing.T, s *redissession.Store, n int) []sessionstore.Work {
	t.Helper()
	out, err := s.Claim(t.Context(), "worker", time.Minute, n)
	if err != nil || len(out) != n {
		t.Fatal(out, err)
	}
	return out
}
