package evals

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The layout of a chart, in its own units.
const (
	chartWidth, chartHeight  = 800, 500
	plotLeft, plotRight      = 70, 780
	plotTop, plotBottom      = 70, 440
	legendRow, legendPadding = 20, 12
	letter                   = 7 // approximate width of one in the legend
)

// lightColours are the colours of lines: Okabe and Ito's, which colour-blind people
// can tell apart, with the palest made darker. darkColours are for a dark page.
var (
	lightColours = []string{"#0072b2", "#d55e00", "#009e73", "#b8679b", "#8a6d00", "#3f9fd8", "#555"}
	darkColours  = []string{"#56b4e9", "#ff8c42", "#2fc99c", "#e59ccb", "#f0e442", "#9aa7ff", "#bbb"}
)

// style is the style sheet of a chart. It has no variables, since some programs
// that draw SVG do not know them.
func style() string {
	lines := func(colours []string) string {
		var out strings.Builder
		for i, c := range colours {
			fmt.Fprintf(&out, ".s%d .line{stroke:%s} .s%d circle{fill:%s} ", i, c, i, c)
		}
		return out.String()
	}
	return `
  text{font:13px system-ui,sans-serif;fill:#222} .title{font-size:17px;font-weight:600} ` +
		`.note{fill:#666;font-size:12px} .count{paint-order:stroke;stroke:#fff;stroke-width:3px}
  .ground{fill:#fff} .grid{stroke:#e4e4e4} .axis{stroke:#888} .box{fill:#fff;fill-opacity:.9;stroke:#ddd}
  .line{fill:none;stroke-width:2} ` + lines(lightColours) + `
  @media (prefers-color-scheme:dark){
    text{fill:#e6e6e6} .note{fill:#9aa0a6} .count{stroke:#16181c} .ground{fill:#16181c} ` +
		`.grid{stroke:#2c2f35} .axis{stroke:#777} .box{fill:#16181c;stroke:#3a3d44}
    ` + lines(darkColours) + `
  }
`
}

// dashes tell lines apart once every colour is used.
var dashes = []string{"none", "7 4", "2 3"}

// SVG draws recall against returned tokens: a line for each result, with a point
// for each number of results. It suits light and dark pages.
func SVG(title string, results []Result) string {
	var out strings.Builder
	c := newChart(results)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+
		`<style>%s</style>`+"\n",
		chartWidth, chartHeight, chartWidth, chartHeight, style())
	fmt.Fprintf(&out, `<title>Recall against tokens returned: %s</title>`+"\n", html.EscapeString(title))
	fmt.Fprintf(&out, `<rect class="ground" width="%d" height="%d"/>`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(&out, `<text class="title" x="%d" y="28">Recall against tokens returned</text>`+"\n", plotLeft)
	fmt.Fprintf(&out, `<text class="note" x="%d" y="49">%s; beside points: how many results</text>`+"\n",
		plotLeft, html.EscapeString(title))
	c.axes(&out)
	for i := range results {
		c.line(&out, i, &results[i])
	}
	c.counts(&out, results)
	c.legend(&out, results)
	out.WriteString("</svg>\n")
	return out.String()
}

// HTML is a page with what SVG draws.
func HTML(title string, results []Result) string {
	return fmt.Sprintf(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">`+
		`<meta name="viewport" content="width=device-width">
<title>%s</title>
<style>body{margin:2em auto;max-width:%dpx;background:#fff} svg{width:100%%;height:auto} `+
		`@media (prefers-color-scheme:dark){body{background:#16181c}}</style></head>
<body>
%s</body></html>
`, html.EscapeString(title), chartWidth, SVG(title, results))
}

// chart has the spans of the axes: tokens from 0 to right, recall from bottom to
// top.
type chart struct{ right, bottom, top, xStep, yStep float64 }

func newChart(results []Result) chart {
	c := chart{bottom: 1}
	for _, r := range results {
		for _, p := range r.Curve {
			c.right, c.bottom, c.top = max(c.right, p.Tokens), min(c.bottom, p.Recall), max(c.top, p.Recall)
		}
	}
	c.xStep, c.yStep = step(c.right/10), step((c.top-c.bottom)/10)
	c.right = c.xStep * max(1, math.Ceil(c.right/c.xStep))
	c.bottom = c.yStep * math.Floor(c.bottom/c.yStep)
	c.top = min(1, c.yStep*math.Ceil(c.top/c.yStep))
	if c.top <= c.bottom {
		c.bottom, c.top = max(0, c.bottom-c.yStep), c.bottom+c.yStep
	}
	return c
}

// step is the least of 1, 2, 5 and 10 times a power of ten that is not below
// least; 0.1 if least is 0.
func step(least float64) float64 {
	if least <= 0 {
		return 0.1
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= least*(1-1e-9) {
			return n * power
		}
	}
	return 10 * power
}

