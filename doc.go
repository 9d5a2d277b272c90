// Package memoryd is the root of memoryd, a memory bank for agents: one
// service that stores the sessions of agents, makes memories of them, and
// finds those again by meaning. This file is the tour, bottom up.
//
// # Nouns and promises
//
// [github.com/memoryd/memoryd/memory] says what a memory is: a fact, or a turn
// that somebody said, in the scope of one user of one app, with revisions. Its
// Store interface says what keeping memories promises, Movable how they come to
// another embedder while they are served, and package
// [github.com/memoryd/memoryd/memory/storetest] spells every promise out as a
// test case that each backend passes.
//
// [github.com/memoryd/memoryd/sessionstore] does the same for sessions: events
// in order, state in the scopes of session, user and app, as ADK has them. Its
// Progress interface is how ingestion knows what is left to do. The suite is
// [github.com/memoryd/memoryd/sessionstore/sessiontest].
//
// # Backends
//
// [github.com/memoryd/memoryd/sessionstore/sqlitesession] and
// [github.com/memoryd/memoryd/memory/sqlitestore] keep all of it in one SQLite
// file, which [github.com/memoryd/memoryd/internal/sqlitedb] opens: one process
// a file, one writer, commits in groups.
// [github.com/memoryd/memoryd/sessionstore/redissession] keeps sessions in Redis
// or on a Redis Cluster, and [github.com/memoryd/memoryd/memory/qdrantstore]
// memories in Qdrant, for any number of processes; all pass the same suites.
//
// # Verbs
//
// [github.com/memoryd/memoryd/embed] turns text into vectors, and
// [github.com/memoryd/memoryd/internal/analyzer] into words.
// [github.com/memoryd/memoryd/extract] is the contract by which facts are found
// in turns and compared with what is known, and the path of a model, with its
// prompts. [github.com/memoryd/memoryd/extract/rules] finds facts without a
// model. It reads [github.com/memoryd/memoryd/extract/english], and
// [github.com/memoryd/memoryd/extract/dates] reads the dates.
// [github.com/memoryd/memoryd/extract/canonical] reduces a fact to what the rules
// compare, and makes the keys that stored facts are looked up by.
// [github.com/memoryd/memoryd/ingest] walks sessions and loses nothing: events
// are stored before a request is answered, a session's requested mark runs
// ahead of its done mark until its memories are stored, and what was decided is
// written down before it is done, so that doing it again does the same. Which
// facts hold, and until when, follows from all that was said and when, whatever
// order it arrived in.
// [github.com/memoryd/memoryd/retrieve] has a store find candidates by words
// and by meaning, ranks them, may have a model look at the best again, and makes
// of them a block for a prompt.
//
// [github.com/memoryd/memoryd/gemini] and [github.com/memoryd/memoryd/openai]
// are the only packages that call those APIs: each gives an Embedder and a
// Generator.
// [github.com/memoryd/memoryd/internal/remote] is how both are called: tries,
// time-outs, kinds of error. [github.com/memoryd/memoryd/evals] has golden
// conversations, and tells what an extractor makes of them, and how well
// questions find what answers them.
//
// [github.com/memoryd/memoryd/tools] is what an agent does with all this, as
// plain Go values: load_memory, search_memory, remember and forget, with their
// schemas, for a model to call, and preload_memory to run before it.
//
// # Protocols
//
// [github.com/memoryd/memoryd/mcp] shows the memory of one scope to hosts of
// agents over the Model Context Protocol: tools, resources, a prompt.
//
// [github.com/memoryd/memoryd/server] is the HTTP API, a thin layer over all
// that. cmd/memoryd reads flags, chooses, connects, and shuts down.
// [github.com/memoryd/memoryd/client] calls it, and adk, a module of its own, is
// the services of Google's ADK over that. [Open] and [New], here, put all of it
// together in one process: the command's, or one's own.
package memoryd
