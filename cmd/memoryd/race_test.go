//go:build race

package main

// sparse says that one of so many requests of a test is sent. The race detector makes each some ten
// times as slow, and a part of them has the same races as all.
const sparse = 4
