package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/memory"
)

// A list of revisions tells when each expires and leaves out those that have, and the last
// page of it names no other. A rollback to an expired one is a 404 that says so.
func TestExpiredRevisions(t *testing.T) {
	a := start(t, func(s *setup) {
		s.memories = func(store memory.Store) memory.Store {
			for i := range 3 {
				m := memory.Memory{ID: "m", Scope: memory.Scope{App: "shop", User: "ann"}, Kind: memory.KindFact,
					Fact: fmt.Sprintf("%d jars.", i), Timestamp: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
				w := memory.Write{Memory: m, Expect: int64(i), RevisionExpireTime: m.Timestamp}
				if out, err := store.Put(t.Context(), m.Scope, []memory.Write{w}); err != nil || out[0].Err != nil {
					t.Fatal(out, err)
				}
			}
			return store
		}
	})
	const path = "/v1/apps/shop/users/ann/memories/m"
	out := a.want(200, "GET", path+"/revisions", nil)
	if n := len(list(out, "revisions")); n != 1 || text(out, "nextPageToken") != "" {
		t.Errorf("%d revisions, next page %q", n, text(out, "nextPageToken"))
	}
	same(t, "expires", at(list(out, "revisions")[0], "expireTime"), "2026-03-01T00:00:00.000000Z")
	a.refused(404, "POST", path+"/rollback", `{"revision":1}`, "revision 1 has expired")
	a.want(200, "PUT", "/v1/apps/shop/config", `{"ttl":{"revisions":"1h"}}`)
	a.want(200, "PATCH", path, `{"fact":"4 jars."}`)
	a.want(200, "PATCH", path, `{"fact":"5 jars.","revisionTtl":"48h"}`)
	a.want(200, "PATCH", path, `{"fact":"6 jars.","revisionExpireTime":4102444800}`)
	var ends []string
	for _, r := range list(a.want(200, "GET", path+"/revisions?filter=expire_time%3A*", nil), "revisions") {
		from, err1 := time.Parse(time.RFC3339, text(r, "createTime"))
		to, err2 := time.Parse(time.RFC3339, text(r, "expireTime"))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if d := to.Sub(from).Round(time.Minute); d < 50*24*time.Hour {
			ends = append(ends, d.String())
		}
	}
	same(t, "lifetimes", ends, []string{"48h0m0s", "1h0m0s"})
	a.refused(400, "PATCH", path, `{"fact":"7 jars.","revisionTtl":1,"revisionExpireTime":4102444800}`, "revisionTtl")
	a.refused(400, "PATCH", path, `{"fact":"7 jars.","revisionTtl":-1}`, "revisionTtl")
	a.refused(400, "POST", "/v1/apps/shop/users/ann/memories", `{"fact":"7 jars.","revisionExpireTime":1}`,
		"revisionExpireTime")
	a.refused(400, "PUT", configPath, `{"ttl":{"revisions":0}}`, "ttl.revisions")
}
