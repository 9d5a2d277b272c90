package redissession

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/sessionstore"
)

var _ sessionstore.Configs = (*Store)(nil)

// runConfig runs a script on the keys of an app. Where keys of the app may have been
// lost it fails, whatever the options say: a Redis that has forgotten a configuration
// must not have memories made by the defaults.
func (s *Store) runConfig(ctx context.Context, does call) (reply, error) {
	v, err := s.run(ctx, does.script, does.prefix, does.args...)
	if err != nil {
		return nil, err
	}
	if l := s.marks.lost(does.prefix); l != nil {
		return nil, l.damaged()
	}
	return replyOf(v), nil
}

// Config implements sessionstore.Configs.
func (s *Store) Config(ctx context.Context, app string) (json.RawMessage, int64, error) {
	is, err := s.runConfig(ctx, call{configScript, appPrefix(app), nil})
	if err != nil {
		return nil, 0, fmt.Errorf("read the configuration of app %q: %w", app, err)
	}
	if is.num(1) == 0 {
		return nil, 0, nil
	}
	return json.RawMessage(is.text(0)), is.num(1), nil
}

// PutConfig implements sessionstore.Configs.
func (s *Store) PutConfig(ctx context.Context, app string, doc json.RawMessage, expect int64) (int64, error) {
	err := sessionstore.CheckConfig(app, doc)
	if err == nil { // an erased app that is still known to be listed is listed again
		err = s.kind(ctx, s.redis.ZAdd(ctx, appsKey, redis.Z{Member: app}).Err())
	}
	if err == nil {
		var is reply
		if is, err = s.runConfig(ctx, call{putConfigScript, appPrefix(app), []any{[]byte(doc), expect}}); err == nil {
			if is.text(0) == "OK" {
				return is.num(1), nil
			}
			err = sessionstore.StaleConfig(expect, is.num(1))
		}
	}
	return 0, fmt.Errorf("store the configuration of app %q: %w", app, err)
}

// ExportConfigs implements sessionstore.Archive.
func (s *Store) ExportConfigs(ctx context.Context, config func(sessionstore.ConfigRecord) error) error {
	keys, err := s.keys(ctx, configKeys)
	if err != nil {
		return fmt.Errorf("export configurations: %w", err)
	}
	apps := make([]string, len(keys))
	for i, key := range keys {
		apps[i] = configKeys.FindStringSubmatch(key)[1]
	}
	slices.Sort(apps) // that of the keys is another order, as they go on after the app
	for _, app := range apps {
		r := sessionstore.ConfigRecord{App: app}
		if r.Doc, r.Revision, err = s.Config(ctx, app); err != nil {
			return fmt.Errorf("export configurations: %w", err)
		}
		if r.Revision == 0 {
			continue // it was erased meanwhile
		}
		if err := config(r); err != nil {
			return err
		}
	}
	return nil
}

// RestoreConfig implements sessionstore.Archive.
func (s *Store) RestoreConfig(ctx context.Context, r sessionstore.ConfigRecord) error {
	err := r.Validate()
	if err == nil {
		err = s.listInApps(ctx, r.App)
	}
	if err == nil {
		_, err = s.runConfig(ctx, call{giveConfigScript, appPrefix(r.App), []any{[]byte(r.Doc), r.Revision}})
	}
	if err != nil {
		return fmt.Errorf("restore the configuration of app %q: %w", r.App, err)
	}
	return nil
}
