package browser

import (
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The first key may administer, and a secret is shown although the dialog that asked for
// it was closed meanwhile, until somebody says to have kept it.
func TestSecretStays(t *testing.T) {
	h := start(t)
	p := h.open("/demo/settings")
	p.shows("main", "There is no key for this app.")
	conditions := []*network.Conditions{{Latency: 1000, DownloadThroughput: -1, UploadThroughput: -1}}
	if _, err := chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: conditions}); err != nil {
		t.Fatal(err)
	}
	p.press("main", "Make a key")
	p.sees("it may administer", `document.querySelector("dialog [value=admin]").checked`)
	p.press("dialog .row.end", "Make it")
	p.press("dialog .row.end", "Cancel")
	p.shows("dialog .secret", "memoryd_")
	p.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape))
	p.shows("dialog .secret", "memoryd_")
	p.press("dialog", "I have kept it")
	p.shows("main", "Sign in")
}
