"""The parent's side of one worker process: start it, ask it, watch it, end it."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_videodecode.decoders.spec import DecoderSpec
from pytest_videodecode.errors import VideodecodeError, WorkerError
from pytest_videodecode.isolation import census, protocol
from pytest_videodecode.isolation.channel import Channel
from pytest_videodecode.isolation.heartbeat import SEATED_S
from pytest_videodecode.isolation.journal import Journal
from pytest_videodecode.isolation.kill import TOKEN, kill_tree
from pytest_videodecode.isolation.stacks import HAS_NATIVE, NATIVE_S, native_stacks, phase_of
from pytest_videodecode.isolation.worker import STACKS_SIGNAL
from pytest_videodecode.jsonform import from_json, to_json
from pytest_videodecode.measurement import Seat
from pytest_videodecode.model import Census, DecodeRequest, DecoderInfo, Hang, Outcome, OutcomeKind

_BOOT = Path(__file__).with_name("boot.py")

#: How often memory is looked at while a decode runs, and OS threads where the request asks for them.
_MEMORY_TICK_S = 0.05
_THREADS_TICK_S = 0.001

#: A worker that is over its limit is looked at so often, so far apart, before it is killed.
_LOOKS = 6
_LOOK_S = 0.02

#: How long the end of a hang may take, in seconds: the looks, the stacks of both kinds, the kill.
AUTOPSY_S = 0.5 + NATIVE_S * HAS_NATIVE

#: Without a heartbeat for so long (or for the whole of a shorter limit), somebody holds the GIL.
_QUIET_S = 0.25

#: How long its Python stacks are waited for; writing them takes about a millisecond.
_STACKS_S = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a worker may take: seconds per decode, per start and per exit, bytes of private memory."""

    decode_s: float = 20.0
    start_s: float = 60.0
    exit_s: float = 5.0
    memory: int = 4 << 30


@dataclass(frozen=True, slots=True)
class Look:
    """A glance at a worker from outside: samples decoded, OS threads, resident bytes."""

    progress: int
    threads: int
    memory: int


