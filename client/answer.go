package client

import "github.com/memoryd/memoryd/memory"

// Answer is what a search finds, best first.
type Answer struct {
	Memories []memory.Match `json:"memories"`
	// Confidence is the probability that the first match answers the question, 0 to 1. It
	// is 0 if nothing was found, and stays as it is if there are no matches because of
	// MinConfidence.
	Confidence float64       `json:"confidence"`
	Signs      []memory.Part `json:"signs,omitempty"` // the reasons for it, with Explain
}
