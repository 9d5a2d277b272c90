package redissession

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/quota"
)

var (
	passScript  = redis.NewScript(source("pass"))
	spendScript = redis.NewScript(source("spend"))
	usedScript  = redis.NewScript(source("used"))

	_ quota.Counter = (*Store)(nil)
)

// quotaPrefix begins the names of the counts of an app, which are in one slot. No id has
// a slash in it, so that no name of another app begins with it. The empty app, and the
// one that stands for all, have the counts of keys beside apps.
func quotaPrefix(app string) string { return "memoryd:{q:" + app + "}/" }

// Pass implements quota.Counter, by the clock of Redis.
func (s *Store) Pass(ctx context.Context, app, id string, gates []quota.Gate) (
	full int, after time.Duration, err error) {
	args := []any{id, quota.PlaceTime.Microseconds(), s.clock()}
	keys := make([]string, len(gates))
	for i, g := range gates {
		keys[i] = quotaPrefix(app) + g.Name
		args = append(args, g.Every.Microseconds(), g.Size)
	}
	v, err := passScript.Run(ctx, s.redis, keys, args...).Result()
	if err != nil {
		return 0, 0, s.kind(ctx, err)
	}
	r := replyOf(v)
	return int(r.num(0)), time.Duration(r.num(1)) * time.Microsecond, nil
}

// leaveTime is how long giving a place back may take. One that fails ends by itself.
const leaveTime = 5 * time.Second

// Leave implements quota.Counter.
func (s *Store) Leave(app, id string, gates []quota.Gate) {
	var rooms []string
	for _, g := range gates {
		if g.Every == 0 {
			rooms = append(rooms, quotaPrefix(app)+g.Name)
		}
	}
	if len(rooms) == 0 {
		return
	}
	s.leaving.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, room := range rooms {
				p.ZRem(ctx, room, id)
			}
			return nil
		})
		if err != nil {
			_ = s.kind(ctx, err) // counts it; the place ends by itself
		}
	})
}

// Spend implements quota.Counter, by the clock of Redis.
func (s *Store) Spend(ctx context.Context, app string, amounts []quota.Amount) (
	full int, after time.Duration, err error) {
	args := []any{s.clock()}
	for _, a := range amounts {
		args = append(args, a.Name, a.Add, a.Most)
	}
	v, err := spendScript.Run(ctx, s.redis, []string{quotaPrefix(app) + "day"}, args...).Result()
	if err != nil {
		return 0, 0, s.kind(ctx, err)
	}
	r := replyOf(v)
	return int(r.num(0)), time.Duration(r.num(1)) * time.Microsecond, nil
}

// Used implements quota.Counter, by the clock of Redis.
func (s *Store) Used(ctx context.Context, app string, gates []quota.Gate, names []string) ([]quota.Used, error) {
	keys, args := []string{quotaPrefix(app) + "day"}, []any{s.clock()}
	for _, g := range gates {
		keys = append(keys, quotaPrefix(app)+g.Name)
		args = append(args, g.Every.Microseconds())
	}
	for _, name := range names {
		args = append(args, name)
	}
	v, err := usedScript.Run(ctx, s.redis, keys, args...).Result()
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	r := replyOf(v)
	day := time.Duration(r.num(0)) * time.Microsecond
	out := make([]quota.Used, len(gates), len(gates)+len(names))
	for i, g := range gates {
		if out[i].N = r.num(i + 1); g.Every > 0 {
			out[i] = quota.BucketUsed(g, time.Duration(out[i].N)*time.Microsecond)
		}
	}
	for i := range names {
		out = append(out, quota.Used{N: r.num(len(gates) + 1 + i), Until: day})
	}
	return out, nil
}
