package ingest

import (
	"context"
	"reflect"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// watchPoll is how often a watched operation is read although this process does
// not change it: another one may.
const watchPoll = 250 * time.Millisecond

// changed wakes the watchers of the operations of a scope.
func (s *Service) changed(scope memory.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.watched[scope]; c != nil {
		close(c)
		delete(s.watched, scope)
	}
}

// nextChange returns a channel that is closed when an operation of the scope may
// have changed.
func (s *Service) nextChange(scope memory.Scope) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched[scope] == nil {
		s.watched[scope] = make(chan struct{})
	}
	return s.watched[scope]
}

// Watch calls see with an operation as it is now and after every change, until
// it is done. If see fails or ctx is done, Watch returns that error.
func (s *Service) Watch(
	ctx context.Context, scope memory.Scope, id string, see func(*sessionstore.Operation) error,
) error {
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	var last *sessionstore.Operation
	for {
		change := s.nextChange(scope)
		op, err := s.sessions.Operation(ctx, scope, id)
		if err != nil {
			return err
		}
		if last == nil || !reflect.DeepEqual(op, last) {
			if err := see(op); err != nil {
				return err
			}
			last = op
		}
		if op.Done() {
			return nil
		}
		select {
		case <-change:
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Wait returns an operation when it is done, or as it is after limit. If ctx is
// done before, it returns the error of ctx too.
func (s *Service) Wait(
	ctx context.Context, scope memory.Scope, id string, limit time.Duration,
) (*sessionstore.Operation, error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last *sessionstore.Operation
	err := s.Watch(waiting, scope, id, func(op *sessionstore.Operation) error { last = op; return nil })
	if last != nil && waiting.Err() != nil {
		err = ctx.Err()
	}
	return last, err
}
