// Functions is a chat in a terminal with a model that has a memory. The model is
// told of memoryd's tools, the program runs those that the model calls, and saves
// each turn.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/memoryd/memoryd/client"
)

func main() {
	memory, err := client.New(cmp.Or(os.Getenv("MEMORYD_URL"), "http://127.0.0.1:8080"),
		&client.Options{Key: os.Getenv("MEMORYD_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	// The model is OpenAI's, or one at OPENAI_BASE_URL; the key is in OPENAI_API_KEY.
	if err := talk(context.Background(), openai.NewClient(), memory, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// talk answers line by line; a line has up to 1 MB. The program chooses the user of
// all calls, "me". The model cannot choose another.
func talk(ctx context.Context, model openai.Client, memory *client.Client, in io.Reader, out io.Writer) error {
	me, session := memory.User("functions", "me"), uuid.NewString()
	tools, err := memory.Tools(ctx)
	if err != nil {
		return err
	}
	system := "You help one user, whom you know from earlier conversations: your tools are your memory."
	for _, name := range slices.Sorted(maps.Keys(tools.Instructions)) {
		system += "\n" + tools.Instructions[name]
	}
	messages := []message{openai.SystemMessage(system)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for fmt.Fprint(out, "> "); lines.Scan(); fmt.Fprint(out, "> ") {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		said := time.Now()
		messages = append(messages, openai.UserMessage(lines.Text()))
		var answer string
		if messages, answer, err = turn(ctx, model, messages, tools, me); err != nil {
			return err
		}
		fmt.Fprintln(out, answer)
		user, agent := client.Text("user", lines.Text()), client.Text("assistant", answer)
		user.Timestamp, agent.Timestamp = said, time.Now()
		if _, err := me.Ingest(ctx, session, []client.Event{user, agent}, false); err != nil {
			return err
		}
	}
	return lines.Err()
}

// message is any message of a conversation.
type message = openai.ChatCompletionMessageParamUnion

const maxRounds = 10 // of tool calls in a turn: some models never stop calling

// turn runs the tools that the model calls until it answers. It returns the
// conversation with the answer at its end.
func turn(
	ctx context.Context, model openai.Client, messages []message, tools client.Tools, me *client.User,
) ([]message, string, error) {
	name := cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-5.4-mini")
	for range maxRounds + 1 {
		res, err := model.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: name, Messages: messages},
			option.WithJSONSet("tools", tools.Tools))
		if err != nil {
			return nil, "", err
		}
		if len(res.Choices) == 0 {
			return nil, "", errors.New("the model's answer has no choices")
		}
		answer := res.Choices[0].Message
		messages = append(messages, answer.ToParam())
		if len(answer.ToolCalls) == 0 {
			return messages, answer.Content, nil
		}
		for _, call := range answer.ToolCalls {
			result, err := me.CallTool(ctx, call.Function.Name, []byte(call.Function.Arguments))
			if err != nil { // also of use to the model: it says which argument is wrong
				if result, err = json.Marshal(map[string]string{"error": err.Error()}); err != nil {
					return nil, "", err
				}
			}
			messages = append(messages, openai.ToolMessage(string(result), call.ID))
		}
	}
	return nil, "", fmt.Errorf("the model has called tools %d times and does not answer", maxRounds)
}
