package redact

import (
	"strings"
	"testing"
)

// BenchmarkTurn is what an ordinary turn costs, with and without numbers.
func BenchmarkTurn(b *testing.B) {
	all, err := New(Kinds()...)
	if err != nil {
		b.Fatal(err)
	}
	for name, turn := range map[string]string{
		"words": "I think we should move the meeting to the afternoon, since Maria has to pick up her children and " +
			"the trains are late again. Could you ask Tom whether the small room is free, and order some coffee?",
		"numbers": "The invoice 2024-0193 over $1,249.50 is due on 2024-05-08 at 14:30; order 8812345 of 12 pieces " +
			"goes to 221B Baker Street, and version 10.4.2 ran on 16 cores with 64 GB for 3 hours 20 minutes.",
		"page": strings.Repeat("Chapter 12 has 340 lines on the history of bridges, from 1780 to 1930. ", 100),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(turn)))
			for b.Loop() {
				if found := all.Find(turn); len(found) > 0 {
					b.Fatal(found)
				}
			}
		})
	}
}
