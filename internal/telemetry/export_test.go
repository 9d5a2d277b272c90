package telemetry

import "time"

// Unhurried has Close wait a minute, as a slow machine needs.
func Unhurried(t *Telemetry) { t.closeTime = time.Minute }
