package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// quietUsers are those that must be as before once another user is erased. All are alike, so hundreds stand for
// thousands. Over servers each of their requests takes several times as long.
const quietUsers, quietOverServers = 400, 120

// crowd is many users of a memoryd that is killed now and then.
type crowd struct {
	t   *testing.T
	url atomic.Pointer[string]
}

func (c *crowd) send(method, path string, body any) (int, []byte, error) {
	var answer rawJSON
	code, err := call(method, *c.url.Load()+"/v1/apps/shop/users/"+path, body, &answer)
	return code, answer, err
}

// rawJSON is an answer as it came.
type rawJSON []byte

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawJSON) UnmarshalJSON(raw []byte) error {
	*r = append((*r)[:0], raw...)
	return nil
}

func (c *crowd) must(method, path string, body any) []byte {
	c.t.Helper()
	code, answer, err := c.send(method, path, body)
	if err != nil || code >= 300 {
		c.t.Errorf("%s %s: %d %s, %v", method, path, code, answer, err)
	}
	return answer
}

// say ingests what a user says.
func (c *crowd) say(user, session string, texts ...string) {
	c.t.Helper()
	var events []any
	for n, text := range texts {
		events = append(events, map[string]any{"id": fmt.Sprintf("%s-%s-%d", user, session, n), "author": "user",
			"content": text})
	}
	c.must("POST", user+"/memories/ingest?wait=true", map[string]any{"sessionId": user + "-" + session, "events": events})
}

func quiet(n int) string { return fmt.Sprintf("u%04d", n) }

// has is all that some quiet users have, as the API tells it.
func (c *crowd) has(users ...int) string {
	c.t.Helper()
	parts := make([]string, len(users))
	var reading sync.WaitGroup
	for w := range 8 {
		reading.Go(func() {
			for i := w; i < len(users); i += 8 {
				user := quiet(users[i])
				for _, path := range []string{"/memories?history=true", "/sessions/" + user + "-s", "/operations"} {
					parts[i] += string(c.must("GET", user+path, nil))
				}
			}
		})
	}
	reading.Wait()
	return strings.Join(parts, "\n")
}

// talk writes and searches as users of its own until stop is called, whether memoryd is
// there or not.
func (c *crowd) talk() (stop func()) {
	var over atomic.Bool
	var talking sync.WaitGroup
	for i := range 4 {
		talking.Go(func() {
			for n := 0; !over.Load(); n++ {
				user := fmt.Sprint("talker", i)
				_, _, _ = c.send("POST", user+"/memories/ingest", map[string]any{"sessionId": "s",
					"events": []any{map[string]any{"id": fmt.Sprint(n), "content": fmt.Sprint("I like tea number ", n, ".")}}})
				_, _, _ = c.send("POST", user+"/memories/search", map[string]any{"query": "What do I like?"})
			}
		})
	}
	return func() { over.Store(true); talking.Wait() }
}

// A user is erased among hundreds, in the embedded file.
func TestEraseKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	eraseKilled(t, quietUsers, dir, func(_ bool, words ...string) { lacks(t, dir, words...) })
}

// A user is erased among others over Redis and Qdrant. Redis has nothing in its files after a
// rewrite, and Qdrant after the calls that docs/erasing.md has.
func TestEraseKilledOverServers(t *testing.T) {
	t.Parallel()
	r, q := redistest.Start(t, "--rdbcompression", "no"), qdranttest.Start(t)
	eraseKilled(t, quietOverServers, t.TempDir(), func(ended bool, words ...string) {
		r.Rewrite(t)
		lacks(t, r.Dir(), words...)
		if ended && q.Files() {
			q.Rewrite(t, words...)
		}
	}, "-sessions", r.URL(), "-memories", q.URL(t))
}

// lacks fails the test if a file in dir has one of the words.
func lacks(t *testing.T, dir string, words ...string) {
	t.Helper()
	for _, word := range words {
		if files := filetest.With(t, dir, word); len(files) > 0 {
			t.Errorf("%v in %s still have %q", files, dir, word)
		}
	}
}

// eraseKilled erases a user among others while others write and search, and memoryd is
// killed at different times within. Each start finds what others have as it was, and a
// repetition of the call finishes the erasing: look is told the words and ids of the user that no
// file may have then, while memoryd runs and after its end. The others have the same, byte for
// byte.
func eraseKilled(t *testing.T, users int, dir string, look func(ended bool, words ...string), args ...string) {
	t.Helper()
	p := start(t, dir, args...)
	c := &crowd{t: t}
	c.url.Store(&p.url)
	var making sync.WaitGroup
	for w := range 8 {
		making.Go(func() {
			for n := w; n < users; n += 8 {
				c.say(quiet(n), "s", fmt.Sprintf("I live at number %d in Lisbon.", n))
			}
		})
	}
	making.Wait()
	const zoe = "zoe-okapi"
	for s := range 15 {
		var texts []string
		for n := range 40 {
			texts = append(texts, fmt.Sprintf("My axolotl number %d of %d is green.", n, s))
		}
		c.say(zoe, fmt.Sprint("s", s), texts...)
	}
	for n := range 40 { // a long history
		c.must("POST", zoe+"/memories", map[string]any{"fact": fmt.Sprintf("I collect numbats, %d so far.", n)})
	}
	all := rand.Perm(users)
	before, some := c.has(all...), c.has(all[:20]...)
	stop := c.talk()
	for round := range 4 {
		killed := make(chan struct{})
		go func() {
			time.Sleep(time.Duration(5+15*round) * time.Millisecond)
			p.kill()
			close(killed)
		}()
		_, _, _ = c.send("DELETE", zoe+"?confirm="+zoe, nil)
		<-killed
		p = start(t, dir, args...)
		c.url.Store(&p.url)
		if c.has(all[:20]...) != some {
			t.Fatalf("round %d: what others have is not as before", round)
		}
	}
	if code, answer, err := c.send("DELETE", zoe+"?confirm="+zoe, nil); code != http.StatusOK {
		t.Fatalf("%d %s, %v", code, answer, err)
	}
	look(false, "axolotl", "numbat", zoe)
	stop()
	if c.has(all...) != before {
		t.Error("what others have is not as before")
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	look(true, "axolotl", "numbat", zoe)
	if out, err := command(append([]string{"check", "-data", dir}, args...)...).CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
}
