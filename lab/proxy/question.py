"""A request's body: read once with suspicion, and sent on as it is but for the model."""

from __future__ import annotations

import dataclasses
import json
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from lab.apis import Api
from lab.proxy import reach
from lab.proxy.refusal import Refused
from lab.proxy.routes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.proxy.routes import Asked

MAX_BODY_BYTES = 64 << 20
MAX_VALUES = 2_000_000
"""Of JSON in one body, at most: memory is what they take once read, a hundred times their text."""
MAX_DEPTH = 100
"""Of lists and objects in one another: schemas of tools have a dozen, and readers of JSON give up at a few hundred."""
GZIP_WINDOW = zlib.MAX_WBITS | 16


@dataclasses.dataclass(frozen=True)
class Question:
    """What is sent on. `model` is the one that was asked for (None: none was named)."""

    asked: Asked
    body: bytes
    model: str | None
    other_model: bool
    plain_body: bytes | None = None
    """The body without the wish for usage that was added to it; None where none was added."""


def unpack(encoding: str, body: bytes) -> bytes:
    """The body without its content encoding: identity or gzip. Raises Refused for others, and for too much."""
    match encoding.strip().casefold():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            unzip = zlib.decompressobj(GZIP_WINDOW)
            try:
                plain = unzip.decompress(body, MAX_BODY_BYTES + 1)
            except zlib.error as error:
                raise Refused(400, "the body is not the gzip that it is said to be") from error
            if len(plain) > MAX_BODY_BYTES:
                raise too_large()
            if not unzip.eof or unzip.unused_data:
                raise Refused(400, "the body is not the gzip that it is said to be")
            return plain
        case other:
            raise Refused(415, f"a body encoded as {other[:40]!r} cannot be read: send it plain or as gzip")


def too_large() -> Refused:
    return Refused(413, f"the body is larger than {MAX_BODY_BYTES >> 20} MiB")


def prepare(asked: Asked, raw: bytes, model: str, *, add_usage: bool) -> Question:
    """What to send on for a request's plain body, for the run's `model`.

    `add_usage` has OpenAI chat streams report their tokens, where the tool did not ask for that. Raises Refused.
    """
    if asked.route.kind is Kind.LIST:
        if raw:
            raise Refused(400, "a listing takes no body")
        return Question(asked, b"", asked.model, _differs(asked, asked.model, model))
    body = _read(raw)
    api = asked.route.api
    reach.check(api, body)
    named = body.get("model") if asked.model is None else asked.model
    if not (named is None or isinstance(named, str)):
        raise Refused(400, '"model" is not a text')
    wish = _usage_wish(body) if api is Api.OPENAI_CHAT else {}
    plain = _changed(raw, _with_model(asked, body, model))
    added = wish if add_usage else {}
    return Question(
        asked=asked,
        body=_changed(plain, added),
        model=named,
        other_model=_differs(asked, named, model),
        plain_body=plain if added else None,
    )


def _read(raw: bytes) -> dict[str, Any]:
    """The body as JSON. A name that stands twice is refused: which of the two counts is for the provider to say."""
    if raw.count(b",") + raw.count(b"[") + raw.count(b"{") > MAX_VALUES:
        raise Refused(413, f"the body holds more than {MAX_VALUES:,} values")
    try:
        body = json.loads(raw.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "the body is not JSON") from error
    if not isinstance(body, dict):
        raise Refused(400, "the body is not a JSON object")
    if _is_deep(body):
        raise Refused(400, f"the body is more than {MAX_DEPTH} levels deep")
    return body


def _is_deep(body: dict[str, Any]) -> bool:
    level: list[Any] = [body]
    for _ in range(MAX_DEPTH):
        level = [inner for value in level for inner in _inside(value) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(400, f"the body names {twice[:80]!r} twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _with_model(asked: Asked, body: dict[str, Any], model: str) -> dict[str, Any]:
    """The fields to put into the body so that every model it names is the run's."""
    if asked.route.api is not Api.GEMINI:
        return {} if body.get("model") == model else {"model": model}
    changed: dict[str, Any] = {}
    if "model" in body and _bare(body["model"]) != _bare(model):
        changed["model"] = f"models/{_bare(model)}"
    inner = body.get("generateContentRequest")
    if isinstance(inner, dict) and "model" in inner and _bare(inner["model"]) != _bare(model):
        changed["generateContentRequest"] = inner | {"model": f"models/{_bare(model)}"}
    return changed


def _differs(asked: Asked, named: str | None, model: str) -> bool:
    if named is None:
        return False
    return _bare(named) != _bare(model) if asked.route.api is Api.GEMINI else named != model


def _bare(model: Any) -> Any:
    """Gemini's name of a model without its collection."""
    return model.removeprefix("models/") if isinstance(model, str) else model


def _usage_wish(body: dict[str, Any]) -> dict[str, Any]:
    """The wish for a chunk with the tokens, in a stream without it: a tool that wants none uses some all the same.

    What some providers would take for true or false, and others not, is refused.
    """
    streams, options = body.get("stream"), body.get("stream_options")
    if not isinstance(streams, bool | None):
        raise Refused(400, '"stream" is not true or false')
    if not isinstance(options, dict | None):
        raise Refused(400, '"stream_options" is not an object')
    wished = (options or {}).get("include_usage")
    if not isinstance(wished, bool | None):
        raise Refused(400, '"include_usage" is not true or false')
    return {"stream_options": (options or {}) | {"include_usage": True}} if streams and not wished else {}


def _changed(raw: bytes, fields: dict[str, Any]) -> bytes:
    """The body with these fields; every other value byte for byte as it was."""
    if not fields:
        return raw
    try:
        values = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:  # it does not take half an emoji, which an agent makes where it cuts a text
        return json.dumps(json.loads(raw) | fields).encode()
    values.update({name: msgspec.Raw(msgspec.json.encode(value)) for name, value in fields.items()})
    return msgspec.json.encode(values)
