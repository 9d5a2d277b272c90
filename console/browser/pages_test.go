package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// offline cuts a tab off from its memoryd, or lets it back.
func (p *tab) offline(away bool) {
	p.t.Helper()
	conditions := []*network.Conditions{{Offline: away, DownloadThroughput: -1, UploadThroughput: -1}}
	if _, err := chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: conditions}); err != nil {
		p.t.Fatal(err)
	}
}

// A long session is read by the page: the last turns, or those around the turn that a link
// names. Others follow by a button. An event that is dated before others comes in its
// place, and a memoryd that goes away meanwhile is told of beside the turns.
func TestLongSession(t *testing.T) {
	h := start(t)
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	say := func(id string, minute int, words string) any {
		return map[string]any{"id": id, "author": "user", "content": words, "timestamp": began.Add(time.Duration(minute) * time.Minute)}
	}
	tell := func(events ...any) {
		h.call("POST", "/v1/apps/demo/users/maya/memories/ingest?wait=true", map[string]any{"sessionId": "long", "events": events})
	}
	var events []any
	for i := range 700 {
		words := fmt.Sprintf("Well, that was number %d.", i)
		if i == 150 {
			words = "I love trams."
		}
		events = append(events, say(fmt.Sprint("e", i), i, words))
	}
	tell(events...)
	p := h.open("/demo/users/maya/memories/" + h.idOf("trams"))
	p.press(".detail", "The turn in session")
	p.shows(".turn.sought .spoken", "I love trams.")
	p.shows(".turn.sought .made", "I love trams.")
	p.sees("what was said before it", `document.querySelector(".turn.sought").previousElementSibling.innerText.includes("number 149.")`)
	p.sees("one page of turns", `document.querySelectorAll(".turn").length === 200`)
	p.press("main", "Show earlier turns")
	p.sees("the first turn", `document.querySelector(".turn").id === "event-e0"`)
	p.press("main", "Show later turns")
	p.sees("turns in order, each once", `(() => {
		const numbers = [...document.querySelectorAll(".turn")].map((e) => Number(e.id.slice("event-e".length)));
		return numbers.length > 400 && numbers.every((n, i) => n === i);
	})()`)

	p.sees("that only the first page has the state", `(() => {
		const reads = performance.getEntriesByType("resource").map((e) => new URL(e.name))
			.filter((u) => u.pathname.endsWith("/sessions/long")).map((u) => u.searchParams);
		const bare = (q) => q.get("state") === "false";
		return reads.some((q) => q.get("pageSize") === "1" && bare(q)) && reads.filter((q) => q.has("pageToken")).every(bare);
	})()`)

	p.to("/demo/users/maya/sessions/long")
	// Chromium renders the turns in sight alone, so that others have no text to show.
	has := func(selector, text string) {
		t.Helper()
		p.sees(selector+" has "+text, fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, text))
	}
	has("#event-e699", "number 699.")
	p.sees("one page of turns", `document.querySelectorAll(".turn").length === 200`)
	tell(say("late", 650, "I love buses."), say("new", 701, "I love boats."))
	has("#event-new .made", "I love boats.")
	p.sees("the late turn in its place", `document.querySelector("#event-late").previousElementSibling.id === "event-e650"`)
	p.offline(true)
	p.shows("main [role=status]", "memoryd does not answer")
	has("#event-new", "I love boats.")
	p.offline(false)
	p.hides("main [role=status]", "memoryd does not answer")
}

// Turns that come meanwhile hide none of the earlier ones.
func TestEarlierOfGrowingSession(t *testing.T) {
	h := start(t)
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	tell := func(from, to int) {
		var events []any
		for i := from; i < to; i++ {
			words := fmt.Sprintf("Well, that was number %d.", i)
			if i == 350 {
				words = "I love trams."
			}
			events = append(events, map[string]any{"id": fmt.Sprint("e", i), "author": "user", "content": words,
				"timestamp": began.Add(time.Duration(i) * time.Minute)})
		}
		h.call("POST", "/v1/apps/demo/users/maya/memories/ingest?wait=true", map[string]any{"sessionId": "long", "events": events})
	}
	tell(0, 700)
	p := h.open("/demo/users/maya/memories/" + h.idOf("trams"))
	p.press(".detail", "The turn in session")
	p.shows(".turn.sought .spoken", "I love trams.")
	tell(700, 705)
	p.press("main", "Show earlier turns")
	p.sees("turns before them", `document.querySelectorAll(".turn").length > 300 && !document.querySelector("main button:disabled")`)
	p.press("main", "Show earlier turns")
	p.sees("the first turn", `document.querySelector(".turn").id === "event-e0"`)
	p.hides("main", "Show earlier turns")
}

