package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// memoriesPerImport is how many memories are written at a time.
const memoriesPerImport = 50

// eachLine calls do with every line of an archive.
func eachLine(r io.Reader, progress Progress, do func(l *line, raw []byte) error) error {
	lines := bufio.NewReaderSize(r, bufferBytes)
	for n := 1; ; n++ {
		raw, err := readLine(lines)
		if err == io.EOF && len(raw) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", n, err)
		}
		l, err := parseLine(raw)
		if err != nil {
			return fmt.Errorf("line %d is none of an export: %w", n, err)
		}
		if err := do(l, raw); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		progress.add(len(raw))
	}
}

// readLine reads a line, which a reader keeps in memory, so it has a limit.
func readLine(lines *bufio.Reader) (raw []byte, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		if len(raw)+len(part) > maxLine {
			return nil, fmt.Errorf("it has more than %d bytes, which is no line of an export", maxLine)
		}
		if raw = append(raw, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return raw, err
		}
	}
}

// parseLine reads a line, of which exactly one field is set.
func parseLine(raw []byte) (*line, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not UTF-8")
	}
	var l line
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("something follows its object")
	}
	set := 0
	for _, there := range []bool{l.Heading != nil, l.Config != nil, l.Shared != nil, l.Events != nil,
		l.Session != nil, l.Memory != nil, l.Ending != nil} {
		if there {
			set++
		}
	}
	if set != 1 {
		return nil, fmt.Errorf("it has %d things, and a line has one", set)
	}
	return &l, nil
}

