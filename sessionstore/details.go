package sessionstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memoryd/memoryd/memory"
)

// Details are what a client says of a session beside its state and events.
type Details struct {
	DisplayName string            // "" for none
	Labels      map[string]string // nil for none
	// ExpireTime is when the session expires: from then on it reads as deleted. To set it
	// to zero leaves that to the store. A store that has an option TTL then shows when the
	// session expires, and moves that time with each Append and Update. With any other
	// store the session never expires.
	ExpireTime time.Time
}

// Limits of Details. Those of labels are Google's.
const (
	MaxDisplayName = 256 // bytes
	MaxLabels      = 64
	MaxLabelName   = 63 // characters
	MaxLabelValue  = 63 // characters
)

// Validate reports the first rule that d breaks. The error names the field.
func (d *Details) Validate() error {
	if err := validateText("displayName", d.DisplayName); err != nil {
		return err
	}
	if len(d.DisplayName) > MaxDisplayName {
		return fmt.Errorf("%w: displayName has %d bytes, more than %d", memory.ErrInvalid, len(d.DisplayName),
			MaxDisplayName)
	}
	if len(d.Labels) > MaxLabels {
		return fmt.Errorf("%w: labels: %d labels are more than %d", memory.ErrInvalid, len(d.Labels), MaxLabels)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Labels)) {
		if err := validateLabel(name, d.Labels[name]); err != nil {
			return err
		}
	}
	if d.ExpireTime.IsZero() {
		return nil
	}
	return memory.ValidateTime("expireTime", d.ExpireTime)
}

// validateLabel checks one label.
func validateLabel(name, value string) error {
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return fmt.Errorf("%w: labels: a name is empty", memory.ErrInvalid)
	case n > MaxLabelName:
		return fmt.Errorf("%w: labels: the name %.80q has %d characters, more than %d", memory.ErrInvalid, name, n,
			MaxLabelName)
	}
	if n := utf8.RuneCountInString(value); n > MaxLabelValue {
		return fmt.Errorf("%w: labels.%s has %d characters, more than %d", memory.ErrInvalid, name, n, MaxLabelValue)
	}
	if err := validateText(fmt.Sprintf("labels: the name %.80q", name), name); err != nil {
		return err
	}
	return validateText("labels."+name, value)
}

// validateText refuses text that is not UTF-8 or has a control character.
func validateText(field, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: %s is not valid UTF-8", memory.ErrInvalid, field)
	}
	if strings.IndexFunc(text, unicode.IsControl) >= 0 {
		return fmt.Errorf("%w: %s has a control character", memory.ErrInvalid, field)
	}
	return nil
}

// Prepare checks the Details of a Create or an Update, and returns them as a store keeps
// them: with the time cut to the microsecond. ErrInvalid if the session would have
// expired already.
func (d Details) Prepare(now time.Time) (Details, error) {
	if err := d.Validate(); err != nil || d.ExpireTime.IsZero() {
		return d, err
	}
	d.ExpireTime = Micros(d.ExpireTime)
	if !d.ExpireTime.After(now) {
		return d, fmt.Errorf("%w: expireTime %s is not in the future", memory.ErrInvalid, FormatTime(d.ExpireTime))
	}
	return d, nil
}

// bytes is what d counts of the size of a session.
func (d *Details) bytes() int64 {
	n := len(d.DisplayName)
	for name, value := range d.Labels {
		n += len(name) + len(value) + 6
	}
	return int64(n)
}

// LabelsDoc returns labels as a store keeps them: "" for none, else a JSON object.
func LabelsDoc(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(labels); err != nil {
		panic(err) // every map of strings has a form in JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ReadLabels reads what LabelsDoc has returned.
func ReadLabels(doc string) (labels map[string]string, err error) {
	if doc == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(doc), &labels); err != nil {
		return nil, fmt.Errorf("the labels of a session: %w", err)
	}
	return labels, nil
}

// Patch is a change of a session. A nil field stays as it is.
type Patch struct {
	// State replaces the session's own keys: those that it does not have are removed. Keys of
	// the user and of the app are set, and none of theirs is removed. "temp:" keys are
	// dropped. The events come after it.
	State *State
	// Events are stored as by Append, with their state.
	Events      []Event
	DisplayName *string            // "" clears it
	Labels      *map[string]string // all labels, not some; empty clears them
	ExpireTime  *time.Time         // zero clears it: the store decides again
}

// Prepare checks p, and cuts its time to the microsecond.
func (p Patch) Prepare(now time.Time) (Patch, error) {
	d, err := p.Details().Prepare(now)
	if p.ExpireTime != nil {
		p.ExpireTime = &d.ExpireTime
	}
	return p, err
}

// Details are those that p sets.
func (p *Patch) Details() (d Details) {
	if p.DisplayName != nil {
		d.DisplayName = *p.DisplayName
	}
	if p.Labels != nil {
		d.Labels = *p.Labels
	}
	if p.ExpireTime != nil {
		d.ExpireTime = *p.ExpireTime
	}
	return d
}

// Expirer removes sessions that have expired. Such a session reads as deleted from its
// ExpireTime on, whether it is removed or not.
type Expirer interface {
	// Expire removes sessions whose ExpireTime has passed as Delete does: up to limit of
	// them, or some more where a store has several parts. It returns how many it has
	// removed; if that is less than limit, none is left.
	Expire(ctx context.Context, limit int) (int, error)
}
