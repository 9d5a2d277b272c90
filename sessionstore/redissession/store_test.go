package redissession_test

import (
	"testing"
	"time"

	"github.com/memoryd/memoryd/internal/redistest"
	"github.com/memoryd/memoryd/sessionstore/redissession"
	"github.com/memoryd/memoryd/sessionstore/sessiontest"
)

func open(t testing.TB, url string, opts *redissession.Options) *redissession.Store {
	t.Helper()
	s, err := redissession.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// suite runs the whole suite on a Redis, which flush empties before each case.
func suite(t *testing.T, url string, flush func(testing.TB)) {
	sessiontest.Run(t, func(t *testing.T) sessiontest.Harness {
		flush(t)
		return sessiontest.Harness{
			Open: func(t *testing.T, now func() time.Time) sessiontest.Backend {
				return open(t, url, &redissession.Options{Now: now, MaxState: sessiontest.MaxState,
					MaxKeys: sessiontest.MaxKeys, MaxSessions: sessiontest.MaxSessions,
					AuditEntries: sessiontest.AuditEntries})
			},
			Close: func(t *testing.T, b sessiontest.Backend) {
				if err := b.(*redissession.Store).Close(); err != nil {
					t.Error(err)
				}
			},
		}
	})
}

func TestStore(t *testing.T) {
	r := redistest.Start(t)
	suite(t, r.URL(), r.Flush)
}

func TestStoreOnCluster(t *testing.T) {
	c := redistest.StartCluster(t)
	suite(t, c.URL(), c.Flush)
}
