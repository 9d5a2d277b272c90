package mcphost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/memoryd/memoryd/memory"
)

const (
	// maxFile is how many bytes a configuration may have. Claude Code keeps more than its
	// configuration in that file.
	maxFile = 64 << 20
	// maxNested is how deep one may nest. A parser needs stack for each level.
	maxNested = 1000
)

// Change is a change of a configuration that is not made yet.
type Change struct {
	Path string // of the file itself, where that of the host is a link
	// Before and After are the bytes of the file; Before is nil if there is none.
	Before, After []byte
	Entry         []byte // the server as JSON, for people; nil if one is taken out
	Replaces      bool   // a server of the same name was there, with other settings
}

// Nothing reports whether the file is already as it shall be.
func (c *Change) Nothing() bool { return bytes.Equal(c.Before, c.After) }

// Install returns the change that has the host at path start a server of a name. Of one that
// is there the command, the arguments and the type change. The error is ErrInvalid if the
// file is not JSON with comments, or has another form than the host has, or if the server
// of that name is another program's: then it is not touched.
func (h *Host) Install(path, name string, server Server) (*Change, error) {
	if server.Args == nil {
		server.Args = []string{}
	}
	if h.typed {
		server.Type = "stdio"
	}
	return h.change(path, func(root *hujson.Object, c *Change) (err error) {
		at := member(root, h.servers)
		if at == nil {
			at = insert(root, 1, h.servers, hujson.Value{Value: &hujson.Object{}})
		}
		servers, ok := at.Value.(*hujson.Object)
		if !ok {
			return fmt.Errorf("%q is no object", h.servers)
		}
		if c.Entry, err = encode(server, 2); err != nil {
			return err
		}
		value, err := hujson.Parse(c.Entry)
		if err != nil {
			return err
		}
		there := member(servers, name)
		if there == nil {
			insert(servers, 2, name, value)
			return nil
		}
		if err := ours(*there, name); err != nil {
			return err
		}
		entry := there.Value.(*hujson.Object)
		for _, m := range value.Value.(*hujson.Object).Members {
			field := m.Name.Value.(hujson.Literal).String()
			// All else, such as env, is the user's, and stays.
			switch at := member(entry, field); {
			case at == nil:
				insert(entry, 3, field, m.Value)
				c.Replaces = true
			case !same(*at, m.Value):
				at.Value = m.Value.Value
				c.Replaces = true
			}
		}
		if c.Replaces { // people see all of what will be there
			shown := there.Clone()
			shown.BeforeExtra, shown.AfterExtra = nil, nil
			c.Entry = shown.Pack()
		}
		return nil
	})
}

