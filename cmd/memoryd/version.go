package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/canonical"
)

// release is the version of a released binary. The release program sets it with
// the linker's -X, which needs a variable; nothing else writes it.
var release string

// commitDigits is how much of a commit's hash is shown: enough to be unique.
const commitDigits = 12

// versionCommand prints one line: the first thing to put into a report of a
// defect.
func versionCommand() *subcommand {
	return &subcommand{
		name: "version", summary: "Print the version, the Go version and the platform.",
		example: "memoryd version",
		run: func(_ context.Context, _ *config, _ []string, s streams) error {
			_, err := fmt.Fprintf(s.out, "memoryd %s %s %s/%s\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}}
}

// noticesCommand prints them from the binary, as a binary is often copied alone.
func noticesCommand() *subcommand {
	return &subcommand{
		name:    "notices",
		summary: "Print the notices of the works that the binary has words and vectors from.",
		example: "memoryd notices",
		run: func(_ context.Context, _ *config, _ []string, s streams) error {
			_, err := io.WriteString(s.out, embed.Notices()+"\n"+canonical.Notices)
			return err
		}}
}

// version is that of this binary: for the command, the log and the page at /.
func version() string {
	// Without build info, as in some builds by other tools, there is only -X.
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(release, info)
}

// versionOf is the version of a release, else the module version that Go has
// stamped, else the commit, with "+dirty" if files were changed since.
func versionOf(release string, info *debug.BuildInfo) string {
	if release != "" {
		return release
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return cmp.Or(info.Main.Version, "(devel)")
	}
	if commit = commit[:min(len(commit), commitDigits)]; settings["vcs.modified"] == "true" {
		commit += "+dirty"
	}
	return commit
}
