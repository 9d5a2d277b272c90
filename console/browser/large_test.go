package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// BenchmarkLarge opens a user with 10,000 facts, and scrolls through the list to its end.
// It reports how long the first facts take to be painted after the page was asked for, as
// Chromium tells it, and the longest that scrolling held a frame up, both in milliseconds.
//
//	go test -run '^$' -bench Large -benchtime 5x .
func BenchmarkLarge(b *testing.B) {
	h := start(b)
	for i := range 10_000 {
		h.call("POST", "/v1/apps/demo/users/maya/memories", map[string]any{
			"fact": fmt.Sprintf("On day %d I walked %d km along the river and met friend number %d.", i, i%17, i%101)})
	}
	paint, longest := 0.0, 0.0
	for b.Loop() {
		p := h.open("/demo/users/maya")
		p.sees("the first facts", `document.querySelectorAll(".memory-list li").length >= 100`)
		p.sees("their paint", `performance.getEntriesByType("paint").some((e) => e.name === "first-contentful-paint")`)
		// The element timing of the last paint that added text: the list itself.
		at, err := chromedp.Run(p.ctx, chromedp.Evaluate[float64](`new Promise((done) => new PerformanceObserver((list) =>
			done(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))`, chromedp.EvalAwaitPromise))
		if err != nil {
			b.Fatal(err)
		}
		paint += at
		held, err := chromedp.Run(p.ctx, chromedp.Evaluate[float64](`(async () => {
			let longest = 0, last = performance.now();
			while (document.querySelectorAll(".memory-list li").length < 10000 || scrollY + innerHeight < document.documentElement.scrollHeight - 2) {
				scrollBy(0, 2000);
				await new Promise(requestAnimationFrame);
				const now = performance.now();
				longest = Math.max(longest, now - last);
				last = now;
			}
			return longest;
		})()`, chromedp.EvalAwaitPromise))
		if err != nil {
			b.Fatal(err)
		}
		longest = max(longest, held)
		p.end()
	}
	b.ReportMetric(paint/float64(b.N), "ms/paint")
	b.ReportMetric(longest, "ms/longest-frame")
	b.ReportMetric(0, "ns/op")
}
