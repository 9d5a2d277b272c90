package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A key that is revoked while a dialog is open is asked for above it: another one saves
// the words that were typed.
func TestSignInAgain(t *testing.T) {
	h := start(t)
	h.tell("s", "I love trams.")
	trams := "/demo/users/maya/memories/" + h.idOf("trams")
	issue := func() string {
		return h.call("POST", "/v1/apps/demo/keys", map[string]any{"can": []string{"read", "write", "admin"}})["key"].(string)
	}
	h.key = issue()
	mine := issue()
	p := h.open(trams)
	p.shows("main", "Sign in")
	p.do(chromedp.SetValue(chromedp.CSS(`[name=key]`), mine))
	p.press(".sign-in", "Sign in")
	p.press(".detail", "Edit")
	p.do(chromedp.SetValue(chromedp.CSS(`dialog textarea`), "I love buses."))
	h.call("DELETE", "/v1/apps/demo/keys/"+strings.Split(mine, "_")[1], nil)
	p.press("dialog", "Save")
	p.shows("dialog", "Sign in again")
	p.do(chromedp.SetValue(chromedp.CSS(`dialog [name=key]`), h.key))
	p.press("dialog", "Sign in")
	p.shows("#toasts", "Corrected")
	p.shows(".detail .fact", "buses")
}
