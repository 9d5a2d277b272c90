package ingest

import (
	"context"
	"reflect"
	"time"

	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/sessionstore"
)

// watchPoll is how often a watched operation is looked at when nobody here
// moves it: another process may.
const watchPoll = 250 * time.Millisecond

// moved wakes those who watch an operation of a scope.
func (s *Service) moved(scope memory.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.progress[scope]; c != nil {
		close(c)
		delete(s.progress, scope)
	}
}

// progressOf is closed when an operation of the scope may have moved.
func (s *Service) progressOf(scope memory.Scope) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress[scope] == nil {
		s.progress[scope] = make(chan struct{})
	}
	return s.progress[scope]
}

// Watch calls see with an operation as it is now and after every change, until
// it is done, see fails, or ctx is over; the last two end it with their error.
func (s *Service) Watch(ctx context.Context, scope memory.Scope, id string, see func(*sessionstore.Operation) error) error {
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	var last *sessionstore.Operation
	for {
		progress := s.progressOf(scope)
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
		case <-progress:
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Wait returns an operation when it is done, or as it is when ctx or the limit
// is over.
func (s *Service) Wait(ctx context.Context, scope memory.Scope, id string, limit time.Duration) (*sessionstore.Operation, error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last *sessionstore.Operation
	err := s.Watch(waiting, scope, id, func(op *sessionstore.Operation) error { last = op; return nil })
	if last != nil && waiting.Err() != nil {
		err = ctx.Err()
	}
	return last, err
}
