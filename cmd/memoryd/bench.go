package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/memoryd/memoryd/bench"
)

// benchConfig is what the flags of bench say beside those of serve.
type benchConfig struct {
	flags    *flag.FlagSet // all, with which of them were given
	url      string
	program  string
	pid      int
	scenario string
	stallPID string
	json     string
	log      string
	opts     bench.Options
}

// benchCommand measures a memoryd under load.
func benchCommand() *subcommand {
	return &subcommand{
		name: "bench", summary: "Measure a memoryd under load, and what it keeps when it fails.",
		details: `It starts a memoryd with its data in a temporary directory, or takes the one at
-url, sends requests at a fixed rate, makes the faults that flags ask for, and then
reads back everything that was acknowledged. It prints percentiles, refusals and
errors by kind of request, what was lost, doubled, not found or seen in another
scope, and the resident size. It exits with 1 if a promise was broken.

The flags of memoryd serve can be given too: they are those of the memoryd that is
started. With -sessions and -memories it has its data in Redis and Qdrant, in apps
whose names begin with bench-.

Scenarios measure one promise each, and print figures to compare within one run:

` + strings.Join(bench.Scenarios(), "\n\n"),
		example: "memoryd bench -rate 100 -duration 1m -kill 10s",
		uses:    storeFlagNames(), own: benchFlags, ownVariables: true, unchecked: true,
		run: benchmark,
	}
}

// benchFlags defines the flags of bench.
func benchFlags(fs *flag.FlagSet, cfg *config) {
	c, o := &cfg.bench, &cfg.bench.opts
	c.flags = fs
	keyFlags(fs, cfg)
	caFlag(fs, &cfg.network)
	fs.StringVar(&c.url, "url", "", "`URL` of a memoryd that runs; by default bench starts one")
	fs.StringVar(&c.program, "memoryd", "", "`PROGRAM` to start; by default this one")
	fs.IntVar(&c.pid, "pid", 0, "`ID` of the process at -url, to read its resident size and to stall it")
	fs.StringVar(&c.scenario, "scenario", "", "`NAME` of a scenario to run instead of a load")
	fs.StringVar(&o.Kind, "kind", bench.Mixed, "`KIND` of requests: "+strings.Join(bench.Kinds(), ", "))
	fs.Float64Var(&o.Rate, "rate", 50, "`REQUESTS` that arrive in a second")
	fs.DurationVar(&o.Duration, "duration", 0,
		"`DURATION` in which requests arrive; 0 is a minute, or the scenario's")
	fs.IntVar(&o.Users, "users", 0, "`NUMBER` of users; 0 is 100, or the scenario's")
	fs.IntVar(&o.Apps, "apps", 5, "`NUMBER` of apps that the users are in")
	fs.BoolVar(&o.Uniform, "uniform", false, "make all users equally busy, not a few users most")
	fs.Uint64Var(&o.Seed, "seed", 1, "`NUMBER` that texts, users and kinds of requests follow from")
	fs.DurationVar(&o.Drain, "drain", 2*time.Minute,
		"`DURATION` of the wait for work to be done at the end, and of the reading after it")
	fs.DurationVar(&o.Faults.Kill, "kill", 0, "`DURATION` between kills of the memoryd that bench started; 0 is none")
	fs.DurationVar(&o.Faults.Stall, "stall", 0, "`DURATION` between stalls of it, or of -stall-pid; 0 is none")
	fs.DurationVar(&o.Faults.StallFor, "stall-for", 2*time.Second, "`DURATION` of a stall")
	fs.StringVar(&c.stallPID, "stall-pid", "",
		"`IDS` of the processes to stall, such as Redis or Qdrant, with commas between")
	fs.DurationVar(&o.Faults.FullDisk, "full-disk", 0,
		"`DURATION` between times at which the disk of -data is full: bench fills it with a file; 0 is none")
	fs.DurationVar(&o.Faults.FullFor, "full-for", 5*time.Second, "`DURATION` for which the disk is full")
	fs.Int64Var(&o.Faults.MaxFill, "max-fill", 256<<20,
		"`BYTES` of the file that fills the disk; a disk with more room is refused")
	fs.IntVar(&o.Clients, "clients", 0, "`NUMBER` of clients of a scenario; 0 is the scenario's")
	fs.IntVar(&o.Events, "events", 0, "`NUMBER` of events of a scenario; 0 is the scenario's")
	fs.IntVar(&o.Batch, "batch", 0,
		"`NUMBER` of events in a request of scenarios findable, flood and search; 0 is the scenario's")
	fs.IntVar(&o.Size, "size", 0, "`MEGABYTES` of the session of scenario ceiling; 0 is 360")
	fs.IntVar(&o.State, "state", 0, "`MEGABYTES` of the state of scenario ceiling; 0 is 8")
	fs.StringVar(&c.json, "json", "", "`FILE` to write the report to, with all samples of the resident size")
	fs.StringVar(&c.log, "log", "",
		"`FILE` for the log of the memoryd that bench starts; by default it is thrown away")
}

// Errors of the flags of bench.
var (
	errBroken = errors.New("promises were broken")
	errPlaces = errors.New("bench fills its stores with test data: unset the variable and name the store with a flag")
)

