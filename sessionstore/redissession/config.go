package redissession

import (
	"context"
	"encoding/json"
	"fmt"

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
