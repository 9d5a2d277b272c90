package main

import (
	"flag"
	"fmt"
	"log/slog"
	"strings"

	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/quota"
)

// quotas are what one key, one app and one user may take and keep. A zero is none.
type quotas struct {
	quota.Limits                 // of requests
	day          quota.DayLimits // of calls of models
	keeps        ingest.Limits
	shared       ingest.Limits // of an app, of what it shares
	sessions     int           // of a user
}

// quotaFlags defines the flags of what one key, one app and one user may take.
func quotaFlags(fs *flag.FlagSet, q *quotas) {
	for _, f := range rateFlags(q) {
		fs.Float64Var(f.value, f.name, 0, "`REQUESTS` a second of one "+f.of+", such as 10 or 0.5; 0 is any number")
	}
	for _, f := range placeFlags(q) {
		fs.IntVar(f.value, f.name, 0, "`REQUESTS` in progress at a time of one "+f.of+"; 0 is any number")
	}
	for _, f := range modelFlags(q) {
		what := "`CALLS` of the extractor, the reranker and the expander"
		if strings.HasSuffix(f.name, "tokens") {
			what = "`TOKENS` of such calls"
		}
		fs.Int64Var(f.value, f.name, 0, what+" in a day (UTC) for one "+f.of+"; 0 is any number")
	}
	fs.IntVar(&q.keeps.Memories, "user-memories", 0, "`MEMORIES` of one user, turns included; 0 is any number")
	fs.Int64Var(&q.keeps.Bytes, "user-bytes", 0, "`BYTES` of the memories of one user; 0 is any number")
	fs.IntVar(&q.shared.Memories, "shared-memories", 100_000,
		"`MEMORIES` of the shared knowledge of one app; 0 is any number")
	fs.Int64Var(&q.shared.Bytes, "shared-bytes", 256<<20,
		"`BYTES` of the shared knowledge of one app; 0 is any number")
	fs.IntVar(&q.sessions, "user-sessions", 0, "`SESSIONS` of one user; 0 is any number")
}

// limitFlag is a flag that sets a limit of one key, app or user.
type limitFlag[T any] struct {
	name, of string
	value    T
}

func rateFlags(q *quotas) []limitFlag[*float64] {
	return []limitFlag[*float64]{{"key-rate", "key", &q.KeyRate}, {"app-rate", "app", &q.AppRate},
		{"user-rate", "user", &q.UserRate}}
}

func placeFlags(q *quotas) []limitFlag[*int] {
	return []limitFlag[*int]{{"key-requests", "key", &q.KeyRequests}, {"app-requests", "app", &q.AppRequests},
		{"user-requests", "user", &q.UserRequests}}
}

func modelFlags(q *quotas) []limitFlag[*int64] {
	return []limitFlag[*int64]{{"app-model-calls", "app", &q.day.AppCalls},
		{"app-model-tokens", "app", &q.day.AppTokens}, {"user-model-calls", "user", &q.day.UserCalls},
		{"user-model-tokens", "user", &q.day.UserTokens}}
}

// checkQuotas checks the limits of keys, apps and users.
func (c *config) checkQuotas() error {
	for _, f := range rateFlags(&c.quotas) {
		if r := *f.value; r != 0 && !(r >= quota.MinRate && r <= quota.MaxRate) { // not NaN either
			return fmt.Errorf("-%s %v: want %v to %v requests a second, or 0 for any number",
				f.name, r, quota.MinRate, quota.MaxRate)
		}
	}
	for _, f := range placeFlags(&c.quotas) {
		if n := *f.value; n < 0 || n > 1_000_000 {
			return fmt.Errorf("-%s %d: want 1 to 1000000, or 0 for any number", f.name, n)
		}
	}
	for _, f := range c.countFlags() {
		if f.value < 0 {
			return fmt.Errorf("-%s %d: want 1 or more, or 0 for any number", f.name, f.value)
		}
	}
	return nil
}

// countFlags are the limits of what models do in a day, and of what stores keep.
func (c *config) countFlags() []limitFlag[int64] {
	q := &c.quotas
	var out []limitFlag[int64]
	for _, f := range modelFlags(q) {
		out = append(out, limitFlag[int64]{f.name, f.of, *f.value})
	}
	return append(out, limitFlag[int64]{"user-memories", "user", int64(q.keeps.Memories)},
		limitFlag[int64]{"user-bytes", "user", q.keeps.Bytes},
		limitFlag[int64]{"shared-memories", "app", int64(q.shared.Memories)},
		limitFlag[int64]{"shared-bytes", "app", q.shared.Bytes},
		limitFlag[int64]{"user-sessions", "user", int64(q.sessions)})
}

// shownQuotas are the limits for the log.
func (c *config) shownQuotas() (out []any) {
	for _, f := range rateFlags(&c.quotas) {
		out = append(out, f.name, *f.value)
	}
	for _, f := range placeFlags(&c.quotas) {
		out = append(out, f.name, *f.value)
	}
	for _, f := range c.countFlags() {
		out = append(out, f.name, f.value)
	}
	return out
}

// newLimiter makes what holds requests to the limits; nil without one.
func newLimiter(cfg *config, sessions any, log *slog.Logger) *quota.Limiter {
	return quota.New(cfg.quotas.Limits, counting(sessions, log))
}

// newMeter makes what holds calls of models to the limits; nil without one.
func newMeter(cfg *config, sessions any, log *slog.Logger) *quota.Meter {
	return quota.NewMeter(cfg.quotas.day, counting(sessions, log))
}

// counting is how quotas are counted: sessions that several memoryd share count for all
// of them.
func counting(sessions any, log *slog.Logger) *quota.Options {
	shared, _ := sessions.(quota.Counter)
	return &quota.Options{Shared: shared, Log: log}
}
