"""An event loop in a thread of its own, that other threads have work done by."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

PATIENCE_S = 30.0
"""How long the loop may take for what is asked of it; more is a bug, or a machine that stands still."""
SETTLE_S = 0.01
"""A closed connection gives its descriptor back a few turns of the loop later."""

Result = TypeVar("Result")


class LoopThread:
    """The thread; a daemon, so that it holds up nobody's exit."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self.at_end: set[Callable[[], Coroutine[Any, Any, object]]] = set()
        """What the loop does last, however it comes to its end. To be changed within the loop only."""

    def start(self) -> None:
        self._thread.start()

    def check(self) -> None:
        """Raises LabError where the loop no longer runs."""
        if not self._thread.is_alive():
            raise LabError(f"the thread {self._name} has ended", "Run the command again")

    def call(self, work: Callable[..., Coroutine[Any, Any, Result]], *arguments: object) -> Result:
        """Run a coroutine in the loop and wait for its result. Raises LabError where the loop no longer runs."""
        self.check()
        future = asyncio.run_coroutine_threadsafe(work(*arguments), self._loop)
        try:
            return future.result(PATIENCE_S)
        except concurrent.futures.CancelledError as error:
            raise LabError(f"the thread {self._name} has ended", "Run the command again") from error
        except concurrent.futures.TimeoutError as error:
            future.cancel()
            raise LabError(f"the thread {self._name} has not answered in {PATIENCE_S:.0f} s", "Try again") from error

    def stop(self) -> None:
        """End the loop and its thread, whatever still runs in it. A second call does nothing."""
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # it may just have ended by itself
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE_S)

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(
                asyncio.gather(*tasks, *(end() for end in self.at_end), return_exceptions=True)
            )
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(asyncio.sleep(SETTLE_S))
            self._loop.close()
