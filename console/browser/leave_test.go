package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// A dialog goes with the place that it is about, and an undo takes a change back without
// showing its memory in the place of another one. After an error the way back works. An
// address with a segment of dots, which fetch would resolve, is no place.
func TestLeave(t *testing.T) {
	h := start(t)
	h.tell("s", "I live in Porto. I love trams.")
	trams, porto := "/demo/users/maya/memories/"+h.idOf("trams"), "/demo/users/maya/memories/"+h.idOf("Porto")
	p := h.open(trams)
	p.press(".detail", "Edit")
	p.shows("dialog", "Correct this memory")
	p.to("/demo/users/bob")
	p.sees("the dialog goes", `!document.querySelector("dialog")`)
	for place, then := range map[string]string{porto: ".detail .fact", "/demo/users/maya/sessions": "main .list"} {
		p.to(trams)
		p.press(".detail", "Edit")
		p.do(chromedp.SetValue(chromedp.CSS(`dialog textarea`), "I love buses."))
		p.press("dialog", "Save")
		p.shows("#toasts", "Corrected")
		p.to(place)
		p.sees("the other place", fmt.Sprintf(`document.querySelector(%q) && !document.querySelector(%[1]q).innerText.includes("buses")`, then))
		p.press("#toasts", "Undo")
		p.shows("#toasts", "Undone.")
		p.hides(".detail .fact", "trams")
	}
	p.to("/demo/users/maya")
	p.shows(".memory-list", "trams")
	p.leave("/demo/users/maya?q=kind+%3D")
	p.shows(".list-column .problem", "filter")
	p.shows(".filters", "Words, or a filter expression")
	p.leave("/demo/users/maya?q=at+10:30")
	p.shows("#main", "No memory passes these filters.")
	p.leave("/demo/users/maya")
	p.shows(".memory-list", "trams")
	for _, outside := range []string{"/demo/users/..", "/demo/users/%2e%2e/memories/" + h.idOf("trams"), "/./users/maya"} {
		p.leave(outside)
		p.shows("#main", "The console has no such place.")
	}
}
