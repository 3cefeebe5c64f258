"""What the shell runtime costs: a call over the bare start of the same program, and the manifest of many runtimes.

    python benchmarks/shell.py

Each call passes a policy of 50 rules and a session's audit that is written; the figure is the median difference to
`asyncio.create_subprocess_exec` of the same words, taken alternately in one run.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

import chatmd  # noqa: E402
from chatmd.sources.paths import HostPaths  # noqa: E402
from chatml_shell import Host, compile_manifest, once, open_registry  # noqa: E402

ROUNDS = 300
RULES = "".join(f"<rule id='r{n}' action='deny'><basename value='p{n}'/></rule>" for n in range(50))
RUNTIME = (
    '<shell_access id="{name}"><capabilities sandbox="direct_unsafe"/><backends merge="replace"><direct/></backends>'
    '<policy default="allow">{rules}</policy><audit format="{audit}"/></shell_access>'
)
PROMPT = RUNTIME.format(name="r", rules=RULES, audit="session") + '<tool name="t" runtime="r" command="/bin/true"/>'


async def bare() -> float:
    """Seconds for the program alone."""
    started = time.perf_counter()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("/bin/true", stdin=pipe, stdout=pipe, stderr=pipe)
    await process.communicate(b"")
    return time.perf_counter() - started


async def main() -> None:
    manifest = compile_manifest(chatmd.load(PROMPT, base_dir="."))
    with tempfile.TemporaryDirectory() as place:
        paths = HostPaths(**dict.fromkeys(("workspace", "prompt_dir", "tool_dir", "session_dir", "home"), place))
        async with open_registry(manifest, host=Host(paths=paths, session_id="s"), authoriser=once) as registry:
            pairs = []
            for _ in range(ROUNDS):
                alone = await bare()
                started = time.perf_counter()
                outcome = await registry.run("t", "{}")
                pairs.append((alone, time.perf_counter() - started))
                assert outcome.code is None, outcome.output
    alone, whole = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    print(f"bare start      {alone:6.2f} ms")
    print(f"a call          {whole:6.2f} ms")
    print(f"overhead        {statistics.median(call - start for start, call in pairs) * 1000:6.2f} ms")
    document = chatmd.load(
        "".join(RUNTIME.format(name=f"r{n}", rules="", audit="none") for n in range(100)), base_dir="."
    )
    times = []
    for _ in range(10):
        started = time.perf_counter()
        compile_manifest(document)
        times.append(time.perf_counter() - started)
    print(f"100 runtimes    {statistics.median(times) * 1000:6.2f} ms")


if __name__ == "__main__":
    asyncio.run(main())
