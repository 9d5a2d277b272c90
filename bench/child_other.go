//go:build !linux

package bench

import "syscall"

// childAttr is only for Linux, the one system with a signal at a parent's death.
func childAttr() *syscall.SysProcAttr { return nil }
