//go:build unix

package bench

import "syscall"

// canStall tells that processes can be stopped and continued here.
const canStall = true

func stopProcess(pid int) error     { return syscall.Kill(pid, syscall.SIGSTOP) }
func continueProcess(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
