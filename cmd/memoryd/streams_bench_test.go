package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// resident is the resident memory of a process in MB; 0 where /proc does not tell.
func (p *process) resident() float64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kb / 1024
}

// spent is the processor time of a process so far; 0 where /proc does not tell.
func (p *process) spent() time.Duration {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // ticks of Linux
}

// openStreams opens streams of an operation. over waits until the server has ended
// them all, each with the operation done.
func openStreams(b *testing.B, p *process, id string, n int) (over func()) {
	b.Helper()
	var reading sync.WaitGroup
	addr := strings.TrimPrefix(p.url, "http://")
	for range n {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /v1/operations/%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n"+
			"Connection: close\r\n\r\n", id, addr)
		opened := make(chan bool, 1)
		reading.Go(func() {
			defer conn.Close()
			lines, first, done := bufio.NewReader(conn), true, false
			for {
				line, more, err := lines.ReadLine()
				if err != nil {
					break
				}
				done = done || strings.Contains(string(line), `"done":true`)
				if first {
					opened <- strings.Contains(string(line), " 200 ")
					first = false
				}
				for ; more && err == nil; _, more, err = lines.ReadLine() { // of a long line
				}
			}
			if !done {
				b.Error("a stream ended before the operation was done")
			}
		})
		if !<-opened {
			b.Fatal("a stream was refused")
		}
	}
	return reading.Wait
}

// BenchmarkStreams makes memories of one long session while streams watch that, and
// another user searches. It reports the events that become memories in a second, the
// processor time of memoryd for each, the median time of a search, and by how much
// the resident memory grows. Compare the figures within one run:
//
//	go test ./cmd/memoryd -run '^$' -bench Streams -benchtime 3x
func BenchmarkStreams(b *testing.B) {
	for _, streams := range []int{0, 200, 500} {
		b.Run(fmt.Sprint("streams=", streams), func(b *testing.B) {
			const events = 20_000 // in requests of half that
			var searches []time.Duration
			var working, spent time.Duration
			worked, grown := 0, 0.0
			for b.Loop() {
				p := start(b, b.TempDir())
				user, other := p.url+"/v1/apps/a/users/ann", p.url+"/v1/apps/a/users/bob"
				must := func(method, url string, body, answer any) {
					b.Helper()
					if code, err := call(method, url, body, answer); err != nil || code >= 300 {
						b.Fatal(method, url, code, err)
					}
				}
				said := make([]map[string]any, events)
				for i := range said {
					said[i] = map[string]any{"id": fmt.Sprint("e", i), "author": "user",
						"content": fmt.Sprintf("On day %d we talked about the harbour, the weather and the boats.", i)}
				}
				said[events-1]["content"] = "I love figs."
				must("POST", other+"/memories/ingest?wait=true", map[string]any{"sessionId": "s", "events": said[events-200:]}, nil)
				must("POST", user+"/sessions", map[string]any{"id": "s", "events": said[:events/2]}, nil)
				must("POST", user+"/sessions/s/events", map[string]any{"events": said[events/2:]}, nil)
				before := p.resident()
				var op struct {
					ID       string
					Metadata struct{ EventsDone int }
				}
				must("POST", user+"/sessions/s/memories", nil, &op)
				over := openStreams(b, p, op.ID, streams)
				begin, had := time.Now(), p.spent() // opening them takes a while
				must("GET", p.url+"/v1/operations/"+op.ID, nil, &op)
				worked += events - op.Metadata.EventsDone
				done := make(chan struct{})
				var searching sync.WaitGroup
				searching.Go(func() {
					for {
						select {
						case <-done:
							return
						case <-time.After(20 * time.Millisecond):
						}
						at := time.Now()
						call("POST", other+"/memories/search", map[string]any{"query": "harbour boats"}, nil)
						searches = append(searches, time.Since(at))
						grown = max(grown, p.resident()-before)
					}
				})
				openStreams(b, p, op.ID, 1)()
				working += time.Since(begin)
				spent += p.spent() - had
				close(done)
				searching.Wait()
				over()
				p.kill()
			}
			slices.Sort(searches)
			b.ReportMetric(float64(worked)/working.Seconds(), "events/s")
			b.ReportMetric(float64(spent.Microseconds())/float64(worked), "cpu-µs/event")
			b.ReportMetric(float64(searches[len(searches)/2].Microseconds())/1000, "search-p50-ms")
			b.ReportMetric(grown, "grown-MB")
		})
	}
}
