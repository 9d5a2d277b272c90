package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/filetest"
	"github.com/memoryd/memoryd/memory"
)

// jars adds facts about jars for a user, some at a time, each with the fields of more.
func (c *crowd) jars(user, word string, n int, more map[string]any) {
	c.t.Helper()
	var making sync.WaitGroup
	for w := range 8 {
		making.Go(func() {
			for i := w; i < n; i += 8 {
				body := map[string]any{"fact": fmt.Sprintf("I have the %s jar number %d.", word, i)}
				for k, v := range more {
					body[k] = v
				}
				c.must("POST", user+"/memories", body)
			}
		})
	}
	making.Wait()
}

// left is all memories of a user, in the order of their ids, deleted and expired ones not.
func (c *crowd) left(user string) (out []memory.Memory) {
	c.t.Helper()
	for token := ""; ; {
		var page struct {
			Memories      []memory.Memory
			NextPageToken string
		}
		path := "/v1/apps/shop/users/" + user + "/memories?history=true&pageSize=1000&pageToken=" + token
		if code, err := call("GET", *c.url.Load()+path, nil, &page); err != nil || code != 200 {
			c.t.Fatal(code, err)
		}
		out = append(out, page.Memories...)
		if token = page.NextPageToken; token == "" {
			slices.SortFunc(out, func(a, b memory.Memory) int { return strings.Compare(a.ID, b.ID) })
			return out
		}
	}
}

// having returns the memories whose fact has a word.
func having(all []memory.Memory, word string) (out []memory.Memory) {
	for _, m := range all {
		if strings.Contains(m.Fact, word) {
			out = append(out, m)
		}
	}
	return out
}

// A memoryd that is killed within a purge again and again brings nothing back that was
// gone, loses nothing that the purge leaves, and has purged all once the call was repeated
// to its end. No file has a word of it then.
func TestPurgeKilled(t *testing.T) {
	t.Parallel()
	const made = 1500
	dir := t.TempDir()
	p := start(t, dir)
	c := &crowd{t: t}
	c.url.Store(&p.url)
	c.jars("ann", "axolotl", made, map[string]any{"metadata": map[string]any{"source": "import-7"}})
	c.jars("ann", "tapir", 100, map[string]any{"metadata": map[string]any{"source": "import-8"}})
	c.jars("bob", "tapir", 20, nil)
	kept, bobs := having(c.left("ann"), "tapir"), c.left("bob")
	purge := map[string]any{"filter": `metadata.source = "import-7"`}
	last, cut := made, 0
	for round := range 6 {
		killed := make(chan struct{})
		go func() {
			time.Sleep(time.Duration(10+50*round) * time.Millisecond)
			p.kill()
			close(killed)
		}()
		_, _, _ = c.send("POST", "ann/memories/purge", purge)
		<-killed
		p = start(t, dir)
		c.url.Store(&p.url)
		all := c.left("ann")
		n := len(having(all, "axolotl"))
		if n > last {
			t.Errorf("round %d: %d are back", round, n-last)
		}
		if n < last && n > 0 {
			cut++
		}
		last = n
		if diff := gocmp.Diff(kept, having(all, "tapir")); diff != "" {
			t.Fatalf("round %d: what stays (-before +now):\n%s", round, diff)
		}
	}
	t.Logf("%d purges were cut off in the middle, %d memories are left", cut, last)
	code, answer, err := c.send("POST", "ann/memories/purge", purge)
	if err != nil || code != 200 || string(answer) != fmt.Sprintf(`{"count":%d}`, last) {
		t.Errorf("the last purge answers %d %s, %v; %d were left", code, answer, err, last)
	}
	if diff := gocmp.Diff([][]memory.Memory{kept, bobs}, [][]memory.Memory{c.left("ann"), c.left("bob")}); diff != "" {
		t.Errorf("in the end (-before +now):\n%s", diff)
	}
	if files := filetest.With(t, dir, "axolotl"); len(files) > 0 {
		t.Errorf("%v still have words", files)
	}
	p.terminate(t)
	if said := runs(t, "check", "-data", dir); !strings.Contains(said, "no fault was found") {
		t.Errorf("check says %s", said)
	}
}

// sweepIn has a process of the tests sweep a directory of data instead of being memoryd.
const sweepIn = "MEMORYD_TEST_SWEEP"

// sweep removes what has expired in a directory of data.
func sweep(ctx context.Context, dir string) (swept memory.Erased, err error) {
	stores := assembly.NewStores()
	defer func() { _ = stores.Close() }()
	if err := stores.OpenBoth(ctx, filepath.Join(dir, dataFile), memoryd.ModelOf(embed.Builtin{})); err != nil {
		return swept, err
	}
	service := ingest.New(stores.Sessions, stores.Memories, embed.Builtin{}, rules.New(),
		&ingest.Options{SweepAfter: time.Nanosecond})
	return service.Sweep(ctx)
}

// A process that is killed within a sweep leaves memories whole or gone: those that have
// not expired are as before, and the next sweep removes the rest, with words and history.
func TestSweepKilled(t *testing.T) {
	t.Parallel()
	const made = 900
	dir := t.TempDir()
	p := start(t, dir, "-sweep-after", "0")
	c := &crowd{t: t}
	c.url.Store(&p.url)
	c.jars("ann", "axolotl", made, map[string]any{"ttl": "1s"})
	c.jars("ann", "tapir", 100, nil)
	kept := having(c.left("ann"), "tapir")
	p.terminate(t)
	<-time.After(time.Second) // all have expired then
	for round := range 16 {
		cmd := command()
		cmd.Env = append(cmd.Env, sweepIn+"="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(ended)
		}()
		log := filepath.Join(dir, dataFile+"-wal")
		for before, begun := written(log), false; !begun; { // until it writes, or has ended
			select {
			case <-ended:
				begun = true
			case <-time.After(time.Millisecond):
				begun = written(log) != before
			}
		}
		time.Sleep(time.Duration(5*round) * time.Millisecond)
		_ = cmd.Process.Kill()
		<-ended
	}
	swept, err := sweep(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d memories were left after the kills", swept.Memories, made)
	if swept, err := sweep(t.Context(), dir); err != nil || swept.Memories != 0 {
		t.Errorf("swept %+v after all was, %v", swept, err)
	}
	p = start(t, dir, "-sweep-after", "0")
	c.url.Store(&p.url)
	if diff := gocmp.Diff(kept, c.left("ann")); diff != "" {
		t.Errorf("what stays (-before +now):\n%s", diff)
	}
	p.terminate(t)
	if files := filetest.With(t, dir, "axolotl"); len(files) > 0 {
		t.Errorf("%v still have words", files)
	}
	if said := runs(t, "check", "-data", dir); !strings.Contains(said, "no fault was found") {
		t.Errorf("check says %s", said)
	}
}

// written is when a file was last written, and its size.
func written(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime(), info.Size())
}

// sweepOnly is the main function of a process that sweeps.
func sweepOnly(dir string) {
	if _, err := sweep(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
