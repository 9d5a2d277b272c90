// Package memoryd is a memory bank for agents in one process: it stores the
// sessions of agents, makes memories of them, and finds those again by meaning.
// [Open] and [New] put it together, and the command cmd/memoryd serves it.
//
// The rest of this comment is a tour of the repository, bottom up: a package
// imports only packages that come before it here. A test holds the exact table.
//
// # Nouns and promises
//
// [github.com/memoryd/memoryd/memory] defines a memory: a fact, or a turn of a
// conversation, in the scope of one user of one app, with revisions. Its Store
// interface says what a memory store promises, and Movable how memories move to
// another embedder while they are served. Every promise is a test case in
// [github.com/memoryd/memoryd/memory/storetest], which each backend passes.
//
// [github.com/memoryd/memoryd/sessionstore] does the same for sessions: events in
// order, and state in the scopes of session, user and app, as ADK has them. Its
// Progress interface records which sessions still have events to make memories of.
// The suite is [github.com/memoryd/memoryd/sessionstore/sessiontest].
//
// [github.com/memoryd/memoryd/access] has who may do what: principals, keys, and what a
// store of keys promises. Session stores are such stores.
// [github.com/memoryd/memoryd/access/guard] stands between a server and its stores.
// [github.com/memoryd/memoryd/access/oidc] checks the tokens of an OpenID Connect issuer.
//
// [github.com/memoryd/memoryd/quota] bounds what one key, app and user take; its suite is
// [github.com/memoryd/memoryd/quota/quotatest].
//
// [github.com/memoryd/memoryd/profile] reads the schemas of structured profiles, and checks
// values by them.
//
// [github.com/memoryd/memoryd/redact] finds and replaces secrets in text.
//
// # Backends
//
// [github.com/memoryd/memoryd/sessionstore/sqlitesession] and
// [github.com/memoryd/memoryd/memory/sqlitestore] keep everything in one SQLite
// file, which [github.com/memoryd/memoryd/internal/sqlitedb] opens: one process a
// file, one writer, commits in groups. It notices damage, and
// [github.com/memoryd/memoryd/internal/salvage] saves what is left of such a file.
// [github.com/memoryd/memoryd/sessionstore/redissession] keeps sessions in Redis or
// a Redis Cluster, and [github.com/memoryd/memoryd/memory/qdrantstore] keeps
// memories in Qdrant, for any number of processes. All pass the same suites. Both
// stores of memories search by [github.com/memoryd/memoryd/memory/index].
//
// # Verbs
//
// [github.com/memoryd/memoryd/embed] turns text into vectors,
// [github.com/memoryd/memoryd/internal/analyzer] into words, and
// [github.com/memoryd/memoryd/internal/legible] into what a model may be shown.
//
// [github.com/memoryd/memoryd/extract] defines how facts are found in turns and
// compared with known facts, and does both with a model.
// [github.com/memoryd/memoryd/extract/rules] does both by rules, with
// [github.com/memoryd/memoryd/extract/english] for the language,
// [github.com/memoryd/memoryd/extract/dates] for times and
// [github.com/memoryd/memoryd/extract/canonical] for the keys that facts are
// compared by. [github.com/memoryd/memoryd/extract/injection] tells text that
// gives orders to an agent, and [github.com/memoryd/memoryd/extract/gist] what a
// sentence is about and whether it tells of a change.
//
// [github.com/memoryd/memoryd/retrieve] answers a query: a store finds candidates
// by words and by meaning, and retrieve ranks them, can have a model word the
// query in other ways and rerank the best, and writes them as a block for a prompt.
//
// [github.com/memoryd/memoryd/consolidate] computes what new facts change of the
// known ones: which of them hold, and until when. The result follows from the
// statements and their times, whatever order they arrived in.
// [github.com/memoryd/memoryd/appconfig] has what each app wants kept, for how long, and
// how it searches.
// [github.com/memoryd/memoryd/internal/passage] cuts documents into passages.
// [github.com/memoryd/memoryd/ingest] reads sessions, extracts, consolidates and
// stores, and loses nothing: it stores events before a request is answered, and the
// list of changes before it applies them, so that a retry has the same result.
//
// [github.com/memoryd/memoryd/internal/tracing] begins the spans of traces, for the
// steps of requests and batches, of stores and of models.
//
// [github.com/memoryd/memoryd/gemini] and [github.com/memoryd/memoryd/openai] are
// the only packages that call those APIs: each has an Embedder and a Generator.
// [github.com/memoryd/memoryd/internal/remote] makes their calls: tries, time-outs,
// kinds of error.
//
// [github.com/memoryd/memoryd/tools] has the tools of an agent as plain Go values,
// with their schemas: load_memory, search_memory, remember and forget for a model
// to call, and preload_memory to run before it.
//
// # Protocols
//
// [github.com/memoryd/memoryd/mcp] shows the memory of one scope to hosts of agents
// over the Model Context Protocol: tools, resources, a prompt.
// [github.com/memoryd/memoryd/server] is the HTTP API, a thin layer over the verbs.
// [github.com/memoryd/memoryd/internal/aip160] reads the filters of its lists and searches.
//
// # Programs
//
// [github.com/memoryd/memoryd/internal/assembly] connects stores, embedder,
// extractor, reranker and expander, for this package and for
// [github.com/memoryd/memoryd/evals], which measures extraction and retrieval.
// [github.com/memoryd/memoryd/archive] writes both stores into a file and reads it,
// and [github.com/memoryd/memoryd/reembed] moves memories to another embedder while
// they are served. [github.com/memoryd/memoryd/check] checks both stores as a whole.
// [github.com/memoryd/memoryd/internal/telemetry] sends traces and metrics.
// cmd/memoryd reads flags, chooses backends and models, and runs
// all of this. [github.com/memoryd/memoryd/bench] measures a memoryd over HTTP, under
// load and under faults, and imports nothing of it.
// [github.com/memoryd/memoryd/internal/release] builds its releases.
//
// [github.com/memoryd/memoryd/vertex] serves the calls of Google's clients of sessions and
// memories, which vertexrest reads from HTTP and vertexgrpc from gRPC; vertexauth has their certificates
// and tokens.
//
// [github.com/memoryd/memoryd/client] calls the HTTP API, of a server or of a Bank
// in the same process. adk, a module of its own, implements the services of
// Google's ADK with it.
package memoryd
