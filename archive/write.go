package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// A line holds at most so many events, and of so many bytes unless one event
// alone has more: a reader keeps a line in memory.
const (
	eventsPerLine = 50
	bytesPerLine  = 4 << 20
)

// maxLine is how many bytes a line may have at most. A reader keeps a line in
// memory, and a memory with all its revisions is one line.
const maxLine = 256 << 20

// bufferBytes is the size of one write or read of the file.
const bufferBytes = 1 << 20

// Write writes an archive of two stores. It fails if a session is deleted while
// it is read, and if deleted sessions still wait for their memories.
func Write(ctx context.Context, out io.Writer, head Heading, sessions Sessions, memories Memories,
	progress Progress) (*Ending, error) {
	w, err := NewWriter(out, head, progress)
	if err != nil {
		return nil, err
	}
	err = sessions.ExportConfigs(ctx, func(r sessionstore.ConfigRecord) error { return w.write(&line{Config: &r}) })
	if err != nil {
		return nil, err
	}
	err = sessions.Export(ctx,
		func(a sessionstore.SessionRecord) error { return w.session(ctx, sessions, a) }, w.Shared)
	if err != nil {
		return nil, err
	}
	if err := memories.Export(ctx, w.Memory); err != nil {
		return nil, err
	}
	return w.End()
}

// Writer writes an archive line by line: shared state, sessions and memories in any
// order, where the events of a session come directly before it. Nothing is checked that
// [Verify] checks.
type Writer struct {
	out      *bufio.Writer
	sum      hash.Hash
	progress Progress
	counts   Counts
}

// NewWriter returns a Writer that has written the heading.
func NewWriter(out io.Writer, head Heading, progress Progress) (*Writer, error) {
	w := &Writer{out: bufio.NewWriterSize(out, bufferBytes), sum: sha256.New(), progress: progress}
	return w, w.write(&line{Heading: &head})
}

// Shared writes state that all sessions of a user, or of an app, share.
func (w *Writer) Shared(s sessionstore.SharedState) error {
	return w.write(&line{Shared: &sharedLine{s.Scope, s.State}})
}

// Memory writes a memory with its history.
func (w *Writer) Memory(r memory.Record) error { return w.write(&line{Memory: &r}) }

// Events writes events of a session, each as the JSON that a store keeps: as many of them
// as fit into a line. It returns how many it has written, at least one.
func (w *Writer) Events(key sessionstore.Key, docs []json.RawMessage) (int, error) {
	// One event alone may be larger than a line should be.
	n, size := 0, 0
	for n < min(len(docs), eventsPerLine) {
		if size += len(docs[n]); size > bytesPerLine && n > 0 {
			break
		}
		n++
	}
	return n, w.write(&line{Events: &eventsLine{Scope: key.Scope, Session: key.ID, Events: docs[:n]}})
}

// Session writes a session, after its events.
func (w *Writer) Session(a sessionstore.SessionRecord) error {
	return w.write(&line{Session: &sessionLine{
		Scope: a.Scope, ID: a.ID, DisplayName: a.DisplayName, Labels: a.Labels, ExpireTime: a.ExpireTime,
		CreateTime: a.CreateTime, State: a.State, LastUpdateTime: a.LastUpdateTime, Events: a.Events,
		Requested: a.Requested, Done: a.Done, Failed: a.Failed, LastError: a.LastError,
		Plan: a.Plan, PlanTo: a.PlanTo, Waiting: waitingOf(a.Waiting)}})
}

// End writes the last line, and all that is still buffered.
func (w *Writer) End() (*Ending, error) {
	end := &Ending{w.counts, hex.EncodeToString(w.sum.Sum(nil))}
	if err := w.write(&line{Ending: end}); err != nil {
		return nil, err
	}
	return end, w.out.Flush()
}

// write writes one line. The checksum is of the bytes as they are written, so a
// reader can check them without decoding.
func (w *Writer) write(l *line) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // events and metadata stay as they were written
	if err := enc.Encode(l); err != nil {
		return err
	}
	if b.Len() > maxLine {
		return fmt.Errorf("a line of %d bytes, more than %d, which no import would read: it begins %.200s",
			b.Len(), maxLine, b.Bytes())
	}
	w.sum.Write(b.Bytes())
	w.counts.add(l)
	w.progress.add(b.Len())
	_, err := w.out.Write(b.Bytes())
	return err
}

// session writes the events of a session, and then the session.
func (w *Writer) session(ctx context.Context, sessions Sessions, a sessionstore.SessionRecord) error {
	for after := int64(0); after < a.Events; {
		limit := int(min(eventsPerLine, a.Events-after))
		events, err := sessions.Events(ctx, sessionstore.Work{Key: a.Key, Ref: a.Ref}, after, limit)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return fmt.Errorf("session %q of app %q, user %q was deleted meanwhile: export while nothing writes",
				a.ID, a.App, a.User)
		}
		docs := make([]json.RawMessage, len(events))
		for i, e := range events {
			docs[i] = e.Doc
		}
		n, err := w.Events(a.Key, docs)
		if err != nil {
			return err
		}
		after = events[n-1].Seq
	}
	return w.Session(a)
}
