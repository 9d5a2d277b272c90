#!/usr/bin/env bash
# make.sh MEMORYD writes memoryd.db.gz beside itself, with the memoryd binary that it is given.
set -euo pipefail
memoryd=$1
here=$(cd "$(dirname "$0")" && pwd)
data=$(mktemp -d)
address=127.0.0.1:18080
scope=http://$address/v1/apps/notes/users

# start serves the data directory with the flags that follow and returns when it answers.
start() {
  "$memoryd" serve -data "$data" -listen "$address" -log-level error "$@" > "$data/stdout" &
  pid=$!
  until "$memoryd" ready -listen "$address" > /dev/null 2>&1; do sleep 0.1; done
}

stop() {
  kill -INT "$pid"
  wait "$pid"
}

# call METHOD PATH [BODY] prints the answer.
call() {
  curl -fsS -X "$1" "$scope/$2" ${3:+-H 'Content-Type: application/json' -d "$3"}
  echo
}

# event ID TIME TEXT is one event of the user.
event() {
  printf '{"id":"%s","author":"Ann","timestamp":"%s","content":{"role":"user","parts":[{"text":"%s"}]}}' "$1" "$2" "$3"
}

start
# Finished work of every kind.
call POST 'ann/memories/ingest?wait=true' '{"sessionId":"home","events":['"$(event h1 2024-01-01T08:00:00Z 'I live in Lisbon.'),$(event h2 2024-01-01T08:01:00Z 'My daughter Ines is allergic to peanuts.'),$(event h3 2024-01-01T08:02:00Z 'I love the colour green.')"']}'
call POST 'ann/memories/ingest?wait=true' '{"sessionId":"move","events":['"$(event m1 2024-06-01T08:00:00Z 'I moved to Porto.')"']}'
call POST 'ann/memories/ingest?wait=true' '{"sessionId":"beside","disableConsolidation":true,"events":['"$(event b1 2024-07-01T08:00:00Z 'My favourite number is 7.')"']}'
call POST 'ann/sessions' '{"id":"live","state":{"topic":"boats","user:language":"pt","app:motto":["be","kind"]},"events":['"$(event l1 2024-08-01T08:00:00Z 'I bought a red boat.'),$(event l2 2024-08-02T08:00:00Z 'I bought a blue canoe.'),$(event l3 2024-08-03T08:00:00Z 'I bought a green kayak.')"']}'
call POST 'ann/sessions/live/memories?wait=true' '{"startTime":"2024-08-02T00:00:00Z","endTime":"2024-08-03T00:00:00Z"}'
call POST 'ann/memories/ingest?wait=true' '{"facts":[{"fact":"Ann plays the cello.","topics":["MUSIC"]}]}'
call POST 'ann/sessions' '{"id":"empty"}'
# A memory with a history, a deleted one, and one that was brought back.
given=$(call POST 'ann/memories' '{"fact":"Ann keeps bees.","metadata":{"source":"form"}}' | sed 's/.*"id":"\([^"]*\)".*/\1/')
call PATCH "ann/memories/$given" '{"fact":"Ann keeps bees and hens."}'
call POST "ann/memories/$given/rollback" '{"revision":1}'
gone=$(call POST 'ann/memories' '{"fact":"Ann collects stamps."}' | sed 's/.*"id":"\([^"]*\)".*/\1/')
call DELETE "ann/memories/$gone"
stop

# Pending work of every kind, each of a user of its own: the model cannot be reached.
export OPENAI_BASE_URL=http://127.0.0.1:9/v1
start -extractor openai:none
call POST 'ann/memories/ingest' '{"sessionId":"later","events":['"$(event a1 2024-09-01T08:00:00Z 'I moved to Ghent.')"']}'
call POST 'bob/memories/ingest' '{"sessionId":"first","disableConsolidation":true,"events":['"$(event b1 2024-09-01T08:00:00Z 'I live in Rome.')"']}'
call POST 'cleo/sessions' '{"id":"trips","events":['"$(event c1 2024-09-01T08:00:00Z 'I visited Oslo.'),$(event c2 2024-09-02T08:00:00Z 'I visited Turin.'),$(event c3 2024-09-03T08:00:00Z 'I visited Malmo.')"']}'
call POST 'cleo/sessions/trips/memories' '{"startTime":"2024-09-02T00:00:00Z","endTime":"2024-09-03T00:00:00Z"}'
call POST 'dora/memories/ingest' '{"facts":[{"fact":"Dora repairs clocks."},{"fact":"Dora has three ferrets.","topics":["PETS"]}]}'
call POST 'emil/memories/ingest' '{"sessionId":"brief","events":['"$(event e1 2024-09-01T08:00:00Z 'I have a goat called Ferdinand.')"']}'
call DELETE 'emil/sessions/brief'
stop

gzip -9 -n -c "$data/memoryd.db" > "$here/memoryd.db.gz"
rm -rf "$data"
