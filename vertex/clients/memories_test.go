package clients

import (
	"testing"
	"time"

	"google.golang.org/adk/v2/memory"
	memories "google.golang.org/adk/v2/memory/vertexai"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/vertexai"
	vertexaiutil "google.golang.org/adk/v2/util/vertexai"
	"google.golang.org/genai"
)

// adk-go's memory service makes memories of a session, or of its newer events, and finds them, by
// configuration alone.
func memoriesOfADK(t *testing.T) {
	const number = "1000" // those of the suite of sessions are smaller
	sessions, err := vertexai.NewSessionService(t.Context(), vertexai.VertexAIServiceConfig{ProjectID: "p",
		Location: "memoryd", ReasoningEngine: number})
	if err != nil {
		t.Fatal(err)
	}
	made, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: number, UserID: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	const lastUpdate = "last"
	engine := vertexaiutil.AgentEngineData{ProjectID: "p", Location: "memoryd", ReasoningEngine: number}
	service := func(key string) memory.Service {
		s, err := memories.NewService(t.Context(), &memories.ServiceConfig{AgentEngineData: engine, WaitForCompletion: true,
			StateKeySessionLastUpdateTime: key})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	say := func(text string) {
		t.Helper()
		event := session.NewEvent(t.Context(), "i")
		event.Author, event.LLMResponse = "user", model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleUser)}
		if err := sessions.AppendEvent(t.Context(), made.Session, event); err != nil {
			t.Fatal(err)
		}
	}
	finds := func(query, want string) {
		t.Helper()
		found, err := service("").SearchMemory(t.Context(), &memory.SearchRequest{AppName: number, UserID: "ann", Query: query})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range found.Memories {
			if m.Content.Parts[0].Text == want {
				n++
			}
		}
		if n != 1 {
			t.Errorf("a search for %q finds %q %d times, in %d memories", query, want, n, len(found.Memories))
		}
	}
	say("I live in Graz.")
	for range 2 { // the second time it has nothing new
		if err := service("").AddSessionToMemory(t.Context(), made.Session); err != nil {
			t.Fatal(err)
		}
		finds("Where does the user live?", "I live in Graz.")
	}
	if err := made.Session.State().Set(lastUpdate, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	say("I am allergic to peanuts.")
	if err := service(lastUpdate).AddSessionToMemory(t.Context(), made.Session); err != nil {
		t.Fatal(err)
	}
	finds("peanuts", "I am allergic to peanuts.")
	finds("Where does the user live?", "I live in Graz.")
}
