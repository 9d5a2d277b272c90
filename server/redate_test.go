package server_test

import (
	"slices"
	"strings"
	"testing"
)

// homes returns where the user lives, as a search of facts finds it; asOf may be "".
func (a *api) homes(asOf string) string {
	a.t.Helper()
	var out []string
	body := map[string]any{"query": "Where do I live?", "kinds": []string{"fact"}}
	if asOf != "" {
		body["asOf"] = asOf
	}
	for _, m := range list(a.want(200, "POST", scope+"/memories/search", body), "memories") {
		fact := strings.TrimSuffix(text(m, "memory", "fact"), ".")
		out = append(out, fact[strings.LastIndex(fact, " ")+1:])
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// homesByName returns the facts of a scope by their last word, ended ones too.
func (a *api) homesByName() map[string]any {
	a.t.Helper()
	out := map[string]any{}
	for _, m := range list(a.want(200, "GET", scope+"/memories?kind=fact&history=true", nil), "memories") {
		fact := strings.TrimSuffix(text(m, "fact"), ".")
		out[fact[strings.LastIndex(fact, " ")+1:]] = m
	}
	return out
}

// moved is a server with a user who lived in Berlin, and then in Rome.
func moved(t *testing.T) *api {
	a := start(t)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"s","events":[
		{"id":"b","author":"user","timestamp":"2026-01-10T10:00:00Z","content":"I live in Berlin."},
		{"id":"r","author":"user","timestamp":"2026-06-10T10:00:00Z","content":"I live in Rome."}]}`)
	return a
}

func path(m any) string { return scope + "/memories/" + text(m, "id") }

// The beginning that a client sets is when the fact takes the place of others, past or
// future, and later ingestion does not undo it.
func TestPatchValidFrom(t *testing.T) {
	a := moved(t)
	rome := a.homesByName()["Rome"]
	same(t, "the end of Berlin", text(a.homesByName()["Berlin"], "validTo"), "2026-06-10T10:00:00.000000Z")
	check := func(what, from string) {
		t.Helper()
		same(t, what+": the end of Berlin", text(a.homesByName()["Berlin"], "validTo"), from)
		same(t, what+": now", a.homes(""), "Rome")
		same(t, what+": before", a.homes("2026-04-20T00:00:00Z"), "Berlin")
	}
	m := a.want(200, "PATCH", path(rome), `{"validFrom":"2026-05-01T00:00:00+02:00"}`)
	equal(t, "the fact", []any{at(m, "validFrom"), at(m, "utcOffset"), at(m, "edited"), at(m, "labelled"), at(m, "revision")},
		`["2026-04-30T22:00:00.000000Z", "+02:00", null, true, 2]`)
	check("set", "2026-04-30T22:00:00.000000Z")
	same(t, "set: as of a day before it was said", a.homes("2026-05-20T00:00:00Z"), "Rome")
	a.want(200, "PATCH", path(rome), `{"validFrom":"2026-05-01T00:00:00+02:00"}`)
	check("set again", "2026-04-30T22:00:00.000000Z")

	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"u","events":[
		{"id":"b2","author":"user","timestamp":"2026-01-11T10:00:00Z","content":"I live in Berlin."},
		{"id":"r2","author":"user","timestamp":"2026-06-11T10:00:00Z","content":"I live in Rome."}]}`)
	check("after more was said", "2026-04-30T22:00:00.000000Z")

	a.want(200, "PATCH", path(rome), `{"validFrom":null}`)
	check("cleared", "2026-06-10T10:00:00.000000Z")

	m = a.want(200, "PATCH", path(rome), `{"validFrom":"2100-01-01T00:00:00Z"}`)
	same(t, "to come: the end of Berlin", text(a.homesByName()["Berlin"], "validTo"), "2100-01-01T00:00:00.000000Z")
	same(t, "to come: now", a.homes(""), "Berlin Rome")
	block := text(a.want(200, "POST", scope+"/memories/context", `{"query":"Where do I live?"}`), "text")
	if !strings.Contains(block, "(from 1 January 2100) I live in Rome.") {
		t.Errorf("the block is %s", block)
	}
}

