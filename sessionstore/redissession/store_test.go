package redissession_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore/redissession"
	"github.com/memoryd/memoryd/sessionstore/sessiontest"
)

func open(t testing.TB, url string, opts *redissession.Options) *redissession.Store {
	t.Helper()
	s, err := redissession.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// suite runs the whole suite on a Redis, which flush empties before each case.
func suite(t *testing.T, url string, flush func(testing.TB), nodes ...*redistest.Server) {
	sessiontest.Run(t, func(t *testing.T) sessiontest.Harness {
		flush(t)
		openTTL := func(t *testing.T, now func() time.Time, ttl time.Duration) sessiontest.Backend {
			return open(t, url, &redissession.Options{Now: now, MaxState: sessiontest.MaxState,
				MaxKeys: sessiontest.MaxKeys, MaxSessions: sessiontest.MaxSessions,
				AuditEntries: sessiontest.AuditEntries, TTL: ttl})
		}
		return sessiontest.Harness{
			Open:    func(t *testing.T, now func() time.Time) sessiontest.Backend { return openTTL(t, now, 0) },
			OpenTTL: openTTL,
			Close: func(t *testing.T, b sessiontest.Backend) {
				if err := b.(*redissession.Store).Close(); err != nil {
					t.Error(err)
				}
			},
			Keeps: func(t *testing.T, text string) bool {
				return slices.ContainsFunc(nodes, func(n *redistest.Server) bool { return keeps(t, n.Client(t), text) })
			},
		}
	})
}

// keeps reports whether the name of a key or a value has some text.
func keeps(t *testing.T, c *redis.Client, text string) (found bool) {
	t.Helper()
	ctx := t.Context()
	all := c.Scan(ctx, 0, "", 1000).Iterator()
	for all.Next(ctx) {
		key, has := all.Val(), fmt.Sprint
		var value string
		switch kind := c.Type(ctx, key).Val(); kind {
		case "string":
			value = c.Get(ctx, key).Val()
		case "hash":
			value = has(c.HGetAll(ctx, key).Val())
		case "list":
			value = has(c.LRange(ctx, key, 0, -1).Val())
		case "set":
			value = has(c.SMembers(ctx, key).Val())
		case "zset":
			value = has(c.ZRange(ctx, key, 0, -1).Val())
		case "stream":
			value = has(c.XRange(ctx, key, "-", "+").Val())
		case "none": // it has expired
		default:
			t.Fatalf("key %s is a %s", key, kind)
		}
		if strings.Contains(key+value, text) {
			found = true
		}
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStore(t *testing.T) {
	r := redistest.Start(t)
	suite(t, r.URL(), r.Flush, r)
}

func TestStoreOnCluster(t *testing.T) {
	c := redistest.StartCluster(t)
	suite(t, c.URL(), c.Flush, c.Masters...)
}
