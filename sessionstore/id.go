package sessionstore

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// NewKey returns the key of a session to create: space around its id is
// trimmed, and a blank id becomes a random UUID. ErrInvalid if an id is invalid.
func NewKey(key Key) (Key, error) {
	if key.ID = strings.TrimSpace(key.ID); key.ID == "" {
		key.ID = newSessionID()
	}
	return key, key.Validate()
}

// newSessionID returns a UUID of version 4.
func newSessionID() string { return uuid(4, randomBytes()) }

// newEventID returns a UUID of version 7 for an event made at t. It begins with
// t, down to the microsecond, so that ids sort in the order of their times.
func newEventID(t time.Time) string {
	id := randomBytes()
	us := uint64(t.UnixMicro())
	// 48 bits of milliseconds, 4 of the version, and 12 for a finer time (RFC
	// 9562, section 6.2, method 3).
	binary.BigEndian.PutUint64(id[:], us/1000<<16|us%1000)
	return uuid(7, id)
}

func randomBytes() (b [16]byte) {
	rand.Read(b[:]) // never fails
	return b
}

// uuid sets the version and the variant of RFC 9562 in b, and writes it as text.
func uuid(version byte, b [16]byte) string {
	b[6] = version<<4 | b[6]&0x0f
	b[8] = 0x80 | b[8]&0x3f
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Wrap adds the session and verb, the name of the failed call, to err. ErrNotFound
// is about the session alone, so it gets no verb.
func (k Key) Wrap(verb string, err error) error {
	if !errors.Is(err, memory.ErrNotFound) {
		err = fmt.Errorf("%s: %w", verb, err)
	}
	return fmt.Errorf("session %q of app %q, user %q: %w", k.ID, k.App, k.User, err)
}
