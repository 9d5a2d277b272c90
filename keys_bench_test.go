package memoryd_test

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/server"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// BenchmarkKeys measures a request that reads one memory which is not there, without
// keys, with one, and with 10,000 of which any may be shown. The difference is what a key
// and the guard cost.
func BenchmarkKeys(b *testing.B) {
	for _, keys := range []int{0, 1, 10_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			db, err := sqlitedb.Open(filepath.Join(b.TempDir(), "memoryd.db"), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			memories, err := sqlitestore.New(db, memoryd.ModelOf(embed.Builtin{}), nil)
			if err != nil {
				b.Fatal(err)
			}
			sessions, err := sqlitesession.New(db, nil)
			if err != nil {
				b.Fatal(err)
			}
			var shown []string
			for i := range keys {
				key, text := access.NewKey(access.Key{App: "app", User: fmt.Sprint("user", i),
					Can: access.Read}, time.Now())
				if err := sessions.CreateKey(b.Context(), key); err != nil {
					b.Fatal(err)
				}
				shown = append(shown, text)
			}
			bank := memoryd.New(sessions, memories, &memoryd.Options{Server: server.Options{Keys: sessions}})
			for b.Loop() {
				user := 0
				if keys > 0 {
					user = rand.IntN(keys)
				}
				r := httptest.NewRequest("GET", fmt.Sprintf("http://localhost/v1/apps/app/users/user%d/memories/none", user), nil)
				if keys > 0 {
					r.Header.Set("Authorization", "Bearer "+shown[user])
				}
				out := httptest.NewRecorder()
				bank.ServeHTTP(out, r)
				if out.Code != 404 {
					b.Fatal(out.Code, out.Body)
				}
			}
		})
	}
}
