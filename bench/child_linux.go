package bench

import "syscall"

// childAttr has memoryd end with the measurement, even if that is killed, and keeps
// an interrupt from the terminal away from it: the measurement ends it.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
