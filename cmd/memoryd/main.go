// Memoryd is a memory bank for agents: it stores their sessions, makes
// memories of them, and finds those again by meaning.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

const usage = `memoryd is a memory bank for agents.

  memoryd [serve] [flags]   serve HTTP
  memoryd mcp [flags]       speak the Model Context Protocol on stdin and stdout, for editors and other hosts of agents (memoryd mcp -h lists what more it takes)
  memoryd demo              show what it does, once, on a bundled conversation
  memoryd export [flags] FILE   write all sessions and memories into a file
  memoryd import [flags] FILE   bring such a file into other stores
  memoryd reembed [flags]   serve, and meanwhile move the memories to another -embedder, or to this version's words
  memoryd rebuild [flags]   have memories made anew from all sessions, after their store was lost
  memoryd eval [flags]      tell how well -extractor finds facts and compares them, on bundled cases
  memoryd eval retrieval [flags]     tell how well questions find what answers them, on bundled conversations
  memoryd eval locomo FILE [flags]   the same on those of LoCoMo, in FILE (memoryd eval locomo -h lists what more they take)
  memoryd ready [flags]     ask the memoryd at -listen whether its stores are well
  memoryd version           print the version

Flags of serve, mcp and reembed, and where they are about stores of export, import and rebuild too, about models of eval, each also an environment variable (-listen is MEMORYD_LISTEN):
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "memoryd:", err)
		}
		os.Exit(exitCode(err))
	}
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func exitCode(err error) int {
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, new(usageError)):
		return 2
	}
	return 1
}

// run is the whole program: tests call it as a shell would.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	command := "serve"
	if len(args) > 0 {
		switch first := strings.TrimPrefix(args[0], "-"); {
		case first == "-version" || first == "version":
			command, args = "version", args[1:]
		case !strings.HasPrefix(args[0], "-"):
			command, args = args[0], args[1:]
		}
	}
	if (command == "demo" || command == "version" || command == "help") && len(args) > 0 {
		if flag := strings.TrimLeft(args[0], "-"); flag != "help" && flag != "h" {
			return usageError{fmt.Errorf("%s takes no arguments, not %q", command, args[0])}
		}
		command = "help"
	}
	switch command {
	case "serve", "reembed":
		cfg, rest, err := parse(args, stderr)
		if err == nil && len(rest) > 0 {
			err = mistake(fmt.Errorf("unexpected argument %q", rest[0]))
		}
		if err != nil {
			return err
		}
		if command == "reembed" {
			return reembed(ctx, cfg, stdout, stderr)
		}
		return serve(ctx, cfg, stdout, stderr)
	case "ready":
		cfg, rest, err := read(args, stderr)
		if err == nil && len(rest) > 0 {
			err = mistake(fmt.Errorf("unexpected argument %q", rest[0]))
		}
		if err != nil {
			return err
		}
		return ready(ctx, cfg, stdout)
	case "export", "import":
		cfg, rest, err := parse(args, stderr)
		if err == nil && len(rest) != 1 {
			err = usageError{fmt.Errorf("%s: want one file, behind the flags", command)}
		}
		if err != nil {
			return err
		}
		if command == "export" {
			return export(ctx, cfg, rest[0], stdout, stderr)
		}
		return importFile(ctx, cfg, rest[0], stdout, stderr)
	case "rebuild":
		cfg, rest, err := parse(args, stderr)
		if err == nil && len(rest) > 0 {
			err = mistake(fmt.Errorf("unexpected argument %q", rest[0]))
		}
		if err != nil {
			return err
		}
		return rebuild(ctx, cfg, stdout)
	case "mcp":
		return overMCP(ctx, args, os.Stdin, stdout, stderr)
	case "eval":
		return eval(ctx, args, stdout, stderr)
	case "demo":
		return demo(ctx, stdout)
	case "version":
		_, err := fmt.Fprintln(stdout, "memoryd", version())
		return err
	case "help":
		printUsage(stdout)
		return nil
	}
	return usageError{fmt.Errorf("no command %q: want serve, mcp, demo, export, import, reembed, rebuild, eval, ready or version", command)}
}

// ready asks a running memoryd for its /readyz: what a container has for a
// health check when there is nothing else in it.
func ready(ctx context.Context, cfg config, stdout io.Writer) error {
	at, err := cfg.address()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", bytes.TrimSpace(answer))
	}
	_, err = stdout.Write(answer)
	return err
}

// version is the module's, as the Go toolchain stamped it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
