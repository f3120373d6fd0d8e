/* Marks the functions that Python calls, through ctypes; all others stay inside the library. */
#ifndef SKETCHHASH_EXPORT_H
#define SKETCHHASH_EXPORT_H

#if defined(_MSC_VER)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#endif
