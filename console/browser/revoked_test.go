package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A key that no header can have is refused where it is typed, and a session that is open
// while its key is revoked hides its words.
func TestRevoked(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto.")
	h.key = h.call("POST", "/v1/apps/demo/keys", map[string]any{"can": []string{"read", "write", "admin"}})["key"].(string)
	mine := h.call("POST", "/v1/apps/demo/keys", map[string]any{"can": []string{"read"}})["key"].(string)
	p := h.open("/demo/users/maya/sessions/s")
	for _, key := range []string{"memoryd_\u200babc", mine} {
		p.shows("main", "Sign in")
		p.do(chromedp.SetValue(chromedp.CSS(`[name=key]`), key))
		p.press(".sign-in", "Sign in")
		if key != mine {
			p.shows("main .problem", "This is no key")
		}
	}
	p.shows(".conversation", "Porto")
	h.call("DELETE", "/v1/apps/demo/keys/"+strings.Split(mine, "_")[1], nil)
	p.shows("main", "This key is not valid")
	p.hides("main", "Porto")
}
