package main

import (
	"bufio"
	"strings"
	"testing"
)

// TestUntilEOF starts a memoryd that ends when its standard input does. Others do not look at
// theirs, which is empty in all other tests.
func TestUntilEOF(t *testing.T) {
	p := &process{cmd: command("-until-eof", "-data", ":memory:", "-listen", "127.0.0.1:0")}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.serve(t)
	if code, err := call("GET", p.url+"/readyz", nil, nil); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("it ended with %v:\n%s", err, p.logs.String())
	}
}

// TestUntilEOFWithoutReader has standard input and the readers of both outputs end at once, as
// they do when a program is killed that had started memoryd: it ends in order all the same.
func TestUntilEOFWithoutReader(t *testing.T) {
	cmd := command("-until-eof", "-data", t.TempDir(), "-listen", "127.0.0.1:0", "-log-level", "debug")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines, url := bufio.NewScanner(out), ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "serves ")
	}
	if code, err := call("GET", url+"/readyz", nil, nil); err != nil || code != 200 {
		t.Fatal(url, code, err)
	}
	log.Close()
	out.Close()
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("it ended with %v", err)
	}
}
