package retrieve

import "github.com/memoryd/memoryd/memory"

// BlockOf chooses among matches that a test has scored itself.
func BlockOf(matches []memory.Match, query []string, maxTokens int) Block {
	return contextForm.block(matches, query, maxTokens, wide)
}

// PreloadOf is the same for Preload.
func PreloadOf(matches []memory.Match, query []string, maxTokens int) Block {
	return preloadForm.block(matches, query, maxTokens, wide)
}
