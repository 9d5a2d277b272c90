"""A graph that answers with what each user told it before, in this process or another."""

import sys
import uuid
from dataclasses import dataclass

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

from memoryd.langgraph import MemorydStore


@dataclass
class Context:
    user: str


model = ChatOpenAI(model="gpt-5-mini")


def chat(state: MessagesState, runtime: Runtime[Context]) -> dict[str, object]:
    assert runtime.store is not None
    said = state["messages"][-1].text
    notes = (runtime.context.user, "notes")
    known = runtime.store.search(notes, query=said, limit=3)
    about = "\n".join(item.value["text"] for item in known)
    answer = model.invoke([("system", f"You know of the user:\n{about}"), *state["messages"]])
    runtime.store.put(notes, str(uuid.uuid4()), {"text": said})
    return {"messages": [answer]}


graph = (
    StateGraph(MessagesState, context_schema=Context)
    .add_node("chat", chat)
    .add_edge(START, "chat")
    .compile(store=MemorydStore("demo"))
)

for said in sys.argv[1:]:
    end = graph.invoke({"messages": [HumanMessage(said)]}, context=Context(user="ann"))
    print(end["messages"][-1].text)
