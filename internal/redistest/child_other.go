//go:build !linux

package redistest

import "syscall"

// childAttr is only for Linux, the one system with a signal at a parent's death:
// elsewhere the cleanup of a test ends its server.
func childAttr() *syscall.SysProcAttr { return nil }
