package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checksums is the file with the checksums, in the form that sha256sum -c reads.
const checksums = "SHA256SUMS"

// builder builds the archives of one version.
type builder struct {
	version string
	out     string
	root    string    // of the module
	program string    // package of the binary, below root
	time    time.Time // of everything in an archive
}

// newBuilder finds the module and the time of its commit.
func newBuilder(ctx context.Context, version, program, out string) (*builder, error) {
	mod, err := output(ctx, "", "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	b := &builder{version: version, out: out, root: filepath.Dir(mod), program: program}
	seconds, err := output(ctx, b.root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("time of the commit: %w", err)
	}
	b.time = time.Unix(at, 0).UTC()
	return b, nil
}

// output runs a command and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// build builds the archive for one platform, such as linux/amd64, and returns its
// name.
func (b *builder) build(ctx context.Context, platform string) (name string, err error) {
	system, machine, ok := strings.Cut(platform, "/")
	if !ok {
		return "", errors.New("want a platform such as linux/amd64")
	}
	dir, err := os.MkdirTemp("", "memoryd-release-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The binary is built outside the release: its directory has archives alone.
	binary := filepath.Join(dir, "memoryd")
	if system == "windows" {
		binary += ".exe"
	}
	if err := b.compile(ctx, system, machine, binary); err != nil {
		return "", err
	}
	base := fmt.Sprintf("memoryd_%s_%s_%s", strings.TrimPrefix(b.version, "v"), system, machine)
	files := []string{binary, filepath.Join(b.root, "LICENSE"), filepath.Join(b.root, "README.md")}
	if system == "windows" {
		return base + ".zip", b.create(base+".zip", func(w io.Writer) error { return b.zip(w, base, files) })
	}
	return base + ".tar.gz", b.create(base+".tar.gz", func(w io.Writer) error { return b.tar(w, base, files) })
}

// compile builds the binary. It takes no paths and no build id from this machine,
// and nothing of the state of the repository: the version stands for that.
func (b *builder) compile(ctx context.Context, system, machine, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.release="+b.version, "-o", binary, b.program)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.root, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine,
		"GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=")
	return cmd.Run()
}

// create writes one file of the release.
func (b *builder) create(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(filepath.Join(b.out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}

// tar writes an archive for Linux and macOS. Owners and times are the same on
// every machine.
func (b *builder) tar(w io.Writer, base string, files []string) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression) // without a name or time of its own
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		head := &tar.Header{Name: path.Join(base, filepath.Base(file)), Mode: mode(file), Size: int64(len(content)),
			ModTime: b.time, Format: tar.FormatPAX}
		if err := t.WriteHeader(head); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// zip writes an archive for Windows.
func (b *builder) zip(w io.Writer, base string, files []string) error {
	// A header by hand: one made from the file would have the file's time.
	z := zip.NewWriter(w)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		head := &zip.FileHeader{Name: path.Join(base, filepath.Base(file)), Method: zip.Deflate, Modified: b.time}
		head.SetMode(os.FileMode(mode(file)))
		part, err := z.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := part.Write(content); err != nil {
			return err
		}
	}
	return z.Close()
}

// mode is that of a file in an archive: the binary can be run.
func mode(file string) int64 {
	if strings.HasPrefix(filepath.Base(file), "memoryd") {
		return 0o755
	}
	return 0o644
}

// writeChecksums writes the checksums of archives, sorted by name.
func writeChecksums(out string, names []string) error {
	var lines strings.Builder
	// Sorted, so that the order of -platforms makes no difference.
	for _, name := range slices.Sorted(slices.Values(names)) {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&lines, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return os.WriteFile(filepath.Join(out, checksums), []byte(lines.String()), 0o644)
}
