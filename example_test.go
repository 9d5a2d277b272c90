package memoryd_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
)

// A memoryd inside a program: it ingests a conversation, and a search finds the
// fact in it.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "memoryd-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	bank, err := memoryd.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()

	ann := client.InProcess(bank).User("recipes", "ann")
	conversation := []client.Event{
		client.Text("user", "My daughter is allergic to peanuts."),
		client.Text("model", "I will leave them out."),
	}
	const wait = true // until the facts are there
	if _, err := ann.Ingest(ctx, "monday", conversation, wait); err != nil {
		log.Fatal(err)
	}
	matches, err := ann.Search(ctx, client.Search{Query: "What must the child not eat?", TopK: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range matches {
		fmt.Println(m.Memory.Fact)
	}
	// Output: My daughter is allergic to peanuts.
}
