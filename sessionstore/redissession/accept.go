package redissession

import (
	"context"
	"fmt"
	"regexp"
)

var appMarkKeys = regexp.MustCompile(`^(memoryd:\{a:[^/]*\}:)mark$`)

// Accept has all processes go on with what is left after Redis has lost data, as if
// nothing had been there. It returns in how many parts data was lost.
func (s *Store) Accept(ctx context.Context) (parts int, err error) {
	prefixes := []string{workPrefix, keysPrefix}
	for p := range partitions {
		prefixes = append(prefixes, partitionPrefix(p))
	}
	apps, err := s.keys(ctx, appMarkKeys)
	if err != nil {
		return 0, fmt.Errorf("accept losses: %w", err)
	}
	for _, k := range apps {
		prefixes = append(prefixes, appMarkKeys.FindStringSubmatch(k)[1])
	}
	for _, prefix := range prefixes {
		v, err := s.run(ctx, acceptScript, prefix)
		if err != nil {
			return parts, fmt.Errorf("accept losses: %w", err)
		}
		n, _ := v.(int64)
		parts += int(n)
		if n > 0 && prefix == keysPrefix {
			// Nobody may call without a key because those that there were are gone.
			if err := s.RequireKeys(ctx); err != nil {
				return parts, err
			}
		}
	}
	return parts, nil
}
