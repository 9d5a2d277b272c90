// Two threads of a graph whose model stores and searches memories by itself.

import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { Client } from "@memoryd/client";
import { memoryTools } from "@memoryd/client/langgraph";

const tools = await memoryTools(new Client(), "demo", "max", { names: ["remember", "search_memory"] });

// A scripted model: put your own in its place.
const model = fakeModel()
  .respondWithTools([{ name: "remember", args: { fact: "My brother plays the oboe." } }])
  .respond(new AIMessage("I'll keep that in mind."))
  .respondWithTools([{ name: "search_memory", args: { query: "What does my brother play?" } }])
  .respond((messages) => new AIMessage(`You told me: ${JSON.parse(messages.at(-1)!.text).memories[0].fact}`))
  .bindTools(tools);

const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode("tools", new ToolNode(tools))
  .addEdge(START, "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
  .compile();

for (const content of ["My brother plays the oboe.", "What does my brother play?"]) {
  console.log("user:", content);
  const { messages } = await graph.invoke({ messages: [{ role: "user", content }] });
  console.log("assistant:", messages.at(-1)!.text);
}
