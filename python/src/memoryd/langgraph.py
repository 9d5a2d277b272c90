"""memoryd as the store of LangGraph, long-term memory for graphs and agents, and as its
checkpointer, which keeps the state of threads.

    from memoryd.langgraph import MemorydSaver, MemorydStore

    graph = builder.compile(store=MemorydStore("shop"), checkpointer=MemorydSaver("shop", "ann"))

An item of the store is a memory of the user whom its namespace names. Searches by meaning,
contexts, tools and other frameworks find it too.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)

from ._checkpoints import MemorydSaver
from ._client import AsyncClient, Client
from ._core import question
from ._errors import AlreadyExists, InvalidArgument, NotFound, PermissionDenied, Unreachable
from ._steps import Call, Caller, Steps
from ._times import parse_time

__all__ = ["MemorydSaver", "MemorydStore"]

# The metadata of an item. Each field of its value is there under its own name behind VALUE, so
# that filters can compare it.
NAMESPACE = "langgraph.namespace"  # the labels, escaped, each with / behind it
KEY = "langgraph.key"
INDEXED = "langgraph.indexed"  # whether searches by meaning find the item
TTL = "langgraph.ttl"  # in minutes, if it has one
PUT_TIME = "langgraph.putTime"
VALUE = "value."

MOST_FOUND = 100  # by one search of memoryd
LONGEST_TEXT = 64 << 10  # bytes of a fact
PAGE = 1000


class MemorydStore(BaseStore):
    """A store of LangGraph, sync and async.

    The label of a namespace at the place user_label is the user of memoryd: with 0 it is ann in
    ("ann", "memories"), with 1 in ("memories", "ann"). Every namespace has such a label. A search
    and a list whose prefix ends before it reads all users of the app, which takes an admin's key.

    Args:
        app: The app whose users the namespaces name.
        client: For the sync methods.
        async_client: For the async methods. Without either client both follow from MEMORYD_URL
            and MEMORYD_KEY.
        user_label: The place in a namespace that names the user.
        fields: The paths in a value whose text searches by meaning compare, unless put names
            others. Without them it is the whole value.
        ttl: default_ttl and refresh_on_read as LangGraph has them. memoryd removes what has
            expired by itself.
    """

    supports_ttl = True

    def __init__(
        self,
        app: str,
        *,
        client: Client | None = None,
        async_client: AsyncClient | None = None,
        user_label: int = 0,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        if user_label < 0:
            raise InvalidArgument(f"user_label is {user_label}: want 0 or more")
        self._caller = Caller(app, client, async_client)
        self._user_label = user_label
        self._fields = list(fields) if fields is not None else ["$"]
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Results in the order of ops. Reads see the store as it was before the puts."""
        reads, puts, results = self._plan(ops)
        for i, read in reads.items():
            results[i] = self._caller.run(read)
        for put in puts:
            self._caller.run(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Results in the order of ops. Reads see the store as it was before the puts."""
        reads, puts, results = self._plan(ops)
        for i, read in reads.items():
            results[i] = await self._caller.arun(read)
        for put in puts:
            await self._caller.arun(put)
        return results

    def _plan(
        self, ops: Iterable[Op]
    ) -> tuple[dict[int, Steps[Any]], list[Steps[None]], list[Result]]:
        """The reads by their place, and the puts. Of several puts of a key the last one counts."""
        reads: dict[int, Steps[Any]] = {}
        puts: dict[tuple[tuple[str, ...], str], Steps[None]] = {}
        results: list[Result] = []
        for i, op in enumerate(ops):
            validate_op_namespace(op)
            results.append(None)
            if isinstance(op, GetOp):
                reads[i] = self._get(op)
            elif isinstance(op, SearchOp):
                reads[i] = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                reads[i] = self._list(op)
            else:
                puts[op.namespace, op.key] = self._put(op)
        return reads, list(puts.values()), results

    def _user(self, namespace: tuple[str, ...]) -> str:
        if len(namespace) <= self._user_label:
            raise InvalidArgument(
                f"namespace {namespace!r} has no label at place {self._user_label}, which names "
                "the user: add one, or choose another user_label for the store"
            )
        return namespace[self._user_label]

    def _get(self, op: GetOp) -> Steps[Item | None]:
        user = self._user(op.namespace)
        try:
            memory = yield Call("get_memory", (_id(op.namespace, op.key),), user=user)
        except NotFound:
            return None
        if op.refresh_ttl:
            yield from _refresh(user, memory)
        return Item(**_fields(memory))

    def _put(self, op: PutOp) -> Steps[None]:
        user, id = self._user(op.namespace), _id(op.namespace, op.key)
        if op.value is None:
            try:
                yield Call("delete_memory", (id,), user=user)
            except NotFound:
                pass
            return
        if op.ttl is not None and op.ttl <= 0:
            raise InvalidArgument(f"ttl is {op.ttl} minutes: want more than 0, or None for ever")
        text = "" if op.index is False else _text(op.value, op.index or self._fields)
        metadata = {
            NAMESPACE: _path(op.namespace),
            KEY: op.key,
            INDEXED: bool(text),
            PUT_TIME: datetime.now(timezone.utc).isoformat(),
            **({} if op.ttl is None else {TTL: op.ttl}),
            **{VALUE + name: v for name, v in op.value.items()},
        }
        seconds = 0 if op.ttl is None else op.ttl * 60
        new = {"metadata": metadata, "ttl": seconds}
        text = text or op.key or "-"
        try:
            # The time in the metadata makes it another request than all before, so that a memory
            # of this id is a conflict also if it began with the same value.
            yield Call("add_memory", (text,), {"id": id, **new}, user)
            return
        except AlreadyExists:
            pass
        # valid_to: the item holds again if a later statement of the user has ended it.
        changed = {"fact": text, "valid_to": None, **new}
        try:
            yield from _twice(Call("patch_memory", (id,), changed, user))
        except NotFound:  # it was deleted, or has expired
            revisions = yield Call(
                "list_revisions", (id,), user=user, most=1, keep=lambda r: r["action"] != "DELETED"
            )
            if not revisions:  # they have expired, and nothing can bring the memory back
                raise
            # In one step, so that no reader and no failure between brings the old value back.
            change = {"fact": text, "validTo": None, "metadata": metadata, "ttl": seconds}
            for r in revisions:
                back = Call("rollback_memory", (id, r["revision"]), {"change": change}, user)
                yield from _twice(back)

    def _search(self, op: SearchOp) -> Steps[list[SearchItem]]:
        if op.offset < 0 or op.limit < 0:
            raise InvalidArgument(
                f"offset is {op.offset} and limit {op.limit}: neither may be below 0"
            )
        conditions = [f"metadata.{_quoted(KEY)}:*"]
        if op.namespace_prefix:
            pattern = "^" + _path(op.namespace_prefix)
            conditions.append(f"metadata.{_quoted(NAMESPACE)} =~ {_quoted(pattern)}")
        conditions += _conditions(op.filter or {})
        most = op.offset + op.limit
        users = yield from self._users(op.namespace_prefix)
        found: list[tuple[float | None, Any]] = []
        query = question(op.query or "")
        if query:
            conditions.append(f"metadata.{_quoted(INDEXED)} = true")
            # Some filters are compared here, so that more must come than are wanted.
            top = MOST_FOUND if op.filter else min(max(most, 1), MOST_FOUND)
            named = {"filter": " AND ".join(conditions), "top_k": top, "kinds": ["fact"]}
            for user in users:
                matches = yield Call("search", (query,), {**named, "shared": False}, user)
                found += [(m["score"], m["memory"]) for m in matches]
            found = [f for f in found if _matches(_value(f[1]), op.filter or {})]
            found.sort(key=lambda f: f[0] or 0, reverse=True)
        if len(found) < most:
            # A query ranks items and leaves none out, as in LangGraph's stores: those that have
            # nothing in common with it follow with the score 0.
            known = {_of(memory) for _, memory in found}
            rest: list[Any] = []

            def keep(memory: Any) -> bool:
                return _of(memory) not in known and _matches(_value(memory), op.filter or {})

            # history: an item stays one if the user has said otherwise since.
            named = {"filter": " AND ".join(conditions), "kind": "fact", "history": True}
            named["order_by"] = "updateTime desc"
            # Some filters are compared here, so that a page must have more than are wanted.
            named["page_size"] = PAGE if op.filter else min(most, PAGE)
            for user in users:
                rest += yield Call("list_memories", (), named, user, most - len(found), keep)
            rest.sort(key=lambda memory: str(memory["updateTime"]), reverse=True)
            found += [(0.0 if query else None, memory) for memory in rest]
        found = found[op.offset : most]
        if op.refresh_ttl:
            for _, memory in found:
                yield from _refresh(memory["userId"], memory)
        return [SearchItem(**_fields(memory), score=score) for score, memory in found]

    def _list(self, op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
        conditions = op.match_conditions or ()
        known = [
            c.path[self._user_label]
            for c in conditions
            if c.match_type == "prefix" and len(c.path) > self._user_label
        ]
        users = [u for u in known if u != "*"][:1] or (yield from self._users(()))
        named = {"filter": f"metadata.{_quoted(KEY)}:*", "kind": "fact", "history": True}
        named["page_size"] = PAGE
        found: set[tuple[str, ...]] = set()
        for user in users:
            for memory in (yield Call("list_memories", (), named, user)):
                namespace = _namespace(memory)
                if all(_fits(c, namespace) for c in conditions):
                    found.add(namespace[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]

    def _users(self, prefix: tuple[str, ...]) -> Steps[list[str]]:
        """The users that namespaces with a prefix may name."""
        if len(prefix) > self._user_label:
            return [prefix[self._user_label]]
        users = yield Call("list_users", (), {"page_size": PAGE})
        return [u["id"] for u in users]


def _id(namespace: tuple[str, ...], key: str) -> str:
    """The id of an item's memory. A hash, as ids have 256 bytes at most."""
    raw = json.dumps([*namespace, key]).encode()
    return "langgraph-" + hashlib.sha256(raw).hexdigest()


def _path(namespace: tuple[str, ...]) -> str:
    """A namespace as text. The escaped labels have no character that a pattern reads otherwise:
    LangGraph allows no dots."""
    return "".join(quote(label, safe="") + "/" for label in namespace)


def _namespace(memory: Any) -> tuple[str, ...]:
    path: str = memory["metadata"][NAMESPACE]
    return tuple(unquote(label) for label in path.split("/")[:-1])


def _value(memory: Any) -> dict[str, Any]:
    metadata = memory["metadata"].items()
    return {name[len(VALUE) :]: v for name, v in metadata if name.startswith(VALUE)}


def _fields(memory: Any) -> dict[str, Any]:
    created = parse_time(memory["createTime"])
    # The time of a put is this machine's, the other one memoryd's.
    updated = max(created, datetime.fromisoformat(memory["metadata"][PUT_TIME]))
    return {
        "namespace": _namespace(memory),
        "key": memory["metadata"][KEY],
        "value": _value(memory),
        "created_at": created,
        "updated_at": updated,
    }


def _of(memory: Any) -> tuple[str, str]:
    """What tells the memories of an app apart."""
    return memory["userId"], memory["id"]


def _twice(call: Call) -> Steps[Any]:
    """A call that writes a whole item, made once more if its answer is lost: the item is then
    the same. The client itself repeats no change, as most are of a part."""
    try:
        return (yield call)
    except Unreachable as error:
        if not error.sent:
            raise
    return (yield call)


def _refresh(user: str, memory: Any) -> Steps[None]:
    """Have the time to live of an item that was read begin again. The read has its answer by then:
    a key that may not write, and an answer that is lost, leave the time as it is."""
    ttl = memory["metadata"].get(TTL)
    if ttl is None:
        return
    try:
        yield Call("patch_memory", (memory["id"],), {"ttl": ttl * 60}, user)
    except (NotFound, PermissionDenied, Unreachable):  # NotFound: it has expired meanwhile
        pass


def _text(value: Mapping[str, Any], paths: Sequence[str]) -> str:
    """The text of a value at some paths, for search by meaning and for models to read."""
    texts: list[str] = []
    for path in paths:
        if path in ("", "$"):
            texts.append(_whole(value))
        else:
            texts += get_text_at_path(value, path)
    text = "\n".join(t for t in texts if t.strip())
    return text.encode("utf-8", "replace")[:LONGEST_TEXT].decode("utf-8", "ignore")


def _whole(value: Mapping[str, Any]) -> str:
    """A whole value as text: that of its only field, or a line for each."""
    fields = {name: v for name, v in value.items() if v is not None}
    if len(fields) == 1 and isinstance(only := next(iter(fields.values())), str):
        return only
    lines = []
    for name, v in fields.items():
        text = v if isinstance(v, str) else json.dumps(v, ensure_ascii=False, default=str)
        lines.append(f"{name}: {text}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text as filters have it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


COMPARED: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "$gt": (">", operator.gt),
    "$gte": (">=", operator.ge),
    "$lt": ("<", operator.lt),
    "$lte": ("<=", operator.le),
}


def _conditions(filter: Mapping[str, Any]) -> list[str]:
    """The parts of a filter that memoryd can compare. _matches compares all of them again."""
    found: list[str] = []
    for name, wanted in filter.items():
        operators = wanted if _has_operators(wanted) else {"$eq": wanted}
        for name_of, operand in operators.items():
            number = isinstance(operand, (int, float)) and not isinstance(operand, bool)
            number = number and math.isfinite(operand)
            if name_of == "$eq" and (number or isinstance(operand, (str, bool))):
                sign = "="
            elif name_of in COMPARED and number:
                sign = COMPARED[name_of][0]
            else:
                continue
            text = _quoted(operand) if isinstance(operand, str) else json.dumps(operand)
            found.append(f"metadata.{_quoted(VALUE + name)} {sign} {text}")
    return found


def _has_operators(wanted: Any) -> bool:
    return isinstance(wanted, Mapping) and any(str(name).startswith("$") for name in wanted)


def _matches(value: Any, filter: Mapping[str, Any]) -> bool:
    """Whether a value passes a filter, as LangGraph's stores compare it."""
    return isinstance(value, Mapping) and all(
        _equals(value.get(name), wanted) for name, wanted in filter.items()
    )


def _equals(value: Any, wanted: Any) -> bool:
    if _has_operators(wanted):
        return all(_compares(value, name, operand) for name, operand in wanted.items())
    if isinstance(wanted, Mapping):
        return _matches(value, wanted)
    if isinstance(wanted, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(wanted):
            return False
        return all(_equals(v, w) for v, w in zip(value, wanted))
    if isinstance(value, bool) != isinstance(wanted, bool):
        return False  # Python has True equal 1
    return bool(value == wanted)


def _compares(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return _equals(value, operand)
    if name == "$ne":
        return not _equals(value, operand)
    if name not in COMPARED:
        raise InvalidArgument(
            f"the operator {name!r} of a filter: want $eq, $ne, $gt, $gte, $lt or $lte"
        )
    texts = isinstance(value, str) and isinstance(operand, str)
    numbers = isinstance(value, (int, float)) and isinstance(operand, (int, float))
    return (texts or numbers) and COMPARED[name][1](value, operand)


def _fits(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends with a path, where * is any label."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    labels = namespace[: len(path)]
    if condition.match_type == "suffix":
        labels = namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, labels))
