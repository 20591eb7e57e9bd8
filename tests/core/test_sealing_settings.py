"""core.sealing_settings: they are the operator's alone, and what does not go together is said."""

import pytest

from redask.core.errors import Misconfigured
from redask.core.sealing_settings import SealingSettings
from redask.core.settings import load

KEYS = ("key", "signer", "public_key", "every", "file", "command", "url")


def test_the_operators_file_and_the_environment_set_them() -> None:
    text = '[audit.seal]\nkey = "/k"\nevery = "5m"\nfile = "/f"'
    env = {"REDASK_AUDIT_SEAL_URL": "https://a.example/b"}
    assert load("", env, text).sealing == SealingSettings(
        key="/k", every=300, file="/f", url="https://a.example/b"
    )
    assert load().sealing == SealingSettings()
    assert not load().sealing.signs


@pytest.mark.parametrize("key", KEYS)
def test_a_directory_that_somebody_hands_over_sets_none_of_them(key: str) -> None:
    with pytest.raises(Misconfigured, match=f"audit.seal.{key} is not taken from a database's"):
        load(f'[audit.seal]\n{key} = "1s"')


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('key = "a"\nsigner = "b"', "both set"),
        ('signer = "b"', "needs audit.seal.public_key"),
        ('file = "f"', "nobody signs"),
        ('command = "f"', "nobody signs"),
        ('url = "f"', "nobody signs"),
        ('key = "a"\nevery = "367d"', "at most 366d"),
        ('every = "0s"', "at least 1 second"),
    ],
)
def test_what_does_not_go_together_is_misconfigured(text: str, fault: str) -> None:
    with pytest.raises(Misconfigured, match=fault):
        load("", {}, f"[audit.seal]\n{text}")


def test_a_signer_with_its_key_signs() -> None:
    text = '[audit.seal]\nsigner = "s"\npublic_key = "p"\ncommand = "c"'
    assert load("", {}, text).sealing.signs