// benchmark runs a load or a scenario and prints its report.
func benchmark(ctx context.Context, cfg *config, _ []string, s streams) (err error) {
	c := &cfg.bench
	if err := c.check(); err != nil {
		return usageError{fmt.Errorf("bench: %w", err)}
	}
	outliveReader()
	url := strings.TrimRight(c.url, "/")
	c.opts.PID = c.pid
	if url == "" {
		stop, err := c.start(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		url = c.opts.Process.URL
	}
	if c.opts.Key, err = cfg.shownKey(); err != nil {
		return err
	}
	if c.opts.TLS, err = cfg.network.remoteTLS(); err != nil {
		return err
	}
	c.opts.Progress = benchProgress(s.err)
	// A run that is interrupted has a report too, of what it did until then.
	report, failed := c.measure(ctx, bench.New(url, &c.opts))
	if report == nil {
		return failed
	}
	if err := report.Write(s.out); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if c.json != "" {
		raw, err := json.MarshalIndent(report, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.json, append(raw, '\n'), 0o644); err != nil {
			return err
		}
	}
	if broken := report.Broken(); len(broken) > 0 {
		return fmt.Errorf("%w: %s", errBroken, strings.Join(broken, "; "))
	}
	return nil
}

// measure runs the scenario or the load.
func (c *benchConfig) measure(ctx context.Context, b *bench.Bench) (*bench.Report, error) {
	if c.scenario != "" {
		return b.Scenario(ctx, c.scenario)
	}
	return b.Load(ctx)
}

// check refuses flags that do not go together.
func (c *benchConfig) check() error {
	given := map[string]bool{}
	c.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, name := range storeFlagNames() {
		switch {
		case os.Getenv(variable(name)) != "":
			return fmt.Errorf("%s is set: %w", variable(name), errPlaces)
		case c.url != "" && given[name]:
			return fmt.Errorf("-%s is for a memoryd that bench starts, and -url names one that runs", name)
		}
	}
	for _, name := range []string{"tls-cert", "tls-key"} {
		if c.url == "" && (given[name] || os.Getenv(variable(name)) != "") {
			return fmt.Errorf("-%s: bench starts a memoryd without TLS: name one that has it with -url", name)
		}
	}
	if c.url != "" && (c.program != "" || c.opts.Faults.Kill > 0) {
		return errors.New("-memoryd and -kill are for a memoryd that bench starts, and -url names one that runs")
	}
	if c.opts.Faults.FullDisk > 0 && !given["data"] {
		return errors.New("-full-disk fills the disk of -data: name a directory on a small file system of its own")
	}
	if !slices.Contains(bench.Kinds(), c.opts.Kind) {
		return fmt.Errorf("-kind %q: want one of %s", c.opts.Kind, strings.Join(bench.Kinds(), ", "))
	}
	if err := inDirectory(c.json); err != nil {
		return fmt.Errorf("-json %s: %w", c.json, err)
	}
	if c.stallPID != "" {
		for id := range strings.SplitSeq(c.stallPID, ",") {
			pid, err := strconv.Atoi(id)
			if err != nil || pid <= 1 {
				return fmt.Errorf("-stall-pid %s: want ids of processes with commas between", c.stallPID)
			}
			c.opts.Faults.StallPIDs = append(c.opts.Faults.StallPIDs, pid)
		}
	}
	return nil
}

// start runs the memoryd to measure, with its data in a temporary directory unless
// -data names one. It gets the flags of serve that were given.
func (c *benchConfig) start(ctx context.Context) (stop func() error, err error) {
	program := c.program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "memoryd-bench-")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	var args []string
	serve := serveFlags(&config{})
	c.flags.Visit(func(f *flag.Flag) {
		switch {
		case f.Name == "data":
			data = f.Value.String()
			c.opts.Faults.FullDir = data
		case f.Name != "listen" && serve.Lookup(f.Name) != nil:
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	log := io.WriteCloser(nopCloser{io.Discard})
	if c.log != "" {
		if log, err = os.Create(c.log); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	p, err := bench.Start(ctx, program, append(args, "-data="+data), log)
	if err != nil {
		return nil, errors.Join(err, log.Close(), os.RemoveAll(dir))
	}
	c.opts.Process = p
	return func() error {
		p.Stop()
		return errors.Join(log.Close(), os.RemoveAll(dir))
	}, nil
}

// nopCloser is a writer with nothing to close.
type nopCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }

// lineTime is the time between lines of progress where there is no terminal.
const lineTime = 10 * time.Second

// benchProgress shows progress: a bar on a terminal, and else a line now and then.
func benchProgress(w io.Writer) func(bench.Step) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		last, stage := time.Time{}, ""
		return func(s bench.Step) {
			if s.Stage == stage && time.Since(last) < lineTime {
				return
			}
			last, stage = time.Now(), s.Stage
			fmt.Fprintf(w, "%s: %d of %d, %s\n", s.Stage, s.Done, s.Total, s.Note)
		}
	}
	var shown *progressbar.ProgressBar
	stage := ""
	return func(s bench.Step) {
		if s.Stage != stage || shown == nil {
			if shown != nil {
				shown.Finish()
			}
			total := s.Total
			if total == 0 {
				total = -1 // a spinner
			}
			stage = s.Stage
			shown = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
		}
		shown.Describe(s.Stage + ", " + s.Note)
		shown.Set64(s.Done)
	}
}
