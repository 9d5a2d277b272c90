//go:build !race

package ingest_test

// killEvery is of how many calls one is the last of a process in TestWeekKilled.
const killEvery = 1
