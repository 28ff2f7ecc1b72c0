"""Child processes: the server starts a Python process, sends it messages, reads its answers, kills it and waits for it.

Messages go through the child's standard input and output. A child is written so that it exits when its input ends, so none outlives
the server.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, Generic, TypeVar

import psutil

from engine.foundation.files import DATA_VARIABLE, data_folder
from engine.foundation.log import log_error
from engine.foundation.provenance import COMMIT_VARIABLE
from engine.serving.processes.fork_server import ROOT
from engine.serving.processes.forked import Forked, is_stopped
from engine.serving.processes.priority import NICENESS_VARIABLE

Sent = TypeVar("Sent")
Received = TypeVar("Received")

# The environment variables that a child gets: for finding programs, libraries and folders, the program's commit, and the settings
# of Python and torch. Each is named: of a name that only begins in the same way nobody knows what it holds.
INHERITED_VARIABLES = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "VIRTUAL_ENV",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "GLIBC_TUNABLES",
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
    "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE",
    NICENESS_VARIABLE, COMMIT_VARIABLE,
    "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONSAFEPATH", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX",
    "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONCOERCECLOCALE", "PYTHONUNBUFFERED",
    "PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONDEVMODE", "PYTHONFAULTHANDLER", "PYTHONTRACEMALLOC", "PYTHONMALLOC",
    "TORCH_HOME", "TORCH_LOGS", "TORCH_CPP_LOG_LEVEL", "TORCH_SHOW_CPP_STACKTRACES", "TORCH_DEVICE_BACKEND_AUTOLOAD",
    "TORCH_BLAS_PREFER_CUBLASLT", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TORCH_CUDNN_V8_API_DISABLED", "TORCHINDUCTOR_CACHE_DIR",
    "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "PYTORCH_NVML_BASED_CUDA_CHECK", "PYTORCH_ENABLE_MPS_FALLBACK", "PYTORCH_MPS_HIGH_WATERMARK_RATIO",
    "PYTORCH_MPS_LOW_WATERMARK_RATIO", "PYTORCH_TUNABLEOP_ENABLED",
})  # fmt: skip
# Beginnings of further names: of the system, of numerical libraries and of devices. No password and no key of the server is among
# them: no child needs any.
INHERITED_PREFIXES = (
    "LC_", "XDG_", "MALLOC_", "OMP_", "MKL_", "KMP_", "OPENBLAS_",
    "CUDA_", "CUDNN_", "CUBLAS_", "HIP_", "ROCR_", "ROCM_", "HSA_",
)  # fmt: skip
# for NumPy as well as for PyTorch: the children already share the cores
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# Bytes. By default glibc returns a training step's large blocks to the system and maps every page of them again in the next one.
ALLOCATOR_VARIABLES = {"MALLOC_MMAP_THRESHOLD_": str(32 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(128 * 2**20)}

# On a CPU with instructions for bfloat16, torch compiles a kernel for each shape of a product in 16 bits, of about a mebibyte. By
# default it keeps the last 1,024; a step needs some thirty, and a token that is written two more.
KERNEL_CACHE_VARIABLES = {"LRU_CACHE_CAPACITY": "64", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64"}


def child_environment(environ: Mapping[str, str], data: Path | None = None) -> dict[str, str]:
    """The environment of a child: the variables of ``environ`` that it may see, by default :data:`ALLOCATOR_VARIABLES` and
    :data:`KERNEL_CACHE_VARIABLES`, one thread, and the folder of its data, by default that of this program."""
    passed_on = {
        name: value
        for name, value in environ.items()
        if name.upper() in INHERITED_VARIABLES or name.upper().startswith(INHERITED_PREFIXES)
    }
    return {
        **ALLOCATOR_VARIABLES,
        **KERNEL_CACHE_VARIABLES,
        **passed_on,
        **ONE_THREAD,
        DATA_VARIABLE: str((data or data_folder()).absolute()),
    }


class Spawned(subprocess.Popen[bytes]):
    stdin: BinaryIO
    stdout: BinaryIO

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        super().__init__(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip

    def begin(self) -> None: ...


def can_fork() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    # elsewhere a process that has imported numerical libraries cannot be forked safely
    return sys.platform == "linux"


FORKS = can_fork()


class ChildProcess(Generic[Sent, Received]):
    """The constructor starts the process, :meth:`begin` the threads that write to it and read from it.

    ``write`` writes a message to the child's input; ``read`` reads one from its output and raises EOFError at the end.
    ``on_message`` and, last of all, ``on_end`` are called on the reader thread. Methods may be called from any thread.

    The child stays in the session of the server: Linux weighs the priorities of processes within one session only, and a child must
    give way to the server.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        write: Callable[[BinaryIO, Sent], None],
        read: Callable[[BinaryIO], Received],
        on_message: Callable[[Received], None],
        on_end: Callable[[], None],
        data: Path | None = None,
    ) -> None:
        """``command``: Python's arguments; ``-m MODULE ...`` is forked if that is safe, and the module's ``main`` is called.
        ``data``: see :func:`child_environment`. Raises OSError."""
        self.last_message_at = time.monotonic()
        self._write_message, self._read_message = write, read
        self._on_message, self._on_end = on_message, on_end
        self._outbox: SimpleQueue[Sent | None] = SimpleQueue()
        environment, forks = child_environment(os.environ, data), FORKS and command[0] == "-m"
        self._process = Forked(command[1], command[2:], environment) if forks else Spawned(command, environment)
        self._reader = Thread(target=self._read, name=f"{name}-reader", daemon=True)
        self._writer = Thread(target=self._write, name=f"{name}-writer", daemon=True)

    def begin(self) -> None:
        self._writer.start()  # first: the reader waits for it at the end, which may come at once
        self._reader.start()

    address = ""  # set by a process on another machine

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: Sent) -> None:
        """Queue a message. Never blocks, not even when the child hangs with a full pipe."""
        self._outbox.put(message)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._outbox.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the process is gone and ``on_end`` has returned; False if the time (s) was too short."""
        self._reader.join(timeout)
        return not self._reader.is_alive()

    def is_stopped(self) -> bool:
        return is_stopped(self.pid)

    def memory(self) -> int:
        """Bytes that it shares with no other process; 0 when the process is gone."""
        try:
            return int(psutil.Process(self.pid).memory_full_info().uss) if self.pid else 0
        except psutil.Error:
            return 0

    def end_in_words(self) -> str:
        """The signal or the exit code of the end. Call it after the end."""
        code = self._process.returncode
        if code is None:
            return "its fork server did not say how" if self.pid else "its fork server did not start it"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _read(self) -> None:
        stream = self._process.stdout
        try:
            self._process.begin()
            while True:
                message = self._read_message(stream)
                self.last_message_at = time.monotonic()
                self._on_message(message)
        except EOFError:
            pass
        except Exception as error:  # a message that cannot be read or handled: the child is given up
            log_error("A message of a child process", error)
        self._process.kill()
        self._process.wait()
        self._outbox.put(None)
        self._writer.join()
        stream.close()
        self._on_end()

    def _write(self) -> None:
        stream = self._process.stdin
        try:
            while (message := self._outbox.get()) is not None:
                self._write_message(stream, message)
        except OSError:
            pass  # the process is gone; the reader notices
        finally:
            with suppress(OSError):
                stream.close()
