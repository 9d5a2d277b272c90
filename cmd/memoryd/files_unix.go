//go:build unix

package main

import "syscall"

// maxOpenFiles is how many files a process may have open. Go has raised the limit to the
// highest that it may have at the start of the process.
func maxOpenFiles() (uint64, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err == nil
}
