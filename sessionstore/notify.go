package sessionstore

import (
	"sync"

	"github.com/memoryd/memoryd/memory"
)

// Notifier keeps the subscribers of a store, for it to implement
// Operations.Subscribe. The zero value has none.
type Notifier struct {
	mu sync.Mutex
	// subscribers has the functions to call, by scope. A scope without any has no
	// entry. A function is known by its address, as functions cannot be compared.
	subscribers map[memory.Scope]map[*func(session string)]struct{}
}

// Subscribe has Changed call changed for the sessions of a scope, until cancel.
func (n *Notifier) Subscribe(scope memory.Scope, changed func(session string)) (cancel func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.subscribers == nil {
		n.subscribers = map[memory.Scope]map[*func(string)]struct{}{}
	}
	if n.subscribers[scope] == nil {
		n.subscribers[scope] = map[*func(string)]struct{}{}
	}
	n.subscribers[scope][&changed] = struct{}{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if delete(n.subscribers[scope], &changed); len(n.subscribers[scope]) == 0 {
			delete(n.subscribers, scope)
		}
	}
}

// Changed tells the subscribers of a scope that operations of a session may have
// changed. A store calls it after each of its writes that may do that, whether the
// write has failed or not: a failed one may have had its effect.
func (n *Notifier) Changed(key Key) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for changed := range n.subscribers[key.Scope] {
		(*changed)(key.ID)
	}
}

// ChangedAll tells all subscribers that operations of any session may have
// changed.
func (n *Notifier) ChangedAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, subscribers := range n.subscribers {
		for changed := range subscribers {
			(*changed)("")
		}
	}
}
