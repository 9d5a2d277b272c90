package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// Three memoryd on one Redis and one Qdrant get the same and different
// sessions, and one of them is killed. They end with every event once, and with
// the memories of a single memoryd on the embedded store.
func TestScaleOut(t *testing.T) {
	t.Parallel()
	scaleOut(t, redistest.Start(t).URL())
}

// The same holds on a Redis Cluster.
func TestScaleOutOnCluster(t *testing.T) {
	t.Parallel()
	scaleOut(t, redistest.StartCluster(t).URL())
}

func scaleOut(t *testing.T, sessions string) {
	memories := qdranttest.Start(t).URL(t)
	calm := start(t, t.TempDir())
	var many [3]*process
	for i := range many {
		many[i] = start(t, t.TempDir(), "-sessions", sessions, "-memories", memories)
	}
	killed := many[2]
	random := rand.New(rand.NewPCG(3, 4))
	var senders sync.WaitGroup
	for u := range killUsers {
		all := userPieces(u)
		all = all[:len(all)/sparse]
		sendAll(t, calm, all)
		// Each piece goes to one memoryd and some to a second one, in any
		// order.
		var plan [len(many)][]piece
		for _, p := range all {
			to := random.IntN(len(many))
			plan[to] = append(plan[to], p)
			if random.IntN(3) == 0 {
				plan[(to+1)%len(many)] = append(plan[(to+1)%len(many)], p)
			}
		}
		for i, pieces := range plan {
			random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
			senders.Go(func() {
				rest := send(many[i].url, pieces, -1)
				if many[i] == killed { // what it did not acknowledge goes to another
					rest = send(many[0].url, rest, -1)
				}
				if rest != nil {
					t.Errorf("%d pieces were not taken:\n%s", len(rest), many[0].logs.String())
				}
			})
		}
	}
	time.Sleep(100 * time.Millisecond)
	killed.kill()
	senders.Wait()
	want := contents(t, calm.url).settled()
	for _, p := range many[:2] {
		if diff := gocmp.Diff(want, contents(t, p.url).settled()); diff != "" {
			t.Errorf("(-one, embedded +three, one of them killed):\n%s", diff)
		}
	}
	if said := runs(t, "check", "-sessions", sessions, "-memories", memories); !strings.Contains(said, "no fault") {
		t.Errorf("check says %s", said)
	}
}

// Redis and Qdrant are reached over TLS, if the system trusts their
// certificates.
func TestTLS(t *testing.T) {
	redis := redistest.StartTLS(t)
	cert, key := redistest.Certificate(t)
	qdrant := qdranttest.StartReal(t, "QDRANT__SERVICE__ENABLE_TLS=true", "QDRANT__TLS__CERT="+cert, "QDRANT__TLS__KEY="+key)
	args := []string{"-sessions", "rediss://" + redis.Addr, "-memories", "qdrants://" + qdrant.Addr}
	runFails(t, "certificate", 1, append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	var all []byte
	for _, file := range []string{cert, redis.Cert} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw...)
	}
	if err := os.WriteFile(trusted, all, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", trusted)
	p := start(t, t.TempDir(), args...)
	sendAll(t, p, userPieces(0)[:4])
}

// While Redis is unavailable, requests are answered 503 with Retry-After, and
// readiness fails. Once it is back, memoryd goes on without a restart and has
// every acknowledged event.
func TestRedisUnavailable(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := start(t, t.TempDir(), "-sessions", r.URL(), "-memories", qdranttest.Start(t).URL(t))
	pieces := userPieces(0)
	sendAll(t, p, pieces[:8])
	r.Kill()
	for _, path := range []string{"/readyz", "/v1/apps/kill/users/u0/sessions", "/v1/apps/kill/users/u0/sessions/s0"} {
		res, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			t.Errorf("GET %s: %s, Retry-After %q", path, res.Status, res.Header.Get("Retry-After"))
		}
	}
	if code, err := callOnce("POST", p.url+pieces[8].scope+"/memories/ingest", map[string]any{"sessionId": "s0", "events": pieces[8].events}, nil); code != 503 || err != nil {
		t.Errorf("ingest: %d, %v", code, err)
	}
	r.Run(t)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if code, err := call("GET", p.url+"/readyz", nil, nil); err == nil && code == 200 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("not ready again")
		}
	}
	sendAll(t, p, pieces[8:12])
	for s := range killSessions {
		var session struct{ Events []struct{ ID string } }
		if code, err := call("GET", fmt.Sprintf("%s/v1/apps/kill/users/u0/sessions/s%d", p.url, s), nil, &session); err != nil || code != 200 || len(session.Events) != 3*pieceEvents {
			t.Errorf("session %d has %d events, want %d (%d, %v)", s, len(session.Events), 3*pieceEvents, code, err)
		}
	}
}

// ready waits until /readyz has a status and some words.
func (p *process) ready(t testing.TB, want int, words string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		res, err := http.Get(p.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err == nil && res.StatusCode == want && strings.Contains(string(answer), words) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("/readyz: %s %s, %v, want %d with %q", res.Status, answer, err, want, words)
		}
	}
}

// A Redis that loses its data while memoryd serves, or while it does not, makes it
// not ready, in words. What is stored from then on is made into memories at once.
// Once the loss is accepted all is well, also as check has it.
func TestRedisEmptied(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	stores := []string{"-sessions", r.URL(), "-memories", qdranttest.Start(t).URL(t)}
	p := start(t, t.TempDir(), stores...)
	pieces := userPieces(0)
	ready := func(want int, words string) { t.Helper(); p.ready(t, want, words) }
	ingest := func(p2 piece) {
		t.Helper()
		code, err := call("POST", p.url+p2.scope+"/memories/ingest?wait=true",
			map[string]any{"sessionId": p2.session + "-" + fmt.Sprint(p2.events[0]["id"]), "events": p2.events}, nil)
		if err != nil || code != 200 {
			t.Errorf("ingest: %d, %v\n%s", code, err, p.logs.String())
		}
	}
	ingest(pieces[0])
	ready(200, "")
	r.Flush(t)
	ready(503, "memoryd accept")
	ingest(pieces[1]) // is claimed long before the wait ends
	lost := p.url + pieces[0].scope + "/sessions/" + pieces[0].session + "-e0"
	if code, err := callOnce("GET", lost, nil, nil); err != nil || code != 503 {
		t.Errorf("a lost session: %d, %v", code, err)
	}
	runs(t, "accept", "-sessions", r.URL())
	ready(200, "")
	if code, err := callOnce("GET", lost, nil, nil); err != nil || code != 404 {
		t.Errorf("a lost session, accepted: %d, %v", code, err)
	}
	if said := runs(t, append([]string{"check"}, stores...)...); !strings.Contains(said, "no fault was found") {
		t.Errorf("check says %s", said)
	}

	p.terminate(t)
	r.Wipe(t)
	r.Run(t)
	p = start(t, t.TempDir(), stores...)
	ready(503, "memoryd accept")
	ingest(pieces[2])
	runs(t, "accept", "-sessions", r.URL())
	ready(200, "")
}
