package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart starts memoryd on an empty directory and searches once. It
// reports the time to the first answer and the resident memory after it.
func BenchmarkStart(b *testing.B) {
	var answer time.Duration
	resident := 0.0
	n := 0
	for b.Loop() {
		begin := time.Now()
		p := start(b, b.TempDir())
		if code, err := call("POST", p.url+"/v1/apps/a/users/u/memories/search", map[string]any{"query": "anything"}, nil); err != nil || code != 200 {
			b.Fatal(code, err)
		}
		answer += time.Since(begin)
		if raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status"); err == nil {
			_, rest, _ := strings.Cut(string(raw), "VmRSS:")
			if kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				resident = max(resident, kb/1024)
			}
		}
		p.kill()
		n++
	}
	b.ReportMetric(float64(answer.Milliseconds())/float64(n), "first-answer-ms")
	b.ReportMetric(resident, "resident-MB")
}
