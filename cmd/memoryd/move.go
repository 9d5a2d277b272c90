package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// format is the version of the lines below.
const format = 1

// How many events are in one line, and of how many bytes, unless one alone has
// more; and how many memories are imported at a time.
const (
	eventsTogether   = 50
	lineBytes        = 4 << 20
	memoriesTogether = 50
)

// line is one line of an export: one of its fields. Heading comes first and
// Ending last; a session comes after its events.
type line struct {
	Heading *heading       `json:"memoryd,omitempty"`
	Shared  *sharedLine    `json:"shared,omitempty"`
	Events  *eventsLine    `json:"events,omitempty"`
	Session *sessionLine   `json:"session,omitempty"`
	Memory  *memory.Record `json:"memory,omitempty"`
	Ending  *ending        `json:"end,omitempty"`
}

type heading struct {
	Format    int    `json:"format"`
	Version   string `json:"version"`
	Embedder  string `json:"embedder"`
	Dimension int    `json:"dimension"`
	Analyzer  string `json:"analyzer"`
}

type sharedLine struct {
	memory.Scope
	State sessionstore.State `json:"state"`
}

type eventsLine struct {
	memory.Scope
	Session string            `json:"sessionId"`
	Events  []json.RawMessage `json:"events"`
}

type sessionLine struct {
	memory.Scope
	ID             string             `json:"id"`
	State          sessionstore.State `json:"state"`
	LastUpdateTime time.Time          `json:"lastUpdateTime"`
	Events         int64              `json:"events"`
	Requested      int64              `json:"requested"`
	Done           int64              `json:"done"`
	Failed         bool               `json:"failed,omitempty"`
	LastError      string             `json:"lastError,omitempty"`
	Plan           json.RawMessage    `json:"plan,omitempty"`
	PlanTo         int64              `json:"planTo,omitempty"`
}

// counts are what an export holds.
type counts struct {
	Sessions  int `json:"sessions"`
	Events    int `json:"events"`
	Shared    int `json:"shared"`
	Memories  int `json:"memories"`
	Revisions int `json:"revisions"`
}

func (c counts) String() string {
	return fmt.Sprintf("%d sessions with %d events, %d states of users and apps, %d memories with %d revisions", c.Sessions, c.Events, c.Shared, c.Memories, c.Revisions)
}

func (c *counts) add(l *line) {
	switch {
	case l.Shared != nil:
		c.Shared++
	case l.Events != nil:
		c.Events += len(l.Events.Events)
	case l.Session != nil:
		c.Sessions++
	case l.Memory != nil:
		c.Memories++
		c.Revisions += len(l.Memory.History)
	}
}

type ending struct {
	counts
	SHA256 string `json:"sha256"` // of all lines before
}

func headingOf(m memory.Model) heading {
	return heading{format, version(), m.Embedder, m.Dimension, m.Analyzer}
}

// model is what the memories of an export were made with.
func (h *heading) model() memory.Model {
	return memory.Model{Embedder: h.Embedder, Dimension: h.Dimension, Analyzer: h.Analyzer}
}

// bar shows how far it is on stderr, where somebody watches.
func bar(stderr io.Writer, total int64, what string) *progressbar.ProgressBar {
	f, ok := stderr.(*os.File)
	return progressbar.NewOptions64(total, progressbar.OptionSetWriter(stderr), progressbar.OptionSetVisibility(ok && term.IsTerminal(int(f.Fd()))),
		progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(30), progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish())
}

// export writes all that the stores hold into a file, which must not be there
// yet, or to stdout for "-".
func export(ctx context.Context, cfg config, file string, stdout, stderr io.Writer) (err error) {
	for _, place := range []string{cfg.sessions, cfg.memories} {
		if inRedis(place) || inQdrant(place) {
			continue
		}
		if _, err := os.Stat(place); err != nil {
			return fmt.Errorf("there is nothing to export: %w", err)
		}
	}
	embedder, err := newEmbedder(cfg)
	if err != nil {
		return err
	}
	h := newHouse()
	defer func() { err = errors.Join(err, h.close()) }()
	st, err := h.stores(ctx, cfg, memoryd.ModelOf(embedder), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	head := headingOf(memoryd.ModelOf(embedder))
	if file == "-" {
		end, err := exportTo(ctx, st, head, stdout, stderr)
		if err == nil {
			_, err = fmt.Fprintln(stderr, end)
		}
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: name another file", file)
	}
	if err != nil {
		return err
	}
	end, err := exportTo(ctx, st, head, f, stderr)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file)) // half an export is none
	}
	_, err = fmt.Fprintln(stdout, end)
	return err
}

