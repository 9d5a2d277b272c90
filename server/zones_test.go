package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// factOf returns the only fact of a scope.
func (a *api) factOf(path string) any {
	a.t.Helper()
	facts := list(a.want(200, "GET", path+"/memories?kind=fact", nil), "memories")
	if len(facts) != 1 {
		a.t.Fatalf("%d facts of %s: %v", len(facts), path, facts)
	}
	return facts[0]
}

// The day of a statement is that of its speaker. Its time goes out in UTC, with the
// offset that it came with or that of the time zone which the request names.
func TestOffsets(t *testing.T) {
	a := start(t)
	for i, c := range []struct{ time, zone, offset, fact, from string }{
		{`"2026-03-01T23:30:00-08:00"`, ``, "-08:00", "(2026-03-02)", "2026-03-02T08:00:00.000000Z"},
		{`"2026-03-01T23:30:00-08:00"`, `"Asia/Tokyo"`, "-08:00", "(2026-03-02)", "2026-03-02T08:00:00.000000Z"},
		{`"2026-03-02T07:30:00Z"`, `"America/Los_Angeles"`, "-08:00", "(2026-03-02)", "2026-03-02T08:00:00.000000Z"},
		{`1772436600`, `"Asia/Tokyo"`, "+09:00", "(2026-03-03)", "2026-03-02T15:00:00.000000Z"},
		{`"2026-03-02T07:30:00Z"`, ``, "", "(2026-03-03)", "2026-03-03T00:00:00.000000Z"},
		{`"2026-03-02T07:30:00Z"`, `null`, "", "(2026-03-03)", "2026-03-03T00:00:00.000000Z"},
		{`"2026-03-02T07:30:00+00:00"`, `"Asia/Tokyo"`, "+00:00", "(2026-03-03)", "2026-03-03T00:00:00.000000Z"},
		{`"2026-07-02T07:30:00Z"`, `"America/Los_Angeles"`, "-07:00", "(2026-07-03)", "2026-07-03T07:00:00.000000Z"},
	} {
		path := fmt.Sprintf("/v1/apps/notes/users/u%d", i)
		zone := ""
		if c.zone != "" {
			zone = `,"timeZone":` + c.zone
		}
		event := `{"id":"e1","author":"user","timestamp":` + c.time + `,"content":"I start at the bakery tomorrow."}`
		previewed := a.want(200, "POST", path+"/memories/dryRun", `{"sessionId":"s","events":[`+event+`]`+zone+`}`)
		a.want(200, "POST", path+"/memories/ingest?wait=true", `{"sessionId":"s","events":[`+event+`]`+zone+`}`)
		m := a.factOf(path)
		stored := at(a.want(200, "GET", path+"/sessions/s", nil), "events", 0)
		turn := list(a.want(200, "GET", path+"/memories?kind=turn", nil), "memories")[0]
		for what, v := range map[string]any{"fact": m, "turn": turn, "event": stored, "preview": at(previewed, "facts", 0),
			"previewed memory": at(previewed, "memories", 0, "memory")} {
			got, _ := at(v, "utcOffset").(string)
			if said := text(v, "timestamp"); got != c.offset || !strings.HasSuffix(said, ":30:00.000000Z") {
				t.Errorf("%s in %s: the %s has %q at %s, want %q", c.time, c.zone, what, got, said, c.offset)
			}
		}
		if !strings.Contains(text(m, "fact"), c.fact) || text(m, "validFrom") != c.from {
			t.Errorf("%s in %s: %q from %s, want %s from %s", c.time, c.zone, text(m, "fact"), text(m, "validFrom"), c.fact, c.from)
		}
	}
}

