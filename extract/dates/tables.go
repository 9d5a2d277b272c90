package dates

import (
	_ "embed" // for tables.txt

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed tables.txt
var tablesText string

// tables are the word tables that only this package reads; tables.txt gives the reason for each.
var tables = english.Parse(tablesText)

var (
	annualWords  = tables.Words("annual-words")
	tellPast     = tables.Words("tell-past")
	tellAhead    = tables.Words("tell-ahead")
	tenseless    = tables.Words("tenseless")
	detours      = tables.Words("detours")
	arrangements = tables.Words("arrangements")
	rearranged   = tables.Words("rearranged")
	relatives    = tables.Words("relatives")
	calendarSpan = tables.Words("calendar-spans")
	countWords   = tables.Words("count-words")
	dateUnits    = tables.Words("date-units")
)
