package sessionstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// PageToken makes the token behind a page that ends at place, for the list
// that of names: what is listed, and whose.
func PageToken(place string, of ...string) string {
	return base64.RawURLEncoding.EncodeToString(append(listSum(of), place...))
}

// ReadPageToken gives the place of a token that PageToken made for the same
// list; ErrInvalid if it is none.
func ReadPageToken(token string, of ...string) (place string, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	sum := listSum(of)
	if err != nil || len(raw) <= len(sum) || !bytes.Equal(raw[:len(sum)], sum) {
		return "", fmt.Errorf("%w: pageToken %.40q is not one of an earlier answer to this list", memory.ErrInvalid, token)
	}
	return string(raw[len(sum):]), nil
}

// listSum tells lists apart.
func listSum(of []string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00"))) // no id has a NUL in it
	return sum[:8]
}
