package client

import (
	"context"
	"net/http"
)

// Counts is how many memories and sessions a user has. Deleted and expired ones count
// nowhere, and quarantined ones in no figure but their own.
type Counts struct {
	Facts       int `json:"facts"`      // that hold now
	Superseded  int `json:"superseded"` // facts and values of profiles that do not hold now
	Turns       int `json:"turns"`
	Values      int `json:"values"` // of profiles, that hold now
	Quarantined int `json:"quarantined"`
	Sessions    int `json:"sessions"`
}

// Counts counts what the user has. memoryd reads through all of it.
func (u *User) Counts(ctx context.Context) (out Counts, err error) {
	err = u.do(ctx, call{method: http.MethodGet, path: "/counts", answer: &out, idempotent: true})
	return out, err
}
