package redistest

import "syscall"

// childAttr has a server end with the test's process, even if that is killed and
// runs no cleanup.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
