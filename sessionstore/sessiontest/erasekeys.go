package sessiontest

import (
	"fmt"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/memory"
)

// The keys that are bound to a user go with the user, and no others.
func eraseKeysOf(f *fixture) {
	bound := f.callerKey("k1", "shop")
	bound.User = zoe.User
	f.makeKey(bound)
	f.makeKey(f.callerKey("k2", "shop"))
	was := f.revision()
	if err := f.EraseKeys(f.t.Context(), "shop", zoe.User); err != nil {
		f.t.Fatal(err)
	}
	_, err := f.Key(f.t.Context(), "k1")
	f.isA("Key", err, memory.ErrNotFound)
	f.equal("keys", f.keyIDs("shop", 10), []string{"k2"})
	f.equal("it counts as a change", f.revision() > was, true)
	f.keepsNone(zoe.User)
}

// Entries stay, in their order, without the ids of a user that was erased: the same
// pseudonym stands for the same id. An account of who did what outlives what it is of.
func eraseAuditIDs(f *fixture) {
	for i := range 120 {
		e := access.Entry{ID: fmt.Sprint(i), Time: f.now(), Outcome: access.Done, Actor: "key:k", Action: "POST x",
			App: "shop", User: "bob", Session: "s"}
		if i%3 == 0 {
			e.User, e.Session, e.Memories, e.Operation = zoe.User, "talk-okapi", []string{"m-dugong"}, "op-numbat"
		}
		f.audit(e)
	}
	f.audit(access.Entry{ID: "elsewhere", Time: f.now(), App: "shop2", User: "zoe"})
	before := f.audited("shop", access.ListAudit{})
	if err := f.RewriteAudit(f.t.Context(), "shop", func(e *access.Entry) bool {
		return e.Anonymize("secret", zoe, "")
	}); err != nil {
		f.t.Fatal(err)
	}
	f.keepsNone(zoe.User, "okapi", "dugong", "numbat")
	after := f.audited("shop", access.ListAudit{PageSize: 7})
	f.equal("ids", auditIDs(after), auditIDs(before))
	for i, e := range after {
		if before[i].User != zoe.User {
			f.equal("an entry of another", e, before[i])
			continue
		}
		f.equal("pseudonym", e.User, access.Pseudonym("secret", "shop", "user", zoe.User))
		f.equal("outcome", e.Outcome, access.Done)
	}
	f.audit(access.Entry{ID: "later", Time: f.now(), App: "shop"})
	f.equal("the newest", f.audited("shop", access.ListAudit{})[0].ID, "later")
	f.equal("the other app", f.audited("shop2", access.ListAudit{})[0].User, "zoe")
}
