//go:build race

package ingest_test

// sparse is of how many variants of a test one is run: the race detector makes
// each ten times as slow, and looks for races, which all of them have.
const sparse = 12
