package redissession

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// keysPrefix begins the names of the keys that hold keys of callers.
const keysPrefix = "memoryd:{keys}:"

var _ access.Keys = (*Store)(nil)

// keyEntry is a key in the lists: their order, by bytes, is that of time and id.
func keyEntry(micros int64, id string) string { return fmt.Sprintf("%020d %s", micros, id) }

// microsOrNone is a time as a hash has it, with 0 for none.
func microsOrNone(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return micros(t)
}

// keyFields are the fields of a key and their values, without app and entry.
func keyFields(k access.Key) []any {
	return []any{"id", k.ID, "user", k.User, "name", k.Name, "can", int(k.Can), "hash", hex.EncodeToString(k.Hash),
		"old", hex.EncodeToString(k.Old), "old_until", microsOrNone(k.OldUntil), "created", microsOrNone(k.CreateTime),
		"expires", microsOrNone(k.ExpireTime), "revoked", microsOrNone(k.RevokeTime),
		"used", microsOrNone(k.LastUsedTime)}
}

// keyOf reads the hash of a key.
func keyOf(hash reply) (k access.Key, err error) {
	is := map[string]string{}
	for i := 0; i+1 < len(hash); i += 2 {
		is[hash.text(i)] = hash.text(i + 1)
	}
	at := func(field string) time.Time {
		n, e := strconv.ParseInt(is[field], 10, 64)
		if err = cmp.Or(err, e); n == 0 {
			return time.Time{}
		}
		return sessionstore.FromMicros(n)
	}
	bytes := func(field string) []byte {
		b, e := hex.DecodeString(is[field])
		err = cmp.Or(err, e)
		return b
	}
	can, err := strconv.ParseUint(is["can"], 10, 8)
	k = access.Key{ID: is["id"], App: is["app"], User: is["user"], Name: is["name"], Can: access.Verbs(can),
		Hash: bytes("hash"), Old: bytes("old"), OldUntil: at("old_until"), CreateTime: at("created"),
		ExpireTime: at("expires"), RevokeTime: at("revoked"), LastUsedTime: at("used")}
	return k, err
}

// runKeys runs a script on the keys of callers. Where keys may have been lost it fails,
// whatever the options say: a Redis that has forgotten its keys must not let everybody
// in.
func (s *Store) runKeys(ctx context.Context, does call) (any, error) {
	v, err := s.run(ctx, does.script, keysPrefix, does.args...)
	if err != nil {
		return nil, err
	}
	if s.marks.lost(keysPrefix) != nil {
		return nil, errKeysLost
	}
	return v, nil
}

// errKeysLost is the error of every call while keys are missing that were made.
var errKeysLost = memory.Damaged("Redis has lost keys that were made: nobody can show one. %s", remedy)

// changeKeys runs a script that answers how it went.
func (s *Store) changeKeys(ctx context.Context, does call) error {
	v, err := s.runKeys(ctx, does)
	if err != nil {
		return err
	}
	switch replyOf(v).text(0) {
	case "EXISTS":
		return memory.ErrExists
	case "FULL":
		return memory.Refuse(0, "the app has %d keys, and may have no more", s.maxKeys())
	case "MISSING":
		return memory.ErrNotFound
	case "DEAD":
		return fmt.Errorf("%w: it is revoked or has expired", memory.ErrAborted)
	}
	return nil
}

func (s *Store) maxKeys() int { return cmp.Or(s.opts.MaxKeys, access.MaxKeys) }

// KeysRevision implements access.Keys.
func (s *Store) KeysRevision(ctx context.Context) (int64, error) {
	v, err := s.runKeys(ctx, call{script: revisionScript})
	if err != nil {
		return 0, fmt.Errorf("read the revision of keys: %w", err)
	}
	revision := reply{v}.num(0)
	if revision > 0 {
		s.hadKeys.Store(true)
	} else if s.hadKeys.Load() { // the mark is gone too, as when a Redis evicts
		return 0, fmt.Errorf("read the revision of keys: %w", errKeysLost)
	}
	return revision, nil
}