// x is the place of a number of tokens.
func (c chart) x(tokens float64) float64 {
	return plotLeft + (plotRight-plotLeft)*tokens/c.right
}

// y is the place of a recall.
func (c chart) y(recall float64) float64 {
	return plotBottom - (plotBottom-plotTop)*(recall-c.bottom)/(c.top-c.bottom)
}

// axes draws both axes, with a grid and their names.
func (c chart) axes(out *strings.Builder) {
	for i := 0; float64(i)*c.yStep <= c.top-c.bottom+c.yStep/2; i++ {
		at := c.bottom + float64(i)*c.yStep
		fmt.Fprintf(out, `<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%.*f</text>`+"\n",
			plotLeft, c.y(at), plotRight, plotLeft-8, c.y(at)+4, decimals(c.yStep), at)
	}
	for i := 0; float64(i)*c.xStep <= c.right+c.xStep/2; i++ {
		at := float64(i) * c.xStep
		fmt.Fprintf(out, `<path class="axis" d="M%.1f %dv5"/>`+
			`<text x="%.1f" y="%d" text-anchor="middle">%.*f</text>`+"\n",
			c.x(at), plotBottom, c.x(at), plotBottom+20, decimals(c.xStep), at)
	}
	fmt.Fprintf(out, `<path class="axis" fill="none" d="M%d %dV%dH%d"/>`+"\n", plotLeft, plotTop, plotBottom, plotRight)
	fmt.Fprintf(out, `<text x="%d" y="%d" text-anchor="middle">tokens in the results, mean of a question</text>`+"\n",
		(plotLeft+plotRight)/2, plotBottom+44)
	fmt.Fprintf(out, `<text transform="translate(22 %d) rotate(-90)" text-anchor="middle">`+
		`recall: evidence that the results cite</text>`+"\n", (plotTop+plotBottom)/2)
}

// decimals is the number of decimals that a tick needs.
func decimals(step float64) int { return int(max(0, math.Ceil(-math.Log10(step)-1e-9))) }

// look is the class and the dashes of the line number i.
func look(i int) (class int, dash string) {
	return i % len(lightColours), dashes[i/len(lightColours)%len(dashes)]
}

// line draws the line number i.
func (c chart) line(out *strings.Builder, i int, r *Result) {
	class, dash := look(i)
	fmt.Fprintf(out, `<g class="s%d"><polyline class="line" stroke-dasharray="%s" points="`, class, dash)
	for _, p := range r.Curve {
		fmt.Fprintf(out, "%.1f,%.1f ", c.x(p.Tokens), c.y(p.Recall))
	}
	fmt.Fprint(out, `"/>`)
	for _, p := range r.Curve {
		fmt.Fprintf(out, `<circle cx="%.1f" cy="%.1f" r="3">`+
			`<title>%s: %d results, %.0f tokens, recall %.3f</title></circle>`,
			c.x(p.Tokens), c.y(p.Recall), html.EscapeString(r.Setting), p.K, p.Tokens, p.Recall)
	}
	fmt.Fprint(out, "</g>\n")
}

// counts writes the numbers of results beside the points of the line that ends
// highest: there is room above it.
func (c chart) counts(out *strings.Builder, results []Result) {
	highest := slices.MaxFunc(results, func(a, b Result) int {
		return cmp.Compare(a.Curve[len(a.Curve)-1].Recall, b.Curve[len(b.Curve)-1].Recall)
	})
	for _, p := range highest.Curve {
		if p.K == 1 || p.K%5 == 0 && p.K <= 20 || p.K == 50 {
			fmt.Fprintf(out, `<text class="note count" x="%.1f" y="%.1f" text-anchor="end">%d</text>`+"\n",
				c.x(p.Tokens)-3, c.y(p.Recall)-7, p.K)
		}
	}
}

// legend draws the names of the lines in the lower right, where rising lines leave
// room.
func (c chart) legend(out *strings.Builder, results []Result) {
	longest := 0
	for _, r := range results {
		longest = max(longest, len([]rune(r.Setting)))
	}
	width := 2*legendPadding + 36 + letter*longest
	height := 2*legendPadding + legendRow*(len(results)-1) + 8
	left, top := plotRight-width-8, plotBottom-height-8
	fmt.Fprintf(out, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="4"/>`+"\n", left, top, width, height)
	for i, r := range results {
		y := top + legendPadding + legendRow*i + 4
		class, dash := look(i)
		fmt.Fprintf(out, `<g class="s%d"><path class="line" stroke-dasharray="%s" d="M%d %dh26"/>`+
			`<circle cx="%d" cy="%d" r="3"/></g><text x="%d" y="%d">%s</text>`+"\n",
			class, dash, left+legendPadding, y,
			left+legendPadding+13, y, left+legendPadding+34, y+4, html.EscapeString(r.Setting))
	}
}
