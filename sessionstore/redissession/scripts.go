package redissession

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/sessionstore"
)

//go:embed lua/*.lua
var sources embed.FS

// The scripts. Each runs in one slot, and does all of its changes or none. Those
// that a client may rely on once they are answered count as writes in the mark of
// their keys: what the others change is made again by itself if it is lost.
var (
	appendScript       = script("append", write)
	deleteScript       = script("delete", write)
	expireScript       = script("expire", 0)
	recentScript       = script("recent", 0)
	ranScript          = script("ran", 0)
	operationsOfScript = script("operationsof", 0)
	touchScript        = script("touch", 0)
	eraseScript        = script("erase", write)
	erasableScript     = script("erase", 0) // for dry runs, which write nothing
	eventsOfScript     = script("eventsof", 0)
	livesOfScript      = script("livesof", 0)
	recordedScript     = script("recorded", 0)
	unrecordScript     = script("unrecord", write)
	blankScript        = script("blank", write)
	eraseAppScript     = script("eraseapp", alone|write) // in the slot of an app
	rewrittenScript    = redis.NewScript(source("rewritten"))
	eraseKeysScript    = script("erasekeys", alone|write)
	retryScript        = script("retry", write)
	restoreScript      = script("restore", write)
	rebindScript       = script("rebind", write)
	getScript          = script("get", 0)
	listScript         = script("list", 0)
	statesScript       = script("states", 0)
	userStateScript    = script("userstate", 0)
	eventsScript       = script("events", 0)
	dueScript          = script("due", 0)
	claimScript        = script("claim", 0)
	renewScript        = script("renew", 0)
	saveScript         = script("save", 0)
	finishScript       = script("finish", 0)
	failScript         = script("fail", 0)
	operationScript    = script("operation", 0)
	changesScript      = script("changes", 0)
	operationsScript   = script("operations", 0)
	deliveredScript    = script("delivered", 0)
	recordScript       = script("record", 0)
	auditScript        = script("audit", 0)
	auditWorkScript    = script("auditwork", 0)
	markScript         = script("mark", alone)
	acceptScript       = script("accept", alone)
	deliverScript      = script("deliver", alone) // in the slot of an app; counts changes of its state
	reserveScript      = script("reserve", alone)
	appStateScript     = script("appstate", alone)
	createKeyScript    = script("createkey", alone|write)
	revokeKeyScript    = script("revokekey", alone|write)
	rotateKeyScript    = script("rotatekey", alone|write)
	requireScript      = script("requirekeys", alone|write)
	touchKeysScript    = script("touchkeys", alone)
	keyScript          = script("key", alone)
	listKeysScript     = script("listkeys", alone)
	revisionScript     = script("keysrevision", alone)
	configScript       = script("config", alone)
	putConfigScript    = script("putconfig", alone|write)
	giveConfigScript   = script("giveconfig", alone|write)
	enlistScript       = redis.NewScript(source("enlist")) // in the slot of the work index
	unlistScript       = redis.NewScript(source("unlist"))
)

// manner is how a script is made.
type manner int

const (
	write manner = 1 << iota // it counts as a write
	alone                    // it needs nothing of common.lua
)

