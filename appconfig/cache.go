package appconfig

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/redact"
	"github.com/memoryd/memoryd/sessionstore"
)

const (
	// Fresh is for how long a configuration that was read counts as that of the store.
	Fresh = time.Second
	// readTime bounds the read that a search waits for.
	readTime = 100 * time.Millisecond
	// maxCached bounds how many apps a Cache holds the configuration of. One is a few
	// hundred bytes, and sessionstore.MaxConfig at most.
	maxCached = 1000
)

// Cache reads and writes the configurations in a store. It is safe for concurrent use.
type Cache struct {
	store sessionstore.Configs
	now   func() time.Time
	log   *slog.Logger

	mu   sync.Mutex
	apps map[string]*cached
}

// cached is the configuration of an app as it was read last.
type cached struct {
	reading chan struct{} // with room for the one caller that reads it

	// Guarded by Cache.mu.
	config *Config // nil until it was read
	at     time.Time
	failed bool // the last read did, and the log tells of it
}

// NewCache makes a Cache. now defaults to time.Now, and log to discarding.
func NewCache(store sessionstore.Configs, now func() time.Time, log *slog.Logger) *Cache {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Cache{store: store, now: now, log: log, apps: map[string]*cached{}}
}

// entry returns the entry of an app, and its configuration if that is fresh.
func (c *Cache) entry(app string) (*cached, *Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.apps[app]
	if e == nil {
		if len(c.apps) >= maxCached {
			for other := range c.apps { // whichever comes first
				delete(c.apps, other)
				break
			}
		}
		e = &cached{reading: make(chan struct{}, 1)}
		c.apps[app] = e
	}
	if age := c.now().Sub(e.at); e.config != nil && age >= 0 && age < Fresh {
		return e, e.config
	}
	return e, nil
}

// Of returns the configuration of an app as it was within the last second. It fails if
// the store does: memories that were made by other rules than the app's could hold what
// its owner wants kept nowhere. Of reads as memoryd itself, also for a principal that
// may not. The caller may not change the result.
func (c *Cache) Of(ctx context.Context, app string) (*Config, error) {
	e, config := c.entry(app)
	if config != nil {
		return config, nil
	}
	select {
	case e.reading <- struct{}{}:
		defer func() { <-e.reading }()
	case <-ctx.Done():
		return nil, fmt.Errorf("read the configuration of app %q: %w", app, context.Cause(ctx))
	}
	if _, config = c.entry(app); config != nil { // another caller has read it meanwhile
		return config, nil
	}
	at := c.now()
	doc, _, err := c.store.Config(access.With(ctx, access.System), app)
	if err == nil {
		if config, err = read(doc); err != nil {
			err = fmt.Errorf("stored configuration of app %q: %w", app, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	e.config, e.at, e.failed = config, at, false
	return config, nil
}

// Known returns the configuration of an app as Of does. If the store fails or is slow it
// returns the last one that was read: a search goes on, and the log tells of it once. If
// none was read it returns that of an app without one, with all kinds of secrets redacted.
func (c *Cache) Known(ctx context.Context, app string) *Config {
	e, config := c.entry(app)
	if config != nil {
		return config
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	config, err := c.Of(ctx, app)
	if err == nil {
		return config
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.failed {
		e.failed = true
		c.log.Warn("the configuration of an app cannot be read: requests that read go on with the last one", "app", app,
			"err", err)
	}
	if e.config != nil {
		return e.config
	}
	unread := &Config{Redaction: Redaction{Kinds: redact.Kinds()}} // what the app wants kept nowhere is not known
	_ = unread.makeRedactor()                                      // there are such kinds
	return unread
}

// Get reads the configuration of an app from the store, and its revision.
func (c *Cache) Get(ctx context.Context, app string) (*Config, int64, error) {
	doc, revision, err := c.store.Config(ctx, app)
	if err != nil {
		return nil, 0, err
	}
	config, err := read(doc)
	return config, revision, err
}

// Forget has the next call read the configuration of an app again: it was erased.
func (c *Cache) Forget(app string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.apps, app)
}

// Put stores a valid configuration, and returns its revision. expect is the revision that
// it replaces, or sessionstore.AnyRevision; see [sessionstore.Configs]. It holds at once
// for callers of this Cache, and within [Fresh] for those of others.
func (c *Cache) Put(ctx context.Context, app string, config *Config, expect int64) (int64, error) {
	doc, err := json.Marshal(config)
	if err != nil {
		return 0, err
	}
	revision, err := c.store.PutConfig(ctx, app, doc, expect)
	c.Forget(app) // also where it failed: the store may have it nevertheless
	return revision, err
}
