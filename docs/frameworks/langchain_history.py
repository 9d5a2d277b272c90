"""A chat whose messages are in memoryd, and an answer from those of other sessions."""

import sys

from langchain_openai import ChatOpenAI

from memoryd.langchain import MemorydChatMessageHistory, MemorydRetriever

model = ChatOpenAI(model="gpt-5-mini")
session, said = sys.argv[1:]

history = MemorydChatMessageHistory("demo", "ann", session)
known = MemorydRetriever("demo", "ann", search={"top_k": 3}).invoke(said)
about = "\n".join(document.page_content for document in known)

history.add_user_message(said)
answer = model.invoke([("system", f"You know of the user:\n{about}"), *history.messages])
history.add_message(answer)
print(answer.text)
