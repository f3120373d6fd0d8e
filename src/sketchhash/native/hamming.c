/* Exact Hamming search: the k nearest codes, ordered by (distance, id), none farther than a radius.
 *
 * Every bit that differs counts 1, or as much as the query says: its weight, up to 63. So the weight of half a byte fits
 * into a byte, and that of the widest code into two.
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
    const uint8_t *weights; /* (count, bits), or NULL if every bit counts 1 */
} Task;

/* Allocate as many searches as asked for in one piece, or return NULL without memory. */
static Search *prepare(int64_t searches, const Task *task, int64_t k, int64_t most, int in_id_order) {
    int64_t width = task->width, distances = width * 8 * (task->weights ? HEAVIEST : 1) + 1;
    int64_t capacity = 2 * k + SPARE_HITS < most ? 2 * k + SPARE_HITS : most;
    size_t each = sizeof(Search) + (size_t)capacity * sizeof(Hit) + (size_t)distances * sizeof(int64_t) +
                  (size_t)width * TABLES * 2;
    Search *prepared =
        malloc((size_t)searches * each + (size_t)capacity * sizeof(Hit) + (size_t)distances * sizeof(int64_t));
    if (!prepared)
        return NULL;
    Hit *hits = (Hit *)(prepared + searches);
    int64_t *counts = (int64_t *)(hits + (searches + 1) * capacity);
    uint8_t *tables = (uint8_t *)(counts + (searches + 1) * distances);
    for (int64_t i = 0; i < searches; i++)
        prepared[i] = (Search){
            .tables = tables + i * width * TABLES,
            .paired_tables = tables + (searches + i) * width * TABLES,
            .in_id_order = in_id_order,
            .width = (int)width,
            .k = k,
            .capacity = capacity,
            .counts = counts + (i + 1) * distances,
            .places = counts,
            .hits = hits + (i + 1) * capacity,
            .sorted = hits,
        };
    return prepared;
}

/* Begin the search of one query of a task, up to a radius or, if that is less, as far as there is anything. */
static void begin(Search *search, const Task *task, int64_t number, int64_t radius) {
    const uint8_t *weights = task->weights ? task->weights + number * task->width * 8 : NULL;
    search->query = task->queries + number * task->width;
    search->farthest = 0;
    for (int half = 0; half < search->width * 2; half++) {
        int value = search->query[half / 2] >> half % 2 * 4 & 15;
        uint8_t *table = search->tables + half * 16, own[4] = {1, 1, 1, 1}; /* the first bit of a byte is its highest */
        for (int bit = 0; bit < 4 && weights; bit++)
            own[bit] = weights[half / 2 * 8 + (half % 2 ? 3 : 7) - bit];
        for (int met = 0; met < 16; met++) {
            int differing = met ^ value;
            table[met] = (uint8_t)((differing & 1) * own[0] + (differing >> 1 & 1) * own[1] +
                                   (differing >> 2 & 1) * own[2] + (differing >> 3 & 1) * own[3]);
        }
        search->farthest += table[value ^ 15];
    }
    set_limit(search, (int)(radius < search->farthest ? radius : search->farthest));
    search->within = search->count = 0;
    search->last = (Hit){INT64_MAX, search->farthest + 1};
    memset(search->counts, 0, (size_t)(search->farthest + 1) * sizeof *search->counts);
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

static Scan *scan_for(const Task *task) {
    if (task->weights)
        return WEIGHS[task->level];
    return task->width > BYTE_WIDTH ? portable_scan : SCANS[task->level];
}

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
    Search *searches = prepare(task->count, task, task->k, rows->count, 1);
    if (!searches)
        return -1;
    for (int64_t i = 0; i < task->count; i++)
        begin(searches + i, task, i, task->radius);
    scan_tiles(scan_for(task), rows, searches, task->count);
    for (int64_t i = 0; i < task->count; i++)
        report(searches + i, task, i);
    free(searches);
    return 0;
}

/* Fill sums with what the 0, 1, 2, ... lightest bits of a query weigh together, and the heaviest, each (bits + 1,). */
static void weigh_together(const Task *task, int64_t number, int32_t *lightest, int32_t *heaviest) {
    int bits = (int)task->width * 8, count[HEAVIEST + 1] = {0}, weight = 0;
    for (int bit = 0; bit < bits; bit++)
        count[task->weights ? task->weights[number * bits + bit] : 1]++;
    lightest[0] = heaviest[0] = 0;
    for (int bit = 0; bit < bits; bit++) {
        while (!count[weight])
            weight++;
        count[weight]--;
        lightest[bit + 1] = lightest[bit] + weight;
    }
    for (int bit = 0; bit < bits; bit++)
        heaviest[bit + 1] = lightest[bits] - lightest[bits - bit - 1];
}

/* Search groups, nearest centre first. By the triangle inequality a row can be no nearer than the difference
 * between its and the query's distance to the centre, so only some shells are read. A shell has all rows that differ from
 * the centre in so many bits: they weigh at least as much as the lightest, and at most as much as the heaviest. */
EXPORT int nearest_in_groups(const Task *task, const Groups *all) {
    Scan *scan = scan_for(task);
    int bits = (int)task->width * 8;
    int32_t lightest[MAX_BITS + 1], heaviest[MAX_BITS + 1];
    Search *search = prepare(1, task, task->k, all->size, 0);
    Search *order = prepare(1, task, all->centres.count, all->centres.count, 1);
    for (int64_t i = 0; search && order && i < task->count; i++) {
        weigh_together(task, i, lightest, heaviest);
        begin(order, task, i, lightest[bits]);
        scan_tiles(scan, &all->centres, order, 1);
        settle(order);
        begin(search, task, i, task->radius);
        for (const Hit *centre = order->hits; centre < order->hits + order->count; centre++) {
            int distance = (int)centre->distance, low = 0, high = all->radii[centre->id];
            if (high < 0 || distance - search->limit > heaviest[high])
                continue;
            const Group *group = all->groups + centre->id;
            while (heaviest[low] < distance - search->limit)
                low++;
            while (high >= low && lightest[high] - distance > search->limit)
                high--;
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
