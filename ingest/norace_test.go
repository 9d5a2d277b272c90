//go:build !race

package ingest_test

// sparse says that one of so many variants of a test is run: all of them.
const sparse = 1
