"""Processes that decode pictures, and that can be ended when a picture takes too much.

No list of tricks is complete, so whatever decodes files of strangers for long, which is indexing and the service, does
it in processes of their own. Each decodes one picture at a time, within `SECONDS` of processor time and
`MAX_MEMORY` more memory than it started with, both held by the operating system where it can. A picture that is beyond
that is refused, and costs its process; the next one gets a new process.

    run(read_small_photo, content, 256)     in this process
    DecoderPool(2).run(read_small_photo, content, 256)     in one of two others, with the same result or error

Functions and arguments go to a process pickled; what comes back is numbers, and their types and shapes as JSON, none of
which could run here. A call costs the same whatever it does, so pixels and details of a photo are asked for in one.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import IO, Any, BinaryIO, ParamSpec, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import UnreadableImage
from sketchhash.imaging.decode import MAX_MEMORY
from sketchhash.imaging.formats import DRAWN, FORMATS, HEIC, OPTIONAL

SECONDS = 5.0

# Time passes for a process that waits for a core, too: the clock is only for systems that cannot limit processor time,
# and for machines that are so busy that nobody would wait any longer.
_PATIENCE = 24.0 if hasattr(signal, "setitimer") else 3.0
_STARTING_SECONDS = 120.0  # by the clock, for a process to start, which is no picture's fault
_IDLE_SECONDS = 60.0  # after which a process without pictures ends, and its memory with it
_KEPT_MEMORY = 64_000_000  # a process that holds more than this afterwards is replaced

_PIPE_BYTES = 1 << 20  # where pipes can be so large, most photos pass at once

_COMMAND = (sys.executable, "-c", "from sketchhash.imaging.decoders import work; work()")
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # One heap, and large blocks outside of it: so that memory goes back to the system when a picture does.
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 23),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 25),
}

_OUT_OF_TIME = -int(getattr(signal, "SIGPROF", 1000))  # the exit code of a process that the system ended for its time
_WAS_IDLE = 75  # the exit code of a process that had nothing to do

_HEADER = struct.Struct("<cI")
_READY = b"\n"
_ARRAY, _ARRAYS, _REFUSAL, _DEFECT = b"a", b"s", b"r", b"d"
_NUMBERS = "biuf"  # the kinds of types that come back

_P = ParamSpec("_P")
_R = TypeVar("_R", bound=NDArray[Any] | tuple[NDArray[Any], ...])


class Run(Protocol):
    """Calls a function that decodes a picture, here or elsewhere."""

    def __call__(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Return what ``function`` returns, or raise `UnreadableImage` as it does."""
        ...


