// Package english reads English: it splits a text into sentences and a sentence into words, knows the forms of verbs,
// and keeps the word tables that more than one reader of English needs.
//
// The tables are text. A reader with tables of its own embeds a file of the same form, and parses it with [Parse]:
//
//	# The reason for the table, with an example.
//	colors: red green blue
//
//	# A table of phrases is separated by commas.
//	leads: by the way, for the record,
//		an indented line continues the entry
//
//	# A table of variants has one line for each meaning.
//	relation-names:
//		mom = mother, mommy
//		dad = father, daddy
package english
