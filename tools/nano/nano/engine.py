"""Drives `omniphi run --batch` in one process: requests go in while answers come out."""
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque


class EngineError(Exception):
    pass


class Engine:
    """Asks a model. `ask` returns at once unless the pipe is full; each answer is handed to its function, in the order of the
    requests, by a thread of its own. Leaving the `with` block waits for all of them.

    Any request that omniphi refuses ends it all: the requests here are good ones, so that would be an error in a program.
    """

    def __init__(self, program, model, name, threads=None, max_tokens=80):
        self.command = [program, "run", "--batch", "-", "--model", model, "--max-tokens", str(max_tokens)]
        if threads:
            self.command += ["--threads", str(threads)]
        self.name = name
        self.waiting = deque()
        self.answered = 0
        self.failure = None

    def __enter__(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        encoding="utf-8")
        self.begun = self.told = time.monotonic()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None or self.failure:
            self.process.kill()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.reader.join()
        self.process.stdout.close()
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().strip()
        self.errors.close()
        if self.failure:
            raise EngineError(self.failure)
        if kind is None or kind is BrokenPipeError:
            if code or self.waiting:
                raise EngineError(f"{' '.join(self.command)} ended with exit code {code} and {len(self.waiting)} answers missing: {said}")
            self.tell()

    def ask(self, messages, done):
        """Calls done(text) when the answer has come."""
        if self.failure:
            raise EngineError(self.failure)
        self.waiting.append(done)
        self.process.stdin.write(json.dumps({"messages": messages}) + "\n")
        self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            if self.failure:
                continue  # only empties the pipe
            try:
                answer = json.loads(line)
                if "text" not in answer:
                    raise EngineError(f"omniphi refused a request: {line.strip()}")
                self.waiting.popleft()(answer["text"])
            except Exception as error:  # kept for the thread that asks
                self.failure = f"{type(error).__name__}: {error}"
            self.answered += 1
            if time.monotonic() - self.told > 15:
                self.tell()

    def tell(self):
        self.told = time.monotonic()
        print(f"  {self.name}: {self.answered} answers in {self.told - self.begun:.0f} s", file=sys.stderr, flush=True)
