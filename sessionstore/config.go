package sessionstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memoryd/memoryd/memory"
)

// Configs keeps the configuration of each app, as a document of JSON that the store does
// not read. All methods may be called concurrently.
type Configs interface {
	// Config reads the document of an app and its revision. An app without one has
	// nil and revision 0.
	Config(ctx context.Context, app string) (json.RawMessage, int64, error)

	// PutConfig replaces the document of an app, durably, and returns its new revision.
	// Revisions of an app are 1, 2, 3 and so on. ErrAborted, and nothing is stored, if
	// expect is neither AnyRevision nor the revision that the app has. ErrInvalid if
	// the document is not valid JSON or larger than MaxConfig.
	PutConfig(ctx context.Context, app string, doc json.RawMessage, expect int64) (int64, error)
}

const (
	// MaxConfig bounds the configuration of an app, in bytes of JSON.
	MaxConfig = 256 << 10
	// AnyRevision has PutConfig replace whatever is there.
	AnyRevision = -1
)

// ConfigRecord is the configuration of an app to export or restore. Its history is the
// number of its revisions: a store keeps no earlier document.
type ConfigRecord struct {
	App      string          `json:"app"`
	Revision int64           `json:"revision"`
	Doc      json.RawMessage `json:"doc"`
}

// Validate reports the first rule that r breaks.
func (r *ConfigRecord) Validate() error {
	if r.Revision < 1 {
		return fmt.Errorf("%w: a configuration has a revision from 1 on, not %d", memory.ErrInvalid, r.Revision)
	}
	return CheckConfig(r.App, r.Doc)
}

// CheckConfig reports the first rule of PutConfig that its arguments break.
func CheckConfig(app string, doc json.RawMessage) error {
	if err := memory.ValidateID("app", app); err != nil {
		return err
	}
	if len(doc) > MaxConfig {
		return fmt.Errorf("%w: a configuration of %d bytes is larger than %d", memory.ErrInvalid, len(doc), MaxConfig)
	}
	if !json.Valid(doc) {
		return fmt.Errorf("%w: a configuration must be JSON", memory.ErrInvalid)
	}
	return nil
}

// StaleConfig is the error of PutConfig for an expected revision that the app no longer
// has.
func StaleConfig(expect, revision int64) error {
	return fmt.Errorf("%w: the configuration has revision %d, not %d: read it again, and repeat the change",
		memory.ErrAborted, revision, expect)
}