def run(function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Call ``function`` in this process."""
    return function(*args, **kwargs)


class DecoderPool:
    """Processes that are started when there is a picture for them; safe to use from many threads.

    It ends with `close`, or with the process that made it.
    """

    def __init__(self, size: int, seconds: float = SECONDS, patience: float = _PATIENCE, niceness: int = 0) -> None:
        """Let at most ``size`` processes decode at once.

        Args:
            size: Further calls wait.
            seconds: Of processor time, for one picture.
            patience: How many times ``seconds`` may pass by the clock.
            niceness: How far the processes stand back behind others.
        """
        self._seconds = seconds
        self._deadline = patience * seconds
        self._settings = pickle.dumps((seconds, niceness))
        self._turn = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[_Decoder] = []
        self._all: set[_Decoder] = set()
        self._is_closed = False

    @property
    def pids(self) -> list[int]:
        """The processes that were started and have not been ended."""
        with self._lock:
            return [decoder.process.pid for decoder in self._all]

    def run(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call ``function``, which must be importable by its name, in one of the processes.

        Raises:
            UnreadableImage: If the function does, or took too much.
        """
        with self._turn:
            try:
                kind, text, arrays = self._ask((function, args, kwargs))
            except _DecoderDied as death:
                raise UnreadableImage(f"Cannot read these bytes: {self._reason(death)}") from death
        if kind in (_ARRAY, _ARRAYS):
            return cast(_R, arrays if kind == _ARRAYS else arrays[0])
        if kind == _REFUSAL:
            raise UnreadableImage(text.decode())
        raise RuntimeError(f"A process that decodes pictures failed: {text.decode()}")

    def close(self) -> None:
        """End all processes; calls that wait for one raise `UnreadableImage`."""
        with self._lock:
            self._is_closed = True
            for decoder in self._all:
                decoder.process.kill()
            idle, self._idle = self._idle, []
        for decoder in idle:
            self._dismiss(decoder)

    def _ask(self, call: object) -> tuple[bytes, bytes, tuple[NDArray[Any], ...]]:
        while True:
            decoder = self._take()
            try:
                answer = decoder.ask(call, self._deadline)
            except BaseException as problem:
                self._dismiss(decoder)
                if isinstance(problem, _DecoderDied) and problem.was_idle:
                    continue
                raise
            self._give_back(decoder)
            return answer

    def _reason(self, death: _DecoderDied) -> str:
        if self._is_closed:
            return "the decoder was closed."
        if death.is_too_slow:
            return f"decoding it takes longer than {self._seconds:g} seconds."
        return "the process that decoded it died. It may be broken, or there is too little memory."

    def _take(self) -> _Decoder:
        with self._lock:
            if self._is_closed:
                raise UnreadableImage("Cannot read these bytes: the decoder was closed.")
            if self._idle:
                return self._idle.pop()
            decoder = _Decoder(self._settings)
            self._all.add(decoder)
            return decoder

    def _give_back(self, decoder: _Decoder) -> None:
        with self._lock:
            if not self._is_closed and not decoder.is_spent:
                self._idle.append(decoder)
                return
        self._dismiss(decoder)

    def _dismiss(self, decoder: _Decoder) -> None:
        with self._lock:
            self._all.discard(decoder)
        decoder.end()


@cache
def shared() -> DecoderPool:
    """Return the pool that all indexing in this process uses; its processes end when they have been idle for long."""
    return DecoderPool(os.cpu_count() or 1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared.cache_clear)  # a pipe has room for one


class _DecoderDied(Exception):
    """A process ended before it answered: of itself because it ``was_idle`` for long, or over a picture."""

    def __init__(self, was_idle: bool, is_too_slow: bool) -> None:
        super().__init__()
        self.was_idle = was_idle
        self.is_too_slow = is_too_slow


class _Decoder:
    """One process, as seen by the one that started it."""

    def __init__(self, settings: bytes) -> None:
        self._settings = settings
        self._is_late = False
        self.is_spent = False
        self.process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ENVIRONMENT},
            pipesize=_PIPE_BYTES,
            start_new_session=True,  # Ctrl-C is for the process that can say what is kept
        )

    def ask(self, call: object, deadline: float) -> tuple[bytes, bytes, tuple[NDArray[Any], ...]]:
        """Return the kind of the answer, its text and its arrays."""
        requests, answers = self.process.stdin, self.process.stdout
        assert requests and answers  # both are pipes
        try:
            if self._settings:
                requests.write(self._settings)
                requests.flush()
                self._settings = b""
                self._await(answers, _STARTING_SECONDS)
                _read_exactly(answers, len(_READY))
            pickle.dump(call, requests, pickle.HIGHEST_PROTOCOL)
            requests.flush()
            self._await(answers, deadline)
            kind, length = _HEADER.unpack(_read_exactly(answers, _HEADER.size))
            text = _read_exactly(answers, length)
            arrays = _read_arrays(answers, text) if kind.lower() in (_ARRAY, _ARRAYS) else ()
        except (OSError, EOFError) as problem:
            try:
                code = self.process.wait(1)  # it has closed its ends, and may still be about to die
            except subprocess.TimeoutExpired:
                code = -1
            is_too_slow = self._is_late or code == _OUT_OF_TIME
            raise _DecoderDied(code == _WAS_IDLE, is_too_slow) from problem
        self.is_spent = kind.isupper()
        return kind.lower(), text, arrays

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _await(self, answers: IO[bytes], deadline: float) -> None:
        """Wait until there is an answer, and end the process if there is none in time."""
        if hasattr(select, "poll"):
            watch = select.poll()
            watch.register(answers.fileno(), select.POLLIN)
            self._is_late = not watch.poll(1000 * deadline)
            if self._is_late:
                self.process.kill()
            return
        clock = threading.Timer(deadline, self._end_late)
        clock.daemon = True
        clock.start()
        answers.peek(1)  # type: ignore[attr-defined]
        clock.cancel()

    def _end_late(self) -> None:
        self._is_late = True
        self.process.kill()


def died_over(refusal: UnreadableImage) -> bool:
    """Tell whether a picture was refused because a process of a pool died over it, whatever part of it was read."""
    return isinstance(refusal.__cause__, _DecoderDied)


def _read_arrays(answers: IO[bytes], text: bytes) -> tuple[NDArray[Any], ...]:
    """Read arrays of the types and shapes that ``text`` lists, which a stranger's picture may have made up."""
    try:
        arrays = _room(json.loads(text))
    except Exception as problem:  # whatever it is, it is no answer
        raise EOFError from problem
    for array in arrays:
        if answers.readinto(array) < array.nbytes:  # type: ignore[attr-defined]
            raise EOFError
    return arrays


