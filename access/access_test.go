package access_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// A principal may do what its app, its user and its verbs allow, and nothing else.
func TestCheck(t *testing.T) {
	ann := memory.Scope{App: "shop", User: "ann"}
	for _, c := range []struct {
		name  string
		p     *access.Principal
		scope memory.Scope
		verbs access.Verbs
		may   bool
	}{
		{"no principal", nil, ann, access.Read, false},
		{"owner", access.Owner, ann, access.Write, true},
		{"owner of all apps", access.Owner, memory.Scope{}, access.Admin, true},
		{"her own", &access.Principal{App: "shop", User: "ann", Can: access.Read}, ann, access.Read, true},
		{"another verb", &access.Principal{App: "shop", User: "ann", Can: access.Read}, ann, access.Write, false},
		{"admin is not write", &access.Principal{App: "shop", Can: access.Admin}, ann, access.Write, false},
		{"one verb of two", &access.Principal{App: "shop", Can: access.Read}, ann, access.Read | access.Write, false},
		{"another user", &access.Principal{App: "shop", User: "bob", Can: access.Read}, ann, access.Read, false},
		{"another app", &access.Principal{App: "bank", Can: access.Read}, ann, access.Read, false},
		{"the same user of another app", &access.Principal{App: "bank", User: "ann", Can: access.Read}, ann,
			access.Read, false},
		{"all users", &access.Principal{App: "shop", Can: access.Read}, ann, access.Read, true},
		{"the app, with a key of a user", &access.Principal{App: "shop", User: "ann", Can: access.Admin},
			memory.Scope{App: "shop"}, access.Admin, false},
		{"all apps, with a key of an app", &access.Principal{App: "shop", Can: access.Admin}, memory.Scope{},
			access.Admin, false},
		{"every app", &access.Principal{App: access.AllApps, Can: access.Read}, ann, access.Read, true},
		{"no verb", &access.Principal{App: "shop"}, ann, 0, true},
		{"shared knowledge, with a key of a user", &access.Principal{App: "shop", User: "ann",
			Can: access.Read | access.Write | access.Admin}, memory.Shared("shop"), access.Read, false},
		{"shared knowledge, without admin", &access.Principal{App: "shop", Can: access.Read | access.Write},
			memory.Shared("shop"), access.Read, false},
		{"shared knowledge, by an admin", &access.Principal{App: "shop", Can: access.Admin}, memory.Shared("shop"),
			access.Read | access.Write, true},
		{"documents, without admin", &access.Principal{App: "shop", Can: access.Read}, memory.Documents("shop"),
			access.Read, false},
		{"shared knowledge of another app", &access.Principal{App: "bank", Can: access.Admin},
			memory.Shared("shop"), access.Read, false},
	} {
		ctx := t.Context()
		if c.p != nil {
			ctx = access.With(ctx, c.p)
		}
		err := access.Check(ctx, c.scope, c.verbs)
		if (err == nil) != c.may || err != nil && !errors.Is(err, access.ErrDenied) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Who may read as a user of an app may search its shared knowledge, and that alone.
func TestCheckSearch(t *testing.T) {
	read := access.Read
	for _, c := range []struct {
		name  string
		p     *access.Principal
		scope memory.Scope
		may   bool
	}{
		{"no principal", nil, memory.Shared("shop"), false},
		{"a user", &access.Principal{App: "shop", User: "ann", Can: read}, memory.Shared("shop"), true},
		{"all users", &access.Principal{App: "shop", Can: read}, memory.Shared("shop"), true},
		{"every app", &access.Principal{App: access.AllApps, Can: read}, memory.Shared("shop"), true},
		{"who may write alone", &access.Principal{App: "shop", User: "ann", Can: access.Write}, memory.Shared("shop"), false},
		{"a user of another app", &access.Principal{App: "bank", User: "ann", Can: read}, memory.Shared("shop"), false},
		{"the documents", &access.Principal{App: "shop", User: "ann", Can: read}, memory.Documents("shop"), false},
		{"another user", &access.Principal{App: "shop", User: "ann", Can: read}, memory.Scope{App: "shop", User: "bob"}, false},
	} {
		ctx := t.Context()
		if c.p != nil {
			ctx = access.With(ctx, c.p)
		}
		err := access.CheckSearch(ctx, c.scope)
		if (err == nil) != c.may || err != nil && !errors.Is(err, access.ErrDenied) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Whatever is changed of a shown key, it is no longer one.
func TestSplit(t *testing.T) {
	id, secret := access.NewID(), access.NewSecret()
	shown := access.Show(id, secret)
	if gotID, gotSecret, ok := access.Split(shown); !ok || gotID != id || gotSecret != secret {
		t.Fatalf("Split(%q) = %q, %q, %v", shown, gotID, gotSecret, ok)
	}
	for i := range shown {
		for _, c := range []byte{'0', 'z', '_', ' ', 0, 0xff} {
			changed := []byte(shown)
			if changed[i] == c {
				continue
			}
			changed[i] = c
			if _, _, ok := access.Split(string(changed)); ok {
				t.Errorf("Split takes %q for %q", changed, shown)
			}
		}
		if _, _, ok := access.Split(shown[:i]); ok {
			t.Errorf("Split takes %q", shown[:i])
		}
	}
	if _, _, ok := access.Split(shown + "0"); ok {
		t.Error("Split takes a key with more behind it")
	}
}

// Keys differ, and their ids and secrets have all of their digits.
func TestNewSecret(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id, secret := access.NewID(), access.NewSecret()
		if len(id) != 16 || len(secret) != 43 || seen[id] || seen[secret] {
			t.Fatalf("id %q, secret %q", id, secret)
		}
		seen[id], seen[secret] = true, true
	}
}

func TestMatches(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	k := access.Key{Hash: access.HashSecret("new"), Old: access.HashSecret("old"), OldUntil: now}
	for _, c := range []struct {
		secret string
		at     time.Time
		want   bool
	}{
		{"new", now, true}, {"old", now.Add(-1), true}, {"old", now, false}, {"", now, false}, {"neither", now, false},
	} {
		if got := k.Matches(c.secret, c.at); got != c.want {
			t.Errorf("Matches(%q, %v) = %v", c.secret, c.at, got)
		}
	}
	if (&access.Key{}).Matches("", now) {
		t.Error("a key without a hash matches")
	}
}

func TestValidate(t *testing.T) {
	made := time.Unix(1_800_000_000, 0)
	good := access.Key{ID: "k", App: "shop", User: "ann", Can: access.Read, CreateTime: made}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*access.Key){
		"no verb":            func(k *access.Key) { k.Can = 0 },
		"unknown verb":       func(k *access.Key) { k.Can = 8 },
		"no app":             func(k *access.Key) { k.App = "" },
		"app with a slash":   func(k *access.Key) { k.App = "a/b" },
		"user of all apps":   func(k *access.Key) { k.App = access.AllApps },
		"user with a slash":  func(k *access.Key) { k.User = "a/b" },
		"name of two lines":  func(k *access.Key) { k.Name = "a\nb" },
		"long name":          func(k *access.Key) { k.Name = strings.Repeat("n", access.MaxName+1) },
		"expired":            func(k *access.Key) { k.ExpireTime = made },
		"too far in the day": func(k *access.Key) { k.ExpireTime = made.AddDate(101, 0, 0) },
	} {
		k := good
		change(&k)
		if err := k.Validate(); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A page token leads on in the list that it came from alone.
func TestPager(t *testing.T) {
	place := access.KeyPlace{Micros: 5, ID: "k"}
	_, got, err := access.ListKeys{PageToken: place.Token("shop")}.Pager("shop")
	if err != nil || got != place {
		t.Errorf("%+v, %v", got, err)
	}
	for _, token := range []string{place.Token("bank"), "x", "AAAA", access.KeyPlace{}.Token("shop")} {
		if _, _, err := (access.ListKeys{PageToken: token}).Pager("shop"); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	for _, size := range []int{-1, memory.MaxPageSize + 1} {
		if _, _, err := (access.ListKeys{PageSize: size}).Pager("shop"); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("page size %d: %v", size, err)
		}
	}
}

func TestParseVerbs(t *testing.T) {
	v, err := access.ParseVerbs([]string{"write", "read"})
	if err != nil || v.String() != "read,write" {
		t.Errorf("%v, %v", v, err)
	}
	for _, names := range [][]string{nil, {""}, {"Read"}, {"read", "delete"}} {
		if _, err := access.ParseVerbs(names); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", names, err)
		}
	}
}

// oneKey is a store of one key, which may fail.
type oneKey struct {
	access.Keys
	key      access.Key
	revision int64
	failing  error
	read     int
	touched  map[string]time.Time
}

func (o *oneKey) KeysRevision(context.Context) (int64, error) { return o.revision, o.failing }

func (o *oneKey) Key(_ context.Context, id string) (access.Key, error) {
	o.read++
	if id != o.key.ID {
		return access.Key{}, memory.ErrNotFound
	}
	return o.key, o.failing
}

func (o *oneKey) TouchKeys(_ context.Context, used map[string]time.Time) error {
	o.touched = used
	return nil
}

func (o *oneKey) EraseKeys(context.Context, string, string) error { return o.failing }

func TestRing(t *testing.T) {
	id, secret := access.NewID(), access.NewSecret()
	now := time.Unix(1_800_000_000, 0)
	store := &oneKey{key: access.Key{ID: id, App: "shop", User: "ann", Can: access.Read, Hash: access.HashSecret(secret)}}
	ring := access.NewRing(store, &access.RingOptions{Now: func() time.Time { return now }})
	shown := access.Show(id, secret)
	refused := func(what, shown string) {
		t.Helper()
		if p, err := ring.Authenticate(t.Context(), shown); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%s: %v, %v", what, p, err)
		}
	}
	if p, err := ring.Authenticate(t.Context(), ""); err != nil || p != access.Owner {
		t.Errorf("without keys: %v, %v", p, err)
	}
	store.revision = 1
	ring.Renew()
	for range 3 {
		p, err := ring.Authenticate(t.Context(), shown)
		if err != nil || p.ID != "key:"+id || p.App != "shop" || p.User != "ann" || p.Can != access.Read {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if store.read != 1 {
		t.Errorf("the key was read %d times", store.read)
	}
	refused("nothing", "")
	refused("a wrong secret", access.Show(id, access.NewSecret()))
	refused("an unknown id", access.Show(access.NewID(), secret))
	refused("a long one", access.Prefix+strings.Repeat("x", 1<<20))
	refused("one with more", shown+"x")
	store.key.RevokeTime = now
	if _, err := ring.Authenticate(t.Context(), shown); err != nil {
		t.Errorf("before the change is seen: %v", err)
	}
	store.revision = 2
	ring.Renew()
	refused("revoked", shown)
	store.key.RevokeTime, store.key.ExpireTime, store.revision = time.Time{}, now, 3
	ring.Renew()
	refused("expired", shown)
	store.failing = memory.ErrUnavailable
	ring.Renew()
	if _, err := ring.Authenticate(t.Context(), shown); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("while the store is away: %v", err)
	}
	if !ring.WasClosed() {
		t.Error("it counts as open")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	ring.Run(over)
	if len(store.touched) != 1 || !store.touched[id].Equal(now) {
		t.Errorf("touched %v", store.touched)
	}
}

// A memoryd without keys stays open while their store is away; one that has not read
// anything yet does not.
func TestRingWithoutStore(t *testing.T) {
	store := &oneKey{failing: memory.ErrUnavailable}
	ring := access.NewRing(store, nil)
	if _, err := ring.Authenticate(t.Context(), ""); !errors.Is(err, memory.ErrUnavailable) || ring.WasClosed() {
		t.Errorf("at the start: %v", err)
	}
	store.failing = nil
	ring.Renew()
	if p, err := ring.Authenticate(t.Context(), ""); err != nil || p != access.Owner || ring.WasClosed() {
		t.Errorf("without keys: %v, %v", p, err)
	}
	store.failing = memory.ErrUnavailable
	ring.Renew()
	if p, err := ring.Authenticate(t.Context(), ""); err != nil || p != access.Owner {
		t.Errorf("without keys, while the store is away: %v, %v", p, err)
	}
}

// The errors of keys that are refused are one, byte for byte.
func TestRefusalsAreAlike(t *testing.T) {
	id, secret := access.NewID(), access.NewSecret()
	store := &oneKey{revision: 1, key: access.Key{ID: id, App: "a", Can: access.Read, Hash: access.HashSecret(secret)}}
	ring := access.NewRing(store, nil)
	var first []byte
	for _, shown := range []string{"", "x", access.Show(id, access.NewSecret()), access.Show(access.NewID(), secret)} {
		_, err := ring.Authenticate(t.Context(), shown)
		if first == nil {
			first = []byte(err.Error())
		}
		if !bytes.Equal(first, []byte(err.Error())) {
			t.Errorf("%q: %v, not %s", shown, err, first)
		}
	}
}

// issuerOf is a Verifier of one token.
type issuerOf struct{ token string }

func (i issuerOf) Verify(_ context.Context, token string) (*access.Principal, error) {
	if token != i.token {
		return nil, access.Unauthenticated()
	}
	return &access.Principal{ID: "jwt:ann", App: "shop", User: "ann", Can: access.Read}, nil
}

// With an issuer callers must show something, and a key is as fresh as without one.
func TestRingWithIssuer(t *testing.T) {
	id, secret := access.NewID(), access.NewSecret()
	store := &oneKey{revision: 1, key: access.Key{ID: id, App: "a", Can: access.Read, Hash: access.HashSecret(secret)}}
	opts := &access.RingOptions{Verifier: issuerOf{"token"}}
	for name, ring := range map[string]*access.Ring{"beside keys": access.NewRing(store, opts),
		"alone": access.NewRing(nil, opts)} {
		if p, err := ring.Authenticate(t.Context(), "token"); err != nil || p.ID != "jwt:ann" {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		for _, shown := range []string{"", "other", access.Show(access.NewID(), secret)} {
			if p, err := ring.Authenticate(t.Context(), shown); !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("%s, %q: %v, %v", name, shown, p, err)
			}
		}
	}
	ring := access.NewRing(store, opts)
	if _, err := ring.Authenticate(t.Context(), access.Show(id, secret)); err != nil {
		t.Fatal(err)
	}
	store.key.RevokeTime, store.revision = time.Unix(1, 0), 2
	ring.Renew()
	if _, err := ring.Authenticate(t.Context(), access.Show(id, secret)); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("revoked: %v", err)
	}
	store.failing = memory.ErrUnavailable
	ring.Renew()
	if _, err := ring.Authenticate(t.Context(), access.Show(id, secret)); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("while the store is away: %v", err)
	}
}
