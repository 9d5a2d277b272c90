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

// The scripts. Each runs in one slot, and does all or nothing.
var (
	appendScript     = script("append")
	getScript        = script("get")
	listScript       = script("list")
	deleteScript     = script("delete")
	headsScript      = script("heads")
	claimScript      = script("claim")
	renewScript      = script("renew")
	saveScript       = script("save")
	finishScript     = script("finish")
	failScript       = script("fail")
	operationScript  = script("operation")
	operationsScript = script("operations")
	retryScript      = script("retry")
	deliveredScript  = script("delivered")
	restoreScript    = script("restore")
	archivedScript   = script("archived")
	undoneScript     = script("undone")
	deliverScript    = redis.NewScript(source("deliver")) // in an app's slot
	markScript       = redis.NewScript(source("mark"))    // in that of the work index
	unmarkScript     = redis.NewScript(source("unmark"))
)

func source(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// script is one that works on a partition, with what those share before it.
func script(name string) *redis.Script {
	ttl := fmt.Sprintf("local OPERATION_TTL = %d -- ms\n", sessionstore.OperationTTL.Milliseconds())
	return redis.NewScript(ttl + source("common") + "\n" + source(name))
}

// keys declares those of a script by two of them, the first of which never
// exists. While a cluster moves a slot to another node its keys are on both
// sides, and Redis refuses a script that declares several keys of which some
// are missing: so none runs on half of the data. All other keys of a script are
// in the same slot.
func keys(prefix string) []string { return []string{prefix, prefix + "n"} }

// run runs a script in the slot of prefix.
func (s *Store) run(ctx context.Context, script *redis.Script, prefix string, args ...any) (any, error) {
	v, err := script.Run(ctx, s.redis, keys(prefix), args...).Result()
	return v, s.kind(ctx, err)
}

// reply reads what a script returned, by place. A script and the code that
// reads it change together, so a wrong shape is a fault of ours.
type reply []any

func (r reply) text(i int) string { v, _ := r[i].(string); return v }
func (r reply) list(i int) reply  { v, _ := r[i].([]any); return v }
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

func (r reply) state(prefix string, into sessionstore.State) {
	for i := 0; i+1 < len(r); i += 2 {
		into[prefix+r.text(i)] = []byte(r.text(i + 1))
	}
}
