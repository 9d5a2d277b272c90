package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The layout of a lexicon's file, with little-endian numbers:
//
//	8 bytes      lexiconMagic
//	uint32       lexiconVersion
//	uint32       languages
//	uint32       words
//	uint32       length of the name in bytes
//	             the name of the model that the lexicon and a static model are together
//	2 bytes      for each language, its ISO 639-1 code
//	uint32       for each of 65,536 buckets, the number of its first word; then all words
//	17 bytes     for each word, in the order of the hashes:
//	             uint32 the 32 bits of the hash after the bucket's 16
//	             uint16 four rows of the static model
//	             uint8  the weight of each row, in 255ths
//	             uint8  how frequent the word is: 25 for each power of ten, from 1e-9 on
//	32 bytes     SHA-256 of everything before
//
// The file has hashes of the words instead of the words. One in 500 million unknown words
// is taken for a known one.
const (
	lexiconMagic   = "MEMOLEXI"
	lexiconVersion = 1
	lexiconHeader  = len(lexiconMagic) + 4*4
	lexiconBuckets = 1 << 16
	lexiconRows    = 4
	lexiconEntry   = 4 + lexiconRows*2 + lexiconRows + 1
)

// lexicon has the meanings of words of several languages, as a few rows of a static
// model. A language is its place in the file.
type lexicon struct {
	name      string
	languages map[string]byte
	buckets   []byte // uint32 each, in place in the binary
	entries   []byte // in place in the binary
}

// readLexicon reads the file of a lexicon for a model of so many rows. It refuses a damaged
// one, and another version.
func readLexicon(file []byte, rows int) (*lexicon, error) {
	if len(file) < lexiconHeader+sha256.Size || string(file[:len(lexiconMagic)]) != lexiconMagic {
		return nil, errors.New("not the file of a lexicon")
	}
	body := file[:len(file)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], file[len(body):]) {
		return nil, errors.New("file of a lexicon: damaged, its checksum differs")
	}
	var fields [4]int
	for i := range fields {
		fields[i] = int(binary.LittleEndian.Uint32(file[len(lexiconMagic)+4*i:]))
	}
	version, languages, words, nameLength := fields[0], fields[1], fields[2], fields[3]
	if version != lexiconVersion {
		return nil, fmt.Errorf("file of a lexicon: version %d, want %d", version, lexiconVersion)
	}
	want := lexiconHeader + nameLength + 2*languages + 4*(lexiconBuckets+1) + words*lexiconEntry
	if want != len(body) {
		return nil, fmt.Errorf("file of a lexicon: %d bytes, its header tells of %d", len(body), want)
	}
	codes := body[lexiconHeader+nameLength:]
	x := &lexicon{name: string(body[lexiconHeader:][:nameLength]), languages: map[string]byte{}}
	for i := range languages {
		x.languages[string(codes[2*i:2*i+2])] = byte(i)
	}
	x.buckets, x.entries = codes[2*languages:][:4*(lexiconBuckets+1)], codes[2*languages+4*(lexiconBuckets+1):]
	for i := 0; i < len(x.entries); i += lexiconEntry {
		for r := range lexiconRows {
			if row := binary.LittleEndian.Uint16(x.entries[i+4+2*r:]); int(row) >= rows {
				return nil, fmt.Errorf("file of a lexicon: row %d of a model with %d", row, rows)
			}
		}
	}
	return x, nil
}

// entry is what a lexicon has of a word; nil if it does not have the word.
type entry []byte

// row returns the number of a row and its weight, 0 to 1. The weight is 0 from the last
// row on.
func (e entry) row(i int) (row int, weight float32) {
	return int(binary.LittleEndian.Uint16(e[4+2*i:])), float32(e[4+2*lexiconRows+i]) / 255
}

// meaning reports whether the word counts for anything. Others are there to tell the
// language of a text.
func (e entry) meaning() bool { return e != nil && e[4+2*lexiconRows] > 0 }

// frequency is 25 for each power of ten, from one in a billion words on.
func (e entry) frequency() int {
	if e == nil {
		return 0
	}
	return int(e[lexiconEntry-1])
}

// hash is the FNV-1a hash of a language and the bytes of a word so far.
type hash uint64

func begin(language byte) hash { return hash(14695981039346656037).with(language) }

func (h hash) with(b byte) hash { return (h ^ hash(b)) * 1099511628211 }

func (h hash) of(s string) hash {
	for i := range len(s) {
		h = h.with(s[i])
	}
	return h
}

// spread mixes the bits, as the first of FNV-1a are worse than the last.
func (h hash) spread() hash {
	h ^= h >> 32
	h *= 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// find returns the word with a hash.
func (x *lexicon) find(h hash) entry {
	h = h.spread()
	bucket, want := int(h>>48), uint32(h>>16)
	from, to := binary.LittleEndian.Uint32(x.buckets[4*bucket:]), binary.LittleEndian.Uint32(x.buckets[4*bucket+4:])
	for i := int(from) * lexiconEntry; i < int(to)*lexiconEntry && i < len(x.entries); i += lexiconEntry {
		if binary.LittleEndian.Uint32(x.entries[i:]) == want {
			return entry(x.entries[i : i+lexiconEntry])
		}
	}
	return nil
}

func (x *lexicon) word(language byte, word string) entry { return x.find(begin(language).of(word)) }

// longestUnspaced is how many characters a word of a script without spaces has at most.
const longestUnspaced = 8

// longest returns the longest word of a language that s begins with, and its length in
// bytes.
func (x *lexicon) longest(language byte, s string) (best entry, length int) {
	h := begin(language)
	for i, n := 0, 0; i < len(s) && n < longestUnspaced; n++ {
		_, size := utf8.DecodeRuneInString(s[i:])
		h = h.of(s[i : i+size])
		i += size
		if e := x.find(h); e.meaning() {
			best, length = e, i
		}
	}
	return best, length
}
