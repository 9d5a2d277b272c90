// A model that searches memory by itself, over any API that speaks OpenAI's chat completions.

import { Client } from "@memoryd/client";

const { OPENAI_BASE_URL = "https://api.openai.com/v1", OPENAI_API_KEY, OPENAI_MODEL = "gpt-5.4-mini" } = process.env;
const client = new Client();
const ann = client.user("demo", "ann@example.com"); // your code chooses the user: no tool has an argument for it

const { tools } = await client.listTools(); // for Gemini's API: functionDeclarations
console.log("tools:", tools.map((tool) => tool.function.name).join(", "));

async function ask(messages: any[]): Promise<any> {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${OPENAI_API_KEY}` };
  const body = JSON.stringify({ model: OPENAI_MODEL, messages, tools });
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()).choices[0].message;
}

/** Returns the result of a tool, or its error: the model can use both. */
async function run({ name, arguments: args }: { name: string; arguments: string }): Promise<string> {
  console.log("calls:", name, args);
  try {
    return JSON.stringify({ result: await ann.callTool(name, JSON.parse(args)) });
  } catch (error) {
    return String(error);
  }
}

const messages: any[] = [{ role: "user", content: "What do I like about Porto?" }];
let message = await ask(messages);
while (message.tool_calls?.length) {
  messages.push(message);
  for (const call of message.tool_calls) {
    messages.push({ role: "tool", tool_call_id: call.id, content: await run(call.function) });
  }
  message = await ask(messages);
}
console.log("answer:", message.content);
