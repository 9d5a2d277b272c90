package adk_test

import (
	"context"
	"fmt"
	"log"
	"regexp"
	"strings"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/tool/loadmemorytool"
	"google.golang.org/adk/v2/tool/preloadmemorytool"
	"google.golang.org/adk/v2/workflow"
	"google.golang.org/genai"

	"github.com/memoryd/memoryd"
	"github.com/memoryd/memoryd/adk"
	"github.com/memoryd/memoryd/client"
)

var (
	favourite = regexp.MustCompile(`user: .*favourite colour is (\w+)`)
	hobby     = regexp.MustCompile(`user: .*I love (\w+)`)
)

// shopping is a scripted model that answers from its instructions, where
// preloadmemorytool puts memories.
var shopping = scripted(func(given given) *genai.Content {
	if !strings.HasSuffix(given.user, "?") {
		return text("Noted.")
	}
	_, past, _ := strings.Cut(given.system, "<PAST_CONVERSATIONS>")
	colour, does := favourite.FindStringSubmatch(past), hobby.FindStringSubmatch(past)
	if colour == nil || does == nil {
		return text("Tell me more about you.")
	}
	return text(fmt.Sprintf("You love %s, and your favourite colour is %s: %s boots.", does[1], colour[1], colour[1]))
})

// This agent adds each turn to memory. In later sessions preloadmemorytool shows
// the matching memories to the model.
func Example() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil) // a memoryd in this process
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	c := client.InProcess(bank) // or client.New("http://127.0.0.1:8080", nil)

	memories := adk.NewMemoryService(c, &adk.MemoryOptions{Wait: true, Timeout: time.Minute})
	assistant, err := llmagent.New(llmagent.Config{
		Name:                "assistant",
		Model:               shopping, // your model
		Tools:               []tool.Tool{preloadmemorytool.New()},
		AfterAgentCallbacks: []agent.AfterAgentCallback{memories.SaveTurn},
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName:           "shop",
		Agent:             assistant,
		SessionService:    adk.NewSessionService(c),
		MemoryService:     memories,
		AutoCreateSession: true,
	})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(say(ctx, r, "ann", "monday", "My favourite colour is green."))
	fmt.Println(say(ctx, r, "ann", "tuesday", "I love hiking."))
	fmt.Println(say(ctx, r, "ann", "friday", "Which colour should my hiking boots have?"))
	fmt.Println(say(ctx, r, "bob", "friday", "Which colour should my hiking boots have?"))
	// Output:
	// Noted.
	// Noted.
	// You love hiking, and your favourite colour is green: green boots.
	// Tell me more about you.
}

// recalling is a scripted model that answers from the result of load_memory.
var recalling = scripted(func(given given) *genai.Content {
	project := regexp.MustCompile(`favorite project is ([\w ]+)`).FindStringSubmatch(given.tool)
	switch {
	case given.tool == "":
		return toolCall("load_memory", map[string]any{"query": given.user})
	case project == nil:
		return text("I do not know.")
	}
	return text("It is " + project[1] + ".")
})

// A finished session is added to memory. An agent with ADK's load_memory finds it
// from another session.
func ExampleMemoryService_AddSessionToMemory() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	c := client.InProcess(bank)
	sessions := adk.NewSessionService(c)
	memories := adk.NewMemoryService(c, &adk.MemoryOptions{Wait: true, Timeout: time.Minute})

	with := func(cfg llmagent.Config) *runner.Runner {
		a, err := llmagent.New(cfg)
		if err != nil {
			log.Fatal(err)
		}
		r, err := runner.New(runner.Config{AppName: "work", Agent: a, SessionService: sessions, MemoryService: memories, AutoCreateSession: true})
		if err != nil {
			log.Fatal(err)
		}
		return r
	}
	listening := with(llmagent.Config{Name: "listening", Model: scripted(func(given) *genai.Content { return text("Good to know!") })})
	answering := with(llmagent.Config{Name: "answering", Model: recalling, Tools: []tool.Tool{loadmemorytool.New()}})

	fmt.Println(say(ctx, listening, "ann", "s1", "My favorite project is Project Alpha."))
	fmt.Println(say(ctx, answering, "ann", "s2", "What is my favorite project?"))
	first, err := sessions.Get(ctx, &session.GetRequest{AppName: "work", UserID: "ann", SessionID: "s1"})
	if err != nil {
		log.Fatal(err)
	}
	if err := memories.AddSessionToMemory(ctx, first.Session); err != nil {
		log.Fatal(err)
	}
	fmt.Println(say(ctx, answering, "ann", "s3", "What is my favorite project?"))
	// Output:
	// Good to know!
	// I do not know.
	// It is Project Alpha.
}

type flight struct {
	Number string `json:"number"`
	To     string `json:"to"`
}

type booking struct {
	Message string `json:"message"`
}

