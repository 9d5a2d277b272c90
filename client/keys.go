package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Keys manages the keys of an app. It takes a key with the verb admin for that app; for
// the app "*", whose keys are for all apps, one that is itself for all apps.
type Keys struct {
	c    *Client
	path string
}

// Keys returns the keys of an app.
func (c *Client) Keys(app string) *Keys {
	return &Keys{c, "/v1/apps/" + url.PathEscape(app) + "/keys"}
}

// Key is a key without its secret.
type Key struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	App          string    `json:"appName"`
	User         string    `json:"userId"` // "" for all users of App
	Can          []string  `json:"can"`    // some of read, write and admin
	CreateTime   time.Time `json:"createTime"`
	ExpireTime   time.Time `json:"expireTime"`   // zero: never
	RevokeTime   time.Time `json:"revokeTime"`   // zero: not revoked
	LastUsedTime time.Time `json:"lastUsedTime"` // up to a minute late; zero: never
}

// NewKey says what a new key is for.
type NewKey struct {
	Name       string    `json:"name,omitempty"`
	User       string    `json:"userId,omitempty"` // "" for all users of the app
	Can        []string  `json:"can"`
	ExpireTime time.Time `json:"expireTime,omitzero"`
}

// Create makes a key. shown is the key as its owner keeps it; nothing shows it again.
func (k *Keys) Create(ctx context.Context, key NewKey) (made Key, shown string, err error) {
	return k.secret(ctx, call{method: http.MethodPost, path: k.path, body: key})
}

// List returns a page of keys, newest first. pageSize is 1 to 1000, or 0 for 100;
// pageToken is "" for the first page, and next is "" on the last.
func (k *Keys) List(ctx context.Context, pageSize int, pageToken string) (page []Key, next string, err error) {
	var out struct {
		Keys          []Key  `json:"keys"`
		NextPageToken string `json:"nextPageToken"`
	}
	query := url.Values{}
	if pageSize > 0 {
		query.Set("pageSize", strconv.Itoa(pageSize))
	}
	if pageToken != "" {
		query.Set("pageToken", pageToken)
	}
	err = k.c.do(ctx, call{method: http.MethodGet, path: k.path, query: query, answer: &out, idempotent: true})
	return out.Keys, out.NextPageToken, err
}

// Revoke ends a key. Every memoryd of the store refuses it within a second.
func (k *Keys) Revoke(ctx context.Context, id string) error {
	return k.c.do(ctx, call{method: http.MethodDelete, path: k.path + "/" + url.PathEscape(id), idempotent: true})
}

// Rotate gives a key another secret, and keeps the one before valid for grace, up to a
// week.
func (k *Keys) Rotate(ctx context.Context, id string, grace time.Duration) (key Key, shown string, err error) {
	body := struct {
		Grace string `json:"grace"`
	}{grace.String()}
	return k.secret(ctx, call{method: http.MethodPost, path: k.path + "/" + url.PathEscape(id) + "/rotate", body: body})
}

// secret makes a call whose answer has a key as its owner keeps it.
func (k *Keys) secret(ctx context.Context, c call) (key Key, shown string, err error) {
	var raw json.RawMessage
	c.answer = &raw
	if err := k.c.do(ctx, c); err != nil {
		return Key{}, "", err
	}
	var out struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return Key{}, "", fmt.Errorf("memoryd's answer cannot be read: %w", err)
	}
	return key, out.Key, json.Unmarshal(raw, &struct {
		*Key
		Shown string `json:"key"`
	}{Key: &key})
}
