package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// axeVersion is the axe-core that checks the pages.
const axeVersion = "4.14.1"

// axe reads axe-core from npm.
func axe(t *testing.T) string {
	t.Helper()
	if os.Getenv("MEMORYD_TEST_CLIENTS") != "1" {
		t.Skip("axe-core comes from npm: MEMORYD_TEST_CLIENTS=1")
	}
	if venv := os.Getenv("MEMORYD_TEST_VENV"); venv != "" { // it has a Node
		t.Setenv("PATH", filepath.Join(venv, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	dir := t.TempDir()
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@"+axeVersion)
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// axe-core finds nothing serious on any page and in dialogs, in light and wide, in dark
// and narrow.
func TestAccessible(t *testing.T) {
	script := axe(t)
	h := start(t)
	h.fill()
	id := h.idOf("Oslo")
	places := map[string]string{ // with a text that the page has once it is there
		"/": "Ready", "/demo": "maya", "/demo/settings": "Audit log", "/demo/users/maya?show=history": "Oslo",
		"/demo/users/maya/memories/" + id: "Revisions", "/demo/users/maya?show=quarantined": "Ignore all previous",
		"/demo/users/maya/search?q=Where+does+Maya+live&compare=1": "Second setting", "/demo/users/maya/sessions": "changed",
		"/demo/users/maya/sessions/lisbon": "Alfama", "/demo/users/maya/operations": "Session", "/demo/users/maya/days": "Learned", "/demo/operations": "succeeded", "/nowhere/at/all/no": "There is nothing here",
	}
	for scheme, width := range map[string]int64{"light": 1600, "dark": 380} {
		p := h.open("/")
		if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		// axe-core makes markup of its own, which the policy of the page refuses.
		if _, err := chromedp.Call(p.ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}); err != nil {
			t.Fatal(err)
		}
		p.do(chromedp.EmulateViewport(width, 900), chromedp.Reload())
		p.shows("main", "Ready")
		if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](script)); err != nil {
			t.Fatal(err)
		}
		check := func(what string) {
			t.Helper()
			raw, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`axe.run({ resultTypes: ["violations"] }).then((r) => JSON.stringify(
				r.passes.length < 5 ? ["axe-core checked nothing"] : r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => [v.id, v.help, v.nodes.map((n) => [n.html, n.failureSummary])])))`,
				chromedp.EvalAwaitPromise))
			var found []any
			if err != nil || json.Unmarshal([]byte(raw), &found) != nil || len(found) > 0 {
				t.Errorf("%s in %s: %v %s", what, scheme, err, raw)
			}
		}
		for place, text := range places {
			p.to(place)
			p.shows("main", text)
			check(place)
		}
		for button, title := range map[string]string{"Edit": "Correct this memory", "Erase": "Erase this memory for good?", "Make a key": "Make a key"} {
			p.to(map[bool]string{true: "/demo/settings", false: "/demo/users/maya/memories/" + id}[button == "Make a key"])
			p.press("main", button)
			p.shows("dialog h2", title)
			check("the dialog " + title)
			p.press("dialog", "Cancel")
		}
	}
}
