from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AskRequest(_message.Message):
    __slots__ = ("question", "strict", "using", "model", "collection", "limit", "min_score", "depth", "temperature", "seed", "cache_ttl", "nocache", "strictness", "evidence", "plan", "steps", "history")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    USING_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    CACHE_TTL_FIELD_NUMBER: _ClassVar[int]
    NOCACHE_FIELD_NUMBER: _ClassVar[int]
    STRICTNESS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    question: str
    strict: bool
    using: str
    model: str
    collection: _containers.RepeatedScalarFieldContainer[str]
    limit: int
    min_score: float
    depth: int
    temperature: float
    seed: int
    cache_ttl: str
    nocache: bool
    strictness: str
    evidence: bool
    plan: str
    steps: int
    history: _containers.RepeatedCompositeFieldContainer[Turn]
    def __init__(self, question: _Optional[str] = ..., strict: _Optional[bool] = ..., using: _Optional[str] = ..., model: _Optional[str] = ..., collection: _Optional[_Iterable[str]] = ..., limit: _Optional[int] = ..., min_score: _Optional[float] = ..., depth: _Optional[int] = ..., temperature: _Optional[float] = ..., seed: _Optional[int] = ..., cache_ttl: _Optional[str] = ..., nocache: _Optional[bool] = ..., strictness: _Optional[str] = ..., evidence: _Optional[bool] = ..., plan: _Optional[str] = ..., steps: _Optional[int] = ..., history: _Optional[_Iterable[_Union[Turn, _Mapping]]] = ...) -> None: ...

class Turn(_message.Message):
    __slots__ = ("question", "answer")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    question: str
    answer: str
    def __init__(self, question: _Optional[str] = ..., answer: _Optional[str] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ("marker", "urn")
    MARKER_FIELD_NUMBER: _ClassVar[int]
    URN_FIELD_NUMBER: _ClassVar[int]
    marker: int
    urn: str
    def __init__(self, marker: _Optional[int] = ..., urn: _Optional[str] = ...) -> None: ...

class Item(_message.Message):
    __slots__ = ("kind", "detail")
    KIND_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    kind: str
    detail: str
    def __init__(self, kind: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class Validation(_message.Message):
    __slots__ = ("ok", "warnings", "errors")
    OK_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    ok: bool
    warnings: _containers.RepeatedCompositeFieldContainer[Item]
    errors: _containers.RepeatedCompositeFieldContainer[Item]
    def __init__(self, ok: _Optional[bool] = ..., warnings: _Optional[_Iterable[_Union[Item, _Mapping]]] = ..., errors: _Optional[_Iterable[_Union[Item, _Mapping]]] = ...) -> None: ...

class AskReply(_message.Message):
    __slots__ = ("answer", "sources_flat_json", "citations", "validation", "provider", "model", "prompt_tokens", "completion_tokens", "cost_usd", "cache_hit", "mode", "retry_count", "evidence_json")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FLAT_JSON_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    CACHE_HIT_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    RETRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_JSON_FIELD_NUMBER: _ClassVar[int]
    answer: str
    sources_flat_json: bytes
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    validation: Validation
    provider: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    cache_hit: bool
    mode: str
    retry_count: int
    evidence_json: bytes
    def __init__(self, answer: _Optional[str] = ..., sources_flat_json: _Optional[bytes] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., validation: _Optional[_Union[Validation, _Mapping]] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., cache_hit: _Optional[bool] = ..., mode: _Optional[str] = ..., retry_count: _Optional[int] = ..., evidence_json: _Optional[bytes] = ...) -> None: ...

class AskFrame(_message.Message):
    __slots__ = ("sources", "answer_token", "answer_reset", "validation", "error")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    ANSWER_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ANSWER_RESET_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    sources: SourcesFrame
    answer_token: TokenFrame
    answer_reset: ResetFrame
    validation: DoneFrame
    error: ErrorFrame
    def __init__(self, sources: _Optional[_Union[SourcesFrame, _Mapping]] = ..., answer_token: _Optional[_Union[TokenFrame, _Mapping]] = ..., answer_reset: _Optional[_Union[ResetFrame, _Mapping]] = ..., validation: _Optional[_Union[DoneFrame, _Mapping]] = ..., error: _Optional[_Union[ErrorFrame, _Mapping]] = ...) -> None: ...

class SourcesFrame(_message.Message):
    __slots__ = ("sources_flat_json",)
    SOURCES_FLAT_JSON_FIELD_NUMBER: _ClassVar[int]
    sources_flat_json: bytes
    def __init__(self, sources_flat_json: _Optional[bytes] = ...) -> None: ...

class TokenFrame(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ResetFrame(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class DoneFrame(_message.Message):
    __slots__ = ("validation", "citations", "provider", "model", "prompt_tokens", "completion_tokens", "cost_usd", "cache_hit", "mode", "retry_count", "evidence_json")
    VALIDATION_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    CACHE_HIT_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    RETRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_JSON_FIELD_NUMBER: _ClassVar[int]
    validation: Validation
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    provider: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    cache_hit: bool
    mode: str
    retry_count: int
    evidence_json: bytes
    def __init__(self, validation: _Optional[_Union[Validation, _Mapping]] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., cache_hit: _Optional[bool] = ..., mode: _Optional[str] = ..., retry_count: _Optional[int] = ..., evidence_json: _Optional[bytes] = ...) -> None: ...

class ErrorFrame(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class ExplainReply(_message.Message):
    __slots__ = ("plan_json",)
    PLAN_JSON_FIELD_NUMBER: _ClassVar[int]
    plan_json: bytes
    def __init__(self, plan_json: _Optional[bytes] = ...) -> None: ...

class QueryRequest(_message.Message):
    __slots__ = ("statement", "params_json")
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    PARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    statement: str
    params_json: str
    def __init__(self, statement: _Optional[str] = ..., params_json: _Optional[str] = ...) -> None: ...

class QueryReply(_message.Message):
    __slots__ = ("rows_json",)
    ROWS_JSON_FIELD_NUMBER: _ClassVar[int]
    rows_json: bytes
    def __init__(self, rows_json: _Optional[bytes] = ...) -> None: ...
