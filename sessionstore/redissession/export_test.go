package redissession

import "github.com/redis/go-redis/v9"

// Hook adds a hook to a store's clients.
func Hook(s *Store, h redis.Hook) {
	s.redis.AddHook(h)
	s.side.AddHook(h)
}

// Client is the client of a store that has no cluster.
func Client(s *Store) *redis.Client { return s.redis.(*redis.Client) }

// DeliverHash names the script that brings changes to an app.
func DeliverHash() string { return deliverScript.Hash() }

// WaitLeaving waits until the places are back that Leave gives back.
func (s *Store) WaitLeaving() { s.leaving.Wait() }
