package redissession_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore"
	"github.com/memoryd/memoryd/sessionstore/redissession"
)

// A claim of an id whose create never came, as its process was killed, ends by itself.
func TestAbandonedClaim(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, err := redissession.Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	opts, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	defer client.Close()
	digest := sha256.Sum256([]byte("s1"))
	claim := "memoryd:{a:app}:claim:" + hex.EncodeToString(digest[:16])
	if err := client.Set(t.Context(), claim, "another process", 200*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), key("ann", "s1"), sessionstore.Create{UniqueInApp: true}); err != nil {
		t.Error("Create of an id that a killed process had claimed:", err)
	}
	if n := client.Exists(t.Context(), claim).Val(); n != 0 {
		t.Error("the claim is not given back")
	}
}
