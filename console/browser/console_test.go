package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A person finds a fact, sees the words it rests on, corrects it, sees the revision, and
// takes that back.
func TestCorrect(t *testing.T) {
	h := start(t)
	h.tell("s", "I am allergic to peanuts. I love the trams of Porto.")
	p := h.open("/")
	p.shows(".tiles", "Ready")
	p.press(".list", "demo")
	p.press("#main", "maya")
	p.do(chromedp.SendKeys(chromedp.CSS(`[name=q]`), "peanut"+kb.Enter))
	p.hides(".memory-list", "trams")
	p.press(".memory-list", "I am allergic to peanuts.")
	p.shows(".detail blockquote", "I am allergic to peanuts.")
	p.press(".detail", "Edit")
	p.do(chromedp.SetValue(chromedp.CSS(`dialog textarea`), "I am allergic to walnuts."))
	p.press("dialog", "Save")
	p.shows(".detail .fact", "walnuts")
	p.shows(".memory-list", "walnuts")
	p.shows(".revisions", "2. Changed")
	p.press("#toasts", "Undo")
	p.shows(".detail .fact", "peanuts")
	p.shows(".revisions", "3. Changed")

	// The words stand in their session, with the fact beside them.
	p.press(".detail", "The turn in session")
	p.shows(".turn.sought .spoken", "I love the trams of Porto.")
	p.shows(".turn.sought .made", "I am allergic to peanuts.")
	p.press(".turn.sought .made", "I am allergic")

	p.press(".detail", "Delete")
	p.press("dialog", "Delete")
	p.shows(".detail", "This memory was deleted")
	p.press("#toasts", "Undo")
	p.shows(".detail .fact", "peanuts")
	p.press(".detail", "Erase")
	p.shows("dialog li", "3 memories, deleted ones too")
	p.do(chromedp.SendKeys(chromedp.CSS(`dialog [name=word]`), "erase"))
	p.press("dialog button[type=submit], dialog .row", "Erase")
	p.shows(".detail", "There is no such memory")
	p.shows("#toasts", "Erased: 3 memories")
	p.hides(".memory-list", "trams")
}

// A search shows the parts of each score as bars and in words, the block for a prompt,
// and two settings side by side. Its address has all of it.
func TestSearch(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.", "My sister Rita plays the cello.")
	p := h.open("/demo/users/maya/search")
	p.sees("the question has the focus", `document.activeElement.name === "q"`)
	p.do(chromedp.SendKeys(chromedp.CSS(`[name=q]`), "Where do I live?"+kb.Enter))
	p.shows(".match", "I live in Porto.")
	p.sees("bars", `[...document.querySelectorAll(".match")].every((m) => {
		const pieces = [...m.querySelectorAll(".part")].map((e) => e.getBoundingClientRect().width);
		return pieces.length > 2 && Math.max(...pieces) > 20;
	})`)
	p.press(".match", "Parts")
	p.sees("the parts add up to the score", `(() => {
		const match = document.querySelector(".match");
		const adds = [...match.querySelectorAll("tbody tr")].map((r) => Number(r.lastChild.textContent));
		return Math.abs(adds.reduce((a, b) => a + b, 0) - Number(match.querySelector(".score").textContent)) < 0.02;
	})()`)
	p.press("details.card", "Context block")
	p.shows("details.card pre", "I live in Porto.")
	p.press(".search-form", "Settings")
	p.press(".search-form", "Compare with a second setting")
	p.sees("two columns", `document.querySelectorAll(".column").length === 2`)
	p.do(chromedp.SetValue(chromedp.CSS(`[name=topK2]`), "1"), chromedp.SendKeys(chromedp.CSS(`[name=q]`), kb.Enter))
	p.sees("the second setting has one match", `document.querySelectorAll(".column")[1]?.querySelectorAll(".match").length === 1`)

	address, err := chromedp.Run(p.ctx, chromedp.Location())
	if err != nil {
		t.Fatal(err)
	}
	_, place, _ := strings.Cut(address, "#")
	again := h.open(place)
	again.sees("the link leads to the same", `document.querySelectorAll(".column")[1]?.querySelectorAll(".match").length === 1`)
}

