package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

func callerKeyCases() []testCase {
	return []testCase{
		{"KeptWhole", keysKeptWhole},
		{"OpenAtFirst", keysOpenAtFirst},
		{"RequiredForGood", keysRequiredForGood},
		{"EveryChangeCounts", keysEveryChangeCounts},
		{"Refused", keysRefused},
		{"Pages", keysPages},
		{"PagesWhileMade", keysPagesWhileMade},
		{"LookAlikes", keysLookAlikes},
		{"Revoked", keysRevoked},
		{"Rotated", keysRotated},
		{"Used", keysUsed},
		{"DeadRemoved", keysDeadRemoved},
		{"Limit", keysLimit},
		{"AtOnce", keysAtOnce},
	}
}

// callerKey is a key made now.
func (f *fixture) callerKey(id, app string) access.Key {
	return access.Key{ID: id, App: app, Can: access.Read, Hash: access.HashSecret(id), CreateTime: f.now()}
}

// makeKey stores a key.
func (f *fixture) makeKey(k access.Key) {
	f.t.Helper()
	if err := f.CreateKey(f.t.Context(), k); err != nil {
		f.t.Fatalf("CreateKey(%q): %v", k.ID, err)
	}
}

// keyOf reads a key.
func (f *fixture) keyOf(id string) access.Key {
	f.t.Helper()
	k, err := f.Key(f.t.Context(), id)
	if err != nil {
		f.t.Fatalf("Key(%q): %v", id, err)
	}
	return k
}

// keyIDs are the ids on all pages of a list.
func (f *fixture) keyIDs(app string, size int) (out []string) {
	f.t.Helper()
	for token := ""; ; {
		page, err := f.ListKeys(f.t.Context(), app, access.ListKeys{PageSize: size, PageToken: token})
		if err != nil {
			f.t.Fatalf("ListKeys(%q): %v", app, err)
		}
		if size > 0 && len(page.Keys) > size {
			f.t.Fatalf("a page of %d has %d keys", size, len(page.Keys))
		}
		for _, k := range page.Keys {
			out = append(out, k.ID)
		}
		if token = page.NextPageToken; token == "" {
			return out
		}
	}
}

// revision is that of the keys.
func (f *fixture) revision() int64 {
	f.t.Helper()
	n, err := f.KeysRevision(f.t.Context())
	if err != nil {
		f.t.Fatalf("KeysRevision: %v", err)
	}
	return n
}

// A key comes back as it was stored, to the microsecond, also after a restart. The
// guard relies on every field of it.
func keysKeptWhole(f *fixture) {
	at := func(d time.Duration) time.Time { return f.now().Add(d) }
	whole := access.Key{ID: "k1", Name: "the shop's \"agent\" – ž", App: "shop", User: "ann",
		Can:  access.Read | access.Admin,
		Hash: access.HashSecret("s"), Old: access.HashSecret("o"), OldUntil: at(time.Hour), CreateTime: f.now(),
		ExpireTime: at(24 * time.Hour), LastUsedTime: at(-time.Second)}
	plain := f.callerKey("k2", access.AllApps)
	f.makeKey(whole)
	f.makeKey(plain)
	for range 2 {
		for _, want := range []access.Key{whole, plain} {
			got := f.keyOf(want.ID)
			if len(got.Old) == 0 {
				got.Old = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				f.t.Errorf("key %s: %s", want.ID, diff)
			}
		}
		f.reopen()
	}
	if _, err := f.Key(f.t.Context(), "k"); !errors.Is(err, memory.ErrNotFound) {
		f.t.Errorf("a key that never was: %v", err)
	}
}

// A store has no keys at first, and reading changes nothing. Without keys a memoryd is
// its owner's alone.
func keysOpenAtFirst(f *fixture) {
	f.create(session(ann, "s"), `{"app:k": 1}`)
	if ids := f.keyIDs(access.AllApps, 0); len(ids) > 0 {
		f.t.Errorf("there are keys %q", ids)
	}
	f.reopen()
	if n := f.revision(); n != 0 {
		f.t.Errorf("the revision is %d", n)
	}
}

