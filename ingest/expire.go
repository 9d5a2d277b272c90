package ingest

import (
	"context"
	"time"
)

// expiredTogether is how many expired sessions one call removes, about.
const expiredTogether = 100

// expireSessions removes sessions that have expired, now and then, until ctx is over. They
// read as deleted before, so that nothing waits for it. Each of several processes does
// so, which does no harm.
func (s *Service) expireSessions(ctx context.Context) {
	next := time.NewTicker(s.opts.Sweep)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
		for n := expiredTogether; n >= expiredTogether; {
			var err error
			if n, err = s.sessions.Expire(ctx, expiredTogether); err != nil {
				n = 0
				if ctx.Err() == nil {
					s.opts.Log.Error("expired sessions were not removed: memoryd tries again", "err", err)
				}
			}
		}
	}
}