// The end that a client sets stands: what was said before does not move it, and what is
// said later ends the fact earlier or tells of another time.
func TestPatchValidTo(t *testing.T) {
	a := moved(t)
	rome := a.homesByName()["Rome"]
	a.want(200, "PATCH", path(rome), `{"validTo":"2026-08-01T00:00:00Z"}`)
	same(t, "ended: now", a.homes(""), "")
	same(t, "ended: before", a.homes("2026-07-01T00:00:00Z"), "Rome")
	more := `{"sessionId":"u","events":[{"id":"r2","author":"user","timestamp":"2026-06-%s","content":"I live in Rome."}]}`
	a.want(200, "POST", scope+"/memories/ingest?wait=true", strings.Replace(more, "%s", "11T10:00:00Z", 1))
	same(t, "said before: now", a.homes(""), "")

	// The turn that told it is outdated.
	for _, m := range list(a.want(200, "POST", scope+"/memories/search", `{"query":"I live in Rome.","kinds":["turn"]}`), "memories") {
		if strings.Contains(text(m, "memory", "fact"), "Rome") {
			same(t, "outdated since", text(m, "outdated", "since"), "2026-08-01T00:00:00.000000Z")
		}
	}
	m := a.want(200, "PATCH", path(rome), `{"validTo":null}`)
	if at(m, "validTo") != nil || at(m, "validToEditTime") == nil {
		t.Errorf("cleared: %v", m)
	}
	same(t, "cleared: now", a.homes(""), "Rome")

	// The end of a fact that has a successor moves, and the successor stays.
	berlin := a.homesByName()["Berlin"]
	m = a.want(200, "PATCH", path(berlin), `{"validTo":"2026-03-01T00:00:00Z"}`)
	same(t, "the successor", text(m, "supersededBy"), text(rome, "id"))
	a.want(200, "PATCH", path(rome), `{"validFrom":"2026-05-01T00:00:00Z"}`)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", strings.NewReplacer("%s", "12T10:00:00Z", "r2", "r3").Replace(more))
	same(t, "the end of Berlin", text(a.homesByName()["Berlin"], "validTo"), "2026-03-01T00:00:00.000000Z")
	same(t, "between", a.homes("2026-04-01T00:00:00Z"), "")

	// Cleared, it holds beside the other: nothing that was said before ends it.
	a.want(200, "PATCH", path(berlin), `{"validTo":null}`)
	a.want(200, "POST", scope+"/memories/ingest?wait=true", strings.NewReplacer("%s", "13T10:00:00Z", "r2", "r4").Replace(more))
	same(t, "both", a.homes(""), "Berlin Rome")
	a.want(200, "POST", scope+"/memories/ingest?wait=true", `{"sessionId":"v","events":[
		{"id":"l","author":"user","content":"I moved to Lisbon."}]}`)
	same(t, "said later", a.homes(""), "Lisbon")
}

func TestPatchTimesRefused(t *testing.T) {
	a := moved(t)
	rome := path(a.homesByName()["Rome"])
	a.want(200, "PATCH", rome, `{"validFrom":"2026-05-01T00:00:00Z"}`)
	for body, words := range map[string][]string{
		`{"validTo":"2026-05-01T00:00:00Z"}`:                                    {"validTo", "not after validFrom"},
		`{"validTo":"2026-04-01T00:00:00Z"}`:                                    {"validTo", "not after validFrom"},
		`{"validFrom":"2026-09-01T00:00:00Z","validTo":"2026-08-01T00:00:00Z"}`: {"validTo", "not after validFrom"},
		`{"validTo":"tomorrow"}`:                                                {"validTo", "RFC 3339"},
		`{"validFrom":"2026-05-01"}`:                                            {"validFrom", "RFC 3339"},
		`{"validFrom":1772436600000}`:                                           {"validFrom", "year"},
		`{"validFrom":true}`:                                                    {"validFrom"},
		`{"validUntil":"2026-08-01T00:00:00Z"}`:                                 {"validUntil"},
		`{}`:                                                                    {"validTo"},
	} {
		a.refused(400, "PATCH", rome, body, words...)
	}
	turn := list(a.want(200, "GET", scope+"/memories?kind=turn", nil), "memories")[0]
	a.refused(400, "PATCH", path(turn), `{"validTo":"2026-08-01T00:00:00Z"}`, "validTo", "turn")
	a.refused(404, "PATCH", scope+"/memories/none", `{"validTo":"2026-08-01T00:00:00Z"}`, "none")
	a.want(200, "PATCH", rome, `{"validFrom":null,"validTo":"2026-04-01T00:00:00Z"}`)
}
