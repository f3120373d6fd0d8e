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
