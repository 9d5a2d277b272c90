package qdrantstore

// ReadWhole has a store read only sessions of up to n turns whole.
func ReadWhole(s *Store, n int) { s.whole = n }

// KeepNoVectors has a store keep indexes without vectors.
func KeepNoVectors(s *Store) { s.sizes.least = bare }
