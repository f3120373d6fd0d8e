/* What one search has found so far.
 *
 * A search keeps its hits in a buffer, counts them by distance, and from the counts knows the largest distance that
 * can still enter: its limit. Distances are whole numbers below 2^16: how many bits differ, or what they weigh. */
#ifndef SKETCHHASH_HAMMING_HITS_H
#define SKETCHHASH_HAMMING_HITS_H

#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
#define INLINE static __forceinline
INLINE int lowest_bit(uint64_t word) {
    unsigned long place;
    _BitScanForward64(&place, word);
    return (int)place;
}
#else
#define INLINE static inline __attribute__((always_inline))
INLINE int lowest_bit(uint64_t word) { return __builtin_ctzll(word); }
#endif

#define SIGN ((uint64_t)1 << 63)

enum { BLOCK = 64, MAX_BITS = 1024, HEAVIEST = 63 /* the largest weight of a bit */ };

typedef struct { int64_t id, distance; } Hit;
typedef struct { const uint8_t *blocks; const int64_t *ids; int64_t count; } Rows;

typedef struct {
    const uint8_t *query;
    uint8_t *tables;        /* for each half of each byte of the query: the weight of the bits that differ, by what is met */
    uint8_t *paired_tables; /* the same in the lower half of a byte, and the next search's in the upper; if all weigh 1 */
    const Rows *rows;       /* those being scanned */
    int in_id_order;        /* every row met has a larger id than those before it */
    int width;
    int farthest;           /* the largest distance that there is: the weight of all bits */
    int limit;              /* the largest distance that can still enter; -1 if none */
    uint8_t byte_limit;     /* the limit for distances that stay in bytes */
    int64_t within;         /* hits up to the limit */
    int64_t k, count, capacity;
    int64_t *counts;        /* hits at each distance */
    int64_t *places;        /* room to turn them into places */
    Hit last;               /* nothing after it can enter */
    Hit *hits;
    Hit *sorted;            /* room to sort in */
} Search;

/* Put the lowest ids first, in order, as many as wanted; the others follow in any order. The ids are parted by one bit
 * after the other, the highest first, so that no order of arrival is slow. */
static void lowest_ids_first(Hit *hits, int64_t count, int64_t wanted, uint64_t bit) {
    while (count > 1 && wanted > 0) {
        int64_t low = 0, high = count;
        while (low < high) {
            Hit hit = hits[low];
            if (((uint64_t)hit.id ^ SIGN) & bit) {
                hits[low] = hits[--high];
                hits[high] = hit;
            } else
                low++;
        }
        bit >>= 1;
        lowest_ids_first(hits, low, wanted, bit);
        hits += low;
        count -= low;
        wanted -= low;
    }
}

/* Order the hits by (distance, id) and keep k. Counting keeps the order of arrival among equal distances. */
static void settle(Search *search) {
    int64_t *next = search->places, total = 0;
    uint64_t differing = 0, bit = SIGN;
    for (int distance = 0; distance <= search->farthest; distance++) {
        next[distance] = total;
        total += search->counts[distance];
    }
    for (int64_t i = 0; i < total; i++) {
        differing |= (uint64_t)(search->hits[i].id ^ search->hits[0].id);
        search->sorted[next[search->hits[i].distance]++] = search->hits[i];
    }
    while (bit > differing)
        bit >>= 1;
    int64_t first = 0;
    for (int distance = 0; first < search->k && distance <= search->farthest && !search->in_id_order; first = next[distance++])
        lowest_ids_first(search->sorted + first, next[distance] - first, search->k - first, bit);
    for (; total > search->k; total--) {
        int64_t distance = search->sorted[total - 1].distance;
        search->counts[distance]--;
        search->within -= distance <= search->limit;
    }
    memcpy(search->hits, search->sorted, (size_t)total * sizeof(Hit));
    search->count = total;
    if (total == search->k)
        search->last = search->hits[total - 1];
}

INLINE void set_limit(Search *search, int limit) {
    search->limit = limit;
    search->byte_limit = (uint8_t)(limit < 0 ? 0 : limit > 255 ? 255 : limit);
}

/* Take the rows of a block that are near: those whose bits are set. */
static void collect(Search *search, int64_t block, uint64_t near, const uint16_t *distances) {
    int64_t rows = search->rows->count - block * BLOCK;
    if (rows < BLOCK)
        near &= ((uint64_t)1 << rows) - 1;
    for (; near; near &= near - 1) {
        int place = lowest_bit(near), distance = distances[place];
        int64_t row = block * BLOCK + place, id = search->in_id_order ? row : search->rows->ids[row];
        if (distance > search->limit || (distance == search->last.distance && id > search->last.id))
            continue;
        if (search->count == search->capacity)
            settle(search);
        search->hits[search->count++] = (Hit){id, distance};
        search->counts[distance]++;
        search->within++;
        /* With k hits at a distance or below, another one there loses if its id is larger, and may win if not. */
        while (search->within - (search->in_id_order ? 0 : search->counts[search->limit]) >= search->k) {
            search->within -= search->counts[search->limit];
            set_limit(search, search->limit - 1);
        }
    }
}

#endif
