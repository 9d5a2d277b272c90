package canonical

import (
	_ "embed" // for towns.txt
	"slices"
	"strings"
	"sync"
)

// townsText is made by towns.py.
//
//go:embed towns.txt
var townsText string

// Notices are those that each copy of this package must have.
//
//go:embed NOTICE
var Notices string

// towns are the names of towns of over 15,000 people, in the order of bytes. A word in a
// place where a town may stand is held against them. Elsewhere only the table of cities
// is read, as most of these names are surnames or things too.
var towns = sync.OnceValue(func() []string { return strings.Split(strings.TrimSuffix(townsText, "\n"), "\n") })

// isTown reports whether the tables have a town of this name, in small letters.
func isTown(name string) bool {
	if cities.Has(name) {
		return true
	}
	_, ok := slices.BinarySearch(towns(), name)
	return ok
}
