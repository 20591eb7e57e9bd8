"""Random histories of a shared database, and a second cache that says when the first may answer.

`check(seed)` plays one: rows are written, changed and deleted, policies and users come, change
and go, time passes, providers fail, and two handles with different settings (two processes, in
effect) ask for several users of two tenants. Contents are few, so that old states come back.

Every ASK is answered twice. The twin has no cache, its providers are well, and it is asked
first: its prompt is the store about what the caller may read now. `Remembered` is contract 13
once more, over whole prompts in place of hashes: it says whether the ASK is a hit, and of what.

    a hit where there must be none           stale, foreign, expired, of another prompt or mode
    no hit where there must be one           a cache that never answers is no cache
    a hit that is not what the first call    but for cache_hit, tokens, cost, retry_count and the
    returned, or not what the twin answers   mode, which is the caller's own
"""

import asyncio
import hashlib
import random
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from redask.app import App, build
from redask.core import clauses
from redask.core.errors import (
    AskError,
    BadAsk,
    Failure,
    ProviderFailed,
    ProviderRefused,
    ProvidersExhausted,
    Ungrounded,
)
from redask.core.model import Answer, Ask, Caller, Knobs, Mode, Prompt, Strictness
from redask.core.ports import CachedAnswer, Completion
from redask.core.rules import capabilities, determinism
from redask.core.rules import prompt as prompts
from redask.core.settings import load
from redask.engine.ask import Engine
from redask.engine.caching.remembered_findings import RememberedFindings
from redask.engine.findings import SourceFinder
from redask.engine.opened_providers import OpenedProviders
from redask.stores.entity_rows import entities, link

STEPS = 20
MAX_ENTRIES = 3
SECOND = 10**9
TENANTS = ("acme", "other")
USERS = {"pia": "support", "quin": "support", "rose": "finance"}
QUESTIONS = ("What about the amber ferry?", "Where is the amber harbour?")
TEXTS = (
    "The amber ferry leaves at nine.",
    "The amber harbour is closed. Ask pia@example.org.",
    "Amber ferry, amber harbour, amber island.",
    "The ferry to the harbour.",
)
TITLES = ("Amber ferry", "Amber harbour", "Island")
NOTE = "urn:reddb:row:notes/{}"
REGIONS = ("EU", "US")
POLICIES: tuple[object | None, ...] = (
    None,
    {"read": [{"roles": ["*"], "hide": ["secret"]}]},
    {"read": [{"roles": ["support"], "rows": "region = 'EU'"}, {"roles": ["*"]}]},
    {"read": [{"roles": ["*"], "rows": "region = :user.region", "mask": ["secret"]}]},
    {"read": [{"roles": ["finance"]}]},
)
PROVIDERS = ("scripted", "ollama", "huggingface", "local")
USING = (*PROVIDERS, *["scripted"] * 4, "scripted,ollama", "local,scripted")
CACHES: tuple[dict[str, object], ...] = (
    {"nocache": True},
    {},
    {"cache": {"ttl": "1s"}},
    {"cache": {"ttl": "1s"}},
    {"cache": {"ttl": "2s"}},
    {"cache": {"ttl": "1m"}},
    {"cache": {"ttl": "1m"}},
)
OPTIONS: dict[str, tuple[object, ...]] = {
    "model": ("m2", None),
    "strict": (True, "off", None),
    "temperature": (0.0, 0.5, 0.5, None),
    "seed": (0, 7, None),
    "depth": (0, 1, None),
}
WELL, DOWN, REFUSING = "well", "down", "refusing"
HANDLES = (
    f"[ask.cache]\nmax_entries = {MAX_ENTRIES}",
    f'[ask]\nstrict = false\n[ask.cache]\nenabled = true\ndefault_ttl = "2s"\n'
    f"max_entries = {MAX_ENTRIES}\n[ask.redact]\npersonal = ['email']\n"
    "[ask.retrieval.graph]\nweight = 9.0",
)


@dataclass
class Oracle:
    """A provider that answers with a hash of all it was given; every second citation is wrong."""

    name: str
    model: str
    moods: dict[str, str]
    heard: list[Prompt] = field(default_factory=list)

    @property
    def capabilities(self) -> Any:
        return capabilities.of(self.name)

    def narrow(self, seed: int) -> int:
        return determinism.narrow_to_signed(seed)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return (prompt_tokens + completion_tokens) * 1e-6

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        self.heard.append(prompt)
        mood = self.moods.get(self.name, WELL)
        if mood == DOWN:
            raise ProviderFailed(self.name, Failure.SERVER, "down")
        if mood == REFUSING:
            raise ProviderRefused(self.name, "no")
        said = f"{self.name} {self.model} {knobs} {prompts.render(prompt)}"
        digest = hashlib.sha256(said.encode()).hexdigest()
        text = f"{digest[:12]} [^{99 if digest[0] in '01234567' else 1}]"
        if emit is not None:
            await emit(text)
        return Completion(text, self.model, 10, 5)


