package sessionstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// List asks for one page of a list.
type List struct {
	PageSize  int    // 1 to memory.MaxPageSize; 0 is memory.DefaultPageSize
	PageToken string // "" for the first page, else the last answer's NextPageToken
}

// Pager reads one page of a list whose rows a store has numbered in the order
// of their making. The newest come first.
type Pager struct {
	Size   int    // how many rows the page has at most
	Before int64  // the page has rows of lower numbers than this
	digest []byte // of the list's name
}

// beforeFirst is higher than the number of any row: a float64, as Redis keeps
// numbers, has all integers up to here.
const beforeFirst = 1 << 53

// digestSize is how many bytes of a digest tell lists apart in a token.
const digestSize = 8

// Pager reads l for one list, whose name is its kind and its owner. ErrInvalid if
// the page size is out of bounds, or if the token is not one of an earlier page of
// the same list.
func (l List) Pager(name ...string) (Pager, error) {
	// No id has a NUL in it. The version is part of the name, so that a token of
	// version 1, where SQLite's rows were in base 36, is refused and not misread.
	digest := sha256.Sum256([]byte("2\x00" + strings.Join(name, "\x00")))
	p := Pager{Size: l.PageSize, Before: beforeFirst, digest: digest[:digestSize]}
	if p.Size == 0 {
		p.Size = memory.DefaultPageSize
	}
	if p.Size < 1 || p.Size > memory.MaxPageSize {
		return p, fmt.Errorf("%w: pageSize %d is not within 1 to %d", memory.ErrInvalid, p.Size, memory.MaxPageSize)
	}
	if l.PageToken == "" {
		return p, nil
	}
	var err error
	if p.Before, err = p.readToken(l.PageToken); err != nil {
		return p, fmt.Errorf("%w: pageToken %.40q is not one of an earlier answer to this list", memory.ErrInvalid,
			l.PageToken)
	}
	return p, nil
}

// Token returns the token of the page after one that ends with this row.
func (p Pager) Token(row int64) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt(p.digest[:digestSize:digestSize], row, 10))
}

// readToken returns the row that Token was given.
func (p Pager) readToken(token string) (row int64, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return 0, err
	}
	text, ok := bytes.CutPrefix(raw, p.digest)
	if !ok {
		return 0, memory.ErrInvalid
	}
	n, err := strconv.ParseUint(string(text), 10, 53)
	return int64(n), err
}

// CutPage cuts found, the rows that a store has read for a page, to the page's
// size, and returns the token of the next page. A store reads one row more than
// the page has, so that it knows whether there is a next page: the token is ""
// if there is none.
func CutPage[T any](p Pager, found []T, number func(T) int64) (page []T, next string) {
	if len(found) <= p.Size {
		return found, ""
	}
	return found[:p.Size], p.Token(number(found[p.Size-1]))
}
