package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// AuditEntries is how many entries the audit log of an app has at most in a backend that
// Harness.Open opens. A backend may keep a few more.
const AuditEntries = 200

func auditLogCases() []testCase {
	return []testCase{
		{"KeptWhole", auditKeptWhole},
		{"InOrder", auditInOrder},
		{"Selected", auditSelected},
		{"LookAlikes", auditLookAlikes},
		{"Bounded", auditBounded},
		{"AtOnce", auditAtOnce},
	}
}

func (f *fixture) audit(entries ...access.Entry) {
	f.t.Helper()
	if err := f.AppendAudit(f.t.Context(), entries); err != nil {
		f.t.Fatalf("AppendAudit: %v", err)
	}
}

// audited reads all pages of a log.
func (f *fixture) audited(app string, list access.ListAudit) (out []access.Entry) {
	f.t.Helper()
	for range 1000 {
		page, err := f.ListAudit(f.t.Context(), app, list)
		if err != nil {
			f.t.Fatalf("ListAudit(%q): %v", app, err)
		}
		if list.PageSize > 0 && len(page.Entries) > list.PageSize {
			f.t.Fatalf("a page of %d has %d entries", list.PageSize, len(page.Entries))
		}
		out = append(out, page.Entries...)
		if list.PageToken = page.NextPageToken; list.PageToken == "" {
			return out
		}
	}
	f.t.Fatal("the pages do not end")
	return nil
}

func auditIDs(entries []access.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.ID)
	}
	return out
}

// An entry comes back as it was added, also after a restart. An account of who did what
// relies on every field.
func auditKeptWhole(f *fixture) {
	whole := access.Entry{ID: "1", Time: f.now(), Outcome: access.Failed, Actor: "key:k – ž",
		Action: "DELETE x", App: "shop",
		User: "ann \"a\"", Session: "s", Memories: []string{"m1", "m2"}, Operation: "o", Key: "k", Request: "r",
		Address: "::1", Status: 409}
	f.audit(whole)
	f.audit()
	f.reopen()
	if diff := cmp.Diff([]access.Entry{whole}, f.audited("shop", access.ListAudit{})); diff != "" {
		f.t.Error(diff)
	}
}

// The log is read backwards, in the order of adding whatever the times say, and in pages.
func auditInOrder(f *fixture) {
	var want []string
	for i := range 7 {
		f.audit(access.Entry{ID: fmt.Sprint(i), App: "shop", Time: f.now().Add(time.Duration(i%3) * time.Hour)})
		want = append([]string{fmt.Sprint(i)}, want...)
	}
	f.audit(access.Entry{ID: "7", App: "shop"}, access.Entry{ID: "8", App: "shop"}, access.Entry{ID: "x", App: "bank"})
	want = append([]string{"8", "7"}, want...)
	for _, size := range []int{0, 1, 2, 9, 1000} {
		if got := auditIDs(f.audited("shop", access.ListAudit{PageSize: size})); !cmp.Equal(got, want) {
			f.t.Errorf("in pages of %d: %q, want %q", size, got, want)
		}
	}
	for _, bad := range []access.ListAudit{{PageSize: -1}, {PageSize: 1001}, {PageToken: "x"}, {PageToken: "-1"}} {
		if _, err := f.ListAudit(f.t.Context(), "shop", bad); !errors.Is(err, memory.ErrInvalid) {
			f.t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A list has the entries of its user and its times.
func auditSelected(f *fixture) {
	hour := func(n int) time.Time { return f.now().Add(time.Duration(n) * time.Hour) }
	for i := range 6 {
		f.audit(access.Entry{ID: fmt.Sprint(i), App: "shop", User: []string{"ann", "bob", ""}[i%3], Time: hour(i)})
	}
	for name, c := range map[string]struct {
		list access.ListAudit
		want []string
	}{
		"a user":  {access.ListAudit{User: "bob"}, []string{"4", "1"}},
		"nobody":  {access.ListAudit{User: "eve"}, nil},
		"times":   {access.ListAudit{Since: hour(2), Until: hour(4)}, []string{"3", "2"}},
		"both":    {access.ListAudit{User: "ann", Since: hour(1), PageSize: 1}, []string{"3"}},
		"no time": {access.ListAudit{Since: hour(9)}, nil},
	} {
		if got := auditIDs(f.audited("shop", c.list)); !cmp.Equal(got, c.want) {
			f.t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Apps whose names look alike have logs of their own.
func auditLookAlikes(f *fixture) {
	apps := []string{"a", "A", "a:", "*", "a*", "{a}", "é", "e\u0301", "audit"}
	for i, app := range apps {
		f.audit(access.Entry{ID: fmt.Sprint(i), App: app})
	}
	for i, app := range apps {
		if got := auditIDs(f.audited(app, access.ListAudit{})); !cmp.Equal(got, []string{fmt.Sprint(i)}) {
			f.t.Errorf("app %q has %q, want %d", app, got, i)
		}
	}
}

// Of an app that does much the oldest entries go, and those of another app stay.
func auditBounded(f *fixture) {
	f.audit(access.Entry{ID: "calm", App: "bank"})
	var some []access.Entry
	for i := range 5 * AuditEntries {
		some = append(some, access.Entry{ID: fmt.Sprint(i), App: "shop"})
	}
	f.audit(some...)
	got := auditIDs(f.audited("shop", access.ListAudit{PageSize: 1000}))
	if len(got) < AuditEntries || len(got) > 2*AuditEntries || got[0] != fmt.Sprint(5*AuditEntries-1) {
		f.t.Errorf("the log has %d entries, the first of them %q", len(got), got[0])
	}
	if got := auditIDs(f.audited("bank", access.ListAudit{})); !cmp.Equal(got, []string{"calm"}) {
		f.t.Errorf("the other app has %q", got)
	}
}

// Entries that are added at once are all there, each once.
func auditAtOnce(f *fixture) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			entry := access.Entry{ID: fmt.Sprint(i), App: "shop"}
			if err := f.AppendAudit(context.Background(), []access.Entry{entry}); err != nil {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, id := range auditIDs(f.audited("shop", access.ListAudit{PageSize: 3})) {
		seen[id] = true
	}
	if len(seen) != 20 {
		f.t.Errorf("there are %d of 20", len(seen))
	}
}
