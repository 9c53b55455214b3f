"""The mapper between the events of sessions and the rows of a store.

Events of tapefold are stored as persistence/codec.py says. Everything else, such as the host's
own aggregates in the same application, is left to the library's mapping, with the same cipher and
compressor. To use it elsewhere, set MAPPER_TOPIC to `tapefold.persistence.mapper:TapeMapper`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

from eventsourcing.domain import DomainEventProtocol, TAggregateID
from eventsourcing.persistence import Cipher, Compressor, Mapper, StoredEvent, Transcoder
from eventsourcing.utils import TopicError, resolve_topic

from tapefold.domain.bodies import BodyBase
from tapefold.domain.drafts import Draft
from tapefold.domain.events import TOPICS, Event, is_ours
from tapefold.domain.heads import Head

from .body_reader import ShapeFault, read_body
from .codec import (
    CodecFault,
    body_text,
    decode_head,
    encode_state,
    find_head,
    head_of_json,
    join_state,
    load_object,
    plain_parts,
    unknown_fields,
    unknown_in_head,
)
from .errors import NewerEvent, TextIdNeeded, UnknownTopic, UnreadableEvent, UnstorableEvent
from .jsontext import JsonFault, dump
from .runs import EventRow, Run
from .upcasting import UPCASTERS, Json, Upcasters, check_upcasters


class TapeMapper(Mapper[TAggregateID]):
    """Maps tapefold's events, and leaves all others to the library.

    The first three arguments are the library's. Raises `UpcasterFault` if a step of `upcasters`
    is missing, doubled or beyond what the event classes say.
    """

    def __init__(
        self,
        transcoder: Transcoder,
        compressor: Compressor | None = None,
        cipher: Cipher | None = None,
        *,
        upcasters: Upcasters = UPCASTERS,
    ) -> None:
        super().__init__(transcoder, compressor=compressor, cipher=cipher)
        check_upcasters(upcasters)
        self._upcasters = upcasters
        self._is_plain = self.cipher is None and self.compressor is None

    def to_stored_event(self, domain_event: DomainEventProtocol[TAggregateID]) -> StoredEvent:
        """The row of an event.

        Raises `TextIdNeeded` if the originator id is no text, `UnstorableEvent` for an event that
        could not be read back as it is.
        """
        if not isinstance(domain_event, Event):
            return super().to_stored_event(domain_event)
        event: Event = domain_event
        session_id, position, topic = event.originator_id, event.originator_version, event.TOPIC
        if not isinstance(session_id, str):
            raise TextIdNeeded(topic, session_id)
        if TOPICS.get(topic) is not type(event):
            raise UnstorableEvent(topic, session_id, position, "no such event is registered")
        try:
            state = encode_state(event)
        except CodecFault as fault:
            raise UnstorableEvent(topic, session_id, position, str(fault)) from fault
        return StoredEvent(session_id, position, topic, self.seal(state))

    def run_of(self, drafts: Iterable[Draft], session_id: str, position: int) -> Run:
        """The rows of events to be, from a position on. Raises as `to_stored_event` does."""
        rows: list[EventRow] = []
        add, seal = rows.append, self.seal if self.compressor or self.cipher else None
        for at, draft in enumerate(drafts, position):
            texts, cls = draft.texts, draft.event
            if texts is None:
                event: Any = draft.at(session_id, at)
                add((session_id, at, cls.TOPIC, self.to_stored_event(event).state))
                continue
            state = join_state(cls.class_version, *texts)
            add((session_id, at, cls.TOPIC, state if seal is None else seal(state)))
        return Run(rows)

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[TAggregateID]:
        """The event of a row. The body is decoded when it is first asked for.

        Raises, here or then: `UnreadableEvent` for damaged bytes, `NewerEvent` and `UnknownTopic`
        for what a newer tapefold wrote, `TextIdNeeded` if the id came out as a UUID.
        """
        topic, session_id = stored_event.topic, stored_event.originator_id
        cls = TOPICS.get(topic)
        if cls is None:
            return self._foreign_event(stored_event)
        if not isinstance(session_id, str):
            raise TextIdNeeded(topic, session_id)
        position = stored_event.originator_version
        try:
            state = self._open(stored_event.state)
            head = self._head(cls, state, session_id, position)
        except CodecFault as fault:
            raise UnreadableEvent(topic, session_id, position, str(fault)) from fault
        load = partial(self._body, cls, state, session_id, position)
        event: Any = cls(session_id, position, head, load=load)
        return cast(DomainEventProtocol[TAggregateID], event)

    def head_of(
        self,
        topic: str,
        state: bytes,
        session_id: str | None = None,
        position: int | None = None,
    ) -> Head:
        """The head alone, without an event: what a cold open folds.

        Session and position only serve the errors, which are those of `to_domain_event`.
        """
        cls = TOPICS.get(topic)
        if cls is None:
            raise UnknownTopic(topic, session_id, position)
        try:
            return self._head(cls, self._open(state), session_id, position)
        except CodecFault as fault:
            raise UnreadableEvent(topic, session_id, position, str(fault)) from fault

    def parts_of(
        self, topic: str, state: bytes, session_id: str, position: int
    ) -> tuple[Head, bytes]:
        """The head, and the body as JSON text in the present shape: what a read model keeps.

        The body is not parsed unless it is of an older version. Raises as `head_of` does.
        """
        cls = TOPICS.get(topic)
        if cls is None:
            raise UnknownTopic(topic, session_id, position)
        if self._is_plain and cls.class_version == 1 and type(state) is bytes:
            parts = plain_parts(state)  # nearly every event
            if parts is not None and parts[0].kind == cls.KIND:
                return parts
        try:
            plain = self._open(state)
            version, start, end = find_head(plain)
            if version == cls.class_version:
                head = decode_head(plain[start:end])
                if head.kind != cls.KIND:
                    raise CodecFault(f"its head is of kind {head.kind!r}")
                return head, body_text(plain, end)
            head = self._head(cls, plain, session_id, position)
            return head, dump(self._upcast(cls, plain)[1])
        except (CodecFault, JsonFault) as fault:
            raise UnreadableEvent(topic, session_id, position, str(fault)) from fault

    def _foreign_event(self, stored: StoredEvent) -> DomainEventProtocol[TAggregateID]:
        if is_ours(stored.topic):
            try:
                known = isinstance(resolve_topic(stored.topic), type)
            except TopicError:
                known = False
            if not known:
                id_ = str(stored.originator_id)
                raise UnknownTopic(stored.topic, id_, stored.originator_version)
        return super().to_domain_event(stored)

    def seal(self, state: bytes) -> bytes:
        """A plain state as it is stored: compressed and encrypted, where that is set up."""
        # In the library's order: encrypted bytes cannot be compressed.
        if self.compressor:
            state = self.compressor.compress(state)
        if self.cipher:
            state = self.cipher.encrypt(state)
        return state

    def plain(self, stored: StoredEvent) -> bytes:
        """The plain state of a row, as persistence/codec.py describes it, whatever its version.

        Raises `UnreadableEvent` for what cannot be decrypted or decompressed.
        """
        try:
            return self._open(stored.state)
        except CodecFault as fault:
            id_ = str(stored.originator_id)
            raise UnreadableEvent(
                stored.topic, id_, stored.originator_version, str(fault)
            ) from fault

    def _open(self, state: bytes) -> bytes:
        """The plain state."""
        try:
            if self.cipher:
                state = self.cipher.decrypt(state)
            if self.compressor:
                state = self.compressor.decompress(state)
        except Exception as error:  # each cipher and compressor has its own kinds
            raise CodecFault(f"it cannot be decrypted or decompressed: {error}") from error
        if not isinstance(state, bytes):
            raise CodecFault(f"its state is {type(state).__name__}, not bytes")
        return state

    def _head(
        self, cls: type[Event], state: bytes, session_id: str | None, position: int | None
    ) -> Head:
        version, start, end = find_head(state)
        if version == cls.class_version:
            head = decode_head(state[start:end])
        elif version > cls.class_version:
            raise NewerEvent(cls.TOPIC, session_id, position, version, cls.class_version)
        else:
            head = head_of_json(self._upcast(cls, state)[0])
        if head.kind != cls.KIND:
            raise CodecFault(f"its head is of kind {head.kind!r}")
        return head

    def _body(self, cls: type[Event], state: bytes, session_id: str, position: int) -> BodyBase:
        try:
            version, start, end = find_head(state)
            if version == cls.class_version:
                unknown = unknown_in_head(state[start:end])
                body = load_object(body_text(state, end), "body")
            else:
                head, body = self._upcast(cls, state)
                unknown = unknown_fields(head)
            return read_body(cls.BODY, body, unknown)
        except (CodecFault, ShapeFault) as fault:
            raise UnreadableEvent(cls.TOPIC, session_id, position, str(fault)) from fault

    def _upcast(self, cls: type[Event], state: bytes) -> tuple[Json, Json]:
        """Head and body of an older version, in the present shape. The one place that upcasts."""
        version, start, end = find_head(state)
        head = load_object(state[start:end], "head")
        body = load_object(body_text(state, end), "body")
        try:
            return self._upcasters.upcast(cls, version, head, body)
        except ValueError as error:
            raise CodecFault(str(error)) from error
