"""tapefold: an append-only, event-sourced session log for AI agents and chat applications.

The public names. They are imported when they are first used, so that asking for the version
loads neither the event store nor pydantic.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Not from `typing`, whose import takes longer than all that the command line does before it can
# end in good order on Ctrl-C. Type checkers know the name.
TYPE_CHECKING = False

_PUBLIC = {
    "Sessions": "tapefold.sessions",
    "load_session": "tapefold.sessions",
    "SessionInfo": "tapefold.store",
    "Session": "tapefold.domain.session",
    "Outcome": "tapefold.domain.outcome",
    "Meta": "tapefold.domain.aggregate",
    "Defaults": "tapefold.domain.identifiers",
    "LEAF": "tapefold.domain.tree",
    "State": "tapefold.domain.kernel",
    "fold": "tapefold.domain.kernel",
    "Event": "tapefold.domain.events",
    "Head": "tapefold.domain.heads",
    "View": "tapefold.domain.view",
    "Message": "tapefold.domain.view",
    "Call": "tapefold.domain.view",
    "Warning": "tapefold.domain.view",
    "build_view": "tapefold.domain.view",
    "Context": "tapefold.domain.context",
    "Row": "tapefold.domain.context",
    "build_context": "tapefold.domain.context",
    "Outline": "tapefold.domain.outline",
    "Policy": "tapefold.domain.policies",
    "TextBlock": "tapefold.domain.content",
    "ThinkingBlock": "tapefold.domain.content",
    "ImageBlock": "tapefold.domain.content",
    "FileBlock": "tapefold.domain.content",
    "ToolCallBlock": "tapefold.domain.content",
    "OtherBlock": "tapefold.domain.content",
    **dict.fromkeys(("import_file", "import_files"), "tapefold.importing"),
    "follow_file": "tapefold.following",
    "write_tape": "tapefold.tape_files",
    "ImportReport": "tapefold.interop.report",
    **dict.fromkeys(("export_session", "export_lines", "Export"), "tapefold.exporting"),
    "FileExists": "tapefold.whole_file",
    "ExportReport": "tapefold.interop.writing.report",
    **dict.fromkeys(("Repair", "plan_repair"), "tapefold.domain.repair"),
    "Repaired": "tapefold.domain.decisions.repair",
    **dict.fromkeys(
        (
            "ImportRefused",
            "NotASessionFile",
            "UnsupportedFile",
            "SourceChanged",
            "SourceReplaced",
            "SessionTaken",
        ),
        "tapefold.interop.errors",
    ),
    **dict.fromkeys(("CallResult", "Item", "Settings", "Tapes"), "tapefold.domain.view"),
    "Excluded": "tapefold.domain.context",
    "Origin": "tapefold.domain.heads",
    **dict.fromkeys(("build_outline", "OutlineFork"), "tapefold.domain.outline"),
    **dict.fromkeys(("compare_views", "Comparison", "Difference"), "tapefold.domain.comparison"),
    **dict.fromkeys(
        (
            "StoreError",
            "StoreBusy",
            "StoreMissing",
            "StoreUnreadable",
            "StoreNotWritable",
            "StoreTooNew",
            "StoreClosed",
            "NestedWrite",
            "PositionTaken",
            "PositionSkipped",
            "OriginatorIdTypeRefused",
            "UnstorableEvent",
            "UnreadableEvent",
            "NewerEvent",
        ),
        "tapefold.persistence.errors",
    ),
    **dict.fromkeys(("read_model", "runner", "rebuild", "log_of"), "tapefold.projections.opening"),
    **dict.fromkeys(("projection_named", "projection_names"), "tapefold.projections.catalogue"),
    "ReadModel": "tapefold.projections.reading",
    **dict.fromkeys(
        ("SessionIndex", "SessionFilter", "IndexedSession"),
        "tapefold.projections.branch_tree.index",
    ),
    "Lag": "tapefold.projections.reading",
    "Runner": "tapefold.projections.runner",
    **dict.fromkeys(("Rebuild", "RebuildReport"), "tapefold.projections.rebuilding"),
    **dict.fromkeys(("Projection", "SessionFold", "Table"), "tapefold.projections.declaration"),
    "Verification": "tapefold.projections.verifying",
    "Parked": "tapefold.projections.parking",
    **dict.fromkeys(
        (
            "ProjectionError",
            "ProjectionMissing",
            "DeclarationMismatch",
            "LogChanged",
            "AlreadyRunning",
            "PoisonEvent",
            "SessionParked",
        ),
        "tapefold.projections.errors",
    ),
    **dict.fromkeys(
        (
            "TapefoldError",
            "InvalidValue",
            "SessionNotFound",
            "SessionExists",
            "UnknownEntry",
            "UnknownMessage",
            "WrongKind",
            "DuplicateId",
            "PositionOutOfRange",
            "OutOfOrder",
            "BasisMissing",
            "ConcurrencyConflict",
            "ProvenanceConflict",
            "UnderRequired",
            "MessageStruck",
            "InvalidBoundary",
            "StaleSummary",
            "SpentInstance",
        ),
        "tapefold.domain.errors",
    ),
}

__all__ = ["__version__", *sorted(_PUBLIC)]  # noqa: PLE0604 - they are strings

if TYPE_CHECKING:
    from typing import Any

    from .domain.aggregate import Meta as Meta
    from .domain.comparison import Comparison as Comparison
    from .domain.comparison import Difference as Difference
    from .domain.comparison import compare_views as compare_views
    from .domain.content import FileBlock as FileBlock
    from .domain.content import ImageBlock as ImageBlock
    from .domain.content import OtherBlock as OtherBlock
    from .domain.content import TextBlock as TextBlock
    from .domain.content import ThinkingBlock as ThinkingBlock
    from .domain.content import ToolCallBlock as ToolCallBlock
    from .domain.context import Context as Context
    from .domain.context import Excluded as Excluded
    from .domain.context import Row as Row
    from .domain.context import build_context as build_context
    from .domain.decisions.repair import Repaired as Repaired
    from .domain.errors import BasisMissing as BasisMissing
    from .domain.errors import ConcurrencyConflict as ConcurrencyConflict
    from .domain.errors import DuplicateId as DuplicateId
    from .domain.errors import InvalidBoundary as InvalidBoundary
    from .domain.errors import InvalidValue as InvalidValue
    from .domain.errors import MessageStruck as MessageStruck
    from .domain.errors import OutOfOrder as OutOfOrder
    from .domain.errors import PositionOutOfRange as PositionOutOfRange
    from .domain.errors import ProvenanceConflict as ProvenanceConflict
    from .domain.errors import SessionExists as SessionExists
    from .domain.errors import SessionNotFound as SessionNotFound
    from .domain.errors import SpentInstance as SpentInstance
    from .domain.errors import StaleSummary as StaleSummary
    from .domain.errors import TapefoldError as TapefoldError
    from .domain.errors import UnderRequired as UnderRequired
    from .domain.errors import UnknownEntry as UnknownEntry
    from .domain.errors import UnknownMessage as UnknownMessage
    from .domain.errors import WrongKind as WrongKind
    from .domain.events import Event as Event
    from .domain.heads import Head as Head
    from .domain.heads import Origin as Origin
    from .domain.identifiers import Defaults as Defaults
    from .domain.kernel import State as State
    from .domain.kernel import fold as fold
    from .domain.outcome import Outcome as Outcome
    from .domain.outline import Outline as Outline
    from .domain.outline import OutlineFork as OutlineFork
    from .domain.outline import build_outline as build_outline
    from .domain.policies import Policy as Policy
    from .domain.repair import Repair as Repair
    from .domain.repair import plan_repair as plan_repair
    from .domain.session import Session as Session
    from .domain.tree import LEAF as LEAF
    from .domain.view import Call as Call
    from .domain.view import CallResult as CallResult
    from .domain.view import Item as Item
    from .domain.view import Message as Message
    from .domain.view import Settings as Settings
    from .domain.view import Tapes as Tapes
    from .domain.view import View as View
    from .domain.view import Warning as Warning
    from .domain.view import build_view as build_view
    from .exporting import Export as Export
    from .exporting import export_lines as export_lines
    from .exporting import export_session as export_session
    from .following import follow_file as follow_file
    from .importing import import_file as import_file
    from .importing import import_files as import_files
    from .interop.errors import ImportRefused as ImportRefused
    from .interop.errors import NotASessionFile as NotASessionFile
    from .interop.errors import SessionTaken as SessionTaken
    from .interop.errors import SourceChanged as SourceChanged
    from .interop.errors import SourceReplaced as SourceReplaced
    from .interop.errors import UnsupportedFile as UnsupportedFile
    from .interop.report import ImportReport as ImportReport
    from .interop.writing.report import ExportReport as ExportReport
    from .persistence.errors import NestedWrite as NestedWrite
    from .persistence.errors import NewerEvent as NewerEvent
    from .persistence.errors import OriginatorIdTypeRefused as OriginatorIdTypeRefused
    from .persistence.errors import PositionSkipped as PositionSkipped
    from .persistence.errors import PositionTaken as PositionTaken
    from .persistence.errors import StoreBusy as StoreBusy
    from .persistence.errors import StoreClosed as StoreClosed
    from .persistence.errors import StoreError as StoreError
    from .persistence.errors import StoreMissing as StoreMissing
    from .persistence.errors import StoreNotWritable as StoreNotWritable
    from .persistence.errors import StoreTooNew as StoreTooNew
    from .persistence.errors import StoreUnreadable as StoreUnreadable
    from .persistence.errors import UnreadableEvent as UnreadableEvent
    from .persistence.errors import UnstorableEvent as UnstorableEvent
    from .projections.branch_tree.index import IndexedSession as IndexedSession
    from .projections.branch_tree.index import SessionFilter as SessionFilter
    from .projections.branch_tree.index import SessionIndex as SessionIndex
    from .projections.catalogue import projection_named as projection_named
    from .projections.catalogue import projection_names as projection_names
    from .projections.declaration import Projection as Projection
    from .projections.declaration import SessionFold as SessionFold
    from .projections.declaration import Table as Table
    from .projections.errors import AlreadyRunning as AlreadyRunning
    from .projections.errors import DeclarationMismatch as DeclarationMismatch
    from .projections.errors import LogChanged as LogChanged
    from .projections.errors import PoisonEvent as PoisonEvent
    from .projections.errors import ProjectionError as ProjectionError
    from .projections.errors import ProjectionMissing as ProjectionMissing
    from .projections.errors import SessionParked as SessionParked
    from .projections.opening import log_of as log_of
    from .projections.opening import read_model as read_model
    from .projections.opening import rebuild as rebuild
    from .projections.opening import runner as runner
    from .projections.parking import Parked as Parked
    from .projections.reading import Lag as Lag
    from .projections.reading import ReadModel as ReadModel
    from .projections.rebuilding import Rebuild as Rebuild
    from .projections.rebuilding import RebuildReport as RebuildReport
    from .projections.runner import Runner as Runner
    from .projections.verifying import Verification as Verification
    from .sessions import Sessions as Sessions
    from .sessions import load_session as load_session
    from .store import SessionInfo as SessionInfo
    from .tape_files import write_tape as write_tape
    from .whole_file import FileExists as FileExists


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'tapefold' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return list(__all__)
