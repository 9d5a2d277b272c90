package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/memoryd/memoryd/extract"
)

func TestDates(t *testing.T) {
	const (
		mon    = "2023-05-08 13:56" // a Monday
		sun    = "2023-05-14 23:59"
		sat    = "2023-05-13 00:00"
		fri    = "2023-05-12 08:00"
		may31  = "2023-05-31 12:00" // a Wednesday
		mar31  = "2023-03-31 12:00"
		leap   = "2024-02-29 12:00" // a Thursday
		jan1   = "2024-01-01 00:30" // a Monday
		dec31  = "2023-12-31 23:30" // a Sunday
		spring = "2023-03-01 12:00"
	)
	for _, tc := range []struct{ at, said, text, from string }{
		// Days.
		{mon, "I went to the dentist yesterday.", "I went to the dentist yesterday (2023-05-07).", "2023-05-07"},
		{mon, "Yesterday I went to the dentist", "Yesterday (2023-05-07) I went to the dentist", "2023-05-07"},
		{mon, "I saw the dentist yesterday morning", "I saw the dentist yesterday morning (2023-05-07)", "2023-05-07"},
		{mon, "I went to the dentist the day before yesterday",
			"I went to the dentist the day before yesterday (2023-05-06)", "2023-05-06"},
		{mon, "I'm flying to Rome the day after tomorrow",
			"I'm flying to Rome the day after tomorrow (2023-05-10)", "2023-05-10"},
		{mon, "I'm flying to Rome tomorrow at 5pm", "I'm flying to Rome tomorrow (2023-05-09) at 5pm", "2023-05-09"},
		{mon, "I play squash on Tuesday nights", "I play squash on Tuesday nights", ""},
		{mon, "I ran a marathon today", "I ran a marathon today (2023-05-08)", "2023-05-08"},
		{mon, "I ran a marathon this morning", "I ran a marathon this morning (2023-05-08)", "2023-05-08"},
		{mon, "I'm meeting my sister tonight", "I'm meeting my sister tonight (2023-05-08)", "2023-05-08"},
		{mon, "Ann and I got engaged last night", "Ann and I got engaged last night (2023-05-07)", "2023-05-07"},
		{mon, "I missed yesterday's yoga class", "I missed yesterday's (2023-05-07) yoga class", "2023-05-07"},
		{spring, "I went to the dentist yesterday", "I went to the dentist yesterday (2023-02-28)", "2023-02-28"},
		{leap, "I'm flying to Rome tomorrow", "I'm flying to Rome tomorrow (2024-03-01)", "2024-03-01"},
		{jan1, "I went to the dentist yesterday", "I went to the dentist yesterday (2023-12-31)", "2023-12-31"},
		{dec31, "I'm flying to Rome tomorrow", "I'm flying to Rome tomorrow (2024-01-01)", "2024-01-01"},
		// Weeks, months, years.
		{mon, "I went to Rome last week", "I went to Rome last week (week of 2023-05-01)", "2023-05-01"},
		{sun, "I went to Rome last week", "I went to Rome last week (week of 2023-05-01)", "2023-05-01"},
		{jan1, "I went to Rome last week", "I went to Rome last week (week of 2023-12-25)", "2023-12-25"},
		{mon, "I'm going to Rome next week", "I'm going to Rome next week (week of 2023-05-15)", "2023-05-15"},
		{fri, "I started a new job this week", "I started a new job this week (week of 2023-05-08)", "2023-05-08"},
		{mon, "I went to Rome last month", "I went to Rome last month (2023-04)", "2023-04-01"},
		{may31, "I went to Rome last month", "I went to Rome last month (2023-04)", "2023-04-01"},
		{jan1, "I went to Rome last month", "I went to Rome last month (2023-12)", "2023-12-01"},
		{dec31, "I'm going to Rome next month", "I'm going to Rome next month (2024-01)", "2024-01-01"},
		{mon, "We moved to Lyon last year", "We moved to Lyon last year (2022)", "2022-01-01"},
		{leap, "We moved to Lyon last year", "We moved to Lyon last year (2023)", "2023-01-01"},
		{mon, "We're moving to Lyon next year", "We're moving to Lyon next year (2024)", "2024-01-01"},
		{mon, "I went hiking last weekend", "I went hiking last weekend (2023-05-06)", "2023-05-06"},
		{sun, "I went hiking last weekend", "I went hiking last weekend (2023-05-06)", "2023-05-06"},
		{fri, "I'm going hiking this weekend", "I'm going hiking this weekend (2023-05-13)", "2023-05-13"},
		{mon, "I'm going hiking next weekend", "I'm going hiking next weekend (2023-05-20)", "2023-05-20"},
		{mon, "I traveled through Asia over the last year", "I traveled through Asia over the last year", ""},
		{mon, "I'm in my last year of medical school", "I'm in my last year of medical school", ""},
		// Counted.
		{mon, "I ran a marathon two weeks ago", "I ran a marathon two weeks ago (2023-04-24)", "2023-04-24"},
		{mon, "Two weeks ago I ran a marathon", "Two weeks ago (2023-04-24) I ran a marathon", "2023-04-24"},
		{mon, "I had surgery 3 days ago", "I had surgery 3 days ago (2023-05-05)", "2023-05-05"},
		{mon, "I had surgery a few days ago", "I had surgery a few days ago (around 2023-05-05)", "2023-05-05"},
		{mon, "I had surgery a couple of days ago", "I had surgery a couple of days ago (2023-05-06)", "2023-05-06"},
		{mon, "We were in Rome two weekends ago", "We were in Rome two weekends ago (2023-04-29)", "2023-04-29"},
		{may31, "I lost my job three months ago", "I lost my job three months ago (2023-02)", "2023-02-01"},
		{mar31, "I lost my job a month ago", "I lost my job a month ago (2023-02)", "2023-02-01"},
		{mon, "I lost my job 17 months ago", "I lost my job 17 months ago (2021-12)", "2021-12-01"},
		{leap, "I met Ann 3 years ago", "I met Ann 3 years ago (2021)", "2021-01-01"},
		{mon, "I moved to Oslo two decades ago", "I moved to Oslo two decades ago (2003)", "2003-01-01"},
		{mon, "In two weeks I start a new job", "In two weeks (2023-05-22) I start a new job", "2023-05-22"},
		{dec31, "I'm moving to Oslo in two months", "I'm moving to Oslo in two months (2024-02)", "2024-02-01"},
		{mon, "I finished the marathon training in two weeks", "I finished the marathon training in two weeks", ""},
		{mon, "I met Ann 900 years ago", "I met Ann 900 years ago", ""},
		{mon, "I met Ann 99999999999 years ago", "I met Ann 99999999999 years ago", ""},
		// Weekdays, by tense.
		{mon, "I went to church on Sunday", "I went to church on Sunday (2023-05-07)", "2023-05-07"},
		{mon, "I'm seeing the dentist on Sunday", "I'm seeing the dentist on Sunday (2023-05-14)", "2023-05-14"},
		{mon, "My flight is on Friday", "My flight is on Friday (2023-05-12)", "2023-05-12"},
		{fri, "My flight is on Friday", "My flight is on Friday", ""}, // today, or in a week
		{fri, "I went to the dentist on Friday", "I went to the dentist on Friday", ""},
		{fri, "I took my first holiday in three years", "I took my first holiday in three years", ""},
		{fri, "I wrote my thesis in two weeks", "I wrote my thesis in two weeks", ""},
		{sat, "I went to the dentist last Friday", "I went to the dentist last Friday (2023-05-12)", "2023-05-12"},
		{fri, "I went to the dentist last Friday", "I went to the dentist last Friday (2023-05-05)", "2023-05-05"},
		{mon, "I'm seeing the dentist next Tuesday", "I'm seeing the dentist next Tuesday", ""},
		{sun, "I'm seeing the dentist next Tuesday", "I'm seeing the dentist next Tuesday (2023-05-16)", "2023-05-16"},
		{fri, "I'm seeing the dentist next Friday", "I'm seeing the dentist next Friday (2023-05-19)", "2023-05-19"},
		{mon, "My boss moved the deadline to Thursday",
			"My boss moved the deadline to Thursday (2023-05-11)", "2023-05-11"},
		{mon, "I bought a ticket for Friday", "I bought a ticket for Friday", ""},
		{mon, "I got tickets to the opera on Friday", "I got tickets to the opera on Friday", ""},
		{mon, "I have a sore knee from the race on Sunday", "I have a sore knee from the race on Sunday", ""},
		{sun, "I'm seeing the dentist this Sunday", "I'm seeing the dentist this Sunday (2023-05-14)", "2023-05-14"},
		{mon, "I saw the dentist Friday last week", "I saw the dentist Friday last week (2023-05-05)", "2023-05-05"},
		{mon, "On Saturday evening we went to the opera",
			"On Saturday evening (2023-05-06) we went to the opera", "2023-05-06"},
		{jan1, "I went to the dentist on Friday", "I went to the dentist on Friday (2023-12-29)", "2023-12-29"},
		{mon, "I met Ann on Saturday and we're going to the opera on Friday",
			"I met Ann on Saturday (2023-05-06) and we're going to the opera on Friday (2023-05-12)", "2023-05-06"},
		{mon, "I have yoga every Monday", "I have yoga every Monday", ""},
		{mon, "I work from home on Fridays", "I work from home on Fridays", ""},
		{mon, "I work from 9 to 5, Monday to Friday", "I work from 9 to 5, Monday to Friday", ""},
		{mon, "I was born on a Sunday", "I was born on a Sunday", ""},
		{mon, "I have to finish my thesis by Friday", "I have to finish my thesis by Friday (2023-05-12)", ""},
		// Days of months.
		{mon, "My exam is on 12 May", "My exam is on 12 May 2023", "2023-05-12"},
		{mon, "My exam is on May 12th", "My exam is on May 12th, 2023", "2023-05-12"},
		{mon, "My exam is on the 3rd of may", "My exam is on the 3rd of may", ""},
		{mon, "My exam is on the 3rd of april", "My exam is on the 3rd of april 2024", "2024-04-03"},
		{mon, "I met Ann on 12 April", "I met Ann on 12 April 2023", "2023-04-12"},
		{mon, "I met Ann on 12 May", "I met Ann on 12 May", ""},
		{jan1, "I met Ann on 3 March", "I met Ann on 3 March", ""},
		{jan1, "I met Ann on 3 December", "I met Ann on 3 December 2023", "2023-12-03"},
		{mon, "I extended my visa until 3 March", "I extended my visa until 3 March", ""},
		{mon, "I've been sober since 3 March", "I've been sober since 3 March 2023", "2023-03-03"},
		{mon, "I'm sober since 3 March", "I'm sober since 3 March 2023", "2023-03-03"},
		{mon, "We meet Ann on 12 June.", "We meet Ann on 12 June 2023.", "2023-06-12"},
		{mon, "We meet Ann on 12 Jun. in Rome.", "We meet Ann on 12 Jun. 2023 in Rome.", "2023-06-12"},
		{mon, "We meet Ann on 12 Jun.", "We meet Ann on 12 Jun 2023.", "2023-06-12"},
		{mon, "We meet Ann on 12 Jun. 2024.", "We meet Ann on 12 Jun. 2024.", "2024-06-12"},
		{mon, "I'll be in Rome from 3 to 7 June.", "I'll be in Rome from 3 to 7 June 2023.", "2023-06-03"},
		{mon, "I'll be in Rome 3-7 June", "I'll be in Rome 3-7 June 2023", "2023-06-03"},
		{mon, "I'll be in Rome from the 3rd to the 7th of June",
			"I'll be in Rome from the 3rd to the 7th of June 2023", "2023-06-03"},
		{mon, "I'll be in Rome June 3–7", "I'll be in Rome June 3–7, 2023", "2023-06-03"},
		{mon, "I'll be in Rome from June 3rd to 7th", "I'll be in Rome from June 3rd to 7th, 2023", "2023-06-03"},
		{mon, "I'll be in Rome from 28 June to 2 July.",
			"I'll be in Rome from 28 June 2023 to 2 July 2023.", "2023-06-28"},
		{mon, "I was in Berlin from June 3 to June 7, 2022.",
			"I was in Berlin from June 3 to June 7, 2022.", "2022-06-03"},
		{mon, "I was in Berlin from 3 June to 7 June 2022.",
			"I was in Berlin from 3 June to 7 June 2022.", "2022-06-03"},
		{mon, "I visited Oslo on 12 June and 3 July 2021.", "I visited Oslo on 12 June and 3 July 2021.", "2021-06-12"},
		{mon, "I visited Oslo on 12 March last year.", "I visited Oslo on 12 March last year (2022).", "2022-03-12"},
		{mon, "I visited Oslo on 12 March of last year.",
			"I visited Oslo on 12 March of last year (2022).", "2022-03-12"},
		{mon, "Last year I visited Oslo on 12 March.", "Last year (2022) I visited Oslo on 12 March.", "2022-03-12"},
		{mon, "In 2019 I visited Oslo on 12 March.", "In 2019 I visited Oslo on 12 March.", "2019-03-12"},
		{mon, "I moved to Rome in 2019, on 12 June.", "I moved to Rome in 2019, on 12 June.", "2019-06-12"},
		{mon, "I met Ann in 2019 and we're going sailing on 12 June.",
			"I met Ann in 2019 and we're going sailing on 12 June 2023.", "2019-01-01"},
		{mon, "I visited Oslo on 12 June '19.", "I visited Oslo on 12 June '19.", "2019-06-12"},
		{mon, "I am in Oslo from 3 to 25 May.", "I am in Oslo from 3 to 25 May 2023.", "2023-05-03"},
		{mon, "I'm on vacation from May 3 to 25.", "I'm on vacation from May 3 to 25, 2023.", "2023-05-03"},
		{mon, "My lease runs from 1 January to 31 December.",
			"My lease runs from 1 January 2023 to 31 December 2023.", "2023-01-01"},
		{mon, "I was in Oslo from 28 December to 3 January.",
			"I was in Oslo from 28 December 2022 to 3 January 2023.", "2022-12-28"},
		{mon, "I booked a trip to Oslo on 30 June.", "I booked a trip to Oslo on 30 June 2023.", "2023-06-30"},
		{mon, "I moved to Rome on Friday 13 May.", "I moved to Rome on Friday 13 May 2022.", "2022-05-13"},
		{mon, "I'm in Rome between 3 and 7 June", "I'm in Rome between 3 and 7 June 2023", "2023-06-03"},
		{mon, "I was in Rome on 3, 4 and 5 June 2022", "I was in Rome on 3, 4 and 5 June 2022", "2022-06-03"},
		{mon, "I ran 5 miles in 2000 seconds", "I ran 5 miles in 2000 seconds", ""},
		{mon, "I start a new job in two weeks' time",
			"I start a new job in two weeks' time (2023-05-22)", "2023-05-22"},
		{mon, "I haven't eaten meat in two years", "I haven't eaten meat in two years", ""},
		{mon, "My brother Tom and I have not spoken a word in six years",
			"My brother Tom and I have not spoken a word in six years", ""},
		{mon, "I met Ann on May 12, 2022.", "I met Ann on May 12, 2022.", "2022-05-12"},
		{may31, "I met Ann on Feb 12, 2022.", "I met Ann on Feb 12, 2022.", "2022-02-12"},
		{mon, "I met Ann on 2022-05-12.", "I met Ann on 2022-05-12.", "2022-05-12"},
		{mon, "I met Ann on Friday, 12 May 2017", "I met Ann on Friday, 12 May 2017", "2017-05-12"},
		{mon, "I met Ann on 29 February", "I met Ann on 29 February", ""},
		{mon, "I met Ann on 31 February", "I met Ann on 31 February", ""},
		{mon, "It's my birthday on 3 May", "It's my birthday on 3 May", ""},
		{mon, "My birthday is May 4", "My birthday is May 4", ""},
		{mon, "I was born on 12 May 1990 in Rome", "I was born on 12 May 1990 in Rome", "1990-05-12"},
		{mon, "My birthday is tomorrow", "My birthday is tomorrow (2023-05-09)", "2023-05-09"},
		// Months and years.
		{mon, "I visited Rome in March", "I visited Rome in March 2023", "2023-03-01"},
		{mon, "I visited Rome in August", "I visited Rome in August", ""},
		{mon, "I visited Rome in December", "I visited Rome in December 2022", "2022-12-01"},
		{mon, "I started running in May", "I started running in May", ""},
		{mon, "My sister visits us in May", "My sister visits us in May", ""},
		{mon, "I started running last May", "I started running last May (2022-05)", "2022-05-01"},
		{mon, "I still have the scar from my fall in March", "I still have the scar from my fall in March", ""},
		{mon, "We're moving to Rome in March", "We're moving to Rome in March 2024", "2024-03-01"},
		{mon, "We're moving to Rome next March", "We're moving to Rome next March (2024-03)", "2024-03-01"},
		{mon, "I visited Rome last June", "I visited Rome last June (2022-06)", "2022-06-01"},
		{mon, "We got married in June 2015", "We got married in June 2015", "2015-06-01"},
		{mon, "I met Ann in 2019", "I met Ann in 2019", "2019-01-01"},
		{mon, "I've been vegan since 2019", "I've been vegan since 2019", "2019-01-01"},
		{mon, "I've been vegan since last year", "I've been vegan since last year (2022)", "2022-01-01"},
		{mon, "I've been vegan for two years", "I've been vegan for two years", ""},
		{mon, "I walked home in 2019 steps", "I walked home in 2019 steps", ""},
		{mon, "My sister may visit Rome with June", "My sister may visit Rome with June", ""},
		{mon, "I love to march in parades", "I love to march in parades", ""},
		{mon, "I sat on my sun deck with my cat at 5pm", "I sat on my sun deck with my cat at 5pm", ""},
		{mon, "I met Ann last year (2022)", "I met Ann last year (2022)", "2022-01-01"},
	} {
		at, err := time.Parse("2006-01-02 15:04", tc.at)
		if err != nil {
			t.Fatal(err)
		}
		facts := factsOf(t, []extract.Turn{{EventID: "e", User: true, Timestamp: at, Text: tc.said}})
		if len(facts) != 1 {
			t.Errorf("%s: %q gives %d facts", tc.at, tc.said, len(facts))
			continue
		}
		from := ""
		if !facts[0].ValidFrom.IsZero() {
			from = strings.TrimSuffix(facts[0].ValidFrom.Format(time.RFC3339), "T00:00:00Z") // days begin at 00:00 UTC
		}
		if facts[0].Text != tc.text || from != tc.from {
			t.Errorf("%s: %q gives %q from %q, want %q from %q", tc.at, tc.said, facts[0].Text, from, tc.text, tc.from)
		}
	}
}