class NoCache:
    """The twin's cache: looking into it is a fault."""

    def get(self, key: str) -> CachedAnswer | None:
        raise AssertionError(f"NOCACHE looked for {key}")

    def put(self, key: str, entry: CachedAnswer, most: int) -> None:
        raise AssertionError(f"NOCACHE stored {key}")


class NoLog:
    """The twin's log: what it is asked is nobody's call."""

    async def append(
        self,
        row: dict[str, object],
        build: str = "",
        provenance: dict[str, object] | None = None,
        **readings: str,
    ) -> None:
        """Forget it."""


@dataclass(frozen=True)
class ConnectionEntry:
    """An answer that was stored: by which prompt, when, for how long, and as asked how."""

    prompt: str
    stored_at: int
    ttl: int
    answer: Answer
    ask: Ask
    strict: bool


class Remembered(dict[object, ConnectionEntry]):
    """Contract 13 over plain values; the oldest stands first."""

    def store(self, key: object, entry: ConnectionEntry) -> None:
        self.pop(key, None)
        self[key] = entry
        while len(self) > MAX_ENTRIES:
            del self[next(iter(self))]

    def find(self, key: object, prompt: str, mode: Mode, now: int) -> ConnectionEntry | None:
        entry = self.get(key)
        if entry is None or entry.prompt != prompt or now - entry.stored_at >= entry.ttl * SECOND:
            return None
        return None if mode is Mode.STRICT and "[^99]" in entry.answer.answer else entry


@dataclass(frozen=True)
class Asking:
    """What somebody asks, and how."""

    tenant: str
    user: str
    question: str
    using: str
    options: dict[str, object] = field(default_factory=dict)
    cache: dict[str, object] = field(default_factory=dict)


@dataclass
class Handle:
    """One open database with its settings, and its twin without a cache."""

    app: App
    twin: Engine
    oracles: list[Oracle]
    asked_twin: list[Oracle]