// Verify reads an archive and checks that it is whole, unchanged, of a format that
// this version reads, and that every line can be imported. So an import either
// takes all of an archive, or begins nothing: a checksum alone can be forged.
func Verify(r io.Reader, progress Progress) (*Heading, *Ending, error) {
	v := verifier{}
	sum := sha256.New()
	err := eachLine(r, progress, func(l *line, raw []byte) error {
		if err := v.take(l); err != nil || l.Ending != nil {
			return err
		}
		sum.Write(raw)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if v.end == nil {
		return nil, nil, errors.New("it is cut off: it has no end")
	}
	if hex.EncodeToString(sum.Sum(nil)) != v.end.SHA256 || v.counts != v.end.Counts {
		return nil, nil, errors.New("it is not as it was written: its checksum is another")
	}
	return v.head, v.end, nil
}

// Imported is what an import has found different in the stores.
type Imported struct {
	Memories int // that were new
	// KeptConfigs are the apps whose configuration stays, and is another than that of the
	// archive.
	KeptConfigs []string
}

// Import brings an archive that Verify has found whole into two stores. Everything
// that is there already stays, so an import can be run again. Where the store has
// another model than the archive, the embedder makes new words and vectors. A redactor
// replaces secrets in all that is stored, by the configurations in the store; nil replaces
// none. With Merge in the heading, sessions that are there take new events, and are asked
// for their memories.
func Import(ctx context.Context, r io.Reader, head *Heading, sessions Sessions, memories Memories,
	embedder embed.Embedder, redactor *ingest.Redactor, progress Progress) (Imported, error) {
	in := &importer{sessions: sessions, memories: memories, from: head.Model(), embedder: embedder, redactor: redactor,
		merge: head.Merge}
	err := eachLine(r, progress, func(l *line, _ []byte) error { return in.take(ctx, l) })
	if err == nil {
		err = in.flush(ctx)
	}
	return in.Imported, err
}

// importer stores lines. It collects memories, to write several at a time.
type importer struct {
	sessions Sessions
	memories Memories
	from     memory.Model // of the archive
	embedder embed.Embedder
	redactor *ingest.Redactor // nil if nothing is replaced
	records  []memory.Record
	merge    bool // see Heading
	// at is the session whose lines come, and there is it as it was before, nil if it was
	// not: they are set if merge is.
	at    sessionstore.Key
	there *sessionstore.Session
	Imported
}

// take stores one line. Memories wait until there are several of them, since
// each write ends with a flush of the disk or a round trip.
func (in *importer) take(ctx context.Context, l *line) error {
	switch {
	case l.Config != nil:
		return in.config(ctx, l.Config)
	case l.Shared != nil:
		shared := sessionstore.SharedState{Scope: l.Shared.Scope, State: l.Shared.State}
		if in.redactor != nil {
			if err := in.redactor.Shared(ctx, &shared); err != nil {
				return err
			}
		}
		return in.sessions.RestoreShared(ctx, shared)
	case l.Events != nil:
		return in.events(ctx, l.Events)
	case l.Session != nil:
		return in.session(ctx, l.Session)
	case l.Memory != nil:
		if in.redactor != nil {
			if err := in.redactor.Record(ctx, l.Memory); err != nil {
				return err
			}
		}
		if in.records = append(in.records, *l.Memory); len(in.records) == memoriesPerImport {
			return in.flush(ctx)
		}
	}
	return nil
}

// config gives an app its configuration, unless it has one.
func (in *importer) config(ctx context.Context, l *configLine) error {
	doc, revision, err := in.sessions.Config(ctx, l.App)
	if err != nil {
		return err
	}
	if revision == 0 {
		return in.sessions.RestoreConfig(ctx, *l)
	}
	var here, there bytes.Buffer // an archive has JSON without white space
	if err := errors.Join(json.Compact(&here, doc), json.Compact(&there, l.Doc)); err != nil {
		return fmt.Errorf("the configuration of app %q: %w", l.App, err)
	}
	if !bytes.Equal(here.Bytes(), there.Bytes()) {
		in.KeptConfigs = append(in.KeptConfigs, l.App)
	}
	return nil
}

// events appends some events of a session. The store skips events that it has
// already, so an import can be run again.
func (in *importer) events(ctx context.Context, l *eventsLine) error {
	events := make([]sessionstore.Event, len(l.Events))
	for i, raw := range l.Events {
		var err error
		if events[i], err = sessionstore.ParseEvent(raw); err != nil {
			return err
		}
	}
	return in.append(ctx, sessionstore.Key{Scope: l.Scope, ID: l.Session}, events)
}

// append creates the session if it is missing. Its state comes with the
// session's own line.
func (in *importer) append(ctx context.Context, key sessionstore.Key, events []sessionstore.Event) (err error) {
	if in.redactor != nil {
		if events, err = in.redactor.Events(ctx, key.App, events); err != nil {
			return err
		}
	}
	if in.merge && in.at != key {
		in.there, err = in.sessions.Get(ctx, key, sessionstore.Get{PageSize: 1, NoState: true})
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return err
		}
		in.at = key
	}
	_, err = in.sessions.Append(ctx, key, events, sessionstore.Append{Create: true, KeepState: true})
	return err
}

// session restores the rest of a session. Its events have been appended before.
func (in *importer) session(ctx context.Context, l *sessionLine) error {
	key := sessionstore.Key{Scope: l.Scope, ID: l.ID}
	if l.Events == 0 { // no line of events has created it
		if err := in.append(ctx, key, nil); err != nil {
			return err
		}
	}
	// The events were redacted as they were appended; the rest is here.
	record := l.record()
	if in.redactor != nil {
		if err := in.redactor.Session(ctx, &record); err != nil {
			return err
		}
	}
	// An append of older events has set the time back, to theirs.
	if record.Merge = in.merge && in.there != nil; record.Merge {
		if was := in.there.LastUpdateTime; was.After(record.LastUpdateTime) {
			record.LastUpdateTime = was
		}
	}
	return in.sessions.Restore(ctx, record)
}

// record returns a session as a store restores it.
func (l *sessionLine) record() sessionstore.SessionRecord {
	return sessionstore.SessionRecord{
		Key: sessionstore.Key{Scope: l.Scope, ID: l.ID}, State: l.State, LastUpdateTime: l.LastUpdateTime,
		Details:    sessionstore.Details{DisplayName: l.DisplayName, Labels: l.Labels, ExpireTime: l.ExpireTime},
		CreateTime: l.CreateTime,
		Events:     l.Events, Requested: l.Requested, Done: l.Done, Failed: l.Failed, LastError: l.LastError,
		Plan: l.Plan, PlanTo: l.PlanTo, Waiting: l.Waiting.read(),
	}
}

// flush writes the memories that were collected.
func (in *importer) flush(ctx context.Context) error {
	if len(in.records) == 0 {
		return nil
	}
	if to := in.memories.Model(); in.from != to {
		for i := range in.records {
			if !in.from.SameEmbedder(to) {
				in.records[i].Vector = nil
			}
		}
		if err := ingest.Index(ctx, in.embedder, in.records, time.Now()); err != nil {
			return fmt.Errorf("make words and vectors: %w", err)
		}
	}
	n, err := in.memories.Import(ctx, in.records)
	in.Memories += n
	in.records = in.records[:0]
	return err
}
