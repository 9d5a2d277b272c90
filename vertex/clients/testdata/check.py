"""Runs ADK for Python and Google's SDK against memoryd, unmodified, by configuration alone.

The arguments are the parts to run. The last line says how many checks passed.
"""

import asyncio
import sys
import time
import traceback
import uuid

import agentplatform
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events import Event, EventActions
from google.adk.memory import VertexAiMemoryBankService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import VertexAiSessionService
from google.genai import errors, types

EXPRESS = "express" in sys.argv
PLACE = (None, None) if EXPRESS else ("p", "memoryd")
ENGINE = "e" + uuid.uuid4().hex[:12]
NAME = f"reasoningEngines/{ENGINE}"

parts = {"sessions": [], "memories": [], "sdk": [], "refused": []}


def check(part):
    def add(f):
        parts[part].append(f)
        return f

    return add


def same(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def refused(code, f, *args, **kwargs):
    try:
        f(*args, **kwargs)
    except errors.APIError as e:
        same(e.code, code)
        return
    raise AssertionError(f"not refused with {code}")


def said(text, role="user", **more):
    return Event(author=role, invocation_id="i1",
                 content=types.Content(role=role, parts=[types.Part(text=text)]), **more)


service = VertexAiSessionService(*PLACE, ENGINE)
bank = VertexAiMemoryBankService(*PLACE, ENGINE)


async def new(user="ann", **more):
    return await service.create_session(app_name=ENGINE, user_id=user, **more)


async def get(session, **more):
    return await service.get_session(app_name=ENGINE, user_id=session.user_id, session_id=session.id, **more)


@check("sessions")
async def an_id_of_the_server():
    s = await new(state={"k": 1})
    assert s.id.isdigit(), s.id
    same((await get(s)).state, {"k": 1})


@check("sessions")
async def an_id_of_ones_own():
    s = await new(session_id="mine-1")
    same((s.id, (await get(s)).id), ("mine-1", "mine-1"))


@check("sessions")
async def an_id_twice():
    await new(session_id="twice")
    try:
        await new(session_id="twice")
    except (AlreadyExistsError, errors.ClientError):
        return
    raise AssertionError("made twice")


@check("sessions")
async def users_with_odd_names():
    for user in ['a"b', "a\\b", "a/b", "a b", "ü", "a=b AND c"]:
        s = await new(user)
        got = await service.list_sessions(app_name=ENGINE, user_id=user)
        same([x.id for x in got.sessions], [s.id])
        same((await get(s)).user_id, user)


@check("sessions")
async def state_by_prefix():
    a = await new("prefix", state={"own": 1, "user:u": 2, "app:a": 3, "temp:t": 4})
    b = await new("prefix")
    same((await get(a)).state, {"own": 1, "user:u": 2, "app:a": 3})
    same((await get(b)).state, {"user:u": 2, "app:a": 3})


@check("sessions")
async def another_user_sees_none():
    s = await new("mine")
    try:
        got = await service.get_session(app_name=ENGINE, user_id="other", session_id=s.id)
    except ValueError:
        return
    assert got is None


@check("sessions")
async def a_missing_session():
    same(await service.get_session(app_name=ENGINE, user_id="ann", session_id="none"), None)


@check("sessions")
async def events_come_back():
    s = await new("events")
    part = [types.Part(text="Grüße"), types.Part(inline_data=types.Blob(data=b"\x00\xff\xfe", mime_type="image/png")),
            types.Part(function_call=types.FunctionCall(name="f", args={"snake_key": None, "camelKey": [1, 2.5]}))]
    event = Event(author="agent", invocation_id="i1", content=types.Content(role="model", parts=part), branch="a.b",
                  actions=EventActions(state_delta={"k": None, "user:z": "y"}, transfer_to_agent="other"),
                  custom_metadata={"m": {"n": [True]}})
    await service.append_event(s, event)
    got = (await get(s)).events
    same(len(got), 1)
    same(got[0].model_dump(exclude_none=True, exclude={"timestamp"}),
         event.model_dump(exclude_none=True, exclude={"timestamp"}))
    assert abs(got[0].timestamp - event.timestamp) < 1e-5


@check("sessions")
async def state_of_events():
    s = await new("delta")
    await service.append_event(s, said("x", actions=EventActions(state_delta={"k": 1, "temp:t": 2})))
    got = await get(s)
    same((got.state["k"], "temp:t" in got.state), (1, False))


@check("sessions")
async def an_event_twice():
    s = await new("twice")
    event = said("once", id="e1")
    for _ in range(2):
        await service.append_event(s, event)
    same([e.id for e in (await get(s)).events], ["e1"])


@check("sessions")
async def a_partial_event():
    s = await new("partial")
    await service.append_event(s, said("half", partial=True))
    same((await get(s)).events, [])


@check("sessions")
async def many_events_in_order():
    s = await new("many")
    for i in range(105):  # more than one page of Google's
        await service.append_event(s, said(f"n{i}", timestamp=1.7e9 + i))
    same([e.content.parts[0].text for e in (await get(s)).events], [f"n{i}" for i in range(105)])


@check("sessions")
async def the_last_events():
    from google.adk.sessions.base_session_service import GetSessionConfig
    s = await new("last")
    for i in range(5):
        await service.append_event(s, said(f"n{i}", timestamp=1.7e9 + i))
    got = await get(s, config=GetSessionConfig(num_recent_events=2))
    same([e.content.parts[0].text for e in got.events], ["n3", "n4"])
    got = await get(s, config=GetSessionConfig(after_timestamp=1.7e9 + 3))
    same([e.content.parts[0].text for e in got.events], ["n3", "n4"])


@check("sessions")
async def all_pages_of_sessions():
    made = {(await new("pages")).id for _ in range(102)}
    got = await service.list_sessions(app_name=ENGINE, user_id="pages")
    same({x.id for x in got.sessions}, made)


@check("sessions")
async def a_session_is_deleted():
    s = await new("gone", state={"user:stays": 1})
    await service.delete_session(app_name=ENGINE, user_id="gone", session_id=s.id)
    same(await get(s), None)
    same((await get(await new("gone"))).state.get("user:stays"), 1)


@check("sessions")
async def an_append_to_a_missing_session():
    s = await new("missing")
    await service.delete_session(app_name=ENGINE, user_id="missing", session_id=s.id)
    try:
        await service.append_event(s, said("x"))
    except Exception:
        return
    raise AssertionError("appended")


async def finds(user, query, want):
    for _ in range(50):
        got = await bank.search_memory(app_name=ENGINE, user_id=user, query=query)
        texts = [m.content.parts[0].text for m in got.memories]
        if texts.count(want) == 1:
            return got
        await asyncio.sleep(0.1)
    raise AssertionError(f"found {texts}, want one {want!r}")


@check("memories")
async def nothing_is_found():
    same((await bank.search_memory(app_name=ENGINE, user_id="nobody", query="tea")).memories, [])


@check("memories")
async def a_session_is_remembered():
    s = await new("ann")
    await service.append_event(s, said("I live in Graz."))
    await service.append_event(s, said("Noted.", "model"))
    s = await get(s)
    for _ in range(2):  # the second time it has nothing new
        await bank.add_session_to_memory(s)
        await finds("ann", "Where does the user live?", "I live in Graz.")


@check("memories")
async def events_are_remembered():
    await bank.add_events_to_memory(app_name=ENGINE, user_id="bob", events=[said("I am allergic to peanuts.")],
                                    custom_metadata={"wait_for_completion": True, "metadata": {"k": "v", "n": 1.5, "b": True}})
    got = await finds("bob", "peanuts", "I am allergic to peanuts.")
    same({k: got.memories[0].custom_metadata[k] for k in ("k", "n", "b")}, {"k": "v", "n": 1.5, "b": True})


@check("memories")
async def a_stream_is_remembered():
    event = said("My favourite colour is blue.", id="e1")
    for _ in range(2):
        await bank.add_events_to_memory(app_name=ENGINE, user_id="kim", events=[event], custom_metadata={
            "stream_id": "s", "force_flush": True, "generation_trigger_config": {"generation_rule": {"idle_duration": "60s"}}})
    await finds("kim", "colour", "My favourite colour is blue.")


@check("memories")
async def a_fact_is_added():
    await bank.add_memory(app_name=ENGINE, user_id="eve", memories=[
        MemoryEntry(content=types.Content(parts=[types.Part(text="Eve plays chess.")]))])
    await finds("eve", "chess", "Eve plays chess.")


@check("memories")
async def facts_are_consolidated():
    facts = [f"Pat owns the painting number {i}." for i in range(7)]  # more than one batch
    await bank.add_memory(app_name=ENGINE, user_id="pat", memories=[
        MemoryEntry(content=types.Content(parts=[types.Part(text=f)])) for f in facts],
        custom_metadata={"enable_consolidation": True})
    await finds("pat", facts[6], facts[6])


@check("memories")
async def users_are_apart():
    await bank.add_memory(app_name=ENGINE, user_id="zoe", memories=[
        MemoryEntry(content=types.Content(parts=[types.Part(text="Zoe sails.")]))])
    same((await bank.search_memory(app_name=ENGINE, user_id="nobody", query="Zoe sails")).memories, [])


@check("memories")
async def there_are_no_profiles():
    same(await bank.retrieve_profiles(app_name=ENGINE, user_id="eve"), [])


client = None if EXPRESS or "sdk" not in sys.argv else agentplatform.Client(project="p", location="memoryd")
SCOPE = {"user_id": "sdk"}


def create(fact, **config):
    made = client.memory_banks.memories.create(name=NAME, fact=fact, scope=SCOPE, config=config or None)
    return made.response.name


@check("sdk")
async def an_engine():
    name = client.memory_banks.create(config={"display_name": "Shop"}).name
    same(client.memory_banks.get(name=name).display_name, "Shop")
    client.memory_banks.delete(name=name, force=True)
    refused(404, client.memory_banks.get, name=name)


@check("sdk")
async def a_memory_by_name():
    name = create("I like tea.", display_name="Tea", metadata={"n": {"double_value": 2}})
    got = client.memory_banks.memories.get(name=name)
    same((got.fact, got.display_name, got.scope, got.metadata["n"].double_value), ("I like tea.", "Tea", SCOPE, 2))


@check("sdk")
async def a_memory_of_an_id():
    name = create("I like cake.", memory_id="cake-1")
    assert name.endswith("/memories/cake-1"), name
    refused(409, create, "again", memory_id="cake-1")


@check("sdk")
async def memories_are_listed():
    got = [m.fact for m in client.memory_banks.memories.list(name=NAME, config={"filter": 'scope.user_id="sdk"'})]
    same(got[:2], ["I like cake.", "I like tea."])


@check("sdk")
async def a_filter_is_applied():
    got = [m.fact for m in client.memory_banks.memories.list(name=NAME, config={"filter": 'fact=~"^I like t"'})]
    same(got, ["I like tea."])


@check("sdk")
async def a_bad_filter():
    refused(400, lambda: list(client.memory_banks.memories.list(name=NAME, config={"filter": "no such field = "})))


@check("sdk")
async def memories_are_retrieved():
    got = list(client.memory_banks.memories.retrieve(name=NAME, scope=SCOPE, similarity_search_params={"search_query": "What do I like, tea?"}))
    same(got[0].memory.fact, "I like tea.")
    assert 0 <= got[0].distance <= got[1].distance <= 1.42, got
    got = list(client.memory_banks.memories.retrieve(name=NAME, scope=SCOPE))
    same([m.memory.fact for m in got], ["I like cake.", "I like tea."])


@check("sdk")
async def a_filter_of_groups():
    groups = [{"filters": [{"key": "n", "op": "GREATER_THAN", "value": {"double_value": 1}}]}]
    got = client.memory_banks.memories.retrieve(name=NAME, scope=SCOPE, config={"filter_groups": groups})
    same([m.memory.fact for m in got], ["I like tea."])


@check("sdk")
async def facts_are_generated():
    got = client.memory_banks.memories.generate(name=NAME, scope={"user_id": "gen"}, direct_memories_source={
        "direct_memories": [{"fact": "I live in Porto."}]})
    same([m.action.value for m in got.response.generated_memories], ["CREATED"])
    got = client.memory_banks.memories.generate(name=NAME, scope={"user_id": "gen"}, direct_contents_source={
        "events": [{"content": {"role": "user", "parts": [{"text": "I live in Porto."}]}}]})
    same([m.action.value for m in got.response.generated_memories], ["UPDATED"])


@check("sdk")
async def a_session_is_generated():
    s = client.sessions.create(name=NAME, user_id="gen2").response
    client.sessions.events.append(name=s.name, author="user", invocation_id="1", timestamp="2026-01-02T03:04:05Z",
                                  config={"content": {"role": "user", "parts": [{"text": "I am allergic to nuts."}]}})
    got = client.memory_banks.memories.generate(name=NAME, vertex_session_source={"session": s.name})
    same([client.memory_banks.memories.get(name=m.memory.name).scope for m in got.response.generated_memories],
         [{"user_id": "gen2"}])


@check("sdk")
async def events_are_ingested():
    client.memory_banks.ingest_events(name=NAME, scope={"user_id": "ing"}, stream_id="s", direct_contents_source={
        "events": [{"event_id": "1", "content": {"role": "user", "parts": [{"text": "I work as a nurse."}]}}]},
        config={"force_flush": True})
    for _ in range(50):
        if [m.memory.fact for m in client.memory_banks.memories.retrieve(name=NAME, scope={"user_id": "ing"})] == ["I work as a nurse."]:
            return
        time.sleep(0.1)
    raise AssertionError("no memory")


@check("sdk")
async def revisions_and_a_rollback():
    name = create("I have one dog.")
    first = list(client.memory_banks.memories.revisions.list(name=name))
    client.memory_banks.memories._update(name=name, fact="I have two dogs.", scope=SCOPE)
    same([r.fact for r in client.memory_banks.memories.revisions.list(name=name)], ["I have two dogs.", "I have one dog."])
    client.memory_banks.memories.rollback(name=name, target_revision_id=first[0].name.split("/")[-1])
    same(client.memory_banks.memories.get(name=name).fact, "I have one dog.")


@check("sdk")
async def memories_are_purged():
    for i in range(3):
        client.memory_banks.memories.create(name=NAME, fact=f"I own number {i}.", scope={"user_id": "purge"})
    ask = {"name": NAME, "filter": 'scope.user_id="purge"'}
    same(client.memory_banks.memories.purge(**ask).response.purge_count, 3)
    same(len(list(client.memory_banks.memories.retrieve(name=NAME, scope={"user_id": "purge"}))), 3)
    same(client.memory_banks.memories.purge(**ask, force=True).response.purge_count, 3)
    same(list(client.memory_banks.memories.retrieve(name=NAME, scope={"user_id": "purge"})), [])


@check("sdk")
async def a_memory_is_deleted():
    name = create("I have a secret.")
    client.memory_banks.memories.delete(name=name)
    refused(404, client.memory_banks.memories.get, name=name)


@check("sdk")
async def a_session_is_changed():
    s = client.sessions.create(name=NAME, user_id="sdk", config={"session_state": {"a": 1, "user:b": 2}}).response
    client.sessions.update(name=s.name, config={"display_name": "Named", "session_state": {"c": 3}, "user_id": "sdk"})
    got = client.sessions.get(name=s.name)
    state = {k: v for k, v in got.session_state.items() if k != "app:a"}  # of another check
    same((got.display_name, state), ("Named", {"c": 3, "user:b": 2}))


@check("sdk")
async def all_pages_of_a_list():
    made = {client.sessions.create(name=NAME, user_id="pages2").response.name for _ in range(5)}
    same({s.name for s in client.sessions.list(name=NAME, config={"filter": 'user_id="pages2"', "page_size": 2})}, made)


@check("refused")
async def the_call_is_refused():
    try:
        await new()
    except Exception as e:
        text = f"{type(e).__name__}: {e}"
        print("refused:", text[:300].replace("\n", " "))
        return
    raise AssertionError("let in")


async def main():
    passed, failed = 0, 0
    for part in sys.argv[1:]:
        for f in parts.get(part, []):
            began = time.monotonic()
            try:
                await f()
                passed += 1
            except Exception:
                failed += 1
                print(f"FAIL {part}: {f.__name__}")
                traceback.print_exc(file=sys.stdout)
            if time.monotonic() - began > 5:
                print(f"slow: {f.__name__} took {time.monotonic() - began:.1f} s")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


asyncio.run(main())
