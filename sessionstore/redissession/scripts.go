package redissession

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/memoryd/memoryd/sessionstore"
)

//go:embed lua/*.lua
var sources embed.FS

// The scripts. Each runs in one slot, and does all of its changes or none.
var (
	appendScript     = script("append")
	getScript        = script("get")
	listScript       = script("list")
	deleteScript     = script("delete")
	dueScript        = script("due")
	claimScript      = script("claim")
	renewScript      = script("renew")
	saveScript       = script("save")
	finishScript     = script("finish")
	failScript       = script("fail")
	operationScript  = script("operation")
	operationsScript = script("operations")
	retryScript      = script("retry")
	deliveredScript  = script("delivered")
	recordScript     = script("record")
	restoreScript    = script("restore")
	rebindScript     = script("rebind")
	deliverScript    = redis.NewScript(source("deliver")) // in the slot of an app
	enlistScript     = redis.NewScript(source("enlist"))  // in the slot of the work index
	unlistScript     = redis.NewScript(source("unlist"))
)

// source returns the text of a script.
func source(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// script is a script that works on a partition. common.lua comes before it.
func script(name string) *redis.Script {
	ttl := fmt.Sprintf("local OPERATION_TTL = %d -- ms\n", sessionstore.OperationTTL.Milliseconds())
	return redis.NewScript(ttl + source("common") + "\n" + source(name))
}

// keys declares the keys of a script by two of them, the first of which never
// exists. While a cluster moves a slot to another node, its keys are on both
// sides, and Redis refuses a script that declares several keys of which some are
// missing: so none runs on half of the data. All other keys of a script are in
// the same slot.
func keys(prefix string) []string { return []string{prefix, prefix + "n"} }

// run runs a script in the slot of prefix.
func (s *Store) run(ctx context.Context, script *redis.Script, prefix string, args ...any) (any, error) {
	v, err := script.Run(ctx, s.redis, keys(prefix), args...).Result()
	return v, s.kind(ctx, err)
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
func (r reply) num(i int) (n int64) {
	switch v := r[i].(type) {
	case int64:
		return v
	case string:
		if strings.TrimLeft(v, "-0123456789") == "" {
			fmt.Sscan(v, &n)
		}
	}
	return n
}

// state adds names and values, which follow one another, to a state.
func (r reply) state(prefix string, into sessionstore.State) {
	for i := 0; i+1 < len(r); i += 2 {
		into[prefix+r.text(i)] = []byte(r.text(i + 1))
	}
}
