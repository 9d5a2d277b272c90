package movein

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memoryd/memoryd/memory"
)

// Counts are what was found of one user.
type Counts struct{ Sessions, Events, Memories int }

// Left is a reason for which items are not taken.
type Left struct {
	Reason string
	Count  int
	First  string // the place of the first one, and what is wrong with it
}

// Report says what Convert has found.
type Report struct {
	Users map[memory.Scope]*Counts
	// Quarantined memories are taken, and hidden until a review, as they read like orders
	// to an agent.
	Quarantined int
	taken       bool // at least one item
	left        map[string]*Left
}

func newReport() *Report {
	return &Report{Users: map[memory.Scope]*Counts{}, left: map[string]*Left{}}
}

// user returns the counts of a user, of whom an item is taken.
func (r *Report) user(scope memory.Scope) *Counts {
	r.taken = true
	c := r.Users[scope]
	if c == nil {
		c = &Counts{}
		r.Users[scope] = c
	}
	return c
}

// leave counts an item that is not taken. Reasons are few, so that they can be counted:
// what is particular to the item is in detail.
func (r *Report) leave(reason, place, detail string) {
	l := r.left[reason]
	if l == nil {
		if detail != "" {
			place += ": " + detail
		}
		l = &Left{Reason: reason, First: memory.Cut(place, 300)}
		r.left[reason] = l
	}
	l.Count++
}

// Left returns why items were not taken, the most frequent reason first.
func (r *Report) Left() []Left {
	out := make([]Left, 0, len(r.left))
	for _, l := range r.left {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Left) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// empty reports whether not one item was met.
func (r *Report) empty() bool { return !r.taken && len(r.left) == 0 }

// Taken reports whether at least one item is taken: a session, a memory, or state that
// sessions share.
func (r *Report) Taken() bool { return r.taken }

// maxUsers is how many users Write names.
const maxUsers = 50

// Write writes the report for people: a line for each user, and one for each reason.
func (r *Report) Write(w io.Writer) error {
	// Sorted, so that two runs can be compared.
	scopes := slices.SortedFunc(maps.Keys(r.Users), func(a, b memory.Scope) int {
		return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.User, b.User))
	})
	var out strings.Builder
	total := Counts{}
	for i, scope := range scopes {
		c := r.Users[scope]
		total.Sessions, total.Events = total.Sessions+c.Sessions, total.Events+c.Events
		total.Memories += c.Memories
		if i < maxUsers {
			fmt.Fprintf(&out, "%s: %v\n", scope.Owner(), *c)
		}
	}
	if len(scopes) > maxUsers {
		fmt.Fprintf(&out, "and %d more users\n", len(scopes)-maxUsers)
	}
	// The sum of one user is that user's line.
	if len(scopes) != 1 {
		fmt.Fprintf(&out, "together: %v\n", total)
	}
	if r.Quarantined > 0 {
		fmt.Fprintf(&out, "of the memories %d read like orders to an agent: they are hidden until a review\n",
			r.Quarantined)
	}
	for _, l := range r.Left() {
		fmt.Fprintf(&out, "left out: %d: %s (first: %s)\n", l.Count, l.Reason, l.First)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// String is the counts in words.
func (c Counts) String() string {
	return fmt.Sprintf("%d sessions with %d events, %d memories", c.Sessions, c.Events, c.Memories)
}
