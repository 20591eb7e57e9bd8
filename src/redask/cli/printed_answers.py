"""An answer as it is printed: `printed`, whole or while it is written, with its footnotes below.

`shown_while_written` is what the words of a stream go through; `streamed` writes them as they come.
"""

from collections.abc import Callable, Iterator, Mapping

from redask.api.conversation import Conversation
from redask.cli.answer_sources import show_sources
from redask.cli.terminal_text import echo
from redask.core.model import Answer, Answered, AnswerReset, AnswerToken, Event, Failed

WriteStream = Callable[[Iterator[Event]], Answer]


def printed(
    talk: Conversation,
    question: str,
    options: Mapping[str, object],
    *,
    stream: bool,
    write: WriteStream | None = None,
) -> Answer:
    """Ask, and print what comes of it; raises what the ask does."""
    if stream:
        answer = (write or streamed)(talk.stream(question, **options))
    else:
        answer = talk.ask(question, **options)
        echo(answer.answer)
    echo()
    show_sources(answer)
    return answer


def streamed(events: Iterator[Event]) -> Answer:
    """Print an answer's words as they come. → the answer; raises what it failed with."""
    for event in events:
        match event:
            case AnswerToken(text):
                echo(text, nl=False)
            case AnswerReset(reason):
                echo(f"\n{starts_anew(reason)}")
            case Failed(error):
                echo()
                raise error
            case Answered(answer):
                return answer
    raise AssertionError("a stream ends with an answer or an error")


def starts_anew(reason: str) -> str:
    """What is said where the words so far are void."""
    return f"--- {reason}: the answer starts anew ---"
