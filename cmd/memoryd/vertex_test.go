package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/memory"
)

// vertexClient calls -vertex as Google's SDK for Python does. The address is none that its certificate
// vouches for to the system, and each memoryd that is started has another.
var vertexClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// callVertex makes a call on the memories of engine 1.
func (p *process) callVertex(verb string, body, answer any) error {
	return p.requestVertex("POST", "/memories:"+verb, body, answer)
}

// requestVertex makes a call on a path in engine 1.
func (p *process) requestVertex(method, path string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, p.vertex+"/v1beta1/reasoningEngines/1"+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", "vertex-genai-modules/1.165.1 gl-python/3.12")
	res, err := vertexClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return json.NewDecoder(res.Body).Decode(answer)
}

const (
	vertexKills = 8
	vertexTurns = 40
)

// saidThen is the nth thing that a user says.
func saidThen(n int) string { return fmt.Sprintf("I bought the painting number %d.", n) }

// appendVertex appends the nth event to the session of a user, as ADK for Python does.
func (p *process) appendVertex(n int) error {
	return p.requestVertex("POST", "/sessions/kill:appendEvent", map[string]any{"author": "user", "invocationId": "i",
		"timestamp": time.Unix(1_700_000_000+int64(n), 0).UTC(), "rawEvent": map[string]any{"id": fmt.Sprint("e", n),
			"actions": map[string]any{"stateDelta": map[string]any{"last": n, fmt.Sprint("user:k", n): n}}}}, &struct{}{})
}

// appended checks that the session has each event once, in order, with its state.
func (p *process) appended(t *testing.T) {
	t.Helper()
	var events struct{ SessionEvents []struct{ Name string } }
	var session struct{ SessionState map[string]int }
	for at, to := range map[string]any{"/sessions/kill/events": &events, "/sessions/kill": &session} {
		if err := p.requestVertex("GET", at, struct{}{}, to); err != nil {
			t.Fatal(at, err)
		}
	}
	state := map[string]int{"last": vertexTurns - 1}
	for n := range vertexTurns {
		state[fmt.Sprint("user:k", n)] = n
		if n >= len(events.SessionEvents) || path.Base(events.SessionEvents[n].Name) != fmt.Sprint("e", n) {
			t.Errorf("event %d is not in its place: %v", n, events.SessionEvents)
			break
		}
	}
	if n := len(events.SessionEvents); n != vertexTurns {
		t.Errorf("the session has %d events, want %d", n, vertexTurns)
	}
	if diff := gocmp.Diff(state, session.SessionState); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// A client that sends a request again until it is answered, to a memoryd that is killed again and
// again, ends with each memory once: of whole conversations, each longer than the last, and of streams
// whose events have ids. A session has each event that was appended once, in order.
func TestVertexKilled(t *testing.T) {
	t.Parallel()
	data, random := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	whole, stream := map[string]any{"user_id": "whole"}, map[string]any{"user_id": "stream"}
	event := func(n int) map[string]any {
		return map[string]any{"content": map[string]any{"role": "user", "parts": []any{map[string]any{"text": saidThen(n)}}}}
	}
	var conversation []any
	next := 0
	send := func(p *process, n int) error {
		var op struct{ Name string }
		if len(conversation) == n {
			conversation = append(conversation, event(n))
		}
		err := p.callVertex("generate", map[string]any{"scope": whole,
			"directContentsSource": map[string]any{"events": conversation}}, &op)
		if err == nil {
			err = p.appendVertex(n)
		}
		if err != nil {
			return err
		}
		of := event(n)
		of["eventId"] = fmt.Sprint("e", n)
		return p.callVertex("ingestEvents", map[string]any{"scope": stream, "streamId": "s",
			"directContentsSource": map[string]any{"events": []any{of}}}, &op)
	}
	first := start(t, data, "-vertex", "127.0.0.1:0")
	made := first.requestVertex("POST", "/sessions?sessionId=kill", map[string]any{"userId": "session"}, &struct{}{})
	if err := made; err != nil {
		t.Fatal(err)
	}
	first.kill()
	for kill := range vertexKills + 1 {
		p := start(t, data, "-vertex", "127.0.0.1:0")
		if kill < vertexKills {
			time.AfterFunc(time.Duration(random.IntN(50_000))*time.Microsecond, func() { _ = p.cmd.Process.Kill() })
		}
		for next < vertexTurns {
			if err := send(p, next); err != nil {
				if kill == vertexKills {
					t.Fatal(err, p.logs.String())
				}
				break
			}
			next++
		}
		p.kill()
		if next == vertexTurns {
			break
		}
	}
	p := start(t, data, "-vertex", "127.0.0.1:0")
	if err := send(p, vertexTurns-1); err != nil { // again, though it was answered
		t.Fatal(err)
	}
	p.appended(t)
	var want []string
	for n := range vertexTurns {
		want = append(want, saidThen(n))
	}
	slices.Sort(want)
	for user, scope := range map[string]any{"whole": whole, "stream": stream} {
		madeByThemselves(t, p.url+"/v1/apps/1/users/"+user)
		var found struct {
			RetrievedMemories []struct{ Memory struct{ Fact string } }
		}
		if err := p.callVertex("retrieve", map[string]any{"scope": scope}, &found); err != nil {
			t.Fatal(err)
		}
		var facts, turns []string
		for _, m := range found.RetrievedMemories {
			facts = append(facts, m.Memory.Fact)
		}
		var page struct{ Memories []memory.Memory }
		turnsOf := "/v1/apps/1/users/" + user + "/memories?kind=turn&pageSize=1000"
		if code, err := call("GET", p.url+turnsOf, nil, &page); err != nil || code != 200 {
			t.Fatal(code, err)
		}
		for _, m := range page.Memories {
			turns = append(turns, m.Fact)
		}
		slices.Sort(facts)
		slices.Sort(turns)
		if diff := gocmp.Diff(want, facts); diff != "" {
			t.Errorf("facts of %s (-want +got):\n%s", user, diff)
		}
		if diff := gocmp.Diff(want, turns); diff != "" {
			t.Errorf("turns of %s (-want +got):\n%s", user, diff)
		}
	}
}
