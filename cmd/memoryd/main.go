// Memoryd is a memory bank for agents: it stores their sessions, makes memories
// of them, and finds those again by meaning. This package reads flags and the
// environment, chooses backends and models, and connects them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones have names on machines without the data base too

	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// main runs the command until it ends, or until it is asked to stop: an
// interrupt or SIGTERM ends its context, and the command finishes what it has
// begun.
func main() {
	redissession.DiscardLibraryLog() // its errors come back, and are logged as memoryd's own
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "memoryd:", err)
		os.Exit(exitCode(err))
	}
}

// usageError is a mistake on the command line.
type usageError struct{ error }

// Unwrap implements errors.Unwrap.
func (e usageError) Unwrap() error { return e.error }

// exitCode is 2 for a mistake on the command line, as the flag package has it,
// and 1 for every other failure.
func exitCode(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, new(usageError)):
		return 2
	}
	return 1
}

// run is the whole program: tests call it as a shell would.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, rest, err := find(args)
	if err != nil {
		return err
	}
	return c.execute(ctx, rest, streams{os.Stdin, stdout, stderr})
}

// outliveReader makes a reader that leaves (memoryd demo | head) an error of
// writing and not the end of the process, which has directories to remove.
func outliveReader() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
