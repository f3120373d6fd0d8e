"""What decoder processes are asked to do in tests; they find it by its name."""

import os
import signal

import numpy as np


def spin(content):
    while True:
        pass


def allocate(content, size):
    return np.ones(size, dtype=np.uint8)[:10]


def die(content):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(content):
    raise ZeroDivisionError("a defect")


def speak(content):
    os.write(1, b"libraries write here")
    os.write(2, b"libraries complain here")
    return np.zeros(1, dtype=np.uint8)


def threads_of_avif(content):
    from PIL import AvifImagePlugin

    return np.array([AvifImagePlugin.DEFAULT_MAX_THREADS])


def numbers(content):
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    return rows.T, rows[:, ::2] > 3, np.array(7, dtype=">i2"), np.zeros((0, 5), dtype=np.uint8)


def words(content):
    return np.array(["no", "numbers"])