def _room(described: list[tuple[str, list[int]]]) -> tuple[NDArray[Any], ...]:
    kinds = [(np.dtype(name), shape) for name, shape in described]
    if not kinds or any(kind.kind not in _NUMBERS for kind, _ in kinds):
        raise ValueError("no numbers")
    if sum(kind.itemsize * math.prod(shape) for kind, shape in kinds) > MAX_MEMORY:
        raise ValueError("more than the process had memory for")
    return tuple(np.empty(shape, kind) for kind, shape in kinds)


def _read_exactly(file: IO[bytes], length: int) -> bytes:
    content = file.read(length)
    if len(content) < length:
        raise EOFError
    return content


def work() -> None:
    """Run as a decoder: call functions until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb", _PIPE_BYTES)  # an answer that is written at once wakes its reader once
    seconds, niceness = pickle.load(sys.stdin.buffer)
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    _prepare_pillow()
    # libtiff and others write about damage, between whatever the user is reading.
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    started_with = _limit_memory()
    answers.write(_READY)
    answers.flush()
    calls: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, calls), daemon=True).start()
    while True:
        try:
            function, args, kwargs = calls.get(timeout=_IDLE_SECONDS)
        except Empty:
            os._exit(_WAS_IDLE)
        _limit_time(seconds)
        kind, text, arrays = _answer(function, args, kwargs)
        del args, kwargs
        _limit_time(0)
        is_spent = _memory() > started_with + _KEPT_MEMORY
        try:
            answers.write(_HEADER.pack(kind.upper() if is_spent else kind, len(text)))
            answers.write(text)
            for array in arrays:
                answers.write(array.data)
            answers.flush()
        except OSError:  # whoever asked is gone
            os._exit(0)
        del arrays


def _receive(requests: BinaryIO, calls: SimpleQueue[Any]) -> None:
    """Pass calls on, and end this process at once, in the middle of a picture, when there will be no more."""
    try:
        while True:
            calls.put(pickle.load(requests))
    except Exception:  # the end of the requests, or one that this process cannot make sense of
        os._exit(0)


def _answer(
    function: Callable[..., NDArray[Any] | tuple[NDArray[Any], ...]],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> tuple[bytes, bytes, tuple[NDArray[Any], ...]]:
    try:
        result = function(*args, **kwargs)
        arrays = tuple(np.asarray(array, order="C") for array in (result if isinstance(result, tuple) else (result,)))
        for array in arrays:
            if array.dtype.kind not in _NUMBERS:
                raise TypeError(f"{array.dtype} is no type of numbers.")
        text = json.dumps([(array.dtype.str, array.shape) for array in arrays]).encode()
        return _ARRAYS if isinstance(result, tuple) else _ARRAY, text, arrays
    except UnreadableImage as refusal:
        return _REFUSAL, str(refusal).encode("utf-8", "replace"), ()
    except MemoryError:
        text = b"Cannot read these bytes: decoding it takes more memory than it may have. Save it smaller."
        return _REFUSAL, text, ()
    except Exception as defect:
        return _DEFECT, repr(defect).encode("utf-8", "replace"), ()


def _prepare_pillow() -> None:
    """Import what decodes, so that it counts as what the process started with, and let it use one thread."""
    for form in FORMATS:
        import_module(f"PIL.{form.title().replace('Webp', 'WebP')}ImagePlugin")
    import_module("sketchhash.imaging.drawings")
    import_module("sketchhash.imaging.packs")
    # Each thread of a decoder claims addresses for its stack, many more than it uses.
    from PIL import AvifImagePlugin

    AvifImagePlugin.DEFAULT_MAX_THREADS = 1
    modules = {form: import_module(form.module) for form in (*OPTIONAL, *DRAWN) if form.is_installed}
    if HEIC in modules:
        modules[HEIC].options.DECODE_THREADS = 1


def _limit_time(seconds: float) -> None:
    """Let the system end this process after so much processor time; 0 ends the limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory() -> int:
    """Let allocations fail beyond `MAX_MEMORY` more than there is now, which is returned; 0 where nobody can tell."""
    started_with = _memory()
    if started_with:
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (started_with + MAX_MEMORY, most))
    return started_with


def _memory() -> int:
    """Return the address space of this process in bytes, or 0 where the system does not tell."""
    file = _memory_file()
    return 0 if file is None else int(os.pread(file, 64, 0).split()[0]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _memory_file() -> int | None:
    """Open the file that tells the memory once, as that takes far longer than to read it."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None
