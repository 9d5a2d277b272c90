//go:build !race

package ingest_test

// sparse is of how many variants of a test one is run.
const sparse = 1