// Once callers must show keys they must for good. An issuer was configured, or all keys
// are revoked.
func keysRequiredForGood(f *fixture) {
	for range 2 {
		if err := f.RequireKeys(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
		if n := f.revision(); n != 1 {
			f.t.Errorf("the revision is %d", n)
		}
	}
	f.makeKey(f.callerKey("k", "shop"))
	n := f.revision()
	if err := f.RequireKeys(f.t.Context()); err != nil || f.revision() != n {
		f.t.Errorf("requiring what is required: revision %d, then %d: %v", n, f.revision(), err)
	}
	f.reopen()
	if f.revision() != n {
		f.t.Errorf("revision %d after a restart, %d before", f.revision(), n)
	}
}

// Every change of a key raises the revision, by which other processes notice it. What
// changes nothing does not.
func keysEveryChangeCounts(f *fixture) {
	ctx, last := f.t.Context(), f.revision()
	for _, step := range []struct {
		name    string
		changes bool
		do      func() error
	}{
		{"create", true, func() error { return f.CreateKey(ctx, f.callerKey("k", "shop")) }},
		{"read", false, func() error { _, err := f.Key(ctx, "k"); return err }},
		{"touch", false, func() error { return f.TouchKeys(ctx, map[string]time.Time{"k": f.now()}) }},
		{"rotate", true, func() error { return f.RotateKey(ctx, "k", access.HashSecret("2"), f.now(), f.now()) }},
		{"revoke", true, func() error { return f.RevokeKey(ctx, "k", f.now()) }},
		{"revoke again", false, func() error { return f.RevokeKey(ctx, "k", f.now()) }},
	} {
		if err := step.do(); err != nil {
			f.t.Fatalf("%s: %v", step.name, err)
		}
		if n := f.revision(); n > last != step.changes || n < last {
			f.t.Errorf("%s: revision %d, before %d", step.name, n, last)
		}
		last = f.revision()
	}
}

// A key that breaks a rule, and an id that is in use, are refused and change nothing.
func keysRefused(f *fixture) {
	f.makeKey(f.callerKey("k", "shop"))
	n := f.revision()
	same := f.callerKey("k", "bank")
	if err := f.CreateKey(f.t.Context(), same); !errors.Is(err, memory.ErrExists) {
		f.t.Errorf("an id in use: %v", err)
	}
	bad := f.callerKey("k2", "a/b")
	if err := f.CreateKey(f.t.Context(), bad); !errors.Is(err, memory.ErrInvalid) {
		f.t.Errorf("an app with a slash: %v", err)
	}
	if got := f.keyOf("k"); got.App != "shop" || f.revision() != n {
		f.t.Errorf("the key is of app %q now, revision %d, before %d", got.App, f.revision(), n)
	}
}

// A list has the keys of its app, that of AllApps every key: newest first, in pages, of
// equal times the highest id first. A token leads on in its own list alone.
func keysPages(f *fixture) {
	for i := range 9 {
		f.makeKey(f.callerKey(fmt.Sprintf("k%d", i), []string{"shop", "bank", access.AllApps}[i%3]))
		if i%2 == 1 {
			f.clock.advance(time.Microsecond)
		}
	}
	for app, want := range map[string][]string{
		"shop": {"k6", "k3", "k0"}, "bank": {"k7", "k4", "k1"}, "none": nil,
		access.AllApps: {"k8", "k7", "k6", "k5", "k4", "k3", "k2", "k1", "k0"},
	} {
		for _, size := range []int{0, 1, 2, 3, 9} {
			if got := f.keyIDs(app, size); !cmp.Equal(got, want) {
				f.t.Errorf("app %s in pages of %d: %q, want %q", app, size, got, want)
			}
		}
	}
	page, err := f.ListKeys(f.t.Context(), "shop", access.ListKeys{PageSize: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, list := range []access.ListKeys{{PageToken: page.NextPageToken}, {PageToken: "x"}, {PageSize: -1}} {
		if _, err := f.ListKeys(f.t.Context(), "bank", list); !errors.Is(err, memory.ErrInvalid) {
			f.t.Errorf("%+v: %v", list, err)
		}
	}
}

// Keys that are made while somebody reads pages neither double nor hide others.
func keysPagesWhileMade(f *fixture) {
	for i := range 6 {
		f.makeKey(f.callerKey(fmt.Sprintf("k%d", i), "shop"))
	}
	seen, token := []string{}, ""
	for i := 0; ; i++ {
		page, err := f.ListKeys(f.t.Context(), "shop", access.ListKeys{PageSize: 2, PageToken: token})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, k := range page.Keys {
			seen = append(seen, k.ID)
		}
		f.clock.advance(time.Second)
		f.makeKey(f.callerKey(fmt.Sprintf("new%d", i), "shop"))
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if want := []string{"k5", "k4", "k3", "k2", "k1", "k0"}; !cmp.Equal(seen, want) {
		f.t.Errorf("pages have %q, want %q", seen, want)
	}
}

// Apps whose names look alike, or have what stores separate fields by, do not meet.
func keysLookAlikes(f *fixture) {
	apps := []string{"a", "A", "a:", "a*", "a b", "list", "%61", "é", "e\u0301", "{a}", "a'; DROP TABLE keys; --"}
	for i, app := range apps {
		f.makeKey(f.callerKey(fmt.Sprintf("k%02d", i), app))
	}
	for i, app := range apps {
		if got, want := f.keyIDs(app, 0), []string{fmt.Sprintf("k%02d", i)}; !cmp.Equal(got, want) {
			f.t.Errorf("app %q has keys %q, want %q", app, got, want)
		}
	}
}

// A revoked key stays, and keeps the time of its first revocation.
func keysRevoked(f *fixture) {
	f.makeKey(f.callerKey("k", "shop"))
	first := f.now()
	for range 2 {
		if err := f.RevokeKey(f.t.Context(), "k", f.now()); err != nil {
			f.t.Fatal(err)
		}
		f.clock.advance(time.Minute)
	}
	if got := f.keyOf("k"); !got.RevokeTime.Equal(first) || got.Live(f.now()) {
		f.t.Errorf("revoked at %v, want %v", got.RevokeTime, first)
	}
	if got := f.keyIDs("shop", 0); !cmp.Equal(got, []string{"k"}) {
		f.t.Errorf("the list has %q", got)
	}
	if err := f.RevokeKey(f.t.Context(), "none", f.now()); !errors.Is(err, memory.ErrNotFound) {
		f.t.Errorf("a key that never was: %v", err)
	}
}

// After a rotation the new secret counts, and the one before until its time; the one
// before that does not. A key that is not valid is not rotated.
func keysRotated(f *fixture) {
	ctx := f.t.Context()
	k := f.callerKey("k", "shop")
	k.ExpireTime = f.now().Add(time.Hour)
	f.makeKey(k)
	until := f.now().Add(time.Minute)
	for _, secret := range []string{"second", "third"} {
		if err := f.RotateKey(ctx, "k", access.HashSecret(secret), f.now(), until); err != nil {
			f.t.Fatal(err)
		}
	}
	got := f.keyOf("k")
	for secret, want := range map[string]bool{"third": true, "second": true, "k": false} {
		if got.Matches(secret, f.now()) != want {
			f.t.Errorf("secret %s matches: %v", secret, !want)
		}
	}
	if got.Matches("second", until) || !got.OldUntil.Equal(until) {
		f.t.Errorf("the second secret counts until %v, want %v", got.OldUntil, until)
	}
	if err := f.RotateKey(ctx, "k", access.HashSecret("4"), k.ExpireTime, k.ExpireTime); !errors.Is(err,
		memory.ErrAborted) {
		f.t.Errorf("an expired key: %v", err)
	}
	if err := f.RevokeKey(ctx, "k", f.now()); err != nil {
		f.t.Fatal(err)
	}
	if err := f.RotateKey(ctx, "k", access.HashSecret("4"), f.now(), f.now()); !errors.Is(err, memory.ErrAborted) {
		f.t.Errorf("a revoked key: %v", err)
	}
	if err := f.RotateKey(ctx, "none", access.HashSecret("4"), f.now(), f.now()); !errors.Is(err, memory.ErrNotFound) {
		f.t.Errorf("a key that never was: %v", err)
	}
	if !f.keyOf("k").Matches("third", f.now()) {
		f.t.Error("a refused rotation has changed the secret")
	}
}

// The last use of a key only moves forward, whichever process was last to tell.
func keysUsed(f *fixture) {
	f.makeKey(f.callerKey("k", "shop"))
	later, earlier := f.now().Add(time.Hour), f.now()
	for _, at := range []time.Time{later, earlier} {
		if err := f.TouchKeys(f.t.Context(), map[string]time.Time{"k": at, "none": at}); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := f.TouchKeys(f.t.Context(), nil); err != nil {
		f.t.Error(err)
	}
	if got := f.keyOf("k").LastUsedTime; !got.Equal(later) {
		f.t.Errorf("last used %v, want %v", got, later)
	}
	if _, err := f.Key(f.t.Context(), "none"); !errors.Is(err, memory.ErrNotFound) {
		f.t.Errorf("a key that never was: %v", err)
	}
}

// A key that has not been valid for long goes when another is made, and not before.
func keysDeadRemoved(f *fixture) {
	expires := f.callerKey("expired", "shop")
	expires.ExpireTime = f.now().Add(time.Hour)
	f.makeKey(expires)
	f.makeKey(f.callerKey("revoked", "bank"))
	f.makeKey(f.callerKey("valid", "shop"))
	if err := f.RevokeKey(f.t.Context(), "revoked", f.now().Add(time.Hour)); err != nil {
		f.t.Fatal(err)
	}
	f.clock.advance(access.KeepDead)
	f.makeKey(f.callerKey("n1", "other"))
	if got := len(f.keyIDs(access.AllApps, 0)); got != 4 {
		f.t.Errorf("%d keys, want 4", got)
	}
	f.clock.advance(time.Hour)
	f.makeKey(f.callerKey("n2", "other"))
	if got, want := f.keyIDs(access.AllApps, 0), []string{"n2", "n1", "valid"}; !cmp.Equal(got, want) {
		f.t.Errorf("keys %q, want %q", got, want)
	}
	if got := f.keyIDs("bank", 0); len(got) > 0 {
		f.t.Errorf("the app of a removed key lists %q", got)
	}
}

// An app has so many keys at most. Another app has room still.
func keysLimit(f *fixture) {
	for i := range MaxKeys {
		f.makeKey(f.callerKey(fmt.Sprint("k", i), "shop"))
	}
	err := f.CreateKey(f.t.Context(), f.callerKey("more", "shop"))
	if refusal := (*memory.Refusal)(nil); !errors.As(err, &refusal) {
		f.t.Errorf("one more: %v", err)
	}
	f.makeKey(f.callerKey("other", "bank"))
}

// Keys that are made and revoked at once are all kept, and each change counts.
func keysAtOnce(f *fixture) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			k := f.callerKey(fmt.Sprint("k", i), "shop")
			err := f.CreateKey(context.Background(), k)
			if err == nil && i%2 == 0 {
				err = f.RevokeKey(context.Background(), k.ID, f.now())
			}
			if err != nil {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
	if got, n := len(f.keyIDs("shop", 0)), f.revision(); got != 20 || n != 30 {
		f.t.Errorf("%d keys, want 20; revision %d, want 30", got, n)
	}
	for i := range 20 {
		if live := f.keyOf(fmt.Sprint("k", i)).Live(f.now()); live == (i%2 == 0) {
			f.t.Errorf("key %d is live: %v", i, live)
		}
	}
}
