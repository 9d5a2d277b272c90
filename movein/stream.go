package movein

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/memoryd/memoryd/archive"
	"github.com/memoryd/memoryd/memory"
)

// maxItem is how many bytes one item may have, such as a conversation: it is read into
// memory.
const maxItem = 64 << 20

// errItem is the error of an item of more than maxItem bytes.
var errItem = fmt.Errorf("one item has more than %d MiB", maxItem>>20)

// broken reports whether an error is one of JSON, and not one of the machine.
func broken(err error) bool {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &wrong) || errors.Is(err, errItem) || errors.Is(err, errBlank) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, errShape)
}

// errShape is the error of JSON that is none of the format.
var errShape = errors.New("it is not JSON of this format")

// counted is a file that tells of the bytes that are read from it.
type counted struct {
	io.Reader
	progress archive.Progress
}

// Read implements io.Reader.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.progress != nil {
		c.progress(n)
	}
	return n, err
}

// open opens a file and looks at how it begins: at most n bytes.
func (s *sink) open(file string, n int) (f *os.File, r io.Reader, begins []byte, err error) {
	if f, err = os.Open(file); err != nil {
		return nil, nil, nil, err
	}
	b := bufio.NewReaderSize(counted{f, s.opts.Progress}, 1<<16)
	begins, err = b.Peek(n)
	if err != nil && err != io.EOF {
		return nil, nil, nil, errors.Join(err, f.Close())
	}
	return f, b, begins, nil
}

// maxBlank is how many bytes of white space may follow each other. The decoder looks at
// such bytes again with each read, so many would take it for ever.
const maxBlank = 1 << 20

// errBlank is the error of more white space than maxBlank.
var errBlank = fmt.Errorf("more than %d MiB of white space", maxBlank>>20)

// meter fails once more bytes were read than one item may have.
type meter struct {
	r     io.Reader
	left  int64
	blank int   // bytes of white space before the next one
	err   error // of the first read that failed: the decoder asks again after some
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.err == nil && m.left <= 0 {
		m.err = errItem
	}
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.r.Read(p)
	m.left -= int64(n)
	// Only a part that is all white space makes the run longer.
	last := bytes.LastIndexFunc(p[:n], func(r rune) bool { return r > ' ' })
	if last >= 0 {
		m.blank = 0
	}
	if m.blank += n - 1 - last; m.blank > maxBlank {
		n, err = 0, errBlank
	}
	m.err = err
	return n, err
}

// stream reads JSON text, of which it holds one item at a time.
type stream struct {
	dec   *json.Decoder
	meter *meter
}

// newStream reads JSON from r.
func newStream(r io.Reader) *stream {
	b := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := b.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) { // some editors begin a file with it
		_, _ = b.Discard(3)
	}
	m := &meter{r: b, left: maxItem}
	dec := json.NewDecoder(m)
	return &stream{dec: dec, meter: m}
}

// item is one item of a list, or a field of an object.
type item struct {
	list  string // the name of the field that has the list; "" at the top
	index int
	raw   json.RawMessage
}

// place names the item in a message.
func (i item) place() string { return fmt.Sprintf("%s[%d]", i.list, i.index) }

// value reads the next value.
func (s *stream) value() (raw json.RawMessage, err error) {
	s.meter.left = maxItem
	err = s.dec.Decode(&raw)
	return raw, err
}

// token reads the next token.
func (s *stream) token() (json.Token, error) {
	s.meter.left = maxItem
	return s.dec.Token()
}

// where says how far the text was read.
func (s *stream) where(err error) error {
	return fmt.Errorf("near byte %d: %w", s.dec.InputOffset(), whole(err))
}

// errCut is the error of a text that ends in its middle.
var errCut = fmt.Errorf("it is cut off: %w", io.ErrUnexpectedEOF)

// whole makes the end of a text in its middle an error in plain words.
func whole(err error) error {
	if !errors.Is(err, errCut) && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return errCut
	}
	return err
}

// each calls item with each item of a text. The text is a list of items, objects one after
// another (JSON lines), or an object, of which lists names the fields that hold lists of
// items or objects that hold such fields. rest is called with all other fields of the
// objects that were entered; an object at the top that has none of the lists is an item.
func (s *stream) each(lists map[string]bool, do func(item) error, rest func(name string, raw json.RawMessage)) error {
	// Several values after one another are JSON lines, with or without lines.
	for n := 0; ; n++ {
		s.meter.left = maxItem
		begin, err := s.dec.Token()
		if err == io.EOF && n > 0 {
			return nil
		}
		if err != nil {
			return s.where(err)
		}
		switch begin {
		case json.Delim('['):
			err = s.list("", do)
		case json.Delim('{'):
			err = s.object(lists, true, n, do, rest)
		default:
			err = fmt.Errorf("%w: it begins with %.20v", errShape, begin)
		}
		if err != nil {
			return err
		}
	}
}

// list reads the items of a list that has begun.
func (s *stream) list(name string, do func(item) error) error {
	for i := 0; ; i++ {
		s.meter.left = maxItem
		if !s.dec.More() { // or a read has failed, which the next token tells
			break
		}
		raw, err := s.value()
		if err != nil {
			return s.where(fmt.Errorf("%s[%d]: %w", name, i, whole(err)))
		}
		if err := do(item{name, i, raw}); err != nil {
			return err
		}
	}
	if _, err := s.token(); err != nil {
		return s.where(err)
	}
	return nil
}

// object reads an object that has begun, the index-th at its place. Without any of the
// lists it is an item itself if alone says so.
func (s *stream) object(lists map[string]bool, alone bool, index int, do func(item) error,
	rest func(string, json.RawMessage)) error {
	// Fields wait until the end of the object: only then it is known whether it is an item.
	entered, size := false, 0
	fields := map[string]json.RawMessage{}
	for {
		s.meter.left = maxItem
		if !s.dec.More() {
			break
		}
		name, err := s.token()
		if err != nil {
			return s.where(err)
		}
		key, _ := name.(string) // the names of an object are texts
		if lists[key] {
			entered = true
			if err := s.enter(lists, key, do, rest); err != nil {
				return err
			}
			continue
		}
		raw, err := s.value()
		if size += len(key) + len(raw); err == nil && size > maxItem {
			err = errItem
		}
		if err != nil {
			return s.where(fmt.Errorf("%.60q: %w", key, whole(err)))
		}
		fields[key] = raw
	}
	if _, err := s.token(); err != nil {
		return s.where(err)
	}
	if !entered && alone && len(fields) > 0 {
		raw, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		return do(item{"", index, raw})
	}
	for name, raw := range fields {
		if rest != nil {
			rest(name, raw)
		}
	}
	return nil
}

// enter reads the field that holds a list, or an object that holds lists. One that is
// null or has another type holds no items.
func (s *stream) enter(lists map[string]bool, name string, do func(item) error,
	rest func(string, json.RawMessage)) error {
	begin, err := s.token()
	switch {
	case err != nil:
		return s.where(err)
	case begin == json.Delim('['):
		return s.list(name, do)
	case begin == json.Delim('{'):
		return s.object(lists, false, 0, do, rest)
	}
	return nil
}

// object reads an item as an object with some fields. Fields of another type are an error
// that names them.
func object(raw json.RawMessage, into any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return fmt.Errorf("%w: want an object, not %.40s", memory.ErrInvalid, raw)
	}
	return json.Unmarshal(raw, into)
}
