package dates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memoryd/memoryd/extract/dates"
	"github.com/memoryd/memoryd/extract/english"
	"github.com/memoryd/memoryd/memory"
)

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

var at = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC) // a Monday

// annotated is a text with the notes of its dates.
func annotated(text string, from int) string {
	var b strings.Builder
	done := 0
	for _, e := range dates.Find(text, english.Split(text), from, at) {
		b.WriteString(text[done:e.End] + e.Note)
		done = e.End
	}
	return b.String() + text[done:]
}

func TestFind(t *testing.T) {
	text := "I met Ann yesterday morning and on May 5"
	want := []dates.Expression{
		{Start: 10, End: 27, Note: " (2023-05-07)", Period: dates.Period{From: day(2023, 5, 7), To: day(2023, 5, 8)}},
		{Start: 35, End: 40, Note: ", 2023",
			Period: dates.Period{From: day(2023, 5, 5), To: day(2023, 5, 6), AnyYear: true}},
	}
	if diff := cmp.Diff(want, dates.Find(text, english.Split(text), 0, at)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], dates.Find(text, english.Split(text), 11, at)); diff != "" {
		t.Errorf("from byte 11 (-want +got):\n%s", diff)
	}
	if got := dates.Find(text, english.Split(text), 0, memory.MaxTime); got != nil {
		t.Errorf("said at a time that a memory cannot carry: %v", got)
	}
	until := "I'm here until Friday"
	got := dates.Find(until, english.Split(until), 0, at)
	if len(got) != 1 || got[0].Note != " (2023-05-12)" || !got[0].Period.IsZero() {
		t.Errorf("%q gives %+v", until, got)
	}
	if n := len(dates.Find(strings.Repeat("today ", 20), nil, 0, at)); n != 6 {
		t.Errorf("%d dates", n)
	}
}

// Days are the speaker's: at the same moment it is Sunday in one place and Monday in another. They begin at the speaker's
// midnight.
func TestFindOnTheSpeakersClock(t *testing.T) {
	moment := time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC) // a Monday
	losAngeles, tokyo := time.FixedZone("", -8*3600), time.FixedZone("", 9*3600)
	for _, c := range []struct {
		text  string
		where *time.Location
		want  string // the note
		from  time.Time
	}{
		{"I leave tomorrow", losAngeles, " (2026-03-02)", time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)},
		{"I leave tomorrow", time.UTC, " (2026-03-03)", day(2026, 3, 3)},
		{"I leave tomorrow", tokyo, " (2026-03-03)", time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)},
		{"I met Ann today", losAngeles, " (2026-03-01)", time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)},
		{"I met Ann last Monday", losAngeles, " (2026-02-23)", time.Date(2026, 2, 23, 8, 0, 0, 0, time.UTC)},
		{"I met Ann last Sunday", losAngeles, " (2026-02-22)", time.Date(2026, 2, 22, 8, 0, 0, 0, time.UTC)},
		{"I met Ann last Sunday", tokyo, " (2026-03-01)", time.Date(2026, 2, 28, 15, 0, 0, 0, time.UTC)},
		{"I met Ann this week", losAngeles, " (week of 2026-02-23)", time.Date(2026, 2, 23, 8, 0, 0, 0, time.UTC)},
		{"I met Ann an hour ago", losAngeles, " (2026-03-01)", time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)},
		{"I moved here on 2026-02-10", losAngeles, "", time.Date(2026, 2, 10, 8, 0, 0, 0, time.UTC)},
		{"I moved here in 2019", tokyo, "", time.Date(2018, 12, 31, 15, 0, 0, 0, time.UTC)},
	} {
		got := dates.Find(c.text, english.Split(c.text), 0, moment.In(c.where))
		if len(got) != 1 || got[0].Note != c.want || !got[0].Period.From.Equal(c.from) {
			t.Errorf("%q in %v gives %+v, want %q from %v", c.text, c.where, got, c.want, c.from)
		}
	}
	text := "I was born on 1 January 1900"
	got := dates.Find(text, english.Split(text), 0, moment.In(tokyo))
	if len(got) != 1 || !got[0].Period.IsZero() {
		t.Errorf("a day that begins before all times of memories gives %+v", got)
	}
}