// Without a key, and with a wrong one, a page shows nothing but signing in. One with a
// key for another user says so.
func TestKeys(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	for _, user := range []string{"", "bob"} {
		made := h.call("POST", "/v1/apps/demo/keys", map[string]any{"can": []string{"read", "admin"}, "userId": user})
		if user == "" {
			h.key = made["key"].(string)
			continue
		}
		p := h.open("/demo/users/maya")
		p.shows("#main", "Sign in")
		signIn := func(key string) {
			p.do(chromedp.SetValue(chromedp.CSS(`[name=key]`), key))
			p.press(".sign-in", "Sign in")
		}
		signIn("memoryd_wrong")
		p.shows("#main .problem", "This key is not valid")
		p.hides("body", "Porto")
		signIn(made["key"].(string))
		p.shows("#main", "This key may not look here")
		p.hides("body", "Porto")
		signIn(h.key)
		p.shows(".memory-list", "I live in Porto.")

		// The key is revoked while the page is open.
		id := strings.Split(h.key, "_")[1]
		h.call("DELETE", "/v1/apps/demo/keys/"+id, nil)
		p.sees("the revoked key is refused", `(async () => {
			location.hash = "#/demo/users/maya?show=" + (window.n = (window.n ?? 0) + 1);
			await new Promise((r) => setTimeout(r, 300));
			return document.querySelector(".sign-in") !== null && !document.body.innerText.includes("Porto");
		})()`)
	}
}

// hostile are texts that try to be more than text.
var hostile = []string{
	`<script>document.title = "taken"</script>`,
	`<img src=x onerror="document.title='taken'"><h1>big</h1>`,
	"abc \u202e txet desrever \u2066 isolate without an end",
	strings.Repeat("x", 64<<10-100),
	`"><a href="javascript:document.title='taken'">click</a>`,
}

// The words of a fact are shown as text: on each page, at each width.
func TestHostileFacts(t *testing.T) {
	h := start(t)
	for i, fact := range hostile {
		h.call("POST", "/v1/apps/demo/users/maya/memories", map[string]any{"id": fmt.Sprintf("h%d", i), "fact": fact})
		h.tell(fmt.Sprintf("s%d", i), fact)
	}
	p := h.open("/")
	for _, width := range []int64{380, 1600} {
		p.do(chromedp.EmulateViewport(width, 800))
		for _, place := range []string{"/demo/users/maya", "/demo/users/maya/memories/h0", "/demo/users/maya/memories/h2", "/demo/users/maya/memories/h3",
			"/demo/users/maya/sessions/s1", "/demo/users/maya/sessions/s3", "/demo/users/maya/search?q=script", "/demo/users/maya/operations"} {
			p.to(place)
			p.sees("the page of "+place, `document.querySelector("#main .said, #main .list, #main .match")`)
			p.sees("no markup at "+place, `document.title !== "taken" && !document.querySelector("#main script, #main img, #main h1 h1, a[href^=javascript]")`)
			p.sees(fmt.Sprintf("%s fits into %d px", place, width), `document.documentElement.scrollWidth <= window.innerWidth`)
			p.sees("every text keeps its direction", `[...document.querySelectorAll("bdi")].every((e) => getComputedStyle(e).unicodeBidi === "isolate")`)
		}
	}
}

