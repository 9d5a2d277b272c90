package memory

import "time"

// Match is a memory that answers a query, with its score.
type Match struct {
	Memory  Memory   `json:"memory"`
	Score   float64  `json:"score"` // 0 to 1
	Explain *Explain `json:"explain,omitempty"`
	// Outdated is set if the question is about something that the memory tells and
	// that no longer holds.
	Outdated *Outdated `json:"outdated,omitempty"`
	// Newer are the ids of later statements among the best matches, also beyond topK, that
	// tell of a change and may have taken the place of this one, the three latest, latest
	// first. No rule has compared them, so that both may hold.
	Newer []string `json:"newer,omitempty"`
	// Line is the match as one line of an answer for a model, if the search asks for
	// lines.
	Line string `json:"line,omitempty"`
}

// Outdated says of a match since when its words no longer hold.
type Outdated struct {
	Since time.Time `json:"since"`
	// By are the ids of the facts that hold instead and, where the filter leaves facts
	// out, of the turns that tell them. It is empty if none took the place of the words.
	By []string `json:"by"`
	// Redundant is set if facts tell all that the memory tells, so that it can be left
	// out where those facts are shown that hold.
	Redundant bool `json:"redundant,omitempty"`
}

// Explain breaks a score down: the score is the sum of Value times Weight over
// Parts.
type Explain struct {
	Parts []Part   `json:"parts"`
	Terms []string `json:"terms"` // the query's analyzed words that the memory has
	// Query is the wording that the score is of, if a search has several: its first 200
	// bytes.
	Query string `json:"query,omitzero"`
}

// Part is one reason for a score. Value and Weight are 0 to 1, and the weights
// of all parts sum to 1.
type Part struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Weight float64 `json:"weight"`
}