class History:
    """One database, two handles, and what may be remembered."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        self.chance = chance
        self.now = 1_800_000_000 * SECOND
        self.moods: dict[str, str] = {}
        self.remembered = Remembered()
        self.handles = [self._open(directory, toml) for toml in HANDLES]
        self.roles = {(tenant, user): role for tenant in TENANTS for user, role in USERS.items()}
        self.asked: list[Asking] = []
        self.hits = 0
        self.loop = asyncio.Runner()

    def _open(self, directory: Path, toml: str) -> Handle:
        app = build(directory, settings=load(toml, {}), embedder="none", clock=lambda: self.now)
        mine: list[Oracle] = []
        theirs: list[Oracle] = []

        def opener(made: list[Oracle], moods: dict[str, str]) -> Callable[..., Any]:
            def open_provider(name: str, model: str | None) -> Oracle:
                made.append(Oracle(name, model or "m1", moods))
                return made[-1]

            return open_provider

        workers, remembering = app.engine.workers, app.engine.finder
        assert isinstance(remembering, RememberedFindings)
        finder = remembering._work
        assert isinstance(finder, SourceFinder)  # an embedded database finds in process
        app.engine.opened = OpenedProviders(opener(mine, self.moods), workers)
        twin = replace(
            app.engine,
            log=NoLog(),
            recall=replace(app.engine.recall, cache=NoCache()),
            opened=OpenedProviders(opener(theirs, {}), workers),
            finder=replace(finder, _sizes={}),
        )
        return Handle(app, twin, mine, theirs)

    def close(self) -> None:
        for handle in self.handles:
            handle.app.close()
        self.loop.close()

    # --- what happens ----------------------------------------------------------------------

    def begin(self) -> None:
        """The same users and rows for both tenants: what is foreign looks just like one's own."""
        backend = self.handles[0].app.backend
        store = backend.store
        for number in range(4):
            self.write(TENANTS, number)
        for tenant in TENANTS:
            owner, urns = Caller(tenant, "root", "owner"), [NOTE.format(n) for n in range(4)]
            store.put([link(urns[0], "amber", urns[2]), link(urns[1], "near", urns[3])], owner)
            for user, role in USERS.items():
                backend.users.add_user(user, role, {"region": "EU"}, owner)

    def write(self, tenants: Sequence[str], number: int) -> None:
        chance = self.chance
        row = {"id": number, "text": chance.choice(TEXTS), "region": chance.choice(REGIONS)}
        row["title"] = chance.choice(TITLES)  # names, which the graph is entered by
        if chance.random() < 0.3:
            row["secret"] = chance.choice(("amber", "birch"))
        for tenant in tenants:
            owner = Caller(tenant, "root", "owner")
            chance.choice(self.handles).app.backend.store.put(entities("notes", [row]), owner)

    def disturb(self) -> None:
        """Something changes, or time passes."""
        chance, tenant = self.chance, self.chance.choice(TENANTS)
        backend = chance.choice(self.handles).app.backend
        store = backend.store
        who = Caller(tenant, "root", "owner")
        first, second = (NOTE.format(n) for n in chance.sample(range(4), 2))
        match chance.choice("write write delete link policy user role time time time mood".split()):
            case "write":
                self.write(chance.choice(((tenant,), TENANTS)), chance.randrange(4))
            case "delete":
                store.delete([first], who)
            case "link":
                try:
                    store.put([link(first, "amber", second)], who)
                except BadAsk:  # an end of it is gone
                    return
            case "policy":
                store.set_policy("notes", chance.choice(POLICIES), who)
            case "user":
                region = {"region": chance.choice(REGIONS)}
                backend.users.change_user(chance.choice(sorted(USERS)), None, region, who)
            case "role":
                user = chance.choice(sorted(USERS))
                self.roles[tenant, user] = chance.choice(("support", "finance", "owner"))
            case "time":
                self.now += chance.choice((SECOND - 1, SECOND, 1))
            case _:
                name = chance.choice(PROVIDERS)
                self.moods[name] = chance.choice((WELL, WELL, DOWN, REFUSING))

    def draw(self) -> Asking:
        """Who asks what, and how: mostly what was asked before, with at most one difference."""
        chance = self.chance
        if not self.asked or chance.random() < 0.15:
            tenant, user = chance.choice(TENANTS), chance.choice(sorted(USERS))
            fresh = Asking(tenant, user, chance.choice(QUESTIONS), chance.choice(USING))
            return replace(fresh, cache=chance.choice(CACHES))
        again = chance.choice(self.asked[-3:])
        match chance.randrange(12):
            case 0 | 9:
                return replace(again, tenant=chance.choice(TENANTS))
            case 1:
                return replace(again, user=chance.choice(sorted(USERS)))
            case 2:
                return replace(again, question=chance.choice(QUESTIONS))
            case 3:
                return replace(again, using=chance.choice(USING))
            case 4 | 5:
                return replace(again, cache=chance.choice(CACHES))
            case 6 | 7 | 8:
                name = chance.choice([*OPTIONS, "strict", "depth", "temperature"])
                changed = {**again.options, name: chance.choice(OPTIONS[name])}
                return replace(again, options=changed)
            case _:
                return again

    # --- one ASK and what may come of it ---------------------------------------------------

    def ask(self) -> None:
        """One ASK, by either handle."""
        asking = self.draw()
        self.asked.append(asking)
        handle = self.chance.choice(self.handles)
        caller = Caller(asking.tenant, asking.user, self.roles[asking.tenant, asking.user])
        chosen = {name: value for name, value in asking.options.items() if value is not None}
        chosen |= {"using": asking.using, **asking.cache}
        ask = clauses.from_options(asking.question, chosen, "")
        self.loop.run(self._ask(handle, caller, ask))

    async def _ask(self, handle: Handle, caller: Caller, ask: Ask) -> None:
        plan = list(ask.using)
        prompt, _ = await self._truth(handle, caller, ask, plan[0])
        expected = self._expected(handle, caller, ask, plan, prompt)
        for oracle in handle.oracles:
            oracle.heard.clear()
        answer: Answer | None = None
        try:
            answer = await handle.app.engine.ask(ask, caller)
        except (ProviderFailed, ProvidersExhausted, Ungrounded):
            assert expected is None or expected[1] is None, "an error in place of a hit"
        except AskError as error:
            raise AssertionError(f"an ASK failed: {error}") from error
        hit = answer is not None and answer.cache_hit
        name, entry = expected or ("", None)
        assert hit == (entry is not None), f"hit {hit}, and should be {entry is not None}: {ask}"
        if answer is not None and entry is not None:
            self.hits += 1
            await self._check_hit(handle, caller, entry, name, answer)
        elif answer is not None and prompt is not None and self._ttl(handle, ask):
            key = self._key(caller, ask, answer.provider, prompt)
            now, ttl = self.now, self._ttl(handle, ask)
            strict = (ask.strict or handle.app.settings.strict) is Strictness.ON
            self.remembered.store(
                key, ConnectionEntry(prompts.render(prompt), now, ttl, answer, ask, strict)
            )

    async def _truth(
        self, handle: Handle, caller: Caller, ask: Ask, provider: str
    ) -> tuple[Prompt | None, Answer | None]:
        """What the twin's provider reads and what the twin answers."""
        for oracle in handle.asked_twin:
            oracle.heard.clear()
        answer: Answer | None = None
        try:
            answer = await handle.twin.ask(
                replace(ask, using=(provider,), nocache=True, cache_ttl=None), caller
            )
        except Ungrounded:
            pass
        except AskError as error:
            raise AssertionError(f"the twin failed: {error}") from error
        heard = [prompt for oracle in handle.asked_twin for prompt in oracle.heard]
        return (heard[0] if heard else None), answer

    def _expected(
        self, handle: Handle, caller: Caller, ask: Ask, plan: list[str], prompt: Prompt | None
    ) -> tuple[str, ConnectionEntry | None] | None:
        """Who will answer, and from which entry, if from one; None when nothing is found."""
        if prompt is None:
            return None
        strictness = ask.strict or handle.app.settings.strict
        requested = Mode.STRICT if strictness is Strictness.ON else Mode.LENIENT
        for name in plan:
            mode = requested if capabilities.of(name).supports_citations else Mode.LENIENT
            key = self._key(caller, ask, name, prompt)
            entry = self.remembered.find(key, prompts.render(prompt), mode, self.now)
            if entry is not None and self._ttl(handle, ask):
                return name, entry
            if self.moods.get(name) != DOWN:
                return name, None
        return plan[-1], None

    async def _check_hit(
        self, handle: Handle, caller: Caller, entry: ConnectionEntry, name: str, answer: Answer
    ) -> None:
        called = {oracle.name for oracle in handle.oracles if oracle.heard}
        assert name not in called, "a hit called its provider"
        free = replace(answer, cache_hit=False, prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
        assert answer.retry_count == answer.prompt_tokens == answer.completion_tokens == 0
        assert answer.cost_usd == 0.0
        # asked as the first call was: another mode may accept another answer
        asked = replace(entry.ask, strict=Strictness.ON if entry.strict else Strictness.OFF)
        _, truth = await self._truth(handle, caller, asked, name)
        for other in (entry.answer, truth):
            assert other is not None
            assert free == replace(
                other,
                mode=answer.mode,
                prompt_tokens=0,
                completion_tokens=0,
                cost_usd=0.0,
                retry_count=0,
            ), "not what was answered first, or not what a twin answers now"

    def _ttl(self, handle: Handle, ask: Ask) -> int:
        """Seconds for which the answer is kept; 0 when the cache is not used."""
        if ask.nocache:
            return 0
        chosen = handle.app.settings
        return ask.cache_ttl or (chosen.cache_enabled and chosen.cache_default_ttl) or 0

    def _key(self, caller: Caller, ask: Ask, name: str, prompt: Prompt) -> object:
        can = capabilities.of(name)
        temperature = (ask.temperature or 0.0) if can.supports_temperature_zero else None
        seed = ask.seed if can.supports_seed else None
        sources = frozenset((source.urn, source.payload) for source in prompt.sources)
        who = caller.tenant, caller.user
        return (*who, ask.question, name, ask.model or "m1", temperature, seed, sources)


@contextmanager
def history(seed: int) -> Iterator[History]:
    """A new history, in memory where that is possible: its time goes into asking, not syncing."""
    shared = Path("/dev/shm")
    where = str(shared) if shared.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="redask-cache-", dir=where) as directory:
        made = History(Path(directory), random.Random(seed))
        try:
            made.begin()
            yield made
        finally:
            made.close()


def check(seed: int) -> int:
    """Play one history. → how many answers came from the cache"""
    with history(seed) as playing:
        for _ in range(STEPS):
            if playing.chance.random() < 0.3:
                playing.disturb()
            else:
                playing.ask()
        return playing.hits


def problem(seed: int) -> tuple[int, str | None]:
    """The hits of one history, and what is wrong with it."""
    try:
        return check(seed), None
    except AssertionError as error:
        return 0, f"seed {seed}: {error}"
