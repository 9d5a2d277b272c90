// Two threads of a graph: it recalls in the second what the user said in the first.

import { FakeListChatModel } from "@langchain/core/utils/testing";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { MemorydStore } from "@memoryd/client/langgraph";

const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }, { store }) => {
    const said = messages.at(-1)!.text;
    const [known] = await store!.search(["leo", "memories"], { query: said, limit: 1 });
    await store!.put(["leo", "memories"], crypto.randomUUID(), { text: said });
    // A scripted model: put your own in its place.
    const text = known ? `You told me: ${known.value["text"]}` : "I'll keep that in mind.";
    return { messages: [await new FakeListChatModel({ responses: [text] }).invoke(messages)] };
  })
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile({ store: new MemorydStore("demo") });

for (const content of ["My sister lives in Faro.", "Where does my sister live?"]) {
  console.log("user:", content);
  const { messages } = await graph.invoke({ messages: [{ role: "user", content }] });
  console.log("assistant:", messages.at(-1)!.text);
}
