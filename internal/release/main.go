// Release builds the archives of a release of memoryd, for Linux, macOS and
// Windows on amd64 and arm64, and their checksums:
//
//	go run ./internal/release -version v0.1.0 -out dist
//
// The same source, built with the same Go, gives the same bytes on every machine:
// paths are trimmed, and every file in an archive has the time of the commit.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

// main must run within the repository, with git and the Go version of go.mod:
// another Go version gives other bytes.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], "./cmd/memoryd"); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// platforms are those that a release has archives for.
func platforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

// versions are those of releases: semantic versions, with a v in front.
var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// run builds a release of a program into a directory that does not exist yet or
// is empty.
func run(ctx context.Context, args []string, program string) error {
	fs := flag.NewFlagSet("release", flag.ContinueOnError)
	version := fs.String("version", "", "`VERSION` of the release, such as v0.1.0")
	out := fs.String("out", "dist", "`DIRECTORY` for the archives")
	only := fs.String("platforms", strings.Join(platforms(), ","), "`PLATFORMS` to build for, with commas between")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if !versions.MatchString(*version) {
		return fmt.Errorf("-version %q: want one such as v0.1.0", *version)
	}
	if there, err := os.ReadDir(*out); err == nil && len(there) > 0 {
		return fmt.Errorf("-out %s: it is not empty", *out)
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	b, err := newBuilder(ctx, *version, program, *out)
	if err != nil {
		return err
	}
	// One after the other: each build uses all cores.
	var names []string
	for platform := range strings.SplitSeq(*only, ",") {
		name, err := b.build(ctx, platform)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		fmt.Println(filepath.Join(*out, name))
		names = append(names, name)
	}
	return writeChecksums(*out, names)
}
