package dates

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPeriods(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	period := func(from, to string) Period { return Period{From: day(from), To: day(to)} }
	anyYear := func(from, to string) Period { return Period{From: day(from), To: day(to), AnyYear: true} }
	at := time.Date(2024, 5, 16, 15, 0, 0, 0, time.UTC) // a Thursday
	for text, want := range map[string][]Period{
		"What did Ann do in May 2023?":                  {period("2023-05-01", "2023-06-01")},
		"What happened on 8 May 2023?":                  {period("2023-05-08", "2023-05-09")},
		"What happened on May 8th, 2023?":               {period("2023-05-08", "2023-05-09")},
		"Was war am 2023-05-08?":                        {period("2023-05-08", "2023-05-09")},
		"What did I buy yesterday?":                     {period("2024-05-15", "2024-05-16")},
		"What did we say last week?":                    {period("2024-05-06", "2024-05-13")},
		"Where were we last month?":                     {period("2024-04-01", "2024-05-01")},
		"Where were we last year?":                      {period("2023-01-01", "2024-01-01")},
		"Who was there in 2022?":                        {period("2022-01-01", "2023-01-01")},
		"What did she do two weeks ago?":                {period("2024-05-02", "2024-05-03")},
		"Did we meet in March?":                         {anyYear("2025-03-01", "2025-04-01")},
		"Who came on 24 December?":                      {anyYear("2023-12-24", "2023-12-25")},
		"Who came on 1 January 2023?":                   {period("2023-01-01", "2023-01-02")},
		"Where was she last May 2022?":                  {period("2022-05-01", "2022-06-01")},
		"Who was there in the summer of 2022?":          {period("2022-01-01", "2023-01-01")},
		"Where were we two weekends ago?":               {period("2024-05-04", "2024-05-06")},
		"Where did she live two decades ago?":           {period("2004-01-01", "2014-01-01")},
		"What may I eat?":                               nil,
		"What is her name?":                             nil,
		"":                                              nil,
		"in the year 99999999999999999999 and 31 June?": nil,
	} {
		if diff := cmp.Diff(want, Periods(text, at)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	Periods(strings.Repeat("last week in May 2023 on 2023-05-08 ", 100), at) // and no more than that
	if got := Periods("yesterday", time.Time{}); got != nil {
		t.Errorf("said at no time: %v", got)
	}
}

func TestPeriodHolds(t *testing.T) {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	may := Period{From: day(2024, 5, 1), To: day(2024, 6, 1)}
	turn := Period{From: day(2024, 12, 15), To: day(2025, 1, 15)}
	tokyo := time.FixedZone("", 9*3600)
	eastern := Period{From: time.Date(2024, 3, 1, 0, 0, 0, 0, tokyo), To: time.Date(2024, 3, 2, 0, 0, 0, 0, tokyo)}
	anyYear := func(p Period) Period { p.AnyYear = true; return p }
	for _, c := range []struct {
		p    Period
		t    time.Time
		want bool
	}{
		{may, day(2024, 5, 1), true}, {may, day(2024, 6, 1), false}, {may, day(2024, 5, 31).Add(23 * time.Hour), true},
		{may, day(2023, 5, 2), false},
		{anyYear(may), day(2023, 5, 2), true}, {anyYear(may), day(2031, 5, 31), true},
		{anyYear(may), day(2023, 6, 1), false},
		{turn, day(2025, 1, 1), true}, {turn, day(2022, 1, 1), false},
		{anyYear(turn), day(2022, 1, 1), true}, {anyYear(turn), day(2021, 12, 20), true},
		{anyYear(turn), day(2021, 1, 20), false},
		{anyYear(eastern), day(2025, 2, 28).Add(15 * time.Hour), true}, {anyYear(eastern), day(2025, 2, 28), false},
		{anyYear(eastern), day(2025, 3, 1).Add(15 * time.Hour), false},
	} {
		if got := c.p.Holds(c.t); got != c.want {
			t.Errorf("%+v holds %v: %v", c.p, c.t, got)
		}
	}
}
