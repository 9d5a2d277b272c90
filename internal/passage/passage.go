// Package passage cuts a document into passages that are small enough to be found and
// quoted one by one: at headings, between paragraphs, and between sentences where a
// paragraph is too long.
package passage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"
)

// Sizes of passages, in bytes. Paragraphs of one section are put together up to full: some
// 150 words, which say one thing at some length, and of which ten fit into a prompt.
const (
	full = 1000
	most = 1500 // of any passage
	// least is the size below which a section has no passage of its own, but begins the
	// next one. It bounds how many passages a document has.
	least = 80
)

// Passage is a part of a text.
type Passage struct {
	Text string
	// Headings lead to the passage, the outermost first.
	Headings []string
	// Start and End count the characters of the text before the passage, and before what
	// follows it, in Unicode code points.
	Start, End int
}

// span is a part of a text by bytes.
type span struct{ from, to int }

// section is what stands below one heading. It begins at head, with the heading.
type section struct {
	path   []string
	head   int
	blocks []span // paragraphs, lists, tables and code
}

// piece is a passage before its characters are counted. It begins at head if it is the
// first of its section.
type piece struct {
	span
	head int
	path []string
}

// Cut returns the passages of a text, in order. They do not overlap, and all of the text is
// in one of them, but for headings and space. markdown says that the text has the headings
// and code blocks of Markdown; other texts have paragraphs alone.
func Cut(text string, markdown bool) []Passage {
	var pieces []piece
	for _, s := range sections(text, markdown) {
		for i, at := range pack(text, s.blocks) {
			p := piece{at, at.from, s.path}
			if i == 0 {
				p.head = s.head
			}
			pieces = append(pieces, p)
		}
	}
	var out []Passage
	counted, characters := 0, 0
	count := func(to int) int {
		characters += utf8.RuneCountInString(text[counted:to])
		counted = to
		return characters
	}
	for _, p := range join(pieces) {
		p.span = trim(text, p.span)
		start := count(p.from)
		out = append(out, Passage{text[p.from:p.to], p.path, start, count(p.to)})
	}
	return out
}

// join puts pieces together that are too short to stand alone.
func join(pieces []piece) (out []piece) {
	for _, p := range pieces {
		if n := len(out); n > 0 && out[n-1].to-out[n-1].from < least && p.to-out[n-1].head <= full {
			last := &out[n-1]
			last.span, last.path = span{last.head, p.to}, common(last.path, p.path)
			continue
		}
		out = append(out, p)
	}
	return out
}

// common returns the headings that two paths begin with.
func common(a, b []string) []string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n:n]
}

// sections parts a text at its headings.
func sections(text string, markdown bool) []section {
	out := []section{{}}
	var path [7]string // by level; "" where there is none
	block, fence := span{-1, -1}, ""
	end := func() {
		if block.from >= 0 {
			last := &out[len(out)-1]
			last.blocks = append(last.blocks, block)
		}
		block = span{-1, -1}
	}
	begin := func(level int, title string, at int) {
		path[level] = title
		clear(path[level+1:])
		var to []string
		for _, t := range path[1:] {
			if t != "" {
				to = append(to, t)
			}
		}
		out = append(out, section{path: to, head: at})
	}
	for at := 0; at < len(text); {
		line, next := lineAt(text, at)
		plain := strings.TrimSpace(line)
		level, title := 0, ""
		if markdown && fence == "" {
			level, title = heading(line)
		}
		switch {
		case fence != "":
			block.to = next
			if strings.HasPrefix(plain, fence) && strings.Trim(plain, fence[:1]) == "" {
				fence = ""
			}
		case level > 0:
			end()
			begin(level, title, at)
		case plain == "":
			end()
		case markdown && underline(plain) > 0 && block.from >= 0 && oneLine(text[block.from:block.to]):
			title, head := shorten(strings.TrimSpace(text[block.from:block.to])), block.from
			block = span{-1, -1}
			begin(underline(plain), title, head)
		default:
			if block.from < 0 {
				block.from = at
			}
			block.to = next
			if markdown {
				fence = opens(plain)
			}
		}
		at = next
	}
	end()
	return out
}

// lineAt returns the line that begins at a byte, and where the next one begins.
func lineAt(text string, at int) (line string, next int) {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return text[at : at+i], at + i + 1
	}
	return text[at:], len(text)
}

// heading reads a line such as "## Returns"; level is 0 if it is none.
func heading(line string) (level int, title string) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return 0, ""
	}
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	if rest = rest[level:]; level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	rest = strings.TrimSpace(rest)
	if closed := strings.TrimRight(rest, "#"); closed == "" || strings.HasSuffix(closed, " ") {
		rest = strings.TrimSpace(closed)
	}
	return level, shorten(rest)
}

// maxHeading is the bytes that are kept of a heading.
const maxHeading = 200

// shorten returns a heading of at most maxHeading bytes.
func shorten(title string) string {
	if len(title) <= maxHeading {
		return title
	}
	at := maxHeading
	for !utf8.RuneStart(title[at]) {
		at--
	}
	return title[:at]
}

// underline returns the level of the heading whose second line this is: "====" or "----".
func underline(line string) int {
	switch {
	case len(line) >= 2 && strings.Trim(line, "=") == "":
		return 1
	case len(line) >= 2 && strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}

// oneLine reports whether a block has one line.
func oneLine(block string) bool { return !strings.Contains(strings.TrimSpace(block), "\n") }

// opens returns the fence of a block of code that a line begins; "" if it begins none.
func opens(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && !strings.Contains(line[n:], c) {
			return line[:n]
		}
	}
	return ""
}

// pack puts the blocks of a section together.
func pack(text string, blocks []span) (out []span) {
	for _, b := range blocks {
		for _, part := range divide(text, b) {
			if n := len(out); n > 0 && out[n-1].to-out[n-1].from < full && part.to-out[n-1].from <= most {
				out[n-1].to = part.to
				continue
			}
			out = append(out, part)
		}
	}
	return out
}

// divide parts a block that is larger than a passage: between sentences, within a long
// one between words, and within a long word anywhere.
func divide(text string, b span) []span {
	if b.to-b.from <= most {
		return []span{b}
	}
	var out []span
	add := func(from, to int) {
		if n := len(out); n > 0 && to-out[n-1].from <= full {
			out[n-1].to = to
			return
		}
		out = append(out, span{from, to})
	}
	at := b.from
	for of := sentences.FromString(text[b.from:b.to]); of.Next(); {
		sentence := of.Value()
		if len(sentence) <= most {
			add(at, at+len(sentence))
			at += len(sentence)
			continue
		}
		for in := words.FromString(sentence); in.Next(); {
			for word := in.Value(); word != ""; {
				n := min(len(word), full)
				for n < len(word) && !utf8.RuneStart(word[n]) {
					n--
				}
				add(at, at+n)
				at, word = at+n, word[n:]
			}
		}
	}
	return slices.DeleteFunc(out, func(s span) bool { return strings.TrimSpace(text[s.from:s.to]) == "" })
}

// trim leaves out the space around a part.
func trim(text string, s span) span {
	s.from = s.to - len(strings.TrimLeftFunc(text[s.from:s.to], unicode.IsSpace))
	s.to = s.from + len(strings.TrimRightFunc(text[s.from:s.to], unicode.IsSpace))
	return s
}
