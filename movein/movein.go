// Package movein reads what other memories of agents keep, and writes it as an archive
// of memoryd: conversations become sessions, statements become facts, each with its own
// time and user. Package archive then brings it into the stores, so that a move obeys the
// rules of every import: all that is there stays, and a second run adds nothing.
//
// Files are hostile until they are read: they may be cut off, nest deeply, have values of
// other types, or unpack to a thousand times their size. A file that is broken as a whole
// fails [Convert] with its name and the place. An item that cannot be taken is left out
// and counted in the [Report], with the reason and the place of the first one.
package movein

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/memory"
)

// Format is where data comes from.
type Format string

// The formats.
const (
	// Mem0 is mem0's get_all, its export, a scroll of its Qdrant collection as a file or
	// at a URL, and its history.db.
	Mem0 Format = "mem0"
	// ADKDatabase is the SQLite file of ADK's database session services.
	ADKDatabase Format = "adk-database"
	// AgentMemoryServer is the JSON of Redis's agent-memory-server.
	AgentMemoryServer Format = "agent-memory-server"
	// Letta is an agent file.
	Letta Format = "letta"
	// ChatGPT is its data export, packed or not.
	ChatGPT Format = "chatgpt"
)

// Formats are all formats.
func Formats() []Format { return []Format{Mem0, ADKDatabase, AgentMemoryServer, Letta, ChatGPT} }

// Options of Convert.
type Options struct {
	// App and User are those of what names none. Without a User, what names none is left out.
	App, User string
	Zone      *time.Location // of times without an offset; nil is UTC
	Key       string         // for a Qdrant that wants one
	Version   string         // of memoryd, for the archive
	// Progress is told of bytes as they are read from the files; nil is told nothing.
	Progress archive.Progress
	Now      func() time.Time // defaults to time.Now
}

// Check refuses a format that there is not, files that a format does not have, and a user
// that is missing. The error is ErrInvalid.
func Check(from Format, files []string, opts Options) error {
	if !slices.Contains(Formats(), from) {
		return fmt.Errorf("%w: format %.40q is none of %v", memory.ErrInvalid, from, Formats())
	}
	if len(files) == 0 {
		return fmt.Errorf("%w: there is no file to read", memory.ErrInvalid)
	}
	if err := memory.ValidateID("app", opts.App); err != nil {
		return err
	}
	if opts.User != "" {
		return memory.ValidateID("user", opts.User)
	}
	if from == ChatGPT || from == Letta {
		return fmt.Errorf("%w: files of %s name no user: name the one whose they are", memory.ErrInvalid, from)
	}
	return nil
}

// CheckFile refuses what is no regular file: a pipe would be waited for without end, and
// files are read more than once. The error is ErrInvalid, or that of a file that is missing.
func CheckFile(file string) error {
	info, err := os.Stat(file) // follows links
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		return nil
	}
	kind := "a device"
	switch mode := info.Mode(); {
	case mode.IsDir():
		kind = "a directory"
	case mode&os.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&os.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%w: %s is %s: name a file", memory.ErrInvalid, file, kind)
}

// Convert reads files of a format and writes an archive to out. It holds one item in memory
// at a time, an identifier of each item that it has seen, and counts of each user. The
// error is ErrInvalid if a file is not of the format, or broken; out is then not whole.
func Convert(ctx context.Context, from Format, files []string, out io.Writer, opts Options) (*Report, error) {
	if err := Check(from, files, opts); err != nil {
		return nil, err
	}
	for _, file := range files {
		if isURL(file) && from == Mem0 {
			continue
		}
		if err := CheckFile(file); err != nil {
			return nil, err
		}
	}
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	// The archive names no model, so that its import makes words and vectors for each memory.
	head := archive.NewHeading(opts.Version, memory.Model{})
	// Most programs drop old messages, so a session that is there may have more events.
	head.Merge = true
	w, err := archive.NewWriter(out, head, nil)
	if err != nil {
		return nil, err
	}
	s := &sink{from: from, w: w, opts: opts, report: newReport(), seen: map[[16]byte]bool{}}
	read := map[Format]func(context.Context, *sink, []string) error{
		Mem0: readMem0, ADKDatabase: readADK, AgentMemoryServer: readAgentMemory, Letta: readLetta,
		ChatGPT: readChatGPT,
	}[from]
	if err := read(ctx, s, files); err != nil {
		return nil, err
	}
	if s.report.empty() {
		return nil, fmt.Errorf("%w: nothing in %s is an item of %s: is it of another format? (%v)",
			memory.ErrInvalid, shortList(files), from, Formats())
	}
	_, err = w.End()
	return s.report, err
}

// shortList names files in a message.
func shortList(files []string) string {
	if len(files) == 1 {
		return shown(files[0])
	}
	return fmt.Sprintf("%s and %d more", shown(files[0]), len(files)-1)
}

// in adds a file and a place in it to an error. Errors of the machine keep their kind.
func in(file, place string, err error) error {
	if place != "" { // some errors are of the whole file
		place = ": " + place
	}
	if errors.Is(err, memory.ErrInvalid) {
		return fmt.Errorf("%s%s: %w", file, place, err)
	}
	if broken(err) {
		return fmt.Errorf("%w: %s%s: %w", memory.ErrInvalid, file, place, err)
	}
	return fmt.Errorf("%s%s: %w", file, place, err)
}
