package ingest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/internal/passage"
	"github.com/memoryd/memoryd/memory"
)

// Limits of a document.
const (
	MaxDocument         = 1 << 20 // bytes of its text
	MaxDocumentMetadata = 2 << 10 // bytes of its metadata, which each passage has
)

// The types of a document's text.
const (
	markdownType = "text/markdown"
	plainType    = "text/plain"
)

// Document is a text of an app's shared knowledge.
type Document struct {
	ID       string
	Title    string
	URI      string // where it is from
	MimeType string // text/markdown, the default, or text/plain
	Text     string
	Topics   []string        // of each passage
	Metadata memory.Metadata // of each passage
}

// StoredDocument tells what a store has of a document.
type StoredDocument struct {
	ID string
	DocumentState
	Topics                 []string
	CreateTime, UpdateTime time.Time
	Revision               int64
}

// DocumentState is what the list of documents keeps of one, as JSON in the metadata of a
// memory.
type DocumentState struct {
	Title      string `json:"title,omitempty"`
	URI        string `json:"uri,omitempty"`
	MimeType   string `json:"mimeType"`
	Bytes      int    `json:"bytes"`
	Characters int    `json:"characters"`
	Passages   int    `json:"passages"`
	// Embedded is how many of the first passages have a vector. The others are found by
	// their words.
	Embedded int `json:"embedded"`
	// Complete is set once the passages are those of the text, and all have vectors.
	Complete bool   `json:"complete"`
	Digest   string `json:"digest"` // of the text and all that a passage has of its document
}

// stateName is the metadata in which the state of a document is.
const stateName = "document"

// validate checks a document, and sets its defaults.
func (d *Document) validate() error {
	if err := memory.ValidateID("document", d.ID); err != nil {
		return err
	}
	kind, _, err := mime.ParseMediaType(cmp.Or(d.MimeType, markdownType))
	if d.MimeType = kind; err != nil || kind != markdownType && kind != plainType {
		return fmt.Errorf("%w: mimeType: want %s or %s", memory.ErrInvalid, markdownType, plainType)
	}
	metadata, err := json.Marshal(d.Metadata)
	switch {
	case err != nil || len(metadata) > MaxDocumentMetadata:
		return fmt.Errorf("%w: metadata: want JSON of at most %d bytes, as each passage has it", memory.ErrInvalid,
			MaxDocumentMetadata)
	case len(d.Text) > MaxDocument:
		return fmt.Errorf("%w: text has %d bytes, more than %d: part the document", memory.ErrInvalid, len(d.Text),
			MaxDocument)
	case !utf8.ValidString(d.Text):
		return fmt.Errorf("%w: text is not valid UTF-8", memory.ErrInvalid)
	case len(d.Title) > memory.MaxTitle || !utf8.ValidString(d.Title):
		return fmt.Errorf("%w: title is not UTF-8 of at most %d bytes", memory.ErrInvalid, memory.MaxTitle)
	case len(d.URI) > memory.MaxURI || !utf8.ValidString(d.URI):
		return fmt.Errorf("%w: uri is not UTF-8 of at most %d bytes", memory.ErrInvalid, memory.MaxURI)
	}
	return nil
}

// passages returns the memories of a document that is stored at now. A passage keeps its id
// as long as its words stay: it is derived from them, and from how many passages before it
// say the same.
func (d *Document) passages(app string, now time.Time) ([]memory.Memory, error) {
	var out []memory.Memory
	same := map[string]int{}
	for i, p := range passage.Cut(d.Text, d.MimeType == markdownType) {
		m := memory.Memory{
			ID:    derive("passage", app, d.ID, strconv.Itoa(same[p.Text]), p.Text),
			Scope: memory.Shared(app), Kind: memory.KindFact, Fact: p.Text, Topics: d.Topics, Metadata: d.Metadata,
			Timestamp: now,
			Source: memory.Source{SessionID: d.ID, Passage: &memory.Passage{Document: d.ID, Title: d.Title, URI: d.URI,
				Headings: p.Headings, Number: i + 1, Start: p.Start, End: p.End}},
		}
		same[p.Text]++
		if err := m.Validate(); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: text is empty", memory.ErrInvalid)
	}
	return out, nil
}

// state is the state of a document of so many passages, of which none has a vector yet.
func (d *Document) state(passages int) DocumentState {
	raw, err := json.Marshal(d) // texts, and metadata that are valid JSON
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return DocumentState{Title: d.Title, URI: d.URI, MimeType: d.MimeType, Bytes: len(d.Text),
		Characters: utf8.RuneCountInString(d.Text), Passages: passages, Digest: hex.EncodeToString(sum[:])}
}

// head is the memory that stands for a document in the list of documents. base is what it
// was, or the zero memory.
func (d *Document) head(app string, base memory.Memory, state DocumentState, now time.Time) memory.Memory {
	raw, err := json.Marshal(state)
	if err != nil {
		panic(err)
	}
	base.ID, base.Scope, base.Kind = d.ID, memory.Documents(app), memory.KindFact
	if base.Timestamp.IsZero() {
		base.Timestamp = now
	}
	base.Fact, base.Topics = cmp.Or(strings.TrimSpace(d.Title), d.ID), d.Topics
	base.Metadata = memory.Metadata{stateName: raw}
	return base
}

// storedDocument reads a memory of the list of documents.
func storedDocument(m *memory.Memory) (StoredDocument, error) {
	out := StoredDocument{ID: m.ID, Topics: m.Topics, CreateTime: m.CreateTime, UpdateTime: m.UpdateTime,
		Revision: m.Revision}
	if err := json.Unmarshal(m.Metadata[stateName], &out.DocumentState); err != nil {
		return out, fmt.Errorf("the state of document %q of app %q: %w", m.ID, m.App, err)
	}
	return out, nil
}
