"""Which providers an ask may go to, and in which order: `ProviderPlans(…).of(ask, caller)`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from redask.core.model import Ask, Caller
from redask.core.provider_table import PROVIDERS
from redask.core.rules import failover
from redask.core.rules.spending import provider_access
from redask.core.settings import Settings


@dataclass(frozen=True, slots=True)
class ProviderPlans:
    """By the settings; `providers` are those there are, `installed` those with their package."""

    settings: Settings
    providers: frozenset[str]
    installed: Collection[str]

    def of(self, ask: Ask, caller: Caller) -> tuple[failover.Step, ...]:
        """The walk of a caller: nobody is on it whom the caller's role may not use."""
        keyed = [name for name in self._keyed() if self.may_use(caller, failover.Step(name, None))]
        walk = self._walk(ask, keyed)
        return provider_access.admitted(
            walk, caller.role, self.settings.allow, self._model, named=bool(ask.using)
        )

    def first(self, ask: Ask) -> failover.Step:
        """Who comes first, whoever asks."""
        return self._walk(ask, self._keyed())[0]

    def may_use(self, caller: Caller, step: failover.Step) -> bool:
        """Whether the caller's role may use a provider and its model."""
        return provider_access.may_use(caller.role, step, self.settings.allow, self._model)

    def _walk(self, ask: Ask, configured: Sequence[str]) -> tuple[failover.Step, ...]:
        return failover.plan(
            using=ask.using,
            model=ask.model,
            fallback=self.settings.fallback,
            default=self.settings.default_provider,
            configured=configured,
            known=self.providers,
        )

    def _keyed(self) -> list[str]:
        """The providers that have a key, and the package they need."""
        endpoints = self.settings.endpoints
        return [name for name in endpoints if endpoints[name].api_key and name in self.installed]

    def _model(self, step: failover.Step) -> str:
        """The model of a step, by its name, though the provider is not open."""
        endpoint, row = self.settings.endpoints.get(step.provider), PROVIDERS.get(step.provider)
        return step.model or (endpoint and endpoint.model) or (row.model if row else "")
