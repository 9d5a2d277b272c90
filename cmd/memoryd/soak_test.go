package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/bench"
	"github.com/memoryd/memoryd/internal/qdranttest"
	"github.com/memoryd/memoryd/internal/redistest"
)

// soak runs memoryd bench in processes of its own, and fails if a promise is broken
// that holds on a machine of any speed. during is called while it runs.
func soak(t *testing.T, during func(ended <-chan struct{}), args ...string) *bench.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	logs := filepath.Join(t.TempDir(), "log")
	cmd := command(append([]string{"bench", "-json", file, "-log", logs, "-drain", "5m"}, args...)...)
	// Variables of the user's own memoryd would be refused.
	cmd.Env = slices.DeleteFunc(cmd.Env, func(e string) bool {
		return strings.HasPrefix(e, prefix) && !strings.HasPrefix(e, prefix+"TEST")
	})
	ended := make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		if during != nil {
			during(ended)
		}
	}()
	out, err := cmd.CombinedOutput()
	close(ended)
	<-watching
	t.Logf("memoryd bench %s\n%s", strings.Join(args, " "), out)
	if err != nil {
		raw, _ := os.ReadFile(logs)
		t.Fatalf("%v\n%s", err, raw[max(0, len(raw)-4000):])
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &bench.Report{}
	if err := json.Unmarshal(raw, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// heapGrowth is by how much the heap that is in use grew between two parts of a run,
// which are given as shares of its time, in MB. It compares the least of each part,
// so that garbage of the moment does not count.
func heapGrowth(r *bench.Report, from, to float64) float64 {
	least := func(a, b float64) float64 {
		n := float64(len(r.Resident.Samples))
		part := r.Resident.Samples[int(a*n):max(int(b*n), int(a*n)+1)]
		return slices.MinFunc(part, func(x, y bench.Sample) int { return int(x.Heap*1e6 - y.Heap*1e6) }).Heap
	}
	return least(to, 1) - least(0, from)
}

// Under a mixed load memoryd fails no request, loses nothing, and its memory does
// not grow beyond what it stores.
func TestSoak(t *testing.T) {
	t.Parallel()
	r := soak(t, nil, "-duration", "15s", "-rate", "30")
	if n := r.ServerErrors(); n > 0 {
		t.Errorf("%d errors of the server: %+v", n, r.Kinds)
	}
	if r.Verified.Writes == 0 || len(r.Resident.Samples) == 0 {
		t.Errorf("nothing was measured: %+v", r.Verified)
	}
	// The memories of 15 seconds are a few megabytes.
	if grown := heapGrowth(r, .5, .75); grown > 32 {
		t.Errorf("the heap in use grew by %.0f MB: %v", grown, r.Resident.Samples)
	}
}

// The same while it is killed and stalled again and again, but for the requests in
// flight, which get no answer.
func TestSoakKilled(t *testing.T) {
	t.Parallel()
	r := soak(t, nil, "-duration", "15s", "-rate", "30", "-seed", "2", "-kill", "3s", "-stall", "2s", "-stall-for", "300ms")
	if r.Faults.Kills == 0 || r.Faults.Stalls == 0 || r.Verified.Writes == 0 {
		t.Errorf("%+v, %d writes", r.Faults, r.Verified.Writes)
	}
	if n := r.ServerErrors(); n > 0 {
		t.Errorf("%d errors of the server: %+v", n, r.Kinds)
	}
}

// On Redis and Qdrant both memoryd and Redis are killed. While Redis is away,
// requests get 503, and none gets 500.
func TestSoakScaledOut(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	random := rand.New(rand.NewPCG(5, 6))
	killed := 0
	during := func(ended <-chan struct{}) {
		for {
			select {
			case <-ended:
				return
			case <-time.After(3*time.Second + time.Duration(random.IntN(2000))*time.Millisecond):
				redis.Kill()
				redis.Run(t)
				killed++
			}
		}
	}
	r := soak(t, during, "-duration", "15s", "-rate", "20", "-seed", "3", "-kill", "4s",
		"-sessions", redis.URL(), "-memories", qdranttest.Start(t).URL(t))
	if r.Faults.Kills == 0 || killed == 0 || r.Verified.Writes == 0 {
		t.Errorf("%+v, %d kills of Redis, %d writes", r.Faults, killed, r.Verified.Writes)
	}
	for name, k := range r.Kinds {
		if k.Errors["500"] > 0 {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// Users without memories leave nothing behind, however many they are.
func TestSoakAbsent(t *testing.T) {
	t.Parallel()
	r := soak(t, nil, "-scenario", "absent", "-users", "10000")
	if n := r.ServerErrors(); n > 0 {
		t.Errorf("%d errors of the server: %+v", n, r.Kinds)
	}
	// 8,000 users at a kilobyte each would be 8 MB.
	if grown := heapGrowth(r, .4, .8); grown > 5 {
		t.Errorf("the heap in use grew by %.1f MB: %v", grown, r.Figures)
	}
}

// In one file the index of a turn is written together with its event, so a search
// finds each turn right after its acknowledgement, however many clients write.
func TestSoakFindable(t *testing.T) {
	t.Parallel()
	r := soak(t, nil, "-scenario", "findable", "-events", strconv.Itoa(1000/sparse), "-clients", "50")
	// A slow machine may refuse some of the searches.
	if r.Findable.Checked == 0 || r.Findable.NotAtOnce > 0 {
		t.Errorf("%+v", r.Findable)
	}
}

// What bench cannot do is refused with a sentence, before anything starts.
func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"want one of mixed", []string{"-kind", "nonsense"}},
		{"-kill are for a memoryd that bench starts", []string{"-url", "http://127.0.0.1:1", "-kill", "1s"}},
		{"-data is for a memoryd that bench starts", []string{"-url", "http://127.0.0.1:1", "-data", "x"}},
		{"-full-disk fills the disk of -data", []string{"-full-disk", "1s"}},
		{"want ids of processes", []string{"-stall", "1s", "-stall-pid", "redis"}},
		{"there is no such directory", []string{"-json", filepath.Join(t.TempDir(), "none", "r.json")}},
	} {
		runFails(t, c.want, 2, append([]string{"bench"}, c.args...)...)
	}
	runFails(t, "no such scenario", 1, "bench", "-scenario", "nonsense")
	cmd := command("bench")
	cmd.Env = append(cmd.Env, "MEMORYD_SESSIONS=redis://127.0.0.1:1")
	fails(t, cmd, "MEMORYD_SESSIONS is set", 2)
}