// The days of a user show what was learned and what has ended, and lead to the facts.
func TestDays(t *testing.T) {
	h := start(t)
	h.fill()
	p := h.open("/demo")
	p.shows("main .list", "2 facts")
	p.shows("main .list", "1 quarantined")
	p.press("main", "maya")
	p.shows(".figures", "1 superseded")
	p.press("#tabs", "Days")
	p.sees("three learned and one ended", `[...document.querySelectorAll(".days tbody td:not(.chart)")].map((e) => e.textContent).join() === "3,0,1,0"`)
	p.do(chromedp.Click(chromedp.CSS(".days td:nth-child(5) a")))
	p.shows(".memory-list", "I live in Alfama now.")
	p.hides(".memory-list", "Oslo")

	h.call("POST", "/v1/apps/demo/users/maya/memories/ingest?wait=true", map[string]any{"sessionId": "oslo", "events": []any{
		map[string]any{"id": "forget", "author": "user", "content": "Forget that I love Thai food."}}})
	p.press("#tabs", "Days")
	p.sees("one forgotten", `document.querySelector(".days tbody td:last-child")?.textContent === "1"`)
	p.do(chromedp.Click(chromedp.CSS(".days td:last-child a")))
	p.shows(".memory-list", "I love Thai food.")
	p.shows(".memory-list .tag.bad", "by rules")
	p.press(".memory-list", "I love Thai food.")
	p.shows(".detail", "This memory was deleted")
}

// An old link leads to a page that says so, and on.
func TestGone(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	p := h.open("/demo/users/maya/sessions/none")
	p.shows("#main", "There is nothing here")
	p.press("#main", "To this user")
	p.shows(".memory-list", "I live in Porto.")
	p = h.open("/demo/users/maya/memories/none")
	p.shows(".detail", "There is no such memory")
	p = h.open("/demo/users/%E0%A4%A/x")
	p.shows("#main", "There is nothing here")
}

// While memoryd does not answer the page says so and keeps the words that were typed. It
// goes on by itself once memoryd is back.
func TestAway(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	p := h.open("/demo/users/maya/memories/" + h.idOf("Porto"))
	p.press(".detail", "Edit")
	p.do(chromedp.SetValue(chromedp.CSS(`dialog textarea`), "I live in Porto, by the river."))
	p.offline(true)
	p.press("dialog", "Save")
	p.shows("dialog .problem", "memoryd does not answer")
	p.sees("the words are still there", `document.querySelector("dialog textarea").value === "I live in Porto, by the river."`)
	p.offline(false)
	p.press("dialog", "Save")
	p.shows(".detail .fact", "by the river")
	p.offline(true)
	p.leave("/demo/users/maya/sessions")
	p.shows("#away", "memoryd does not answer")
	p.offline(false)
	p.shows("main .list", "changed")
	p.sees("the banner goes", `document.getElementById("away").hidden`)
}

// memoryd demo -serve leads to a tour over its data, of six steps that each find their
// page filled.
func TestTour(t *testing.T) {
	h := serve(t, "demo", "-serve", "-listen", "127.0.0.1:0")
	p := h.open("/?tour=1")
	for i, shows := range []string{"Ready", "peanuts", "I moved to Porto", "find_restaurants", "outdated", "Acme"} {
		p.shows("#tour h2", fmt.Sprintf("%d of 6", i+1))
		p.shows("main", shows)
		if i < 5 {
			p.press("#tour", "Next")
		}
	}
	p.press("#tour", "Done")
	p.sees("the strip goes", `!document.getElementById("tour")`)
	p.press("main", "Ignore all previous instructions")
	p.press(".detail", "Reject")
	p.shows("#toasts", "Rejected")
}

// An operation shows its changes, and an undo shows what it will change before it does.
func TestOperations(t *testing.T) {
	h := start(t)
	h.fill()
	p := h.open("/demo/users/maya/operations")
	p.press("main .list", "Session oslo")
	p.shows(".changes", "I live in Oslo now.")
	p.shows(".properties", "Took")
	p.shows(".changes", "holds until")
	p.press("main", "Undo all of it")
	p.shows("dialog .changes", "I live in Oslo now.")
	p.press("dialog .row", "Undo all of it")
	p.shows("main h1", "Undoes an operation")
	p.shows(".changes", "I live in Alfama now.")
	p.press("#tabs", "Memories")
	p.shows(".memory-list", "I live in Alfama now.")
	p.hides(".memory-list", "Oslo")
}

