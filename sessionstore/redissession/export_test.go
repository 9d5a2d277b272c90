package redissession

import "github.com/redis/go-redis/v9"

// Hook adds a hook to a store's client.
func Hook(s *Store, h redis.Hook) { s.redis.AddHook(h) }

// DeliverHash names the script that brings changes to an app.
func DeliverHash() string { return deliverScript.Hash() }
