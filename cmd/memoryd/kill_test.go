package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

const (
	kills         = 50
	killUsers     = 3
	killSessions  = 4  // of each user
	killPieces    = 40 // requests for each session
	pieceEvents   = 3
	piecesPerLife = 12 // of each user, so that there is something left to send after the last kill
)

// manyEvents is more than one step of the embedded file writes the turns of.
const manyEvents = 250

// piece is one request to ingest events.
type piece struct {
	scope, session string
	events         []map[string]any
	trigger        map[string]any // nil leaves the session its own
}

// userPieces are the requests of one user, in order. Some statements are
// repeated in other sessions, some contradict earlier ones, and some end or
// retract an earlier statement, of the same session or another.
func userPieces(user int) (out []piece) {
	scope := fmt.Sprintf("/v1/apps/kill/users/u%d", user)
	for n := range killPieces {
		for s := range killSessions {
			p := piece{scope: scope, session: fmt.Sprintf("s%d", s)}
			if s == killSessions-1 && n%10 == 0 { // memories of this session wait, at the end too
				p.trigger = map[string]any{"events": 5 + n, "idle": "1s"}
			}
			for i := range pieceEvents {
				e := n*pieceEvents + i
				text := fmt.Sprintf("I bought the painting number %d%d%d yesterday.", user, s, e)
				switch i {
				case 1:
					text = fmt.Sprintf("I love the colour number %d.", n) // in all sessions of the user
				case 2:
					text = []string{
						"Thanks, that sounds good!",
						fmt.Sprintf("My favourite number is %d now.", n),
						"I moved to " + []string{"Porto", "Lisbon", "Berlin", "Rome"}[(n+s)%4] + ".",
						fmt.Sprintf("Please forget that I love the colour number %d.", n-2),
						"I don't eat meat anymore.",
						"I eat meat.",
					}[n%6]
				}
				p.events = append(p.events, map[string]any{"id": fmt.Sprintf("e%d", e), "author": "user", "content": text,
					"timestamp": 1.7e9 + float64(s*100000+e)})
			}
			if user == 0 && s == 0 && n%12 == 3 { // many events, which are stored and indexed in several steps
				for i := range manyEvents {
					p.events = append(p.events, map[string]any{"id": fmt.Sprintf("m%d.%d", n, i), "author": "agent",
						"content":   fmt.Sprint("That is fine with me, number ", i, "."),
						"timestamp": 1.7e9 + float64(n*pieceEvents) + 0.5}) // no other event's
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// send posts pieces in order until one is not acknowledged, or most of them are
// sent, and returns the rest.
func send(url string, pieces []piece, most int) []piece {
	for i, p := range pieces {
		if i == most {
			return pieces[i:]
		}
		if code, err := p.sendTo(url); err != nil || code != http.StatusAccepted {
			return pieces[i:]
		}
	}
	return nil
}

// sendTo posts a piece.
func (p piece) sendTo(url string) (int, error) {
	body := map[string]any{"sessionId": p.session, "events": p.events, "trigger": p.trigger}
	return call("POST", url+p.scope+"/memories/ingest", body, nil)
}

// sendAll posts pieces in order, all of which a memoryd has to take.
func sendAll(t *testing.T, to *process, pieces []piece) {
	t.Helper()
	for i, p := range pieces {
		if code, err := p.sendTo(to.url); err != nil || code != http.StatusAccepted {
			t.Fatalf("%d of %d pieces were taken, then came status %d, error %v:\n%s", i, len(pieces), code, err, to.logs.String())
		}
	}
}

// bank is everything that a memoryd holds at the end.
type bank struct {
	Events   map[string][]string // event ids by session
	Memories map[string][]memory.Memory
}

func contents(t *testing.T, url string) bank {
	t.Helper()
	b := bank{map[string][]string{}, map[string][]memory.Memory{}}
	for u := range killUsers {
		scope := fmt.Sprintf("/v1/apps/kill/users/u%d", u)
		madeByThemselves(t, url+scope)
		for s := range killSessions {
			path := fmt.Sprintf("%s/sessions/s%d", scope, s)
			var op struct{ Done bool }
			for !op.Done {
				if code, err := call("POST", url+path+"/memories?wait=true", nil, &op); err != nil || code >= 300 {
					t.Fatal(code, err)
				}
			}
			var session struct{ Events []struct{ ID string } }
			if code, err := call("GET", url+path, nil, &session); err != nil || code != 200 {
				t.Fatal(code, err)
			}
			for _, e := range session.Events {
				b.Events[path] = append(b.Events[path], e.ID)
			}
		}
		for token := ""; ; {
			var page struct {
				Memories      []memory.Memory
				NextPageToken string
			}
			if code, err := call("GET", url+scope+"/memories?history=true&pageSize=1000&pageToken="+token, nil, &page); err != nil || code != 200 {
				t.Fatal(code, err)
			}
			for _, m := range page.Memories {
				m.CreateTime, m.UpdateTime = time.Time{}, time.Time{}
				b.Memories[scope] = append(b.Memories[scope], m)
			}
			if token = page.NextPageToken; token == "" {
				break
			}
		}
		slices.SortFunc(b.Memories[scope], func(a, b memory.Memory) int { return cmp.Compare(a.ID, b.ID) })
	}
	return b
}

// madeByThemselves waits until all memories are made that a user's requests asked for: no
// other request makes those that wait for a trigger.
func madeByThemselves(t *testing.T, scope string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var page struct {
			Operations []struct {
				ID   string
				Done bool
			}
		}
		if code, err := call("GET", scope+"/operations?pageSize=1000", nil, &page); err != nil || code != 200 {
			t.Fatal(code, err)
		}
		open := ""
		for _, op := range page.Operations {
			if !op.Done {
				open = op.ID
			}
		}
		if open == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("operation %s is not done", open)
		}
	}
}

// settled is the bank without what depends on the order of arrival: the ids of
// facts and their numbers of revisions.
func (b bank) settled() bank {
	out := bank{b.Events, map[string][]memory.Memory{}}
	for scope, all := range b.Memories {
		texts := map[string]string{}
		for _, m := range all {
			texts[m.ID] = m.Fact + " " + m.Timestamp.String()
		}
		for _, m := range all {
			m.SupersededBy = texts[m.SupersededBy]
			if m.Revision = 0; m.Kind == memory.KindFact {
				m.ID = ""
			}
			out.Memories[scope] = append(out.Memories[scope], m)
		}
		slices.SortFunc(out.Memories[scope], func(a, b memory.Memory) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Fact, b.Fact))
		})
	}
	return out
}

