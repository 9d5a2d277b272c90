package memory

// Match is a memory that answers a query, with its score.
type Match struct {
	Memory  Memory   `json:"memory"`
	Score   float64  `json:"score"` // 0 to 1
	Explain *Explain `json:"explain,omitempty"`
}

// Explain breaks a score down: the score is the sum of Value times Weight over
// Parts.
type Explain struct {
	Parts []Part   `json:"parts"`
	Terms []string `json:"terms"` // the query's analyzed words that the memory has
}

// Part is one reason for a score. Value and Weight are 0 to 1, and the weights
// of all parts sum to 1.
type Part struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Weight float64 `json:"weight"`
}
