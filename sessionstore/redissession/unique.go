package redissession

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

const (
	// idClaimTime is how long a claim of an id lasts that is not given back, as its process
	// has ended. It is longer than a create may take, and than the list of the app lacks
	// a session that was made: a process that looks for work delivers its name within a second.
	idClaimTime = 30 * time.Second
	// createTime bounds a create under a claim, so that no step of it comes after the claim.
	createTime = idClaimTime - 10*time.Second
	// claimWait is how long a create waits for another one of the same id.
	claimWait = 3 * time.Second
	claimPoll = 10 * time.Millisecond
)

// claimKey is the claim of an id in the slot of its app. It has a digest of the id, as
// nothing that is erased may be left in a name.
func claimKey(key sessionstore.Key) string {
	digest := sha256.Sum256([]byte(key.ID))
	return appPrefix(key.App) + "claim:" + hex.EncodeToString(digest[:16])
}

// releaseClaim gives a claim back, unless it has ended and is another process's.
var releaseClaim = redis.NewScript(
	`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)

// claimID claims the id of a new session for this call among all of its app, and checks that
// no user has a session of it. A create runs in the context that it returns, and ends with
// release. ErrExists if the id is in use.
func (s *Store) claimID(ctx context.Context, key sessionstore.Key) (context.Context, context.CancelFunc,
	func(error), error) {
	name, token := claimKey(key), uuid.NewString()
	until := time.Now().Add(claimWait)
	for {
		claimed, err := s.redis.SetNX(ctx, name, token, idClaimTime).Result()
		if err != nil {
			return ctx, nil, nil, s.kind(ctx, err)
		}
		found, err := s.find(ctx, key.App, key.ID)
		if err == nil && len(found) > 0 {
			err = memory.ErrExists
		}
		if claimed {
			release := func(err error) {
				if err == nil || errors.Is(err, memory.ErrExists) || errors.Is(err, memory.ErrInvalid) ||
					errors.Is(err, memory.ErrExhausted) {
					_ = releaseClaim.Run(context.WithoutCancel(ctx), s.redis, []string{name}, token).Err()
				} // else the session may be made yet, and the claim ends by itself
			}
			if err != nil {
				release(memory.ErrExists) // nothing was begun
				return ctx, nil, nil, err
			}
			within, cancel := context.WithTimeout(ctx, createTime)
			return within, cancel, release, nil
		}
		switch {
		case err != nil:
			return ctx, nil, nil, err
		case time.Now().After(until):
			return ctx, nil, nil, &memory.Later{After: claimWait,
				Err: fmt.Errorf("%w: another create of this id has not ended", memory.ErrUnavailable)}
		}
		select {
		case <-time.After(claimPoll):
		case <-ctx.Done():
			return ctx, nil, nil, ctx.Err()
		}
	}
}
