package extract

import (
	_ "embed" // for datetables.txt

	"github.com/memoryd/memoryd/extract/english"
)

//go:embed datetables.txt
var dateTablesText string

// dateTables are the tables that only the date reader reads; datetables.txt gives the reason for each.
var dateTables = english.Parse(dateTablesText)

var (
	arrangements = dateTables.Words("arrangements")
	tenseless    = dateTables.Words("tenseless")
	calendar     = dateTables.Words("calendar")
	countWords   = dateTables.Words("count-words")
	dateUnits    = dateTables.Words("date-units")
)
