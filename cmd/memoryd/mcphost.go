package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode"

	"github.com/memoryd/memoryd/mcp/mcphost"
)

// hostConfig is what the flags of mcp install and uninstall say.
type hostConfig struct {
	yes  bool
	name string
	file string
}

// hostFlags defines the flags that both commands have.
func hostFlags(fs *flag.FlagSet, cfg *config) {
	fs.BoolVar(&cfg.host.yes, "yes", false, "ask nothing")
	fs.StringVar(&cfg.host.name, "name", "memory", "`NAME` of the server in the configuration of the host")
	fs.StringVar(&cfg.host.file, "file", "",
		"`FILE` of the configuration; by default where the host keeps that of this user")
}

// mcpHostCommands write memoryd into the configurations of hosts.
func mcpHostCommands() []*subcommand {
	return []*subcommand{{
		name: "mcp install", arguments: "HOST",
		summary: "Have an editor or another host start memoryd mcp.",
		details: `HOST is ` + strings.Join(mcphost.Names(), ", ") + `. The configuration of this
user is changed after a question, and a copy of it is left beside it. All else in it
stays. Restart the host afterwards.`,
		example: "memoryd mcp install claude-desktop -user ann", uses: []string{"data"},
		unchecked: true, ownVariables: true,
		own: func(fs *flag.FlagSet, cfg *config) { hostFlags(fs, cfg); mcpFlags(fs, cfg) },
		run: func(_ context.Context, cfg *config, args []string, s streams) error {
			return changeHost(cfg, args[0], s, true)
		},
	}, {
		name: "mcp uninstall", arguments: "HOST", summary: "Take memoryd mcp out of the configuration of a host.",
		details:      "HOST is one of those of memoryd mcp install. The memories stay.",
		example:      "memoryd mcp uninstall claude-desktop",
		unchecked:    true,
		ownVariables: true, own: hostFlags,
		run: func(_ context.Context, cfg *config, args []string, s streams) error {
			return changeHost(cfg, args[0], s, false)
		},
	}}
}

// changeHost installs memoryd in a host, or takes it out.
func changeHost(cfg *config, name string, s streams, install bool) error {
	host, err := mcphost.Find(name)
	if err != nil {
		return usageError{err}
	}
	if strings.TrimSpace(cfg.host.name) == "" {
		return usageError{errors.New("-name is empty")}
	}
	if strings.ContainsFunc(cfg.host.name, unicode.IsControl) {
		return usageError{fmt.Errorf("-name: %.100q has a control character", cfg.host.name)}
	}
	path := cfg.host.file
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("name the configuration with -file: %w", err)
		}
		path = host.Path(mcphost.Machine{OS: runtime.GOOS, Home: home, Getenv: os.Getenv})
	}
	var change *mcphost.Change
	if install {
		server, err := cfg.hostServer()
		if err != nil {
			return err
		}
		change, err = host.Install(path, cfg.host.name, server)
		if err != nil {
			return err
		}
	} else if change, err = host.Uninstall(path, cfg.host.name); err != nil {
		return err
	}
	return makeChange(cfg, host, change, s)
}

// ofGoRun matches the program that go run builds.
var ofGoRun = regexp.MustCompile(`/go-build[0-9]+/b[0-9]+/exe/`)

// lasting refuses a program that is gone before a host could start it.
func lasting(program string) error {
	if ofGoRun.MatchString(filepath.ToSlash(program)) {
		return fmt.Errorf("%s is removed when go run ends, so no host could start it: run"+
			" go install ./cmd/memoryd, and then memoryd mcp install", program)
	}
	return nil
}

// hostServer is the command line that a host starts: this program by its absolute path, as
// hosts have another PATH, and what the flags of this call say.
func (c *config) hostServer() (mcphost.Server, error) {
	if err := c.mcp.scope.Validate(); err != nil {
		return mcphost.Server{}, usageError{fmt.Errorf("-app, -user: %w", err)}
	}
	program, err := os.Executable()
	if err != nil {
		return mcphost.Server{}, err
	}
	if err := lasting(program); err != nil {
		return mcphost.Server{}, err
	}
	args := []string{"mcp", "-app", c.mcp.scope.App, "-user", c.mcp.scope.User}
	if c.server != "" {
		args = append(args, "-server", c.server)
	} else if c.data != defaultData() && c.data != "" {
		data, err := filepath.Abs(c.data)
		if err != nil {
			return mcphost.Server{}, err
		}
		args = append(args, "-data", data)
	}
	// A key stays in its file: the configuration of a host is copied and shown around.
	for _, f := range []struct{ flag, file string }{{"-key-file", c.keyFile}, {"-ca-file", c.network.caFile}} {
		if f.file == "" {
			continue
		}
		whole, err := filepath.Abs(f.file)
		if err != nil {
			return mcphost.Server{}, err
		}
		args = append(args, f.flag, whole)
	}
	return mcphost.Server{Command: program, Args: args}, nil
}

// makeChange shows a change, asks, and makes it.
func makeChange(cfg *config, host *mcphost.Host, change *mcphost.Change, s streams) error {
	if change.Nothing() {
		_, err := fmt.Fprintf(s.out, "%s is as it shall be: nothing is changed\n", change.Path)
		return err
	}
	switch {
	case change.Entry == nil:
		fmt.Fprintf(s.out, "%s: take %q out of %s\n", host.Title, cfg.host.name, change.Path)
	case change.Replaces:
		fmt.Fprintf(s.out, "%s: put this in the place of %q in %s\n%s\n", host.Title, cfg.host.name, change.Path,
			change.Entry)
	default:
		fmt.Fprintf(s.out, "%s: write %q into %s\n%s\n", host.Title, cfg.host.name, change.Path, change.Entry)
	}
	if !cfg.host.yes {
		fmt.Fprint(s.out, "Go on? [y/N] ")
		answer, _ := bufio.NewReader(s.in).ReadString('\n') // no answer is none
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return errors.New("nothing is changed: answer y, or give -yes")
		}
	}
	backup, err := change.Make()
	if err != nil {
		return err
	}
	if backup != "" {
		fmt.Fprintf(s.out, "the file as it was is in %s\n", backup)
	}
	_, err = fmt.Fprintf(s.out, "done: restart %s\n", host.Title)
	return err
}