// Every request that brings events or facts may name a time zone.
func TestTimeZones(t *testing.T) {
	a := start(t)
	const zone = `"timeZone":"Asia/Kolkata"`
	event := func(id string) string { return `{"id":"` + id + `","author":"user","content":"I live in Pune."}` }
	a.want(201, "POST", scope+"/sessions", `{"id":"s","events":[`+event("e1")+`],`+zone+`}`)
	a.want(200, "POST", scope+"/sessions/s/events", `{"events":[`+event("e2")+`],`+zone+`}`)
	a.want(200, "POST", scope+"/sessions/s/events", `{"id":"e3","author":"user","content":"hi",`+zone+`}`)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"id":"s","events":[`+event("e4")+`],`+zone+`}`)
	for _, e := range list(a.want(200, "GET", scope+"/sessions/s", nil), "events") {
		same(t, "the offset of "+text(e, "id"), text(e, "utcOffset"), "+05:30")
	}
	for _, m := range list(a.want(200, "GET", scope+"/memories?history=true", nil), "memories") {
		same(t, "the offset of "+text(m, "fact"), text(m, "utcOffset"), "+05:30")
	}
	m := a.want(201, "POST", scope+"/memories", `{"fact":"I have a dog.",`+zone+`}`)
	same(t, "the offset of a fact", text(m, "utcOffset"), "+05:30")
	m = a.want(201, "POST", scope+"/memories", `{"fact":"I move out.","validFrom":"2027-03-01T00:00:00+09:00"}`)
	same(t, "the offset of a day to come", text(m, "utcOffset"), "+09:00")
	block := text(a.want(200, "POST", scope+"/memories/context", `{"query":"When do I move out?"}`), "text")
	if !strings.Contains(block, "(from 1 March 2027)") {
		t.Errorf("the block is %s", block)
	}
	given := a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"facts":[{"fact":"I have a cat."}],`+zone+`}`)
	same(t, "the offset of a given fact", text(given, "response", "memories", 0, "memory", "utcOffset"), "+05:30")

	for _, bad := range []string{`"Mars/Olympus"`, `"Local"`, `""`, `"+05:30"`, `5`} {
		for path, body := range map[string]string{
			"/sessions": `{"id":"n"`, "/sessions/s/events": `{"id":"n","content":"hi"`, "/memories": `{"fact":"I run."`,
			"/memories/ingest": `{"sessionId":"s","events":[]`, "/memories/dryRun": `{"sessionId":"s","events":[]`,
			"/memories/search": `{"query":"dog"`, "/memories/context": `{"query":"dog"`,
		} {
			a.refused(400, "POST", scope+path, body+`,"timeZone":`+bad+`}`, "timeZone", "zone", strings.Trim(bad, `"`))
		}
	}
}

// A block prints the day that it was for the speaker.
func TestDaysInAnswers(t *testing.T) {
	a := start(t)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"s","events":[
		{"id":"e1","author":"user","timestamp":"2026-03-01T23:30:00-08:00","content":"I saw a heron by the river."}]}`)
	block := text(a.want(200, "POST", scope+"/memories/context", `{"query":"heron"}`), "text")
	if !strings.Contains(block, "(1 March 2026") || strings.Contains(block, "2 March 2026") {
		t.Errorf("the block is %s", block)
	}
	found := a.want(200, "POST", scope+"/tools/search_memory", `{"args":{"query":"heron"}}`)
	same(t, "the offset that a tool tells", text(found, "result", "memories", 0, "utcOffset"), "-08:00")
}

// The default zone holds for all that comes without an offset and names no zone.
func TestDefaultZone(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	a := start(t, func(s *setup) { s.ingest.Zone = tokyo })
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"s","events":[
		{"id":"e1","author":"user","timestamp":"2026-03-02T07:30:00Z","content":"I start at the bakery tomorrow."},
		{"id":"e2","author":"user","timestamp":"2026-03-02T06:30:00-08:00","content":"I have a dog called Rex."}]}`)
	var got []string
	for _, m := range list(a.want(200, "GET", scope+"/memories?kind=fact", nil), "memories") {
		got = append(got, text(m, "utcOffset")+" "+text(m, "fact"))
	}
	slices.Sort(got)
	equal(t, "facts", []any{got[0], got[1]},
		`["+09:00 I start at the bakery tomorrow (2026-03-03).", "-08:00 I have a dog called Rex."]`)
	a.want(200, "POST", scope+"/tools/remember", `{"args":{"fact":"I have a cat called Tom."}}`)
	m := a.want(201, "POST", scope+"/memories", `{"fact":"I run."}`)
	same(t, "the offset of a fact", text(m, "utcOffset"), "+09:00")
	m = a.want(201, "POST", scope+"/memories", `{"fact":"I swim.","timeZone":"UTC"}`)
	same(t, "the offset of a fact in UTC", text(m, "utcOffset"), "+00:00")
	// A day that a model names is one of that zone: here it begins at 15:00 UTC.
	for day, want := range map[string]int{"2026-03-02": 2, "2026-03-03": 0, "2026-03-01": 0} {
		found := a.want(200, "POST", scope+"/tools/search_memory",
			`{"args":{"query":"bakery dog","kinds":["turn"],"since":"`+day+`","until":"`+day+`"}}`)
		same(t, "turns of "+day, len(list(found, "result", "memories")), want)
	}
}
