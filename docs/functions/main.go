// Functions is a chat in a terminal with a model that has a memory: it is told
// of memoryd's tools, those that it calls are run, and what is said is saved.
package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/memoryd/memoryd/client"
)

func main() {
	memory, err := client.New(cmp.Or(os.Getenv("MEMORYD_URL"), "http://127.0.0.1:8080"), nil)
	if err != nil {
		log.Fatal(err)
	}
	// The model is OpenAI's, or one at OPENAI_BASE_URL; the key is in OPENAI_API_KEY.
	if err := talk(context.Background(), openai.NewClient(), memory, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// talk answers line by line. The user is me, whatever the model says: the scope
// of its tools is not its to choose.
func talk(ctx context.Context, model openai.Client, memory *client.Client, in io.Reader, out io.Writer) error {
	me, session := memory.User("functions", "me"), uuid.NewString()
	tools, err := memory.Tools(ctx)
	if err != nil {
		return err
	}
	declared := option.WithJSONSet("tools", tools.Tools)
	messages := []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("You help one user, whom you know from earlier conversations: your tools are your memory.")}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		said := time.Now()
		messages = append(messages, openai.UserMessage(lines.Text()))
		for {
			res, err := model.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
				Model: cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-5.4-mini"), Messages: messages}, declared)
			if err != nil {
				return err
			}
			answer := res.Choices[0].Message
			messages = append(messages, answer.ToParam())
			for _, call := range answer.ToolCalls {
				result, err := me.CallTool(ctx, call.Function.Name, []byte(call.Function.Arguments))
				if err != nil { // also of use to the model: it says which argument is wrong
					result = fmt.Appendf(nil, "%q", err)
				}
				messages = append(messages, openai.ToolMessage(string(result), call.ID))
			}
			if len(answer.ToolCalls) > 0 {
				continue
			}
			fmt.Fprintln(out, answer.Content)
			user, agent := client.Text("user", lines.Text()), client.Text("assistant", answer.Content)
			user.Timestamp, agent.Timestamp = said, time.Now()
			if _, err := me.Ingest(ctx, session, []client.Event{user, agent}, false); err != nil {
				return err
			}
			break
		}
	}
	return nil
}
