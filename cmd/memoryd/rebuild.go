package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/memoryd/memoryd"
)

// rebuild has the memories of all sessions made anew, into a memory store that
// has none of them: the one that they were in is lost. It only says what is to
// be done; the next serve does it.
func rebuild(ctx context.Context, cfg config, stdout io.Writer) (err error) {
	h := newHouse()
	defer func() { err = errors.Join(err, h.close()) }()
	e, err := newEmbedder(cfg)
	if err != nil {
		return err
	}
	st, err := h.open(ctx, cfg, memoryd.ModelOf(e))
	if err != nil {
		return err
	}
	bound, err := st.sessions.Bind(ctx, st.memories.ID())
	if err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	if bound == st.memories.ID() {
		return fmt.Errorf("the memories of the sessions in %s are in %s already: there is nothing to rebuild", shown(cfg.sessions), shown(cfg.memories))
	}
	n, err := st.sessions.Rebind(ctx, st.memories.ID())
	if err != nil {
		return fmt.Errorf("-sessions: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "the memories of %d sessions will be made anew, into %s, when memoryd serves these stores\n"+
		"(not of sessions that are gone, nor what clients have written or changed themselves)\n", n, shown(cfg.memories))
	return err
}
