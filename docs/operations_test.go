package docs_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/server"
)

// metrics are the names of all metrics, with their labels: memoryd's own, and those
// of Go and the process that a memoryd shows.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	bank, err := memoryd.Open(t.Context(), ":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer bank.Close()
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	bank.ServeHTTP(w, r)
	all := server.Metrics()
	for _, m := range regexp.MustCompile(`(?m)^# TYPE ((?:go|process|promhttp)_\w+) `).FindAllStringSubmatch(w.Body.String(), -1) {
		all[m[1]] = nil
	}
	if len(all) < 50 {
		t.Fatalf("there are %d metrics: %s", len(all), w.Body)
	}
	return all
}

var (
	metricName  = regexp.MustCompile(`\b(?:memoryd|go|process)_[a-z0-9_]+\b`)
	histogram   = regexp.MustCompile(`_(bucket|sum|count)$`)
	matcher     = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping    = regexp.MustCompile(`\b(?:by|without) \(([^)]*)\)`)
	anyInstance = []string{"instance", "job"} // labels that Prometheus adds
)

// checkQuery checks that an expression of PromQL names only metrics that exist, and
// selects and groups only by labels that one of them has.
func checkQuery(t *testing.T, where, query string, all map[string][]string, used map[string]bool) {
	t.Helper()
	labels := slices.Clone(anyInstance)
	names := metricName.FindAllString(query, -1)
	if len(names) == 0 && !strings.HasPrefix(query, "up{") {
		t.Errorf("%s: %s names no metric", where, query)
	}
	for _, name := range names {
		has, ok := all[name]
		if base := histogram.ReplaceAllString(name, ""); !ok && base != name {
			name, labels = base, append(labels, "le")
			has, ok = all[base]
		}
		if !ok {
			t.Errorf("%s: there is no metric %s", where, name)
		}
		used[name] = true
		labels = append(labels, has...)
	}
	var wanted []string
	for _, m := range matcher.FindAllStringSubmatch(query, -1) {
		wanted = append(wanted, m[1])
	}
	for _, m := range grouping.FindAllStringSubmatch(query, -1) {
		wanted = append(wanted, strings.Split(m[1], ", ")...)
	}
	for _, l := range wanted {
		if !slices.Contains(labels, l) {
			t.Errorf("%s: %s: no metric of it has a label %s", where, query, l)
		}
	}
	if strings.Count(query, "(") != strings.Count(query, ")") || strings.Count(query, "{") != strings.Count(query, "}") {
		t.Errorf("%s: %s: the brackets do not match", where, query)
	}
}

// The dashboard shows only metrics that exist, and all that operators need.
func TestDashboard(t *testing.T) {
	var board struct {
		Title  string
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "grafana.json")), &board); err != nil {
		t.Fatal(err)
	}
	all, used, ids := metrics(t), map[string]bool{}, map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q: its id, title or place is not right", p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			checkQuery(t, "panel "+p.Title, target.Expr, all, used)
		}
	}
	for name := range server.Metrics() {
		if !used[name] && name != "memoryd_build_info" { // the list of instances has it
			t.Errorf("no panel shows %s", name)
		}
	}
}

// The page of operations explains every metric with its labels, and its alerts name
// only metrics that exist.
func TestOperationsPage(t *testing.T) {
	page, all := read(t, "operations.md"), metrics(t)
	_, rest, _ := strings.Cut(page, "```yaml\n")
	rules, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no rules")
	}
	used := map[string]bool{}
	// An expression is on its line, or on those after ">-" that are indented further.
	alert := regexp.MustCompile(`(?m)^ +- alert: (\w+).*\n +expr: (>-\n(?:          .*\n)+|.*\n)`)
	alerts := alert.FindAllStringSubmatch(rules, -1)
	if len(alerts) != strings.Count(rules, "alert:") || len(alerts) < 10 {
		t.Errorf("read %d of %d alerts", len(alerts), strings.Count(rules, "alert:"))
	}
	for _, a := range alerts {
		query := strings.Join(strings.Fields(strings.TrimPrefix(a[2], ">-")), " ")
		checkQuery(t, "alert "+a[1], query, all, used)
	}
	explained := map[string][]string{}
	name := regexp.MustCompile("`(memoryd_[a-z0-9_]+)(?:\\{([a-z_,]+)\\})?`")
	for line := range strings.Lines(page) {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `memoryd_") {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(first, -1) {
			var labels []string
			if m[2] != "" {
				labels = strings.Split(m[2], ",")
			}
			slices.Sort(labels)
			explained[m[1]] = labels
		}
	}
	want := maps.Clone(server.Metrics())
	if diff := cmp.Diff(want, explained); diff != "" {
		t.Errorf("the metrics that the page explains (-there are +explained):\n%s", diff)
	}
	for _, m := range metricName.FindAllString(page, -1) {
		if _, ok := all[m]; !ok {
			if _, ok := all[histogram.ReplaceAllString(m, "")]; !ok {
				t.Errorf("the page names %s, which does not exist", m)
			}
		}
	}
}
