package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/client"
)

func Example() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil) // client.New calls a memoryd that runs as a server
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	ann := client.InProcess(bank).User("shop", "ann")

	said := []client.Event{client.Text("user", "I am allergic to peanuts.")}
	if _, err := ann.Ingest(ctx, "s1", said, true); err != nil {
		log.Fatal(err)
	}
	matches, err := ann.Search(ctx, client.Search{Query: "What must Ann not eat?", TopK: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(matches[0].Memory.Fact)
	// Output: I am allergic to peanuts.
}

// A live session keeps its state, renders a template with it, and is added to
// memory when it is over.
func ExampleUser_AddSession() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	ann := client.InProcess(bank).User("shop", "ann")

	s, err := ann.CreateSession(ctx, client.NewSession{ID: "s1", State: map[string]any{"user:language": "en"}})
	if err != nil {
		log.Fatal(err)
	}
	said := client.Text("user", "My sister Rita plays the cello.")
	said.Actions = &client.Actions{StateDelta: map[string]any{"topic": "music"}}
	if _, err := ann.Append(ctx, s.ID, "", said); err != nil {
		log.Fatal(err)
	}
	prompt, err := ann.Render(ctx, s.ID, "Speak about {topic}, in {user:language}.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prompt)
	state, err := ann.State(ctx) // that of all her sessions
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state)
	op, err := ann.AddSession(ctx, s.ID, true)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range op.Response.Memories {
		fmt.Println(c.Action, c.Memory.Fact)
	}
	// Output:
	// Speak about music, in en.
	// map[user:language:en]
	// CREATED My sister Rita plays the cello.
}

// Context makes a block for a prompt. The block cites its memories.
func ExampleUser_Context() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	ann := client.InProcess(bank).User("shop", "ann")

	if _, err := ann.AddMemory(ctx, client.Fact{Fact: "I am allergic to peanuts."}); err != nil {
		log.Fatal(err)
	}
	block, err := ann.Context(ctx, client.Search{Query: "peanuts"}, 200)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(block.Text != "", block.Tokens <= 200, block.Memories[0].Memory.Fact)
	// Output: true true I am allergic to peanuts.
}

// Every change of a memory is a revision, and can be undone.
func ExampleUser_Rollback() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	ann := client.InProcess(bank).User("shop", "ann")

	m, err := ann.AddMemory(ctx, client.Fact{Fact: "I live in Porto."})
	if err != nil {
		log.Fatal(err)
	}
	wrong := "I live in Portland."
	if _, err := ann.UpdateMemory(ctx, m.ID, client.Change{Fact: &wrong}); err != nil {
		log.Fatal(err)
	}
	if m, err = ann.Rollback(ctx, m.ID, 1); err != nil {
		log.Fatal(err)
	}
	past, err := ann.Revisions(ctx, m.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range past {
		fmt.Println(r.Revision, r.Action, r.Fact)
	}
	// Output:
	// 3 UPDATED I live in Porto.
	// 2 UPDATED I live in Portland.
	// 1 CREATED I live in Porto.
}

// Follow reports the progress of an operation until it is done.
func ExampleClient_Follow() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	c := client.InProcess(bank)

	said := []client.Event{client.Text("user", "I moved to Porto."), client.Text("assistant", "How lovely!")}
	op, err := c.User("shop", "ann").Ingest(ctx, "s1", said, false)
	if err != nil {
		log.Fatal(err)
	}
	for now, err := range c.Follow(ctx, op.ID) {
		if err != nil {
			log.Fatal(err)
		}
		op = now
	}
	fmt.Println(op.Metadata.State, op.Metadata.EventsDone, "of", op.Metadata.EventsTotal)
	// Output: SUCCEEDED 2 of 2
}

// CallTool runs a tool for a model. The result goes back to the model.
func ExampleUser_CallTool() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	c := client.InProcess(bank)

	declared, err := c.Tools(ctx) // for the request to the model
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(declared.Tools), "tools")
	ann := c.User("shop", "ann") // your code chooses the user, never the model
	if _, err := ann.CallTool(ctx, "remember", json.RawMessage(`{"fact": "I love hiking."}`)); err != nil {
		log.Fatal(err)
	}
	result, err := ann.CallTool(ctx, "load_memory", json.RawMessage(`{"query": "What does she love?"}`))
	if err != nil {
		log.Fatal(err)
	}
	var found struct {
		Memories []struct {
			Content struct {
				Parts []struct {
					Text string `json:"text"`
				} `json:"parts"`
			} `json:"content"`
		} `json:"memories"`
	}
	if err := json.Unmarshal(result, &found); err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Memories[0].Content.Parts[0].Text)
	// Output:
	// 4 tools
	// I love hiking.
}
