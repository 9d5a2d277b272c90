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
	w := &writer{out: bufio.NewWriterSize(out, bufferBytes), sum: sha256.New(), progress: progress}
	if err := w.write(&line{Heading: &head}); err != nil {
		return nil, err
	}
	err := sessions.ExportConfigs(ctx, func(r sessionstore.ConfigRecord) error { return w.write(&line{Config: &r}) })
	if err != nil {
		return nil, err
	}
	err = sessions.Export(ctx,
		func(a sessionstore.SessionRecord) error { return w.session(ctx, sessions, a) },
		func(s sessionstore.SharedState) error { return w.write(&line{Shared: &sharedLine{s.Scope, s.State}}) })
	if err != nil {
		return nil, err
	}
	if err := memories.Export(ctx, func(r memory.Record) error { return w.write(&line{Memory: &r}) }); err != nil {
		return nil, err
	}
	end := &Ending{w.counts, hex.EncodeToString(w.sum.Sum(nil))}
	if err := w.write(&line{Ending: end}); err != nil {
		return nil, err
	}
	return end, w.out.Flush()
}

// writer writes lines, and counts and sums what it writes.
type writer struct {
	out      *bufio.Writer
	sum      hash.Hash
	progress Progress
	counts   Counts
}

// write writes one line. The checksum is of the bytes as they are written, so a
// reader can check them without decoding.
func (w *writer) write(l *line) error {
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
func (w *writer) session(ctx context.Context, sessions Sessions, a sessionstore.SessionRecord) error {
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
		l := &eventsLine{Scope: a.Scope, Session: a.ID}
		size := 0
		for _, e := range events {
			if size += len(e.Doc); size > bytesPerLine && len(l.Events) > 0 {
				break
			}
			l.Events = append(l.Events, e.Doc)
			after = e.Seq
		}
		if err := w.write(&line{Events: l}); err != nil {
			return err
		}
	}
	return w.write(&line{Session: &sessionLine{
		Scope: a.Scope, ID: a.ID, DisplayName: a.DisplayName, Labels: a.Labels, ExpireTime: a.ExpireTime,
		CreateTime: a.CreateTime, State: a.State, LastUpdateTime: a.LastUpdateTime, Events: a.Events,
		Requested: a.Requested, Done: a.Done, Failed: a.Failed, LastError: a.LastError,
		Plan: a.Plan, PlanTo: a.PlanTo, Waiting: waitingOf(a.Waiting)}})
}