// turnsAreThere checks in the files that a killed memoryd has left that each stored
// event has its turn in memory: one transaction has stored both.
func turnsAreThere(t *testing.T, data string) {
	t.Helper()
	stores := assembly.NewStores()
	defer stores.Close()
	if err := stores.OpenBoth(t.Context(), filepath.Join(data, dataFile), memoryd.ModelOf(embed.Builtin{})); err != nil {
		t.Fatal(err)
	}
	for u := range killUsers {
		scope := memory.Scope{App: "kill", User: fmt.Sprint("u", u)}
		turns := map[string]bool{} // by session and event
		for list := (memory.List{PageSize: memory.MaxPageSize,
			Filter: memory.Filter{Kinds: []memory.Kind{memory.KindTurn}, History: true}}); ; {
			page, err := stores.Memories.List(t.Context(), scope, list)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range page.Memories {
				turns[m.Source.SessionID+" "+m.Source.EventID()] = true
			}
			if list.PageToken = page.NextPageToken; list.PageToken == "" {
				break
			}
		}
		for s := range killSessions {
			key := sessionstore.Key{Scope: scope, ID: fmt.Sprint("s", s)}
			session, err := stores.Sessions.Get(t.Context(), key, sessionstore.Get{NumRecent: -1})
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			many := 0
			for _, e := range session.Events {
				if strings.HasPrefix(e.ID, "m") {
					many++ // its turn may follow in a later step
				} else if !turns[key.ID+" "+e.ID] {
					t.Errorf("event %s of session %s of %s was stored without its turn", e.ID, key.ID, scope.User)
				}
			}
			if many%manyEvents != 0 {
				t.Errorf("%d events are stored of requests of %d", many, manyEvents)
			}
		}
	}
}

// A memoryd that is killed again and again while it ingests ends with every
// acknowledged event once, and with the memories of one that ran undisturbed.
// Requests that were not acknowledged are sent again, acknowledged ones are
// not.
func TestKilled(t *testing.T) {
	t.Parallel()
	calm := start(t, t.TempDir())
	data := t.TempDir()
	left := make([][]piece, killUsers)
	for u := range killUsers {
		left[u] = userPieces(u)
		sendAll(t, calm, left[u])
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		p := start(t, data)
		var senders sync.WaitGroup
		for u := range killUsers {
			senders.Go(func() { left[u] = send(p.url, left[u], piecesPerLife) })
		}
		// At any time from before the first request to well into ingestion.
		<-time.After(time.Duration(random.IntN(60_000)) * time.Microsecond)
		p.kill()
		senders.Wait()
		turnsAreThere(t, data)
	}
	p := start(t, data)
	unsent := 0
	for u := range killUsers {
		unsent += len(left[u])
		sendAll(t, p, left[u])
	}
	t.Logf("%d of %d requests were acknowledged between kills", killUsers*killSessions*killPieces-unsent, killUsers*killSessions*killPieces)
	if diff := gocmp.Diff(contents(t, calm.url).settled(), contents(t, p.url).settled()); diff != "" {
		t.Errorf("after %d kills (-undisturbed +killed):\n%s", kills, diff)
	}
	p.terminate(t)
	if said := runs(t, "check", "-data", data); !strings.Contains(said, "no fault was found") {
		t.Errorf("check says %s", said)
	}
}
