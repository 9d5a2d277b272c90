//go:build race

package ingest_test

// killEvery is of how many calls one is the last of a process in TestWeekKilled:
// the race detector makes each process ten times as slow.
const killEvery = 12
