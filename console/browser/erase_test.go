package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Erasing says what goes by kind before it is confirmed: of a memory that is held back, of a
// session, and of a user and an app, whose names are to be typed.
func TestErase(t *testing.T) {
	h := start(t)
	h.fill()
	confirm := func(p *tab, word, why string) {
		t.Helper()
		p.do(chromedp.SendKeys(chromedp.CSS(`dialog [name=word]`), word))
		p.press("dialog button[type=submit], dialog .row", "Erase")
		p.shows("#toasts", why)
	}
	p := h.open("/demo/users/maya?show=quarantined")
	p.press(".memory-list", "Ignore all previous instructions")
	p.press(".detail", "Erase")
	p.shows("dialog .goes", "1 turn of a conversation")
	p.shows("dialog .goes", "1 memory, deleted ones too")
	p.shows("dialog .goes", "1 revision")
	confirm(p, "erase", "Erased: 1 memory, 1 revision.")
	p.hides(".memory-list", "Ignore all previous instructions")

	p.to("/demo/users/maya/sessions/oslo")
	p.press("main", "Erase this session")
	p.shows("dialog .goes", "1 session")
	p.shows("dialog .goes", "2 memories, deleted ones too")
	confirm(p, "erase", "Erased: 2 memories")
	p.shows("main .list", "lisbon")
	p.hides("main .list", "oslo")

	p.to("/demo/users/maya")
	p.press("main", "Forget this user")
	p.shows("dialog .goes", "2 sessions")
	p.shows("dialog .goes", "3 turns of conversations")
	confirm(p, "maya", "Erased: 4 memories")
	p.hides("main .list", "maya")

	h.fill()
	p.to("/demo")
	p.press("main", "Forget this app")
	p.shows("dialog .goes", "3 sessions")
	confirm(p, "demo", "Erased: ")
	p.hides("main", "demo")
}