// source returns the text of a script.
func source(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// script is a script that works on a partition, or on the keys of an app. guard.lua
// comes before it. The answer is the mark and, last, what the script itself returns:
// see Store.learn.
func script(name string, how manner) *redis.Script {
	text := constants() + source("guard")
	if how&alone == 0 {
		text += source("common")
	}
	text += "\nlocal function main()\n" + source(name) + "\nend\nlocal out = main()\n"
	if how&write != 0 {
		text += "guard.count()\n"
	}
	return redis.NewScript(text + "return {guard.made or '', guard.n, guard.lost, guard.wrote, out}\n")
}

// constants are those that scripts share with package sessionstore.
func constants() string {
	return fmt.Sprintf("local OPERATION_TTL, STATE_KEY_BYTES, PAGE_BYTES, MAX_PAGE_CHANGES, WALK_BYTES, MAX_ASKED,"+
		" MAX_TRIGGER_WAIT = %d, %d, %d, %d, %d, %d, %d\n", sessionstore.OperationTTL.Milliseconds(),
		sessionstore.StateKeyBytes, sessionstore.PageBytes, sessionstore.MaxPageChanges, sessionstore.WalkBytes,
		sessionstore.MaxAsked, sessionstore.MaxTriggerWait.Microseconds())
}

// keys declares the keys of a script by two of them, the first of which never
// exists. While a cluster moves a slot to another node, its keys are on both
// sides, and Redis refuses a script that declares several keys of which some are
// missing: so none runs on half of the data. All other keys of a script are in
// the same slot.
func keys(prefix string) []string { return []string{prefix, prefix + "n"} }

// run runs a script in the slot of prefix.
func (s *Store) run(ctx context.Context, script *redis.Script, prefix string, args ...any) (any, error) {
	return s.runOn(ctx, s.redis, script, prefix, args...)
}

// runOn is run by one of the two clients.
func (s *Store) runOn(ctx context.Context, c redis.Scripter, script *redis.Script, prefix string, args ...any) (
	any, error) {
	v, err := script.Run(ctx, c, keys(prefix), append(args, s.marks.seen(prefix))...).Result()
	if err != nil {
		return nil, s.kind(ctx, err)
	}
	return s.marks.learn(prefix, v), nil
}

// call is one run of a script in the slot of a prefix.
type call struct {
	script *redis.Script
	prefix string
	args   []any
}

// answer is what a call returned, or its error.
type answer struct {
	value any
	err   error
}

// together runs scripts at once, in one round trip to each node, and returns the answer
// of each. A node may get a call twice if its connection breaks, so that the scripts
// must be such that this does no harm.
func (s *Store) together(ctx context.Context, calls ...call) []answer {
	out := make([]answer, len(calls))
	todo := make([]int, len(calls))
	for i := range todo {
		todo[i] = i
	}
	// By the hash first, and those that a node does not know by their text.
	for _, send := range []func(*redis.Script, context.Context, redis.Scripter, []string, ...any) *redis.Cmd{
		(*redis.Script).EvalSha, (*redis.Script).Eval} {
		pipe := s.redis.Pipeline()
		sent := make([]*redis.Cmd, len(calls))
		for _, i := range todo {
			c := calls[i]
			args := append(slices.Clip(c.args), s.marks.seen(c.prefix))
			sent[i] = send(c.script, ctx, pipe, keys(c.prefix), args...)
		}
		_, _ = pipe.Exec(ctx) // each call has its own error
		var unknown []int
		for _, i := range todo {
			switch err := sent[i].Err(); {
			case err == nil:
				out[i] = answer{value: s.marks.learn(calls[i].prefix, sent[i].Val())}
			case redis.HasErrorPrefix(err, "NOSCRIPT"):
				unknown = append(unknown, i)
			default:
				out[i] = answer{err: s.kind(ctx, err)}
			}
		}
		if todo = unknown; len(todo) == 0 {
			break
		}
	}
	return out
}

// allOf returns what all calls returned, or the first error.
func allOf(answers []answer) (values []any, err error) {
	for _, a := range answers {
		if a.err != nil {
			return nil, a.err
		}
		values = append(values, a.value)
	}
	return values, nil
}

// reply reads the answer of a script, by place. A script and the code that reads
// its answer change together, so a wrong shape is a fault in this package.
type reply []any

// replyOf returns the answer of a script, or a list in one; nil for anything
// else.
func replyOf(v any) reply { r, _ := v.([]any); return r }

func (r reply) text(i int) string { v, _ := r[i].(string); return v }
func (r reply) list(i int) reply  { return replyOf(r[i]) }

func (r reply) texts() []string {
	out := make([]string, len(r))
	for i := range r {
		out[i] = r.text(i)
	}
	return out
}

// num is an integer, as Redis has it or in decimal digits; 0 for anything else.
func (r reply) num(i int) int64 {
	switch v := r[i].(type) {
	case int64:
		return v
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
	}
	return 0
}

// state adds names and values, which follow one another, to a state.
func (r reply) state(prefix string, into sessionstore.State) {
	for i := 0; i+1 < len(r); i += 2 {
		into[prefix+r.text(i)] = []byte(r.text(i + 1))
	}
}