// Dates outside the times that a memory may carry stay as they are said, and so do those of a turn without a time.
func TestDatesAtTheEdge(t *testing.T) {
	for _, tc := range []struct {
		at         time.Time
		said, text string
	}{
		{time.Time{}, "I went to Rome yesterday", "I went to Rome yesterday"},
		{time.Date(1900, 1, 1, 5, 0, 0, 0, time.UTC), "I went to Rome yesterday", "I went to Rome yesterday"},
		{time.Date(2199, 12, 31, 5, 0, 0, 0, time.UTC), "I'm going to Rome tomorrow", "I'm going to Rome tomorrow"},
		{time.Date(2199, 12, 31, 5, 0, 0, 0, time.UTC), "I met Ann in 1901", "I met Ann in 1901"},
		{time.Date(2023, 5, 8, 1, 0, 0, 0, time.FixedZone("", 7200)),
			"I went to Rome yesterday", "I went to Rome yesterday (2023-05-07)"}, // the speaker's own
		{time.Date(2023, 5, 8, 23, 30, 0, 0, time.FixedZone("", -5*3600)),
			"I went to Rome today", "I went to Rome today (2023-05-08)"},
		{time.Date(2023, 5, 9, 4, 30, 0, 0, time.UTC),
			"I went to Rome today", "I went to Rome today (2023-05-09)"},
	} {
		facts := factsOf(t, []extract.Turn{{EventID: "e", User: true, Timestamp: tc.at, Text: tc.said}})
		if len(facts) != 1 || facts[0].Text != tc.text {
			t.Errorf("%s: %q gives\n%s", tc.at, tc.said, printFacts(facts))
		}
	}
}