// travelling is a scripted model that calls one tool for each request of the user
// and repeats its answer.
var travelling = scripted(func(given given) *genai.Content {
	_, to, wants := strings.Cut(given.user, "flight to ")
	switch {
	case given.tool != "":
		return text(given.tool)
	case wants:
		return toolCall("search_flights", map[string]any{"number": "", "to": strings.TrimSuffix(to, ".")})
	}
	return toolCall("book_flight", map[string]any{})
})

// One tool writes a flight to the state. In a later turn another tool reads it.
func ExampleNewSessionService() {
	ctx := context.Background()
	search, err := functiontool.New(functiontool.Config{Name: "search_flights", Description: "Finds a flight."},
		func(ctx agent.Context, wanted flight) (flight, error) {
			found := flight{Number: "MD 42", To: wanted.To}
			if err := ctx.State().Set("flight", map[string]any{"number": found.Number, "to": found.To}); err != nil {
				return flight{}, err
			}
			return found, ctx.State().Set("user:last_destination", found.To)
		})
	if err != nil {
		log.Fatal(err)
	}
	book, err := functiontool.New(functiontool.Config{Name: "book_flight", Description: "Books the flight that was found last."},
		func(ctx agent.Context, _ struct{}) (booking, error) {
			found, err := ctx.State().Get("flight")
			if err != nil {
				return booking{Message: "search for a flight first"}, nil
			}
			f := found.(map[string]any)
			return booking{Message: fmt.Sprintf("booked %v to %v", f["number"], f["to"])}, ctx.State().Set("booked", true)
		})
	if err != nil {
		log.Fatal(err)
	}
	agency, err := llmagent.New(llmagent.Config{Name: "agency", Model: travelling, Tools: []tool.Tool{search, book}})
	if err != nil {
		log.Fatal(err)
	}

	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	sessions := adk.NewSessionService(client.InProcess(bank))
	r, err := runner.New(runner.Config{AppName: "travel", Agent: agency, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(say(ctx, r, "ann", "trip", "Book it."))
	fmt.Println(say(ctx, r, "ann", "trip", "Find me a flight to Porto."))
	fmt.Println(say(ctx, r, "ann", "trip", "Book it."))
	trip, err := sessions.Get(ctx, &session.GetRequest{AppName: "travel", UserID: "ann", SessionID: "trip"})
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"booked", "flight", "user:last_destination"} {
		v, err := trip.Session.State().Get(key)
		fmt.Println(key, "=", v, err)
	}
	// Output:
	// {"message":"search for a flight first"}
	// {"number":"MD 42","to":"Porto"}
	// {"message":"booked MD 42 to Porto"}
	// booked = true <nil>
	// flight = map[number:MD 42 to:Porto] <nil>
	// user:last_destination = Porto <nil>
}

// In a graph of ADK's Workflow an agent answers from memory, and a function works on its answer.
// SaveTurn, as a callback of the whole graph, adds each turn to memory.
func ExampleMemoryService_SaveTurn() {
	ctx := context.Background()
	bank, err := memoryd.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer bank.Close()
	c := client.InProcess(bank)
	memories := adk.NewMemoryService(c, &adk.MemoryOptions{Wait: true, Timeout: time.Minute})

	adviser, err := llmagent.New(llmagent.Config{
		Name:  "adviser",
		Model: shopping,
		Tools: []tool.Tool{preloadmemorytool.New()},
	})
	if err != nil {
		log.Fatal(err)
	}
	advise, err := workflow.NewAgentNode(adviser, workflow.NodeConfig{})
	if err != nil {
		log.Fatal(err)
	}
	sign := workflow.NewFunctionNode("sign", func(_ agent.Context, advice string) (string, error) {
		return advice + " Your shop.", nil
	}, workflow.NodeConfig{})
	shop, err := workflowagent.New(workflowagent.Config{
		Name:                "shop",
		SubAgents:           []agent.Agent{adviser},
		Edges:               workflow.Chain(workflow.Start, advise, sign),
		AfterAgentCallbacks: []agent.AfterAgentCallback{memories.SaveTurn},
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName:           "shop",
		Agent:             shop,
		SessionService:    adk.NewSessionService(c),
		MemoryService:     memories,
		AutoCreateSession: true,
	})
	if err != nil {
		log.Fatal(err)
	}

	// sayTo returns what the last node of the graph puts out.
	sayTo := func(session, words string) (out any) {
		for event, err := range r.Run(ctx, "ann", session, genai.NewContentFromText(words, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				log.Fatal(err)
			}
			out = event.Output
		}
		return out
	}
	fmt.Println(sayTo("monday", "My favourite colour is green."))
	fmt.Println(sayTo("tuesday", "I love hiking."))
	fmt.Println(sayTo("friday", "Which colour should my hiking boots have?"))
	// Output:
	// Noted. Your shop.
	// Noted. Your shop.
	// You love hiking, and your favourite colour is green: green boots. Your shop.
}
