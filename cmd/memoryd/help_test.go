package main

import (
	"bytes"
	"flag"
	"log/slog"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// said runs memoryd in this process and returns what it prints.
func said(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	err = run(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), err
}

// One environment may serve several commands, so a variable means the same for each
// that reads it.
func TestVariablesMeanOneThing(t *testing.T) {
	t.Parallel()
	meanings := map[string]string{}
	for _, c := range commands() {
		if !c.takesFlags() {
			continue
		}
		c.flagSet(&config{}).VisitAll(func(f *flag.Flag) {
			name := c.variable(f.Name)
			if before, known := meanings[name]; known && before != f.Usage {
				t.Errorf("%s is %q, and for memoryd %s %q", name, before, c.name, f.Usage)
			}
			meanings[name] = f.Usage
		})
	}
	for _, name := range []string{"MEMORYD_BENCH_JSON", "MEMORYD_CHECK_JSON", "MEMORYD_LISTEN"} {
		if meanings[name] == "" {
			t.Errorf("%s is no variable", name)
		}
	}
}

// Help of a command, asked for in either way, is on stdout: its line, its usage,
// an example, and the flags that it uses, with default and variable, and no
// others.
func TestHelp(t *testing.T) {
	overview, _, err := said(t, "help")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		t.Run(c.name, func(t *testing.T) {
			out, errs, err := said(t, append([]string{"help"}, strings.Fields(c.name)...)...)
			if err != nil || errs != "" {
				t.Fatalf("%v, stderr %q", err, errs)
			}
			asked, _, err := said(t, append(strings.Fields(c.name), "-h")...)
			if c.name != "help" && (err != nil || asked != out) {
				t.Errorf("-h: %v, and shows\n%s\nwant\n%s", err, asked, out)
			}
			if !strings.HasPrefix(out, c.summary+"\n\nUsage: memoryd "+c.name) || !strings.Contains(out, "\nExample:\n\n  memoryd "+strings.TrimPrefix(c.name, "eval extraction")) {
				t.Errorf("the help has another form:\n%s", out)
			}
			if c.name != "eval extraction" && !strings.Contains(overview, c.summary) {
				t.Errorf("the overview lacks %q", c.summary)
			}
			shown := []string{}
			for _, m := range regexp.MustCompile(`(?m)^  -(\S+)(?: \S+)? +(MEMORYD_\S+)$`).FindAllStringSubmatch(out, -1) {
				shown = append(shown, m[1])
				if m[2] != c.variable(m[1]) {
					t.Errorf("-%s has the variable %s", m[1], m[2])
				}
			}
			want := slices.Clone(c.uses)
			if c.own != nil {
				want = append(want, ownNames(c.own)...)
			}
			slices.Sort(want)
			if slices.Sort(shown); !slices.Equal(shown, want) {
				t.Errorf("it shows %v, want %v", shown, want)
			}
			c.flagSet(&config{}).VisitAll(func(f *flag.Flag) {
				if slices.Contains(shown, f.Name) && len(f.DefValue) > 4 && f.DefValue != "false" && !strings.Contains(strings.Join(strings.Fields(out), " "), f.DefValue) {
					t.Errorf("the default of -%s is not shown: %s", f.Name, f.DefValue)
				}
			})
			for line := range strings.Lines(out + overview) {
				if n := len([]rune(line)); n > 101 {
					t.Errorf("line of %d columns: %s", n, line)
				}
			}
		})
	}
	for _, args := range [][]string{{"-h"}, {"--help"}, {"help"}} {
		if out, errs, err := said(t, args...); err != nil || errs != "" || out != overview {
			t.Errorf("%v: %v, stderr %q:\n%s", args, err, errs, out)
		}
	}
	if _, _, err := said(t, "help", "nonsense"); exitCode(err) != 2 {
		t.Errorf("help for no command: %v", err)
	}
	if out, _, err := said(t, "-listen", "127.0.0.1:0", "-h"); err != nil || !strings.Contains(out, "Usage: memoryd serve") {
		t.Errorf("-h behind a flag: %v:\n%s", err, out)
	}
}

// A variable that is misspelled is warned of, with the nearest name; those of the
// tests and of other programs are not.
func TestUnknownVariables(t *testing.T) {
	var logs bytes.Buffer
	warnUnknown(slog.New(slog.NewTextHandler(&logs, nil)), []string{
		"MEMORYD_EMBEDER=openai", "MEMORYD_LOGLEVEL=debug", "MEMORYD_DATA=/tmp", "MEMORYD_ABLATE=true", "MEMORYD_URL=http://127.0.0.1:8080", "MEMORYD_BINARY=./memoryd", "MEMORYD_TEST_CLIENTS=0", "MEMORY=1", "PATH=/bin"})
	want := []string{"name=MEMORYD_EMBEDER nearest=MEMORYD_EMBEDDER", "name=MEMORYD_LOGLEVEL nearest=MEMORYD_LOG_LEVEL"}
	lines := strings.Split(strings.TrimSpace(logs.String()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d warnings, want %d:\n%s", len(lines), len(want), &logs)
	}
	for i, w := range want {
		if !strings.Contains(lines[i], w) || !strings.Contains(lines[i], "WARN") {
			t.Errorf("%s\nwant %s", lines[i], w)
		}
	}
	t.Setenv("MEMORYD_EMBEDER", "openai")
	if _, errs, _ := said(t, "ready", "-listen", "127.0.0.1:1"); !strings.Contains(errs, want[0]) {
		t.Errorf("a command does not warn: %s", errs)
	}
}

func TestVersion(t *testing.T) {
	vcs := func(revision, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	const commit = "3b223b0c0ffee0123456789abcdef0123456789a"
	for _, c := range []struct {
		release string
		info    debug.BuildInfo
		want    string
	}{
		{"v0.1.0", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs(commit, "true")}, "v0.1.0"},
		{"", debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "v0.1.0"},
		{"", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs(commit, "false")}, "3b223b0c0ffe"},
		{"", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs(commit, "true")}, "3b223b0c0ffe+dirty"},
		{"", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "(devel)"},
		{"", debug.BuildInfo{}, "(devel)"},
	} {
		if got := versionOf(c.release, &c.info); got != c.want {
			t.Errorf("release %q of %v: %s, want %s", c.release, c.info, got, c.want)
		}
	}
	out, _, err := said(t, "version")
	if want := "memoryd " + version() + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"; err != nil || out != want {
		t.Errorf("%v, prints %q, want %q", err, out, want)
	}
	if dashed, _, err := said(t, "--version"); err != nil || dashed != out {
		t.Errorf("--version: %v, prints %q", err, dashed)
	}
}

// A binary that was copied alone still says what it was made from, and under which licence.
func TestNotices(t *testing.T) {
	out, _, err := said(t, "notices")
	for _, want := range []string{"all-MiniLM-L6-v2", "Wiktionary", "creativecommons.org/licenses/by-sa/4.0/legalcode", "plWordNet", "Princeton University",
		"GeoNames"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v, %q is not in it", err, want)
		}
	}
}
