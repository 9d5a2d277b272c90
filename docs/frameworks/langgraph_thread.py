"""A graph that goes on with its thread, in this process or another."""

import sys

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph

from memoryd.langgraph import MemorydSaver

model = ChatOpenAI(model="gpt-5-mini")


def chat(state: MessagesState) -> dict[str, object]:
    return {"messages": [model.invoke(state["messages"])]}


graph = (
    StateGraph(MessagesState)
    .add_node("chat", chat)
    .add_edge(START, "chat")
    .compile(checkpointer=MemorydSaver("demo", "ann"))
)

thread: RunnableConfig = {"configurable": {"thread_id": "t1"}}
for said in sys.argv[1:]:
    end = graph.invoke({"messages": [HumanMessage(said)]}, thread)
    print(end["messages"][-1].text)
