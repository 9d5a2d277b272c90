package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Process is a memoryd that Start has started. It may be killed and started again:
// it then serves the same address.
type Process struct {
	URL     string
	program string
	args    []string
	log     *logBuffer

	mu  sync.Mutex
	cmd *exec.Cmd
}

// startTime bounds a start, also one after a kill that has work to take up.
const startTime = 2 * time.Minute

// Start runs a memoryd on a free port of the loopback address, with more arguments
// of memoryd serve, and waits until it serves. What it logs goes to log.
func Start(ctx context.Context, program string, args []string, log io.Writer) (*Process, error) {
	p := &Process{program: program, args: args, log: &logBuffer{to: log}}
	if err := p.start(ctx, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	return p, nil
}

// start runs the program once.
func (p *Process) start(ctx context.Context, listen string) error {
	cmd := exec.Command(p.program, append([]string{"serve", "-listen", listen}, p.args...)...)
	cmd.Stderr = p.log
	cmd.SysProcAttr = childAttr()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.program, err)
	}
	// A start that takes too long is ended, which ends the reading of its output.
	timer := time.AfterFunc(startTime, func() { cmd.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewScanner(out)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "serves ")
	}
	if url == "" {
		cmd.Wait()
		return fmt.Errorf("start %s: %w:\n%s", p.program, errNotServing, p.log.tail())
	}
	p.mu.Lock()
	if p.cmd = cmd; p.URL == "" {
		p.URL = url // and after a restart the same one
	}
	p.mu.Unlock()
	return p.ready(ctx)
}

// errNotServing is the error of a program that ended before it served.
var errNotServing = errors.New("it ended before it served")

// ready waits until memoryd answers that it is ready.
func (p *Process) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	api := &caller{base: p.URL, http: &http.Client{Timeout: 5 * time.Second}}
	for {
		a := api.do(ctx, "GET", "/readyz", nil)
		if a.ok() {
			return nil
		}
		if !sleepUntil(ctx, time.Now().Add(20*time.Millisecond)) {
			return fmt.Errorf("memoryd at %s is not ready: %w: %.300s", p.URL, ctx.Err(), a.body)
		}
	}
}

// Kill ends the process without warning, as a crash would.
func (p *Process) Kill() {
	p.mu.Lock()
	cmd := p.cmd
	p.cmd = nil
	p.mu.Unlock()
	if cmd != nil {
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// Restart starts the program again where it served before. The port may be in use
// for a moment, by a connection of the process before.
func (p *Process) Restart(ctx context.Context) (err error) {
	for range 5 {
		if err = p.start(ctx, strings.TrimPrefix(p.URL, "http://")); err == nil || !errors.Is(err, errNotServing) {
			return err
		}
		if !sleepUntil(ctx, time.Now().Add(200*time.Millisecond)) {
			return err
		}
	}
	return err
}

// Stop asks the process to end, and waits until it has.
func (p *Process) Stop() {
	p.mu.Lock()
	cmd := p.cmd
	p.cmd = nil
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil { // Windows has no such signal
		cmd.Process.Kill()
	}
	timer := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	cmd.Wait()
}

// pid returns the id of the process, 0 while it does not run.
func (p *Process) pid() int {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// said returns in how many lines of its log a text stands.
func (p *Process) said(text string) int {
	if p == nil {
		return 0
	}
	return p.log.count(text)
}

// logBuffer passes a log on and counts lines. It keeps the end for an error.
type logBuffer struct {
	to     io.Writer
	mu     sync.Mutex
	last   []byte
	counts map[string]int
}

// counted are the messages of memoryd's log that a report counts.
func counted() []string { return []string{"the lease on the scope is lost", "panic"} }

const tailSize = 4 << 10 // of the log, in bytes, for the error of a start

// Write implements io.Writer. The logger of memoryd writes whole lines.
func (l *logBuffer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	for _, text := range counted() {
		l.counts[text] += bytes.Count(line, []byte(text))
	}
	if l.last = append(l.last, line...); len(l.last) > tailSize {
		l.last = append([]byte(nil), l.last[len(l.last)-tailSize:]...)
	}
	return l.to.Write(line)
}

func (l *logBuffer) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[text]
}

func (l *logBuffer) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.last)
}
