//go:build !unix

package bench

import "errors"

// canStall tells that this system has no signals that stop a process.
const canStall = false

func stopProcess(int) error     { return errors.ErrUnsupported }
func continueProcess(int) error { return errors.ErrUnsupported }
