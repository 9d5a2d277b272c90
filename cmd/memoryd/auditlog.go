package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/server"
)

// auditConfig is what the flags say of the audit log.
type auditConfig struct {
	of      string // what it tells of
	entries int
	file    string
}

// What the audit log tells of.
const (
	auditChanges = "changes"
	auditAll     = "all"
	auditOff     = "off"
)

// auditFlagNames are the flags of serve that are about the audit log.
func auditFlagNames() []string { return []string{"audit", "audit-entries", "audit-file"} }

func auditFlags(fs *flag.FlagSet, a *auditConfig) {
	fs.StringVar(&a.of, "audit", auditChanges,
		"`WHAT` the audit log tells of, once there are keys: changes, all (reads too) or off")
	fs.IntVar(&a.entries, "audit-entries", access.DefaultAuditEntries,
		"`NUMBER` of entries that the audit log of an app has in the session store; the oldest go")
	fs.StringVar(&a.file, "audit-file", "",
		"`FILE` that also gets each entry of the audit log, as a line of JSON; - is stdout")
}

// maxAuditEntries is more than a store of sessions should hold beside them.
const maxAuditEntries = 100_000_000

// check checks the flags of the audit log.
func (a *auditConfig) check() error {
	switch {
	case a.of != auditChanges && a.of != auditAll && a.of != auditOff:
		return fmt.Errorf("-audit %q: want changes, all or off", a.of)
	case a.entries < 1000 || a.entries > maxAuditEntries:
		return fmt.Errorf("-audit-entries %d: want 1000 to %d", a.entries, maxAuditEntries)
	case a.of == auditOff && a.file != "":
		return fmt.Errorf("-audit-file %s: -audit off tells of nothing", a.file)
	}
	return nil
}

// options opens the file of the audit log, whose lines only ever are added, and returns
// what the server is told. The file stays open until the process ends.
func (a *auditConfig) options(to access.Audit) (server.AuditOptions, error) {
	if a.of == auditOff {
		return server.AuditOptions{}, nil
	}
	out := server.AuditOptions{To: to, Reads: a.of == auditAll}
	lines, err := a.lines()
	if err != nil {
		return out, fmt.Errorf("-audit-file: %w", err)
	}
	out.Lines = lines
	return out, nil
}

// lines opens the file; nil if none is named.
func (a *auditConfig) lines() (io.Writer, error) {
	switch a.file {
	case "":
		return nil, nil
	case "-":
		return os.Stdout, nil
	}
	return os.OpenFile(a.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}
