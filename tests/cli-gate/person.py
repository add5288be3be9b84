"""Runs a program on a terminal of its own, as a person would, following a list of steps.

Reads one JSON object from standard input: argv, cwd, env, rows, columns, seconds, steps; a step is
{"expect": text}, {"send": text}, {"resize": [rows, columns]}, {"signal": number}, {"pause": s}, or
{"write": path} for somebody else who changes a file meanwhile, {"absent": text} for what must not be
there yet, {"await": path} for a file that somebody else makes, {"hangup": true} for a terminal that goes away, which is the last step.
Prints one JSON object: the whole output, the exit status (128 and more for a signal), whether all
expectations came true, and the modes in which the terminal was left.
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

order = json.load(sys.stdin)
master, slave = pty.openpty()


def resize(rows, columns):
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


resize(order.get("rows", 24), order.get("columns", 80))
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(slave, descriptor)
    os.closerange(3, 64)
    os.chdir(order["cwd"])
    os.execvpe(order["argv"][0], order["argv"], order["env"])

deadline = time.monotonic() + order.get("seconds", 30)
output = b""
seen = 0
status = None
modes = []


def take(wait):
    """Reads what is there; false when nothing came in that time."""
    global output
    ready, _, _ = select.select([master], [], [], wait)
    if not ready:
        return False
    output += os.read(master, 65536)
    return True


def ended():
    global status
    if status is None:
        pid, raw = os.waitpid(child, os.WNOHANG)
        if pid != 0:
            status = os.waitstatus_to_exitcode(raw)
            status = 128 - status if status < 0 else status
    return status is not None


def mode():
    flags = termios.tcgetattr(master)[3]
    return {"echo": bool(flags & termios.ECHO), "lines": bool(flags & termios.ICANON)}


failed = None
for step in order["steps"]:
    if "expect" in step:
        wanted = step["expect"].encode()
        while wanted not in output[seen:]:
            if time.monotonic() > deadline or (ended() and not take(0.2)):
                failed = step["expect"]
                break
            take(0.05)
        if failed is not None:
            break
        seen = output.index(wanted, seen) + len(wanted)
        modes.append(mode())
    elif "absent" in step:
        if step["absent"].encode() in output[seen:]:
            failed = "absent: " + step["absent"]
            break
    elif "hangup" in step:
        os.close(slave)
        os.close(master)
        while not ended() and time.monotonic() < deadline:
            time.sleep(0.05)
        print(json.dumps({
            "output": output.decode("utf-8", "replace"),
            "status": status,
            "failed": None if status is not None else "hangup",
            "mode": None,
            "modes": modes,
        }))
        sys.exit(0)
    elif "send" in step:
        os.write(master, step["send"].encode())
    elif "resize" in step:
        resize(*step["resize"])
        os.kill(child, signal.SIGWINCH)
    elif "signal" in step:
        os.kill(child, step["signal"])
    elif "write" in step:
        with open(step["write"], "a") as changed:
            changed.write("changed meanwhile\n")
    elif "await" in step:
        while not os.path.exists(step["await"]) and time.monotonic() < deadline:
            take(0.05)
    elif "pause" in step:
        until = time.monotonic() + step["pause"]
        while time.monotonic() < until:
            take(0.05)

while not ended() and time.monotonic() < deadline:
    take(0.05)
if status is None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
while take(0.1):
    pass
print(json.dumps({
    "output": output.decode("utf-8", "replace"),
    "status": status,
    "failed": failed,
    "mode": mode(),
    "modes": modes,
}))
