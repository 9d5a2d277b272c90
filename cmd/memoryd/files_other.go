//go:build !unix

package main

// maxOpenFiles is not known here.
func maxOpenFiles() (uint64, bool) { return 0, false }