func (e *ending) String() string { return fmt.Sprintf("exported %v\nsha256 %s", e.counts, e.SHA256) }

func exportTo(ctx context.Context, st *stores, head heading, out, stderr io.Writer) (*ending, error) {
	w := &lineWriter{w: bufio.NewWriterSize(out, 1<<20), sum: sha256.New(), bar: bar(stderr, -1, "exporting")}
	w.write(&line{Heading: &head})
	if err := exportAll(ctx, st, w); err != nil {
		return nil, err
	}
	end := &ending{w.counts, hex.EncodeToString(w.sum.Sum(nil))}
	w.write(&line{Ending: end})
	if w.err == nil {
		w.err = w.w.Flush()
	}
	_ = w.bar.Finish() // it only shows
	return end, w.err
}

// lineWriter writes lines, and counts and sums what it writes. The first error
// stays.
type lineWriter struct {
	w   *bufio.Writer
	sum hash.Hash
	bar *progressbar.ProgressBar
	err error
	counts
}

func (w *lineWriter) write(l *line) error {
	if w.err != nil {
		return w.err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // events and metadata stay as they were written
	if w.err = enc.Encode(l); w.err != nil {
		return w.err
	}
	w.sum.Write(b.Bytes())
	w.add(l)
	_ = w.bar.Add(b.Len()) // it only shows
	_, w.err = w.w.Write(b.Bytes())
	return w.err
}

func exportAll(ctx context.Context, st *stores, w *lineWriter) error {
	err := st.sessions.Export(ctx, func(a sessionstore.SessionRecord) error {
		for after := int64(0); after < a.Events; {
			events, err := st.sessions.Events(ctx, sessionstore.Work{Key: a.Key, Ref: a.Ref}, after, int(min(eventsTogether, a.Events-after)))
			if err != nil {
				return err
			}
			if len(events) == 0 {
				return fmt.Errorf("session %q of app %q, user %q was deleted meanwhile: export while nothing writes", a.ID, a.App, a.User)
			}
			l := &eventsLine{Scope: a.Scope, Session: a.ID}
			size := 0
			for _, e := range events {
				if size += len(e.Doc); size > lineBytes && len(l.Events) > 0 {
					break
				}
				l.Events = append(l.Events, e.Doc)
				after = e.Seq
			}
			if err := w.write(&line{Events: l}); err != nil {
				return err
			}
		}
		return w.write(&line{Session: &sessionLine{Scope: a.Scope, ID: a.ID, State: a.State, LastUpdateTime: a.LastUpdateTime, Events: a.Events, Requested: a.Requested,
			Done: a.Done, Failed: a.Failed, LastError: a.LastError, Plan: a.Plan, PlanTo: a.PlanTo}})
	}, func(s sessionstore.SharedState) error { return w.write(&line{Shared: &sharedLine{s.Scope, s.State}}) })
	if err != nil {
		return err
	}
	return st.memories.Export(ctx, func(r memory.Record) error { return w.write(&line{Memory: &r}) })
}

// importFile brings an export into the stores. It reads the file twice: once to
// see that it is whole, and then to import it. What is there already stays, so
// it may be run again.
func importFile(ctx context.Context, cfg config, file string, stdout, stderr io.Writer) (err error) {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head, end, err := verify(f, bar(stderr, info.Size(), "checking"))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	embedder, err := newEmbedder(cfg)
	if err != nil {
		return err
	}
	h := newHouse()
	defer func() { err = errors.Join(err, h.close()) }()
	st, err := h.stores(ctx, cfg, memoryd.ModelOf(embedder), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := &importer{st: st, from: head.model(), embedder: embedder}
	err = eachLine(f, bar(stderr, info.Size(), "importing"), func(l *line, _ []byte) error { return in.take(ctx, l) })
	if err == nil {
		err = in.flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w (what came before it is imported; run it again once that is mended)", err)
	}
	_, err = fmt.Fprintf(stdout, "imported %v; %d of the memories were new\nsha256 %s\n", end.counts, in.stored, end.SHA256)
	return err
}

// eachLine reads an export line by line.
func eachLine(r io.Reader, bar *progressbar.ProgressBar, do func(l *line, raw []byte) error) error {
	lines := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		raw, err := lines.ReadBytes('\n')
		if err == io.EOF && len(raw) == 0 {
			_ = bar.Finish() // it only shows
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		var l line
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil {
			return fmt.Errorf("line %d is none of an export: %w", n, err)
		}
		if err := do(&l, raw); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		_ = bar.Add(len(raw))
	}
}

// verify checks that an export is whole and of a form that this memoryd knows.
func verify(r io.Reader, bar *progressbar.ProgressBar) (head *heading, end *ending, err error) {
	var got counts
	sum := sha256.New()
	first := true
	err = eachLine(r, bar, func(l *line, raw []byte) error {
		if first {
			if head = l.Heading; head == nil {
				return errors.New("it does not begin as an export of memoryd")
			}
			if head.Format != format {
				return fmt.Errorf("it is of format %d; this memoryd has format %d", head.Format, format)
			}
		}
		if end != nil {
			return errors.New("something follows the end")
		}
		first = false
		if l.Ending != nil {
			end = l.Ending
			return nil
		}
		sum.Write(raw)
		got.add(l)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if end == nil {
		return nil, nil, errors.New("it is cut off: it has no end")
	}
	if hex.EncodeToString(sum.Sum(nil)) != end.SHA256 || got != end.counts {
		return nil, nil, errors.New("it is not as it was written: its checksum is another")
	}
	return head, end, nil
}

// importer takes lines.
type importer struct {
	st      *stores
	records []memory.Record
	stored  int
	// from is what the records were made with. Where the store has another model,
	// words and vectors are made anew.
	from     memory.Model
	embedder embed.Embedder
}

func (in *importer) take(ctx context.Context, l *line) error {
	switch {
	case l.Shared != nil:
		return in.st.sessions.RestoreShared(ctx, sessionstore.SharedState{Scope: l.Shared.Scope, State: l.Shared.State})
	case l.Events != nil:
		events := make([]sessionstore.Event, len(l.Events.Events))
		for i, raw := range l.Events.Events {
			var err error
			if events[i], err = sessionstore.ParseEvent(raw); err != nil {
				return err
			}
		}
		_, err := in.st.sessions.Append(ctx, sessionstore.Key{Scope: l.Events.Scope, ID: l.Events.Session}, events, sessionstore.Append{Create: true, KeepState: true})
		return err
	case l.Session != nil:
		s := l.Session
		key := sessionstore.Key{Scope: s.Scope, ID: s.ID}
		if s.Events == 0 { // nothing has made it yet
			if _, err := in.st.sessions.Append(ctx, key, nil, sessionstore.Append{Create: true, KeepState: true}); err != nil {
				return err
			}
		}
		return in.st.sessions.Restore(ctx, sessionstore.SessionRecord{Key: key, State: s.State, LastUpdateTime: s.LastUpdateTime, Events: s.Events, Requested: s.Requested,
			Done: s.Done, Failed: s.Failed, LastError: s.LastError, Plan: s.Plan, PlanTo: s.PlanTo})
	case l.Memory != nil:
		if in.records = append(in.records, *l.Memory); len(in.records) == memoriesTogether {
			return in.flush(ctx)
		}
	}
	return nil
}

func (in *importer) flush(ctx context.Context) error {
	if len(in.records) == 0 {
		return nil
	}
	if to := in.st.memories.Model(); in.from != to {
		for i := range in.records {
			if !in.from.SameEmbedder(to) {
				in.records[i].Vector = nil
			}
		}
		if err := ingest.Index(ctx, in.embedder, in.records, time.Now()); err != nil {
			return fmt.Errorf("-embedder: %w", err)
		}
	}
	n, err := in.st.memories.Import(ctx, in.records)
	in.stored += n
	in.records = in.records[:0]
	return err
}
