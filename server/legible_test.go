package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// unseen returns every character that Unicode has readers ignore, and every format
// and control character, except line breaks and tabs.
func unseen() (all []rune) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf, unicode.Cc) &&
			!unicode.IsSpace(r) {
			all = append(all, r)
		}
	}
	return all
}

// No character that cannot be seen reaches a model on any road: not from the words
// of a memory, its author, its topics, its session, its metadata, or the query. The
// words of people stay, and the API for programs gives them as they were said.
func TestWhatModelsSeeIsLegible(t *testing.T) {
	a := start(t)
	var hidden strings.Builder
	all := unseen()
	for _, r := range all {
		if r != 0 {
			hidden.WriteRune(r)
		}
	}
	// In four parts, as many as fit into one fact.
	var facts []string
	runes := []rune(hidden.String())
	for part := range 4 {
		some := string(runes[part*len(runes)/4 : (part+1)*len(runes)/4])
		facts = append(facts, fmt.Sprintf("The cat Miso%d %s eats fish 👩‍👩‍👧 and نمی‌دانم.", part, some))
	}
	sly := "\u200b\U000e0049\U000e0067\ufe0f\u202e\u3164\u034f"
	var ids []string
	for _, fact := range facts {
		m := a.want(201, "POST", scope+"/memories", map[string]any{"fact": fact, "topics": []string{"cats" + sly},
			"metadata": map[string]any{"note" + sly: []any{map[string]any{"of": "Ann" + sly}}}})
		if text(m, "fact") != fact {
			t.Error("the stored fact differs from what was said")
		}
		ids = append(ids, text(m, "id"))
	}
	a.want(200, "POST", scope+"/memories/ingest?wait=true", map[string]any{"sessionId": "s" + "\u200b\U000e0049\ufe0f",
		"events": []any{map[string]any{"id": "e1", "author": "Ann" + sly, "content": "My cat Miso" + sly + " likes milk."}}})
	query := "What does the cat Miso" + sly + " eat?"
	answers := map[string]any{
		"context": at(a.want(200, "POST", scope+"/memories/context", map[string]any{"query": query}), "text"),
		"prompt":  a.mcp(mcpPath, rpc("prompts/get", map[string]any{"name": "preload_memory", "arguments": map[string]any{"query": query}})),
		"list":    a.mcp(mcpPath, rpc("resources/list", map[string]any{})),
		"failure": a.want(200, "POST", scope+"/tools/forget", map[string]any{"args": map[string]any{"id": "none"}}),
		"refusal": a.mcp(mcpPath, toolCall("search_memory", map[string]any{"query": "cat", "since": "may" + sly})),
	}
	for _, name := range []string{"load_memory", "search_memory", "preload_memory"} {
		answers[name] = a.want(200, "POST", scope+"/tools/"+name, map[string]any{"args": map[string]any{"query": query}})
	}
	answers["remember"] = a.want(200, "POST", scope+"/tools/remember",
		map[string]any{"args": map[string]any{"fact": "My dog is called Rex" + sly + ".", "topics": []string{"dogs" + sly}}})
	for _, name := range []string{"load_memory", "search_memory"} {
		answers[name+" over MCP"] = a.mcp(mcpPath, toolCall(name, map[string]any{"query": query}))
	}
	for i, id := range ids {
		answers[fmt.Sprint("resource ", i)] = a.mcp(mcpPath, rpc("resources/read", map[string]any{"uri": "memoryd://memories/" + id}))
	}
	for road, answer := range answers {
		raw, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var shown any
		if err := json.Unmarshal(raw, &shown); err != nil {
			t.Fatal(err)
		}
		whole := texts(shown)
		// What scripts and emoji need is not hidden.
		whole = strings.NewReplacer("👩‍👩‍👧", "", "نمی‌دانم", "").Replace(whole)
		for _, r := range all {
			if strings.ContainsRune(whole, r) {
				t.Errorf("%s has %U", road, r)
			}
		}
		if strings.Contains(whole, "Miso0") && strings.Contains(whole, "fish") != strings.Contains(string(raw), "👩‍👩‍👧 and نمی‌دانم") {
			t.Errorf("%s lost the joiners that an emoji and a word need: %.300s", road, raw)
		}
	}
	stored := a.want(200, "GET", scope+"/memories/"+ids[0], nil)
	if text(stored, "fact") != facts[0] {
		t.Error("a program gets another fact than was said")
	}
}

// texts returns all texts in JSON, names included. A text that is JSON itself, as
// the resources of MCP are, is read as such.
func texts(v any) string {
	var out strings.Builder
	switch v := v.(type) {
	case string:
		var inner any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			return texts(inner)
		}
		return v
	case []any:
		for _, x := range v {
			out.WriteString(texts(x))
		}
	case map[string]any:
		for name, x := range v {
			out.WriteString(name + texts(x))
		}
	}
	return out.String()
}