// ours refuses a server of another program. Names are common ones: a server of the MCP
// project is called memory too.
func ours(there hujson.Value, name string) error {
	plain := there.Clone()
	plain.Standardize()
	var entry Server
	if json.Unmarshal(plain.Pack(), &entry) == nil && len(entry.Args) > 0 && entry.Args[0] == "mcp" {
		// Paths of Windows are read on every machine: a configuration may be shared.
		program := entry.Command[strings.LastIndexAny(entry.Command, `/\`)+1:]
		if _, ok := there.Value.(*hujson.Object); ok && strings.HasPrefix(program, "memoryd") {
			return nil
		}
	}
	return fmt.Errorf("%w: %.100q is a server of another program: choose another -name", errForeign, name)
}

// errForeign marks an error that says which entry belongs to another program.
var errForeign = fmt.Errorf("%w: nothing is changed", memory.ErrInvalid)

// Uninstall returns the change that takes a server out. If it is not there, nothing changes.
// The error is that of Install.
func (h *Host) Uninstall(path, name string) (*Change, error) {
	return h.change(path, func(root *hujson.Object, _ *Change) error {
		at := member(root, h.servers)
		if at == nil {
			return nil
		}
		servers, ok := at.Value.(*hujson.Object)
		if !ok {
			return fmt.Errorf("%q is no object", h.servers)
		}
		there := member(servers, name)
		if there == nil {
			return nil
		}
		if err := ours(*there, name); err != nil {
			return err
		}
		remove(servers, name)
		return nil
	})
}

// change reads the file, and edits what it holds.
func (h *Host) change(path string, edit func(*hujson.Object, *Change) error) (*Change, error) {
	c := &Change{Path: path}
	// A link is followed, so that it stays one: people keep their configuration elsewhere.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		c.Path = real
	} else if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%w: %s is a link to a file that is not there", memory.ErrInvalid, path)
	}
	var err error
	if c.Before, err = read(c.Path); err != nil {
		return nil, err
	}
	wrong := func(err error) error {
		return fmt.Errorf("%w: %s: %w: nothing is changed; mend it first", memory.ErrInvalid, c.Path, err)
	}
	// Editors on Windows begin a file with a mark. It stays there.
	text, mark := bytes.CutPrefix(c.Before, []byte(byteOrderMark))
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, wrong(errors.New("it is UTF-16, and no host reads that: save it as UTF-8"))
	}
	if len(bytes.TrimSpace(text)) == 0 { // missing or empty: the host takes it for no settings
		text = []byte("{}\n")
	}
	if nested(text) > maxNested {
		return nil, wrong(fmt.Errorf("it nests deeper than %d levels", maxNested))
	}
	doc, err := hujson.Parse(text)
	if err != nil {
		return nil, wrong(err)
	}
	root, ok := doc.Value.(*hujson.Object)
	if !ok {
		return nil, wrong(errors.New("it is no object"))
	}
	if err := edit(root, c); errors.Is(err, errForeign) {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	} else if err != nil {
		return nil, wrong(err)
	}
	c.After = doc.Pack()
	switch same := bytes.Equal(c.After, text); {
	case same:
		c.After = c.Before // nil if there is no file
	case mark:
		c.After = append([]byte(byteOrderMark), c.After...)
	}
	return c, nil
}

// byteOrderMark is how some editors begin a file of UTF-8.
const byteOrderMark = "\ufeff"

// read reads a file that may be missing. A pipe is refused, as it would be waited for
// without end, and so is all else that a new file cannot take the place of.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no file", memory.ErrInvalid, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%w: %s has more than %d MiB", memory.ErrInvalid, path, maxFile>>20)
	}
	return text, err
}

// nested returns how deep the brackets of a text nest, those in strings left out. In
// comments they count: too much is refused, which no such file has.
func nested(text []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && quoted:
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
			deepest = max(deepest, depth)
		case b == '}' || b == ']':
			depth--
		}
	}
	return deepest
}

// member returns the value of a member of an object, nil if there is none. Of several the
// last one counts, as for the parsers of all hosts.
func member(of *hujson.Object, name string) (found *hujson.Value) {
	for i := range of.Members {
		if literal, ok := of.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			found = &of.Members[i].Value
		}
	}
	return found
}

// indent is one level of white space, as hosts write it.
const indent = "  "

// insert puts a member at the beginning of an object that is so deep in the file, and
// returns its value. At the beginning no comma and no comment of another member moves.
func insert(into *hujson.Object, depth int, name string, value hujson.Value) *hujson.Value {
	value.BeforeExtra = hujson.Extra(" ")
	m := hujson.ObjectMember{Name: hujson.Value{BeforeExtra: hujson.Extra("\n" + strings.Repeat(indent, depth)),
		Value: hujson.String(name)}, Value: value}
	if len(into.Members) > 0 && bytes.HasPrefix(into.Members[0].Name.BeforeExtra, []byte("\n")) {
		// The next member shows how the file is indented, unless a comment stands before it.
		if next := into.Members[0].Name.BeforeExtra; len(bytes.TrimSpace(next)) == 0 {
			m.Name.BeforeExtra = next
		}
	}
	if len(into.Members) == 0 && !bytes.Contains(into.AfterExtra, []byte("\n")) {
		into.AfterExtra = append(into.AfterExtra, []byte("\n"+strings.Repeat(indent, depth-1))...)
	}
	into.Members = append([]hujson.ObjectMember{m}, into.Members...)
	return &into.Members[0].Value
}

// remove takes the members of a name out of an object. A comment before one stays.
func remove(from *hujson.Object, name string) {
	kept := from.Members[:0]
	var before hujson.Extra // comments of the member that went
	for _, m := range from.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			if len(bytes.TrimSpace(m.Name.BeforeExtra)) > 0 {
				before = append(before, m.Name.BeforeExtra...)
			}
			continue
		}
		m.Name.BeforeExtra = append(before, m.Name.BeforeExtra...)
		before = nil
		kept = append(kept, m)
	}
	from.Members = kept
	from.AfterExtra = append(before, from.AfterExtra...)
	if len(kept) == 0 && len(bytes.TrimSpace(from.AfterExtra)) == 0 {
		from.AfterExtra = nil
	}
}

// encode writes a server as JSON that is so deep in a file.
func encode(server Server, depth int) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent(strings.Repeat(indent, depth), indent)
	err := enc.Encode(server)
	return bytes.TrimSpace(out.Bytes()), err
}

// same reports whether two values say the same, in whatever form.
func same(a, b hujson.Value) bool {
	read := func(value hujson.Value) (out any, err error) {
		plain := value.Clone()
		plain.Standardize()
		err = json.Unmarshal(plain.Pack(), &out)
		return out, err
	}
	there, bad := read(a)
	want, err := read(b)
	return errors.Join(bad, err) == nil && reflect.DeepEqual(there, want)
}

// Make writes the file, with a copy of the one before beside it, and returns the path of
// the copy; "" if there was no file. A process that is killed meanwhile leaves the one or
// the other whole.
func (c *Change) Make() (backup string, err error) {
	mode := os.FileMode(0o600)
	if c.Before != nil {
		info, err := os.Stat(c.Path)
		if err != nil {
			return "", err
		}
		if mode = info.Mode().Perm(); mode&0o200 == 0 { // a new file would take its place all the same
			return "", fmt.Errorf("%s is read-only: nothing is changed", c.Path)
		}
		now, err := read(c.Path)
		if err != nil {
			return "", err
		}
		if !bytes.Equal(now, c.Before) {
			return "", fmt.Errorf("%w: %s was changed by another program just now: nothing is changed; try again",
				memory.ErrAborted, c.Path)
		}
		if backup, err = c.backup(mode); err != nil {
			return "", err
		}
	} else if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(c.Path), filepath.Base(c.Path)+".memoryd-")
	if err != nil {
		return backup, err
	}
	_, err = f.Write(c.After)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.Path)
	}
	if err != nil {
		return backup, errors.Join(err, os.Remove(f.Name()))
	}
	return backup, nil
}

// maxBackups is how many copies may lie beside a file.
const maxBackups = 100

// backup copies the file as it was, beside it, over no earlier copy.
func (c *Change) backup(mode os.FileMode) (string, error) {
	for n := 1; n <= maxBackups; n++ {
		path := fmt.Sprintf("%s.memoryd-backup-%d", c.Path, n)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(c.Before)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path))
		}
		return path, nil
	}
	return "", fmt.Errorf("%s has %d backups beside it: remove some", c.Path, maxBackups)
}
