package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// shots is where TestShots writes the pictures of docs/console.md:
//
//	go test -run Shots . -shots ../../docs/console
var shots = flag.String("shots", "", "`DIRECTORY` that gets pictures of the console over the demo's data")

// TestShots takes the pictures. Without -shots it takes none.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("it takes pictures for docs/console.md: -shots DIRECTORY")
	}
	h := serve(t, "demo", "-serve", "-listen", "127.0.0.1:0")
	for name, place := range map[string]string{
		"home":    "/",
		"user":    "/demo/users/maya/memories/" + h.idOf("Porto") + "?show=history",
		"session": "/demo/users/maya/sessions/lisbon",
		"search":  "/demo/users/maya/search?q=Where+did+Maya+move%3F",
	} {
		p := h.open("/")
		p.do(chromedp.EmulateViewport(1280, 800))
		p.to(place)
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