// A time or a filter of the address that cannot be read is said in place, and the form
// stays to mend it. A time without a zone is none: it means another one elsewhere.
func TestBadAddress(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	p := h.open("/demo/users/maya?from=soon")
	p.shows(".list-column .problem", "from=soon in the address is no day")
	p.shows(".filters", "Words, or a filter expression")
	p.leave("/demo/users/maya?to=2026-13-01")
	p.shows(".list-column .problem", "to=2026-13-01")
	const search = "/demo/users/maya/search?q=Where%3F&"
	for parameter, says := range map[string]string{
		"asOf=soon": "is no time", "asOf=2026-03-01T10:00": "says no zone", "filter=kind+%3D": "filter", "asOf=2020-01-01T00:00:00Z": "Nothing is found",
	} {
		p.leave(search + parameter)
		p.shows("main .columns-2", says)
		p.sees("the question stays", `document.querySelector("[name=q]").value === "Where?"`)
	}
	p.leave(search + "asOf=2026-03-01T10:00:00Z")
	p.sees("the time in the control", `document.querySelector("[name=asOf]").value.startsWith("2026-03-01T10:00") || new Date().getTimezoneOffset() !== 0`)

	// Without a clipboard, as by http from another machine, the link is shown.
	p.sees("no clipboard", `Object.defineProperty(navigator, "clipboard", { value: undefined }) && !navigator.clipboard`)
	p.press(".search-form", "Copy the link")
	p.sees("the link, chosen", `document.activeElement.matches("dialog input") && document.activeElement.value === location.href`)
	p.press("dialog", "Done")
}

// The undo of a deletion brings back what was deleted, although somebody else has changed
// it since it was read. A memory of many revisions shows them by the page.
func TestUndoOfOthers(t *testing.T) {
	h := start(t)
	h.tell("s", "I love trams.")
	id := h.idOf("trams")
	p := h.open("/demo/users/maya/memories/" + id)
	p.shows(".detail .fact", "trams")
	for i := range 60 {
		h.call("PATCH", "/v1/apps/demo/users/maya/memories/"+id, map[string]any{"fact": fmt.Sprintf("I love tram %d.", i)})
	}
	p.press(".detail", "Delete")
	p.press("dialog .row.end", "Delete")
	p.shows(".detail", "This memory was deleted")
	p.press("#toasts", "Undo")
	p.shows(".detail .fact", "I love tram 59.")
	p.shows(".revisions", "63. Changed")
	p.sees("all revisions by scrolling", `scrollTo(0, 1e6), document.querySelectorAll(".revisions li").length === 63`)
}

// An app and a user show how much of their limits is used, as a meter with its words.
func TestLimits(t *testing.T) {
	h := serve(t, "serve", "-listen", "127.0.0.1:0", "-data", t.TempDir(), "-log-level", "error", "-user-sessions", "4",
		"-app-rate", "500", "-user-memories", "10")
	h.fill()
	p := h.open("/demo")
	p.shows(".limits", "What the app shares: memories\n0 of 100,000")
	p.shows(".limits", "The app: requests at once")
	p.hides(".limits", "The user")
	p.to("/demo/users/maya/operations")
	p.shows(".limits", "The user: sessions\n3 of 4")
	p.sees("the meter", `document.querySelector("meter[aria-label=user-sessions]").value === 3`)
	p.hides(".limits", "The app")
}

// The operations of an app are those of all its users, narrowed by state and user; home leads
// to those that wait and that failed.
func TestAppOperations(t *testing.T) {
	h := start(t)
	h.fill()
	h.call("POST", "/v1/apps/demo/users/bob/memories/ingest", map[string]any{"sessionId": "later", "trigger": map[string]any{"idle": "1h"},
		"events": []any{map[string]any{"id": "e1", "author": "user", "content": "I love boats."}}})
	p := h.open("/")
	p.shows(".tiles", "1 session until a trigger fires")
	p.do(chromedp.Click(chromedp.CSS(`.tile a[href*="PENDING"]`)))
	p.shows(".list", "pending")
	p.sees("the one that waits", `document.querySelectorAll(".list > li").length === 1`)
	p.do(chromedp.SetValue(chromedp.CSS(`[name=state]`), ""), chromedp.SendKeys(chromedp.CSS(`[name=user]`), "maya"+kb.Enter))
	p.sees("those of a user", `location.hash === "#/demo/operations?user=maya" && document.querySelectorAll(".list > li").length === 3`)
	p.press(".list", "Session oslo")
	p.press("main", "Undo all of it")
	p.shows("dialog", "I live in Oslo now.")
	p.press("dialog button[type=submit], dialog .row", "Undo all of it")
	p.shows("main", "Undoes an operation")
	p.to("/demo/operations?state=FAILED")
	p.shows("main", "There is no such operation")
}