// Marks and blanks around a date do not change what it means.
func TestFindAmongMarks(t *testing.T) {
	for text, want := range map[string]string{
		"I left last  night":                           "I left last  night (2023-05-07)",
		"I left last  Friday":                          "I left last  Friday (2023-05-05)",
		"I'm leaving next\tMonday":                     "I'm leaving next\tMonday (2023-05-15)",
		"I left yesterday - it was fun":                "I left yesterday (2023-05-07) - it was fun",
		"I turned 40 yesterday 🎉":                      "I turned 40 yesterday (2023-05-07) 🎉",
		"I saw Ann yesterday Émile came":               "I saw Ann yesterday (2023-05-07) Émile came",
		"I saw it in yesterday/today":                  "I saw it in yesterday/today",
		"In March 3 days ago I left":                   "In March 3 days ago (2023-05-05) I left",
		"On 12 June 10 people will come":               "On 12 June 2023 10 people will come",
		"I'll retire in 900 years, or tomorrow":        "I'll retire in 900 years, or tomorrow (2023-05-09)",
		"YESTERDAY I left":                             "YESTERDAY (2023-05-07) I left",
		"I left half a year ago":                       "I left half a year ago",
		"People always give up in two weeks":           "People always give up in two weeks",
		"I always nap! I leave in two weeks":           "I always nap! I leave in two weeks (2023-05-22)",
		"I left the last week":                         "I left the last week",
		"Each of the 2 or 3 may come, I march 9 miles": "Each of the 2 or 3 may come, I march 9 miles",
	} {
		if got := annotated(text, 0); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string][2]bool{ // possible, named
		"I left yesterday":               {true, true},
		"I left in 2019":                 {true, true},
		"I left last night":              {true, true},
		"I leave in two weeks":           {true, true},
		"I leave in a couple of days":    {true, true},
		"I left this week":               {true, true},
		"I left in May":                  {true, true},
		"I left this morning":            {true, false},
		"I left today":                   {true, false},
		"may I leave":                    {true, false},
		"May I leave":                    {true, false},
		"I missed today's class":         {true, false},
		"I leave every Monday":           {false, false},
		"I have 2019 reasons":            {true, true}, // a guess: Find looks closer
		"I lived there for two weeks":    {false, false},
		"I live with my sister in Spain": {false, false},
		"":                               {false, false},
	} {
		ws := english.Split(text)
		if got := [2]bool{dates.Possible(ws), dates.Named(ws)}; got != want {
			t.Errorf("%q: possible, named: %v", text, got)
		}
	}
}

// FuzzFind holds what callers cut texts by.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"", "on 3, 4 and 5 June 2022 - 12 Jan. in Rome", "on 1 January 1900 and 31 December 2199",
		"ſunday laſt week in 999 decades ago", "Sept",
		"\xff12 May\x00", "from 28 December to 3 January, in May '19 until the day before yesterday’s", "in 12 months",
	} {
		f.Add(s, 0, int64(1683554160), 0)
		f.Add(s, 0, int64(1683554160), 14*3600)
	}
	f.Add("yesterday", 0, memory.MinTime.Unix(), -12*3600)
	f.Add("tomorrow", 3, memory.MaxTime.Unix()-1, 14*3600)
	f.Fuzz(func(t *testing.T, text string, from int, unix int64, offset int) {
		from = max(0, min(from, len(text)))
		end := from
		for _, e := range dates.Find(text, english.Split(text), from, time.Unix(unix, 0).In(time.FixedZone("", offset%86400))) {
			if e.Start < end || e.End <= e.Start || e.End > len(text) {
				t.Fatalf("%+v is not in order or not in the text", e)
			}
			end = e.End
			if p := e.Period; !p.IsZero() && (memory.ValidateTime("", p.From) != nil || !p.To.After(p.From)) {
				t.Errorf("%+v", p)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := "In 2019 I visited Oslo on 12 March, and we're going back from 3 to 7 June next year"
	ws := english.Split(text)
	b.ReportAllocs()
	for b.Loop() {
		dates.Find(text, ws, 0, at)
	}
}