// The configuration is checked while somebody types, a key is shown once, and from the
// first key on the page asks for one.
func TestSettings(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	p := h.open("/demo/settings")
	p.shows("main", "There is no key for this app.")
	config := func(text string) {
		t.Helper()
		p.sees("the configuration can be written", fmt.Sprintf(`(() => {
			const input = document.querySelector("textarea.code");
			input.value = %q;
			return input.dispatchEvent(new Event("input"));
		})()`, text))
	}
	config(`{"managedTopic": {}}`)
	p.shows("#config-verdict.problem", `There is no field "managedTopic"`)
	p.sees("it cannot be saved", `[...document.querySelectorAll("button")].find((b) => b.textContent === "Save").disabled`)
	config(`{"ttl": {"created": "soon"}}`)
	p.press("main", "Save")
	p.shows("main .problem", "ttl.created")
	config(`{"search": {"topK": 20}}`)
	p.press("main", "Save")
	p.shows("#toasts", "Saved: this is revision 1.")
	p.press("main", "Make a key")
	p.do(chromedp.SendKeys(chromedp.CSS(`dialog [name=name]`), "of the page"))
	p.press("dialog .row.end", "Make it")
	p.shows("dialog .secret", "memoryd_")
	key, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.querySelector(".secret").textContent`))
	if err != nil {
		t.Fatal(err)
	}
	p.press("dialog", "I have kept it")
	p.shows("main", "Sign in")
	p.do(chromedp.SetValue(chromedp.CSS(`[name=key]`), key))
	p.press(".sign-in", "Sign in")
	p.shows("main .list", "of the page")
	p.hides("body", key)
	p.press("main .list", "Revoke")
	p.press("dialog .row.end", "Revoke")
	p.shows("main", "This key is not valid")
}

// A fact is found, corrected and saved by keyboard alone, and a dialog gives the focus
// back to the button that opened it.
func TestKeyboard(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	p := h.open("/demo/users/maya")
	p.shows(".memory-list", "Porto")
	// tab moves the focus on until an element has it.
	tab := func(selector, text string) {
		t.Helper()
		for range 60 {
			p.do(chromedp.KeyEvent(kb.Tab))
			there, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](fmt.Sprintf(
				`document.activeElement.matches(%q) && document.activeElement.innerText.includes(%q)`, selector, text)))
			if err != nil {
				t.Fatal(err)
			}
			if there {
				return
			}
		}
		t.Fatalf("the focus does not come to %s %q", selector, text)
	}
	tab("a", "Skip to the content")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.sees("the content has the focus, and the place stays", `document.activeElement.id === "main" && location.hash === "#/demo/users/maya"`)
	tab("a.memory-row", "Porto")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.shows(".detail .fact", "Porto")
	tab(".detail button", "Edit")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.sees("the words have the focus", `document.activeElement.matches("dialog textarea")`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.sees("the button has the focus again", `!document.querySelector("dialog") && document.activeElement.innerText === "Edit"`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.sees("the words have the focus", `document.activeElement.matches("dialog textarea")`)
	p.do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(" By the river."))
	tab("dialog button", "Save")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.shows(".detail .fact", "I live in Porto. By the river.")
	p.sees("screen readers are told", `document.getElementById("toasts").innerText.includes("Corrected")`)
}

// A session shows events as they arrive, and the memories that are made of them.
func TestLive(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	p := h.open("/demo/users/maya/sessions/s")
	p.shows(".conversation", "I live in Porto.")
	h.call("POST", "/v1/apps/demo/users/maya/memories/ingest?wait=true", map[string]any{"sessionId": "s",
		"events": []any{map[string]any{"id": "later", "author": "user", "content": "I love trams."}}})
	p.shows(".conversation .spoken", "I love trams.")
	p.shows("#event-later .made", "I love trams.")
}
