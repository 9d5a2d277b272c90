//go:build !race

package main

// sparse says that one of so many requests of a test is sent: all of them.
const sparse = 1
