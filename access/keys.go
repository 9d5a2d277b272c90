package access

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// Keys keeps keys. A session store is one. All methods may be called concurrently; a
// change is durable when its method returns. Times are cut to the microsecond.
//
// Revoked and expired keys stay, so that the audit log can be read: CreateKey removes
// those that have not been valid for KeepDead.
type Keys interface {
	// KeysRevision counts the changes that any process made to keys. It is 0 until the
	// first, and then never 0 again: from then on callers must show a key. It is cheap
	// enough to be asked twice a second.
	KeysRevision(ctx context.Context) (int64, error)

	// RequireKeys makes KeysRevision more than 0. It changes nothing if it is already.
	RequireKeys(ctx context.Context) error

	// CreateKey stores a new key. ErrExists if the id is in use, ErrInvalid if the key
	// breaks a rule of Validate, ErrExhausted if its app has MaxKeys already.
	CreateKey(ctx context.Context, key Key) error

	// Key reads a key; ErrNotFound if there never was one of that id.
	Key(ctx context.Context, id string) (Key, error)

	// ListKeys reads a page of the keys of an app, or of every key if app is AllApps,
	// newest first; of those made at the same time the highest id comes first. ErrInvalid if the page token is
	// not one that came with a page of this app.
	ListKeys(ctx context.Context, app string, list ListKeys) (KeyPage, error)

	// RevokeKey ends a key. One that is revoked already keeps its time. ErrNotFound if
	// there never was one of that id.
	RevokeKey(ctx context.Context, id string, at time.Time) error

	// RotateKey gives a key another hash. The one before counts until oldUntil; the one
	// before that no longer counts. ErrNotFound if there never was one of that id,
	// ErrAborted if the key is not live at the time at.
	RotateKey(ctx context.Context, id string, hash []byte, at, oldUntil time.Time) error

	// TouchKeys records when keys were last used. A time that is earlier than the
	// recorded one, and an id that is unknown, change nothing. It does not count in
	// KeysRevision.
	TouchKeys(ctx context.Context, used map[string]time.Time) error

	// EraseKeys removes the keys that are bound to a user of an app, as if they had never
	// been made.
	EraseKeys(ctx context.Context, app, user string) error
}

const (
	// MaxKeys is how many keys an app may have, those for AllApps as one app.
	MaxKeys = 100_000
	// KeepDead is how long a key stays after it was revoked or has expired.
	KeepDead = 90 * 24 * time.Hour
)

// ListKeys selects a page.
type ListKeys struct {
	PageSize  int    // 1 to memory.MaxPageSize; 0 is memory.DefaultPageSize
	PageToken string // "" for the first page, else the last answer's NextPageToken
}

// KeyPage is a page of keys.
type KeyPage struct {
	Keys          []Key
	NextPageToken string // "" on the last page
}

// Cut leaves a page of size keys, which was read with one more: that one only shows that
// there is a next page.
func (p *KeyPage) Cut(app string, size int) {
	if len(p.Keys) <= size {
		return
	}
	p.Keys = p.Keys[:size]
	last := p.Keys[size-1]
	p.NextPageToken = KeyPlace{last.CreateTime.UnixMicro(), last.ID}.Token(app)
}

// KeyPlace is a place in a list of keys: behind the key of this time and id, or at its
// start if ID is "".
type KeyPlace struct {
	Micros int64  `json:"t"` // CreateTime, in microseconds since 1970
	ID     string `json:"i"`
}

// keyToken is what a page token holds.
type keyToken struct {
	App string `json:"a"`
	KeyPlace
}

// Token returns the page token for the keys of an app behind a place.
func (p KeyPlace) Token(app string) string {
	raw, err := json.Marshal(keyToken{app, p})
	if err != nil {
		panic(err) // a number and two texts
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Pager checks a list, and returns how many keys the page has at most and where it
// begins. The error is ErrInvalid.
func (l ListKeys) Pager(app string) (size int, from KeyPlace, err error) {
	size = cmp.Or(l.PageSize, memory.DefaultPageSize)
	if size < 1 || size > memory.MaxPageSize {
		return 0, from, fmt.Errorf("%w: pageSize %d is not within 1 to %d", memory.ErrInvalid, size, memory.MaxPageSize)
	}
	if l.PageToken == "" {
		return size, from, nil
	}
	var token keyToken
	raw, err := base64.RawURLEncoding.DecodeString(l.PageToken)
	if err == nil {
		err = json.Unmarshal(raw, &token)
	}
	if err != nil || token.App != app || token.ID == "" {
		return 0, from, fmt.Errorf("%w: pageToken is not one that came with a page of these keys", memory.ErrInvalid)
	}
	return size, token.KeyPlace, nil
}
