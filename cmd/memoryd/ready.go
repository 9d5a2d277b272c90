package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// readyTime bounds the answer: a container's health check must be told in time.
const readyTime = 5 * time.Second

// readyCommand skips the checks of flags: it only asks, so the environment of a
// server in the same container does it no harm.
func readyCommand() *subcommand {
	return &subcommand{
		name: "ready", summary: "Ask the memoryd at -listen whether its stores are well.",
		details: `It prints the answer of /readyz, and exits with 0 if all is well: a health check
for a container that has no other program. Where memoryd wants a key, one shows how
its parts are; without one it tells its state alone. With -tls-cert it asks by TLS, and takes that
certificate alone, whatever its names are.`,
		example: "memoryd ready -listen 127.0.0.1:8080",
		uses:    []string{"listen", "tls-cert"}, own: keyFlags, unchecked: true,
		run: ready,
	}
}

// ready asks for /readyz once. It does not retry: the runner of a health check
// does that.
func ready(ctx context.Context, cfg *config, _ []string, s streams) error {
	base, err := cfg.base()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return err
	}
	key, err := cfg.shownKey()
	if err != nil {
		return err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := (&http.Client{Transport: cfg.beside()}).Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	// Bounded, since anything may answer at that address.
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", bytes.TrimSpace(answer))
	}
	_, err = s.out.Write(answer)
	return err
}
