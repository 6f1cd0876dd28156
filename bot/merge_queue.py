"""What a merge queue is answered: the verdict that the pull request got before it entered.

Nothing is measured here and nobody waits: docs/decisions/0005-merge-queue.md says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot import ending
from bot.interfaces import Closing, Reviewed
from bot.job import OVER, Job, JobState
from bot.markdown import code, prose

# GitHub names a group's branch after the last pull request in it and the commit it is based on.
_REF = re.compile(r"\A(?:refs/heads/)?gh-readonly-queue/.+/pr-(\d{1,10})-[0-9a-f]{40,64}\Z")
_PASSING = ("success", "neutral")


def number_of(ref: str) -> int | None:
    """Return the pull request that a queue's branch is named after; None when it names none.

    >>> number_of("refs/heads/gh-readonly-queue/main/pr-104-" + 40 * "a")
    104
    >>> number_of("refs/heads/pr-104-" + 40 * "a")
    """
    found = _REF.match(ref)
    return int(found[1]) if found else None


def reviewed_at(reviews: Sequence[Job], head: str) -> Job | None:
    """Return the newest review of a commit that came to an end, else the newest of it.

    `reviews` are a pull request's, newest first.
    """
    of_head = [one for one in reviews if one.head == head]
    done = [one for one in of_head if one.state in {JobState.DONE, JobState.FAILED}]
    return next(iter(done or of_head), None)


def answer(
    number: int | None, review: Job | None, results: Sequence[Reviewed], page: str
) -> Closing:
    """Return how the check of a merge group closes; it never fails, so it holds no queue up.

    `review` is that of the pull request's head, `page` its address.
    """
    if number is None:
        words = "This is not the branch of one pull request, so there is no review to repeat."
        return Closing("neutral", "No review to repeat", words)
    if review is None:
        words = f"The head of #{number} was not reviewed. The queue is not held up for that."
        return Closing("neutral", f"#{number} was not reviewed", words)
    link = f"\n\n[How it went]({page})" if page else ""
    if review.state not in OVER:
        words = (
            f"The review of {code(review.head)} in #{number} goes on; its own check run tells what "
            "comes of it. The queue is not held up for that."
        )
        return Closing("neutral", f"#{number} is being reviewed still", words + link)
    end = ending.from_json(review.ending) if review.ending else None
    said = ending.closing(end, results) if end is not None else None
    if said is None or said.conclusion not in _PASSING:
        words = (
            f"The review of {code(review.head)} in #{number} came to nothing: "
            f"{prose(review.title or 'it was cancelled')}. The queue is not held up for that."
        )
        return Closing("neutral", f"#{number}: no verdict", words + link)
    words = (
        f"As the check run of {code(review.head)} in #{number} says; it is not measured again in "
        f"the queue.\n\n{said.summary}"
    )
    return Closing(said.conclusion, said.title, words + link)
