package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
)

func Example() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil) // in this process; client.New calls one that is served
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	ann := client.InProcess(bank).User("shop", "ann")

	if _, err := ann.Ingest(ctx, "s1", []client.Event{client.Text("user", "I am allergic to peanuts.")}, true); err != nil {
		log.Fatal(err)
	}
	matches, err := ann.Search(ctx, client.Search{Query: "What must Ann not eat?", TopK: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(matches[0].Memory.Fact)
	// Output: I am allergic to peanuts.
}
