//go:build race

package ingest_test

// sparse says that one of so many variants of a test is run. The race detector
// makes each ten times as slow, and one variant has the same races as all.
const sparse = 12
