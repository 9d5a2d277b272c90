package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sampler reads how much memory memoryd uses.
type sampler struct {
	api     *caller
	process *Process
	pid     int

	mu      sync.Mutex
	began   time.Time
	samples []Sample
}

// MB is the unit of sizes in reports.
const MB = 1 << 20

// start samples in an interval until the function that it returns is called.
func (s *sampler) start(ctx context.Context, every time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	s.mu.Lock()
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.mu.Unlock()
	running.Go(func() {
		for ok := true; ok; ok = sleepUntil(ctx, time.Now().Add(every)) {
			s.sample(ctx)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// sample reads the sizes once and keeps them.
func (s *sampler) sample(ctx context.Context) Sample {
	x := Sample{}
	if values := s.metrics(ctx); values != nil {
		x.Resident = values["process_resident_memory_bytes"] / MB
		// The next collection is due when the heap has doubled since the last one,
		// so half of that is what lived then.
		x.Heap = values["go_memstats_next_gc_bytes"] / 2 / MB
	}
	if rss, ok := s.resident("VmRSS:"); ok {
		x.Resident = rss
	}
	if x.Resident == 0 {
		return x // it does not run
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Seconds = time.Since(s.began).Seconds()
	s.samples = append(s.samples, x)
	return x
}

// resident reads a size from /proc, in MB.
func (s *sampler) resident(field string) (float64, bool) {
	pid := s.pid
	if pid == 0 {
		pid = s.process.pid()
	}
	if pid == 0 {
		return 0, false
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(raw), field)
	words := strings.Fields(rest)
	if len(words) == 0 {
		return 0, false
	}
	kb, err := strconv.ParseFloat(words[0], 64)
	return kb / 1024, err == nil
}

// resetPeak has VmHWM count from now on.
func (s *sampler) resetPeak() {
	pid := s.pid
	if pid == 0 {
		pid = s.process.pid()
	}
	// 5 resets the peak (proc(5)). Without the right to, the peak is one of the
	// whole run.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/clear_refs", []byte("5"), 0)
}

// peak returns the peak of the resident size since resetPeak, in MB. Without /proc
// it is the highest sample.
func (s *sampler) peak() float64 {
	if x, ok := s.resident("VmHWM:"); ok {
		return x
	}
	return s.summary().Peak
}

// metricsTime bounds a read of the metrics: a memoryd that is stalled has no sample.
const metricsTime = 2 * time.Second

// metrics reads the metrics without labels.
func (s *sampler) metrics(ctx context.Context) map[string]float64 {
	ctx, cancel := context.WithTimeout(ctx, metricsTime)
	defer cancel()
	a := s.api.do(ctx, "GET", "/metrics", nil)
	if !a.ok() {
		return nil
	}
	out := map[string]float64{}
	for line := range bytes.Lines(a.body) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = x
		}
	}
	return out
}

// note tells the last sample.
func (s *sampler) note() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) == 0 {
		return "resident size unknown"
	}
	return fmt.Sprintf("%.0f MB resident", s.samples[len(s.samples)-1].Resident)
}

// summary returns all samples.
func (s *sampler) summary() Resident {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Resident{Samples: s.samples}
	for i, x := range s.samples {
		if i == 0 {
			out.Start = x.Resident
		}
		out.Peak = max(out.Peak, x.Resident)
		out.End = x.Resident
	}
	return out
}
