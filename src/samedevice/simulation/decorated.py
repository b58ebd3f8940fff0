"""A function that runs inside a context each time it is called: what `@simulate_cuda(2)` makes of it.

As contextlib.ContextDecorator, which leaves the context when a coroutine or a generator has only been made: of these,
the context lasts while they run.
"""

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


def inside(context: Callable[[], AbstractContextManager[Any]], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a context of its own around each call."""
    if inspect.isasyncgenfunction(function):

        async def call_async_generator(*args: Any, **kwargs: Any) -> Any:
            with context():
                generator = function(*args, **kwargs)
                try:
                    async for value in generator:
                        yield value
                finally:
                    await generator.aclose()

        return functools.wraps(function)(call_async_generator)
    if inspect.iscoroutinefunction(function):

        async def call_coroutine(*args: Any, **kwargs: Any) -> Any:
            with context():
                return await function(*args, **kwargs)

        return functools.wraps(function)(call_coroutine)
    if inspect.isgeneratorfunction(function):

        def call_generator(*args: Any, **kwargs: Any) -> Any:
            with context():
                return (yield from function(*args, **kwargs))

        return functools.wraps(function)(call_generator)

    def call(*args: Any, **kwargs: Any) -> Any:
        with context():
            return function(*args, **kwargs)

    return functools.wraps(function)(call)
