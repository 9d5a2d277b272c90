package main

import "testing"

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