class Worker:
    """One worker process in a process group of its own. Starting it does not wait; its first use does.

    Raises:
        WorkerError: when the interpreter cannot be started, or the process ends before it is ready.
        Unsupported, DecoderSpecError: as raised in the worker when it loaded the decoder.
    """

    def __init__(self, spec: DecoderSpec, limits: Limits, journal_folder: Path) -> None:
        self._spec = spec
        self._limits = limits
        self._token = secrets.token_hex(8)
        self._info: DecoderInfo | None = None
        self._channel = Channel()
        self._pulse = _Pulse(self._channel)
        try:
            self._process = self._start()
        except OSError as error:
            self._channel.close()
            raise WorkerError(
                f"cannot start {self._python}: {error.strerror}; name the interpreter as DECODER@/path/to/python"
            ) from None
        self._channel.hand_over()
        try:
            self._journal = Journal(journal_folder, str(spec), self.pid)
        except WorkerError:
            self.kill()
            self._channel.close()
            raise
        # the user's functions are found as the user's tests find them; another interpreter has its own path
        own_path = [] if spec.python else [*sys.path, os.getcwd()]
        with suppress(BrokenPipeError):  # info() says why a worker ended at once
            self._channel.send({"decoder": str(replace(spec, python=None)), "sys_path": own_path})

    @property
    def pid(self) -> int:
        """Process id, and id of the process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """False once it was found dead or was killed."""
        return self._process.returncode is None

    @property
    def _python(self) -> str:
        # links stay: the interpreter of a venv is a link, and being called by it is what makes it that venv's
        return os.path.abspath(os.path.expanduser(self._spec.python)) if self._spec.python else sys.executable

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self._python, str(_BOOT), *map(str, self._channel.theirs)],
            stdin=subprocess.DEVNULL,
            stdout=self._channel.log_fd,
            stderr=self._channel.log_fd,
            pass_fds=self._channel.theirs,
            start_new_session=True,
            env={**os.environ, TOKEN: self._token, protocol.PARENT: str(os.getpid())},
        )

    def info(self) -> DecoderInfo:
        """What the decoder says of itself; waits until the worker is ready."""
        if self._info is None:
            try:
                self._info = self._hello()
            except BaseException:
                self.kill()
                raise
        return self._info

    def _hello(self) -> DecoderInfo:
        if not self._channel.ready(self._limits.start_s):
            raise WorkerError(f"the worker of {self._spec} was not ready after {self._limits.start_s:g} s")
        message = self._channel.receive()
        if message is None:
            last = self._channel.log_tail().strip().rpartition("\n")[2] or "it said nothing"
            raise WorkerError(f"the worker of {self._spec} ended before it was ready: {last}")
        hello = from_json(protocol.Hello, message)
        if hello.info is not None:
            return replace(hello.info, name=str(self._spec))
        fault = hello.error
        ours = {kind.__name__: kind for kind in VideodecodeError.__subclasses__()}
        if fault is None or fault.type not in ours:
            raise WorkerError(f"cannot load {self._spec}: {fault}")
        raise ours[fault.type](fault.message)

    def decode(
        self, request: DecodeRequest, limit_s: float | None = None, when_slow: Callable[[], None] | None = None
    ) -> Outcome:
        """Serve one request. What the decoder does comes back as an outcome; it may have cost the worker's life.

        ``limit_s`` replaces the limit of ``Limits``; ``when_slow`` is called once, when half of it has passed.
        """
        self.info()
        self._channel.trim_log()
        message = to_json(request, brief=True)
        self._journal.write(message)
        counter = census.ThreadCounter(self.pid) if request.count_threads else None
        try:
            with suppress(BrokenPipeError):  # a worker that died idle is found below
                self._channel.send(message)
            limit_s = self._limits.decode_s if limit_s is None else limit_s
            outcome = self._watch(limit_s, counter, when_slow) or self._reply(counter)
            return self._let_exit(outcome, limit_s) if request.then_exit and self.alive else outcome
        except VideodecodeError as error:
            self.kill()
            reason = f"garbage from the worker: {error}"
            return Outcome(kind=OutcomeKind.CRASH, signal=reason, log=self._channel.log_tail())
        except BaseException:  # Ctrl-C or pytest-timeout's signal: the decode must not be left running
            self.kill()
            raise

    def order(self, message: protocol.SeatOrder | protocol.Go) -> None:
        """Send a seat's order, or have its time begin; ``fileno`` becomes readable when ``seat`` has the answer."""
        self.info()
        self._channel.trim_log()
        self._pulse = _Pulse(self._channel)
        kind = "go" if isinstance(message, protocol.Go) else "seat"
        with suppress(BrokenPipeError):  # seat() says what it died of
            self._channel.send({kind: to_json(message, brief=True)})

    def fileno(self) -> int:
        """What a selector waits for."""
        return self._channel.fileno()

    def look(self) -> Look:
        """What can be seen of a worker from outside while it decodes on its seat."""
        self._pulse.feel(time.monotonic())
        threads, memory = census.threads_and_memory(self.pid)
        return Look(progress=self._channel.progress(), threads=threads, memory=memory)

    def seat(self) -> Seat:
        """The answer to ``order``; a worker that died instead is a lost seat."""
        try:
            message = self._channel.receive()
            if message is not None:
                return from_json(Seat, message)
            lost = str(self._crash())
        except VideodecodeError as error:
            self.kill()
            lost = f"garbage from the worker: {error}"
        return Seat(seat=-1, lost=lost)

    def hung(self, limit_s: float) -> Hang:
        """Say what a worker that has gone ``limit_s`` without a sample is doing, and kill it."""
        return self._autopsy(limit_s, self._pulse, 2 * SEATED_S)

    def _watch(
        self, limit_s: float, counter: census.ThreadCounter | None, when_slow: Callable[[], None] | None
    ) -> Outcome | None:
        """None as soon as there is a reply; what came instead when the worker had to be killed."""
        tick = _THREADS_TICK_S if counter else _MEMORY_TICK_S
        start = memory_seen = time.monotonic()
        pulse = _Pulse(self._channel)
        while not self._channel.ready(min(tick, start + limit_s - time.monotonic())):
            now = time.monotonic()
            pulse.feel(now)
            if counter:
                counter.sample()
            if now - start >= limit_s:
                hang = self._autopsy(limit_s, pulse)
                return Outcome(kind=OutcomeKind.HANG, hang=hang, log=self._channel.log_tail())
            if now - memory_seen >= _MEMORY_TICK_S:
                memory_seen = now
                if (memory := census.private_memory(self.pid)) > self._limits.memory:
                    self.kill()
                    return Outcome(
                        kind=OutcomeKind.OUT_OF_MEMORY,
                        census=Census(rss_after=memory),
                        log=self._channel.log_tail(),
                    )
            if when_slow and now - start > limit_s / 2:
                when_slow()
                when_slow = None
        return None

    def _reply(self, counter: census.ThreadCounter | None) -> Outcome:
        message = self._channel.receive()
        if message is None:
            return self._crash()
        reply = from_json(protocol.Reply, message)
        frames = self._channel.take(reply.shape) if reply.shape else None
        counts = reply.outcome.census
        if counter:
            counts = replace(
                counts,
                threads_peak=counter.peak,
                thread_names=counter.peak_by_name,
                thread_samples=counter.samples,
            )
        return replace(reply.outcome, frames=frames, census=counts)

    def _autopsy(self, limit_s: float, pulse: _Pulse, quiet_s: float = _QUIET_S) -> Hang:
        """Watch a worker that is over its limit for a moment, then kill it."""
        running = 0
        for _ in range(_LOOKS):
            time.sleep(_LOOK_S)
            running += census.is_running(self.pid)
        gil_held = pulse.feel(time.monotonic()) >= min(quiet_s, limit_s)
        names = census.thread_names(self.pid)
        with suppress(ProcessLookupError):  # last, because a signal may wake what it interrupts
            os.kill(self.pid, STACKS_SIGNAL)
        stacks = self._channel.stacks(_STACKS_S)
        phase, where = phase_of(stacks, names)
        hang = Hang(
            limit_s=limit_s,
            phase=phase,
            where=where,
            gil_held=gil_held,
            cpu_bound=running > _LOOKS / 2,
            stacks=stacks,
            native_stacks=native_stacks(self.pid),
            thread_names=names,
        )
        self.kill()
        return hang

    def _crash(self) -> Outcome:
        self.kill()
        return Outcome(kind=OutcomeKind.CRASH, signal=_status(self._process.returncode), log=self._channel.log_tail())

    def kill(self) -> None:
        """End it and all its descendants now."""
        # once it was waited for, its number may be another's
        kill_tree(self.pid if self.alive else None, self._token)
        self._process.wait()

    def _let_exit(self, outcome: Outcome, limit_s: float) -> Outcome:
        if hang := self._exit(limit_s):
            return replace(outcome, kind=OutcomeKind.HANG, hang=hang, log=self._channel.log_tail())
        self.kill()
        if status := self._process.returncode:
            return replace(outcome, kind=OutcomeKind.CRASH, signal=_status(status), log=self._channel.log_tail())
        return outcome

    def close(self) -> Hang | None:
        """Let it end by itself; one that does not (an object hangs when it is freed) is killed and told of."""
        hang = self._exit(self._limits.exit_s) if self.alive else None
        self.kill()
        self._channel.close()
        self._journal.close()
        return hang

    def _exit(self, limit_s: float) -> Hang | None:
        """None when the process ended by itself; it is not yet waited for then."""
        self._channel.hang_up()
        pulse = _Pulse(self._channel)
        deadline = time.monotonic() + limit_s
        while (now := time.monotonic()) < deadline:
            pulse.feel(now)
            if self._channel.ready(min(_MEMORY_TICK_S, deadline - now)) and self._channel.receive() is None:
                return None
        return replace(self._autopsy(limit_s, pulse), phase="exit")


def _status(returncode: int) -> str:
    return signal.Signals(-returncode).name if returncode < 0 else f"exit status {returncode}"


class _Pulse:
    """The worker's heartbeat, felt now and then; it stops while somebody holds the GIL."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._beats = channel.beats()
        self._since = time.monotonic()

    def feel(self, now: float) -> float:
        """Seconds since the heartbeat was last seen to advance."""
        if (beats := self._channel.beats()) != self._beats:
            self._beats, self._since = beats, now
        return now - self._since
