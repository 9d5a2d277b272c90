package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// Key is an API key as it is stored: with a hash in place of its secret.
type Key struct {
	ID   string
	Name string // for people; may be empty
	App  string // or AllApps
	User string // "" for all users of App
	Can  Verbs
	// Hash is HashSecret of the secret, and Old, until OldUntil, that of the secret
	// before the last rotation.
	Hash     []byte
	Old      []byte
	OldUntil time.Time

	CreateTime time.Time
	ExpireTime time.Time // zero: never
	RevokeTime time.Time // zero: not revoked
	// LastUsedTime is when a request showed the key, up to a minute late.
	LastUsedTime time.Time
}

// NewKey makes a key, and returns it as its owner keeps it: nothing can show it again.
// The fields of k that are not set here are the caller's.
func NewKey(k Key, now time.Time) (made Key, shown string) {
	secret := NewSecret()
	k.ID, k.Hash, k.CreateTime = NewID(), HashSecret(secret), now
	return k, Show(k.ID, secret)
}

// Rotate gives a key another secret, and returns the key as its owner keeps it. The one
// before stays valid for grace, at most MaxGrace. The errors are those of
// Keys.RotateKey, and ErrInvalid.
func Rotate(ctx context.Context, keys Keys, id string, now time.Time, grace time.Duration) (shown string, err error) {
	if grace < 0 || grace > MaxGrace {
		return "", fmt.Errorf("%w: grace %v: want 0 to %v", memory.ErrInvalid, grace, MaxGrace)
	}
	secret := NewSecret()
	if err := keys.RotateKey(ctx, id, HashSecret(secret), now, now.Add(grace)); err != nil {
		return "", err
	}
	return Show(id, secret), nil
}

// Bounds of keys.
const (
	MaxName = 256 // bytes of Key.Name
	// MaxLife bounds ExpireTime, from CreateTime on.
	MaxLife = 100 * 365 * 24 * time.Hour
	// MaxGrace bounds how long the secret before a rotation stays valid.
	MaxGrace = 7 * 24 * time.Hour
)

// Validate reports the first rule that the key breaks, as ErrInvalid.
func (k Key) Validate() error {
	scope := memory.Scope{App: k.App, User: k.User}
	if k.User == "" {
		scope.User = "-" // all users
	}
	switch {
	case k.App == AllApps && k.User != "":
		return fmt.Errorf("%w: user %.60q: a key for all apps is for all users", memory.ErrInvalid, k.User)
	case k.Can == 0 || k.Can&^(Read|Write|Admin) != 0:
		return fmt.Errorf("%w: can: want some of %s", memory.ErrInvalid, strings.Join(verbNames, ", "))
	case len(k.Name) > MaxName || !utf8.ValidString(k.Name) || strings.ContainsFunc(k.Name, isControl):
		return fmt.Errorf("%w: name: want up to %d bytes of text on one line", memory.ErrInvalid, MaxName)
	case !k.ExpireTime.IsZero() && !k.ExpireTime.After(k.CreateTime):
		return fmt.Errorf("%w: expireTime: want a time to come", memory.ErrInvalid)
	case k.ExpireTime.After(k.CreateTime.Add(MaxLife)):
		return fmt.Errorf("%w: expireTime: want one within 100 years, or none", memory.ErrInvalid)
	}
	return scope.Validate()
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// Live reports whether the key is valid at a time.
func (k Key) Live(at time.Time) bool {
	return k.RevokeTime.IsZero() && (k.ExpireTime.IsZero() || at.Before(k.ExpireTime))
}

// Principal returns who shows this key.
func (k Key) Principal() *Principal {
	return &Principal{ID: "key:" + k.ID, App: k.App, User: k.User, Can: k.Can}
}

// The form of a key as callers show it: Prefix, the id, "_", the secret, and a checksum
// by which a scanner for secrets can tell a key from what only looks like one. Letters
// and digits are those of base 62.
const (
	Prefix       = "memoryd_"
	idLength     = 16
	secretLength = 43
	sumLength    = 6 // of the CRC-32 of all before it
	shownLength  = len(Prefix) + idLength + 1 + secretLength + sumLength
)

var shownForm = regexp.MustCompile(`^memoryd_[0-9A-Za-z]{16}_[0-9A-Za-z]{49}$`)

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// base62 writes a number with length digits.
func base62(n *big.Int, length int) string {
	out := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = digits[digit.Int64()]
	}
	return string(out)
}

// NewID returns an id for a key, of 88 random bits.
func NewID() string { return random(11, idLength) }

// NewSecret returns a secret of 256 random bits.
func NewSecret() string { return random(32, secretLength) }

// random is a number of so many bytes.
func random(bytes, length int) string {
	raw := make([]byte, bytes)
	rand.Read(raw) // never fails
	return base62(new(big.Int).SetBytes(raw), length)
}

// Show returns the key as its owner keeps it.
func Show(id, secret string) string {
	text := Prefix + id + "_" + secret
	return text + sum(text)
}

func sum(text string) string {
	return base62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(text)))), sumLength)
}

// Split takes a shown key apart. ok is false for one that no memoryd has made.
func Split(shown string) (id, secret string, ok bool) {
	if len(shown) != shownLength || !shownForm.MatchString(shown) {
		return "", "", false
	}
	text, end := shown[:shownLength-sumLength], shown[shownLength-sumLength:]
	if sum(text) != end {
		return "", "", false
	}
	id, secret, _ = strings.Cut(text[len(Prefix):], "_")
	return id, secret, true
}

// HashSecret is SHA-256. A slow hash, as for passwords, would keep somebody who has
// read the store from guessing; 256 random bits cannot be guessed. Each request computes
// it.
func HashSecret(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

// Matches reports whether the secret is that of the key at a time. It takes as long for
// every wrong secret.
func (k Key) Matches(secret string, at time.Time) bool {
	h := HashSecret(secret)
	now := subtle.ConstantTimeCompare(h, k.Hash)
	old := subtle.ConstantTimeCompare(h, k.Old)
	return now == 1 || old == 1 && at.Before(k.OldUntil)
}
