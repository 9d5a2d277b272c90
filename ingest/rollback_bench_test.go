package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/memoryd/memoryd/embed"
	"github.com/memoryd/memoryd/extract/rules"
	"github.com/memoryd/memoryd/ingest"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
	"github.com/memoryd/memoryd/memory"
	"github.com/memoryd/memoryd/memory/sqlitestore"
	"github.com/memoryd/memoryd/sessionstore/sqlitesession"
)

// BenchmarkRollBack undoes an operation that made 10,000 changes, half of them facts that
// took the place of others, in a file on disk. It ends when the operation of the rollback
// is done.
func BenchmarkRollBack(b *testing.B) {
	const facts = 5000
	for b.Loop() {
		b.StopTimer()
		service, memories, stop := benchService(b)
		var old, changed []memory.Write
		op, err := service.Ingest(b.Context(), key("s"), nil, ingest.RequestOptions{})
		if err != nil {
			b.Fatal(err)
		}
		at := time.Unix(1_700_000_000, 0).UTC()
		for i := range facts {
			m := memory.Memory{ID: fmt.Sprintf("old-%05d", i), Scope: scope, Kind: memory.KindFact,
				Fact: fmt.Sprintf("The meeting number %d is in room %d.", i, i%97), Timestamp: at, Topics: []string{}}
			old = append(old, memory.Write{Memory: m, Actor: "rules"})
			n := m.Clone()
			n.ID, n.Fact, n.Timestamp = fmt.Sprintf("new-%05d", i), m.Fact+" It has moved.", at.Add(time.Hour)
			m.ValidTo, m.SupersededBy = n.Timestamp, n.ID
			changed = append(changed, memory.Write{Memory: n, Actor: "rules", Operation: op.ID},
				memory.Write{Memory: m, Expect: 1, Actor: "rules", Operation: op.ID})
		}
		for _, writes := range [][]memory.Write{old, changed} {
			for from := 0; from < len(writes); from += 500 {
				some := writes[from:min(len(writes), from+500)]
				if err := benchIndex(b.Context(), some); err != nil {
					b.Fatal(err)
				}
				out, err := memories.Put(b.Context(), scope, some)
				if err != nil || out[0].Err != nil {
					b.Fatal(err, out[0].Err)
				}
			}
		}
		b.StartTimer()
		began := time.Now()
		did, err := service.RollBack(b.Context(), scope, op.ID)
		if err != nil {
			b.Fatal(err)
		}
		done, err := service.Wait(b.Context(), scope, did.ID, time.Minute)
		if err != nil || !done.Done() {
			b.Fatalf("%+v, %v", done, err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/10000-changes")
		b.StopTimer()
		page, err := memories.List(b.Context(), scope, memory.List{Filter: memory.Filter{History: true}, PageSize: 1000})
		if err != nil || len(page.Memories) != 1000 || page.Memories[0].SupersededBy != "" {
			b.Fatalf("%d memories, %v", len(page.Memories), err)
		}
		stop()
		b.StartTimer()
	}
}

// benchService is a Service that runs, over a file.
func benchService(b *testing.B) (*ingest.Service, *sqlitestore.Store, func()) {
	db, err := sqlitedb.Open(b.TempDir()+"/memoryd.db", nil)
	if err != nil {
		b.Fatal(err)
	}
	sessions, err := sqlitesession.New(db, nil)
	if err != nil {
		b.Fatal(err)
	}
	memories, err := sqlitestore.New(db, model(), nil)
	if err != nil {
		b.Fatal(err)
	}
	service := ingest.New(sessions, memories, embed.Builtin{}, rules.New(),
		&ingest.Options{Together: assembly.Together(sessions, memories)})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() { service.Run(ctx); close(ended) }()
	return service, memories, func() { cancel(); <-ended; db.Close() }
}

// benchIndex gives writes the words and vectors that ingestion gives them.
func benchIndex(ctx context.Context, writes []memory.Write) error {
	records := make([]memory.Record, len(writes))
	for i := range writes {
		records[i].Memory = writes[i].Memory
	}
	if err := ingest.Index(ctx, embed.Builtin{}, records, time.Now()); err != nil {
		return err
	}
	for i := range writes {
		writes[i].Terms, writes[i].Vector = records[i].Terms, records[i].Vector
	}
	return nil
}