// RequireKeys implements access.Keys.
func (s *Store) RequireKeys(ctx context.Context) error {
	revision, err := s.run(ctx, revisionScript, keysPrefix)
	if err == nil && (reply{revision}).num(0) == 0 {
		_, err = s.run(ctx, requireScript, keysPrefix)
	}
	if err != nil {
		return fmt.Errorf("require keys: %w", err)
	}
	return nil
}

// CreateKey implements access.Keys.
func (s *Store) CreateKey(ctx context.Context, k access.Key) error {
	err := k.Validate()
	if err == nil {
		dies := ""
		if !k.ExpireTime.IsZero() {
			dies = micros(k.ExpireTime)
		}
		err = s.changeKeys(ctx, call{script: createKeyScript, args: append([]any{k.ID, k.App,
			keyEntry(k.CreateTime.UnixMicro(), k.ID), s.maxKeys(), micros(s.now().Add(-access.KeepDead)), dies},
			keyFields(k)...)})
	}
	if err != nil {
		return fmt.Errorf("create key %q: %w", k.ID, err)
	}
	return nil
}

// Key implements access.Keys.
func (s *Store) Key(ctx context.Context, id string) (k access.Key, err error) {
	v, err := s.runKeys(ctx, call{script: keyScript, args: []any{id}})
	if err == nil {
		if hash := replyOf(v); len(hash) > 0 {
			k, err = keyOf(hash)
		} else {
			err = memory.ErrNotFound
		}
	}
	if err != nil {
		return access.Key{}, fmt.Errorf("key %.80q: %w", id, err)
	}
	return k, nil
}

// ListKeys implements access.Keys.
func (s *Store) ListKeys(ctx context.Context, app string, list access.ListKeys) (page access.KeyPage, err error) {
	defer func() {
		if err != nil {
			page, err = access.KeyPage{}, fmt.Errorf("list keys of app %q: %w", app, err)
		}
	}()
	size, from, err := list.Pager(app)
	if err != nil {
		return page, err
	}
	name, entry := "list:"+app, ""
	if app == access.AllApps {
		name = "list"
	}
	if from.ID != "" {
		entry = keyEntry(from.Micros, from.ID)
	}
	v, err := s.runKeys(ctx, call{script: listKeysScript, args: []any{name, entry, size + 1}})
	if err != nil {
		return page, err
	}
	for _, hash := range replyOf(v) {
		k, err := keyOf(replyOf(hash))
		if err != nil {
			return page, err
		}
		page.Keys = append(page.Keys, k)
	}
	page.Cut(app, size)
	return page, nil
}

// RevokeKey implements access.Keys.
func (s *Store) RevokeKey(ctx context.Context, id string, at time.Time) error {
	if err := s.changeKeys(ctx, call{script: revokeKeyScript, args: []any{id, micros(at)}}); err != nil {
		return fmt.Errorf("revoke key %.80q: %w", id, err)
	}
	return nil
}

// RotateKey implements access.Keys.
func (s *Store) RotateKey(ctx context.Context, id string, hash []byte, at, oldUntil time.Time) error {
	if err := s.changeKeys(ctx, call{script: rotateKeyScript,
		args: []any{id, hex.EncodeToString(hash), micros(at), microsOrNone(oldUntil)}}); err != nil {
		return fmt.Errorf("rotate key %.80q: %w", id, err)
	}
	return nil
}

// maxTouched bounds the keys whose use one script records.
const maxTouched = 500

// TouchKeys implements access.Keys.
func (s *Store) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	var args []any
	send := func() error {
		_, err := s.run(ctx, touchKeysScript, keysPrefix, args...)
		args = nil
		return err
	}
	for id, at := range used {
		if args = append(args, id, micros(at)); len(args) >= 2*maxTouched {
			if err := send(); err != nil {
				return fmt.Errorf("record the use of keys: %w", err)
			}
		}
	}
	if len(args) == 0 {
		return nil
	}
	if err := send(); err != nil {
		return fmt.Errorf("record the use of keys: %w", err)
	}
	return nil
}
