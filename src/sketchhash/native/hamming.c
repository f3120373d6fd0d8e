/* Exact Hamming search: the k nearest codes, ordered by (distance, id), none farther than a radius.
 *
 * Codes lie in blocks of 64. A block holds its codes' first bytes, then their second bytes, and so on: one plane of
 * 64 bytes, a cache line, for each byte of a code. No width needs padding.
 *
 *     hamming_hits.h ──► hamming_scans.h ──► this file: single queries, batches and groups */
#include "export.h"

#include <stdlib.h>

#include "hamming_scans.h"

enum {
    SPARE_HITS = 512,    /* room beyond 2 k that makes sorting in between rare */
    TILE_BYTES = 1 << 16 /* codes that stay near while all searches of a batch pass over them */
};

/* Rows around a centre, sorted by (distance to it, id); shells[r] is the first row at distance r or more. */
typedef struct { Rows rows; const int32_t *shells; } Group;

/* A group for each centre, and how far its farthest row is from it: to skip a group, nothing else is read of it. */
typedef struct { Rows centres; const Group *groups; const int32_t *radii; int64_t size; } Groups;

typedef struct {
    const uint8_t *queries;
    int64_t count, width, k, radius, level;
    int64_t *ids;        /* (count, k) */
    uint16_t *distances; /* (count, k) */
    int64_t *found;      /* (count,) */
} Task;

/* Allocate as many searches as asked for in one piece, or return NULL without memory. */
static Search *prepare(int64_t searches, int64_t width, int64_t k, int64_t most, int in_id_order) {
    int64_t distances = width * 8 + 1, capacity = 2 * k + SPARE_HITS < most ? 2 * k + SPARE_HITS : most;
    size_t each = sizeof(Search) + (size_t)capacity * sizeof(Hit) + (size_t)distances * sizeof(int64_t) +
                  (size_t)width * TABLES * 2;
    Search *prepared = malloc((size_t)searches * each + (size_t)capacity * sizeof(Hit));
    if (!prepared)
        return NULL;
    Hit *hits = (Hit *)(prepared + searches);
    int64_t *counts = (int64_t *)(hits + (searches + 1) * capacity);
    uint8_t *tables = (uint8_t *)(counts + searches * distances);
    for (int64_t i = 0; i < searches; i++)
        prepared[i] = (Search){
            .tables = tables + i * width * TABLES,
            .paired_tables = tables + (searches + i) * width * TABLES,
            .in_id_order = in_id_order,
            .width = (int)width,
            .k = k,
            .capacity = capacity,
            .counts = counts + i * distances,
            .hits = hits + (i + 1) * capacity,
            .sorted = hits,
        };
    return prepared;
}

static void begin(Search *search, const uint8_t *query, int64_t radius) {
    search->query = query;
    set_limit(search, (int)radius);
    search->within = search->count = 0;
    search->last = (Hit){INT64_MAX, MAX_BITS + 1};
    memset(search->counts, 0, (size_t)(search->width * 8 + 1) * sizeof *search->counts);
    for (int half = 0; half < search->width * 2; half++) {
        uint64_t value = (query[half / 2] >> half % 2 * 4 & 15) * EVERY_BYTE;
        uint64_t table[2] = {differing_bits(0x0706050403020100u ^ value), differing_bits(0x0f0e0d0c0b0a0908u ^ value)};
        memcpy(search->tables + half * sizeof table, table, sizeof table);
    }
}

static void report(Search *search, const Task *task, int64_t number) {
    settle(search);
    task->found[number] = search->count;
    for (int64_t i = 0; i < search->count; i++) {
        int64_t id = search->hits[i].id;
        task->ids[number * task->k + i] = search->in_id_order ? search->rows->ids[id] : id;
        task->distances[number * task->k + i] = (uint16_t)search->hits[i].distance;
    }
}

static Scan *scan_for(const Task *task) { return task->width > BYTE_WIDTH ? portable_scan : SCANS[task->level]; }

static int64_t blocks_of(int64_t rows) { return (rows + BLOCK - 1) / BLOCK; }

static void scan_tiles(Scan *scan, const Rows *rows, Search *searches, int64_t count) {
    int64_t tile = TILE_BYTES / (BLOCK * searches->width), blocks = blocks_of(rows->count);
    for (int64_t i = 0; i < count; i++)
        searches[i].rows = rows;
    for (int64_t i = 0; i + 1 < count; i += 2)
        for (int64_t entry = 0; entry < searches->width * TABLES; entry++)
            searches[i].paired_tables[entry] = (uint8_t)(searches[i].tables[entry] | searches[i + 1].tables[entry] << 4);
    for (int64_t first = 0; first < blocks; first += tile) {
        int64_t last = first + tile < blocks ? first + tile : blocks;
        for (int64_t i = 0, lanes; i < count; i += lanes) {
            lanes = count - i < LANES ? 1 : LANES;
            scan(rows, first, last, searches + i, (int)lanes);
        }
    }
}

/* The fastest level this processor has: 0 portable, 1 AVX2, 2 AVX-512 with byte population counts. */
EXPORT int best_level(void) {
#ifdef X86
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512bitalg"))
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
#else
    return 0;
#endif
}

/* Search rows in ascending order of id. Gives 0, or -1 without memory; so does the other search. */
EXPORT int nearest_in_rows(const Task *task, const Rows *rows) {
    Search *searches = prepare(task->count, task->width, task->k, rows->count, 1);
    if (!searches)
        return -1;
    for (int64_t i = 0; i < task->count; i++)
        begin(searches + i, task->queries + i * task->width, task->radius);
    scan_tiles(scan_for(task), rows, searches, task->count);
    for (int64_t i = 0; i < task->count; i++)
        report(searches + i, task, i);
    free(searches);
    return 0;
}

/* Search groups, nearest centre first. By the triangle inequality a row can be no nearer than the difference
 * between its and the query's distance to the centre, so only some shells are read. */
EXPORT int nearest_in_groups(const Task *task, const Groups *all) {
    Scan *scan = scan_for(task);
    int bits = (int)task->width * 8;
    Search *search = prepare(1, task->width, task->k, all->size, 0);
    Search *order = prepare(1, task->width, all->centres.count, all->centres.count, 1);
    for (int64_t i = 0; search && order && i < task->count; i++) {
        begin(order, task->queries + i * task->width, bits);
        scan_tiles(scan, &all->centres, order, 1);
        settle(order);
        begin(search, task->queries + i * task->width, task->radius);
        for (const Hit *centre = order->hits; centre < order->hits + order->count; centre++) {
            int distance = (int)centre->distance;
            if (distance - search->limit > all->radii[centre->id])
                continue;
            const Group *group = all->groups + centre->id;
            int low = distance > search->limit ? distance - search->limit : 0;
            int high = distance + search->limit < bits ? distance + search->limit : bits;
            int64_t first = group->shells[low], last = group->shells[high + 1];
            search->rows = &group->rows;
            if (first < last)
                scan(&group->rows, first / BLOCK, blocks_of(last), search, 1);
        }
        report(search, task, i);
    }
    int done = search && order;
    free(search);
    free(order);
    return done ? 0 : -1;
}
