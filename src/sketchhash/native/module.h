/* What makes a file of plain C functions importable, so that the ordinary build of Python extensions compiles it.
 * The module is empty: its functions are called through ctypes, which needs no Python in C and releases the lock. */
#ifndef SKETCHHASH_MODULE_H
#define SKETCHHASH_MODULE_H

#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#if defined(_MSC_VER)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define EMPTY_MODULE(name)                                                       \
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, #name, NULL, 0, NULL, NULL, NULL, NULL, NULL}; \
    PyMODINIT_FUNC PyInit_##name(void) { return PyModuleDef_Init(&definition); }

#endif
