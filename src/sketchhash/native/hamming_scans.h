/* Pass over blocks of codes, with the instructions of the processor.
 *
 * A vector meets one byte of 32 or 64 codes, and the sums of its lanes are distances: in bytes where every bit weighs 1,
 * and in pairs of bytes where bits have weights. A block without a code up to a search's limit costs one comparison. */
#ifndef SKETCHHASH_HAMMING_SCANS_H
#define SKETCHHASH_HAMMING_SCANS_H

#include "hamming_hits.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define X86
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512bitalg")))
#endif

enum {
    LANES = 8,       /* searches that share one reading of a block */
    TABLES = 32,     /* bytes of the two lookup tables for one byte of a query */
    BYTE_WIDTH = 32, /* bytes of the widest code whose sums stay in bytes: 256 differing bits saturate to 255 */
    AHEAD = 4096     /* bytes that are asked of memory before they are needed */
};

/* Pass over the blocks from first to last, for one search or LANES of them. */
typedef void Scan(const Rows *rows, int64_t first, int64_t last, Search *searches, int lanes);

/* ---- portable: eight codes in a word ---- */

#define EVERY_BYTE 0x0101010101010101u

INLINE uint64_t differing_bits(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

INLINE void block_distances(const uint8_t *block, int width, const uint8_t *query, uint16_t *distances) {
    memset(distances, 0, BLOCK * sizeof *distances);
    for (int first = 0; first < width; first += BYTE_WIDTH - 1) { /* so many that a byte cannot overflow */
        int last = first + BYTE_WIDTH - 1 < width ? first + BYTE_WIDTH - 1 : width;
        uint64_t sums[BLOCK / 8] = {0}, words[BLOCK / 8];
        uint8_t bytes[BLOCK];
        for (int plane = first; plane < last; plane++) {
            memcpy(words, block + plane * BLOCK, BLOCK);
            for (int i = 0; i < BLOCK / 8; i++)
                sums[i] += differing_bits(words[i] ^ query[plane] * EVERY_BYTE);
        }
        memcpy(bytes, sums, BLOCK);
        for (int i = 0; i < BLOCK; i++)
            distances[i] += bytes[i];
    }
}

static void collect_near(Search *search, int64_t block, const uint16_t *distances) {
    uint16_t nearest = UINT16_MAX;
    for (int i = 0; i < BLOCK; i++)
        nearest = distances[i] < nearest ? distances[i] : nearest;
    if (nearest <= search->limit) {
        uint64_t near = 0;
        for (int i = 0; i < BLOCK; i++)
            near |= (uint64_t)(distances[i] <= search->limit) << i;
        collect(search, block, near, distances);
    }
}

static void portable_scan(const Rows *rows, int64_t first, int64_t last, Search *searches, int lanes) {
    int width = searches->width;
    for (int64_t block = first; block < last; block++)
        for (Search *search = searches; search < searches + lanes; search++) {
            uint16_t distances[BLOCK];
            block_distances(rows->blocks + block * width * BLOCK, width, search->query, distances);
            collect_near(search, block, distances);
        }
}

static void portable_weigh(const Rows *rows, int64_t first, int64_t last, Search *searches, int lanes) {
    int width = searches->width;
    for (int64_t block = first; block < last; block++)
        for (Search *search = searches; search < searches + lanes; search++) {
            const uint8_t *codes = rows->blocks + block * width * BLOCK, *tables = search->tables;
            uint16_t distances[BLOCK] = {0};
            for (int plane = 0; plane < width; plane++, codes += BLOCK, tables += TABLES)
                for (int i = 0; i < BLOCK; i++)
                    distances[i] += (uint16_t)(tables[codes[i] & 15] + tables[TABLES / 2 + (codes[i] >> 4)]);
            collect_near(search, block, distances);
        }
}

/* ---- vectors: for codes whose sums stay in bytes ---- */

#ifdef X86
static void collect_bytes(Search *search, int64_t block, uint64_t near, const uint8_t *sums) {
    uint16_t distances[BLOCK];
    if (search->limit >= 255)
        block_distances(search->rows->blocks + block * search->width * BLOCK, search->width, search->query, distances);
    else
        for (int i = 0; i < BLOCK; i++)
            distances[i] = sums[i];
    collect(search, block, near, distances);
}

AVX2 INLINE uint64_t at_most(__m256i sums, __m256i limit) {
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(sums, limit), sums));
}

AVX2 INLINE void take_near(Search *search, int64_t block, const uint8_t *sums) {
    __m256i limit = _mm256_set1_epi8((char)search->byte_limit);
    __m256i left = _mm256_loadu_si256((const __m256i *)sums), right = _mm256_loadu_si256((const __m256i *)sums + 1);
    if (at_most(_mm256_min_epu8(left, right), limit))
        collect_bytes(search, block, at_most(left, limit) | at_most(right, limit) << BLOCK / 2, sums);
}

AVX2 INLINE __m256i lookup(const uint8_t *table, __m256i halves) {
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table)), halves);
}

/* Half a byte has 16 values: a shuffle looks up how many of its bits differ from the query's. */
AVX2 static void avx2_scan_one(const Rows *rows, int64_t first, int64_t last, Search *search) {
    int width = search->width;
    const __m256i half = _mm256_set1_epi8(0x0f);
    for (int64_t block = first; block < last; block++) {
        const uint8_t *codes = rows->blocks + block * width * BLOCK;
        __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (int plane = 0; plane < width; plane++, codes += BLOCK) {
            const uint8_t *tables = search->tables + plane * TABLES;
            _mm_prefetch((const char *)codes + AHEAD, _MM_HINT_T0);
            for (int side = 0; side < 2; side++) {
                __m256i bytes = _mm256_loadu_si256((const __m256i *)codes + side);
                __m256i low = lookup(tables, _mm256_and_si256(bytes, half));
                __m256i high = lookup(tables + TABLES / 2, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
                sums[side] = _mm256_adds_epu8(sums[side], _mm256_add_epi8(low, high));
            }
        }
        uint8_t stored[BLOCK];
        _mm256_storeu_si256((__m256i *)stored, sums[0]);
        _mm256_storeu_si256((__m256i *)stored + 1, sums[1]);
        take_near(search, block, stored);
    }
}

/* Two queries share a lookup, one in each half of the byte it gives: three times 4 bits leave room to add. */
AVX2 INLINE void avx2_add_planes(const uint8_t *codes, const int planes, const Search *searches, int plane,
                                 __m256i sums[LANES]) {
    const __m256i half = _mm256_set1_epi8(0x0f);
    __m256i low[3], high[3];
    for (int i = 0; i < planes; i++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(codes + (plane + i) * BLOCK));
        low[i] = _mm256_and_si256(bytes, half);
        high[i] = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
    }
    for (int lane = 0; lane < LANES; lane += 2) {
        const uint8_t *tables = searches[lane].paired_tables + plane * TABLES;
        __m256i lows = lookup(tables, low[0]), highs = lookup(tables + TABLES / 2, high[0]);
        for (int i = 1; i < planes; i++) {
            lows = _mm256_add_epi8(lows, lookup(tables + i * TABLES, low[i]));
            highs = _mm256_add_epi8(highs, lookup(tables + i * TABLES + TABLES / 2, high[i]));
        }
        __m256i one = _mm256_add_epi8(_mm256_and_si256(lows, half), _mm256_and_si256(highs, half));
        /* The mean of two multiples of 16 is a multiple of 8: shifted, no bit enters the byte below. */
        __m256i mean = _mm256_avg_epu8(_mm256_andnot_si256(half, lows), _mm256_andnot_si256(half, highs));
        sums[lane] = _mm256_adds_epu8(sums[lane], one);
        sums[lane + 1] = _mm256_adds_epu8(sums[lane + 1], _mm256_srli_epi16(mean, 3));
    }
}

AVX2 static void avx2_scan_lanes(const Rows *rows, int64_t first, int64_t last, Search *searches) {
    int width = searches->width;
    for (int64_t block = first; block < last; block++) {
        uint8_t stored[LANES][BLOCK];
        for (int side = 0; side < 2; side++) {
            const uint8_t *codes = rows->blocks + block * width * BLOCK + side * BLOCK / 2;
            __m256i sums[LANES];
            int plane = 0;
            for (int lane = 0; lane < LANES; lane++)
                sums[lane] = _mm256_setzero_si256();
            for (; plane + 3 <= width; plane += 3)
                avx2_add_planes(codes, 3, searches, plane, sums);
            if (width - plane == 2)
                avx2_add_planes(codes, 2, searches, plane, sums);
            if (width - plane == 1)
                avx2_add_planes(codes, 1, searches, plane, sums);
            for (int lane = 0; lane < LANES; lane++)
                _mm256_storeu_si256((__m256i *)stored[lane] + side, sums[lane]);
        }
        for (int lane = 0; lane < LANES; lane++)
            take_near(searches + lane, block, stored[lane]);
    }
}

static void avx2_scan(const Rows *rows, int64_t first, int64_t last, Search *searches, int lanes) {
    if (lanes == LANES)
        avx2_scan_lanes(rows, first, last, searches);
    else
        avx2_scan_one(rows, first, last, searches);
}

AVX512 INLINE void avx512_scan_lanes(const Rows *rows, int64_t first, int64_t last, Search *searches, const int lanes) {
    int width = searches->width;
    for (int64_t block = first; block < last; block++) {
        const uint8_t *codes = rows->blocks + block * width * BLOCK;
        __m512i sums[LANES];
        for (int lane = 0; lane < lanes; lane++)
            sums[lane] = _mm512_setzero_si512();
        for (int plane = 0; plane < width; plane++) {
            __m512i bytes = _mm512_loadu_si512(codes + plane * BLOCK);
            for (int lane = 0; lane < lanes; lane++) {
                __m512i differing = _mm512_xor_si512(bytes, _mm512_set1_epi8((char)searches[lane].query[plane]));
                sums[lane] = _mm512_adds_epu8(sums[lane], _mm512_popcnt_epi8(differing));
            }
        }
        for (int lane = 0; lane < lanes; lane++) {
            __m512i limit = _mm512_set1_epi8((char)searches[lane].byte_limit);
            uint64_t near = _mm512_cmple_epu8_mask(sums[lane], limit);
            if (near) {
                uint8_t stored[BLOCK];
                _mm512_storeu_si512(stored, sums[lane]);
                collect_bytes(searches + lane, block, near, stored);
            }
        }
    }
}

AVX512 static void avx512_scan(const Rows *rows, int64_t first, int64_t last, Search *searches, int lanes) {
    if (lanes == LANES)
        avx512_scan_lanes(rows, first, last, searches, LANES);
    else
        avx512_scan_lanes(rows, first, last, searches, 1);
}

/* ---- vectors: weights ---- */

/* A pair of bytes is added as it is, and its upper byte once more, apart: so the sums of both are known in the end. */

static void collect_pairs(Search *search, int64_t block, const uint16_t *lower, const uint16_t *upper) {
    uint16_t distances[BLOCK];
    for (int i = 0; i < BLOCK / 2; i++) {
        distances[2 * i] = lower[i];
        distances[2 * i + 1] = upper[i];
    }
    collect_near(search, block, distances);
}

AVX2 INLINE int any_at_most(__m256i sums, __m256i limit) {
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_min_epu16(sums, limit), sums)) != 0;
}

AVX2 static void avx2_weigh(const Rows *rows, int64_t first, int64_t last, Search *searches, int lanes) {
    const __m256i half = _mm256_set1_epi8(0x0f);
    int width = searches->width;
    for (int64_t block = first; block < last; block++)
        for (Search *search = searches; search < searches + lanes; search++) {
            const uint8_t *codes = rows->blocks + block * width * BLOCK, *tables = search->tables;
            __m256i both[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
            __m256i upper[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
            for (int plane = 0; plane < width; plane++, codes += BLOCK, tables += TABLES) {
                _mm_prefetch((const char *)codes + AHEAD, _MM_HINT_T0);
                for (int side = 0; side < 2; side++) {
                    __m256i bytes = _mm256_loadu_si256((const __m256i *)codes + side);
                    __m256i low = lookup(tables, _mm256_and_si256(bytes, half));
                    __m256i high = lookup(tables + TABLES / 2, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
                    both[side] = _mm256_add_epi16(both[side], _mm256_add_epi16(low, high));
                    upper[side] = _mm256_add_epi16(
                        upper[side], _mm256_add_epi16(_mm256_srli_epi16(low, 8), _mm256_srli_epi16(high, 8)));
                }
            }
            __m256i limit = _mm256_set1_epi16((short)search->limit), lower[2], least;
            for (int side = 0; side < 2; side++)
                lower[side] = _mm256_sub_epi16(both[side], _mm256_slli_epi16(upper[side], 8));
            least = _mm256_min_epu16(_mm256_min_epu16(lower[0], upper[0]), _mm256_min_epu16(lower[1], upper[1]));
            if (search->limit < 0 || !any_at_most(least, limit))
                continue;
            uint16_t lower_sums[BLOCK / 2], upper_sums[BLOCK / 2];
            for (int side = 0; side < 2; side++) {
                _mm256_storeu_si256((__m256i *)lower_sums + side, lower[side]);
                _mm256_storeu_si256((__m256i *)upper_sums + side, upper[side]);
            }
            collect_pairs(search, block, lower_sums, upper_sums);
        }
}

AVX512 INLINE __m512i wide_lookup(const uint8_t *table, __m512i halves) {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)table)), halves);
}

AVX512 static void avx512_weigh(const Rows *rows, int64_t first, int64_t last, Search *searches, int lanes) {
    const __m512i half = _mm512_set1_epi8(0x0f);
    int width = searches->width;
    for (int64_t block = first; block < last; block++)
        for (Search *search = searches; search < searches + lanes; search++) {
            const uint8_t *codes = rows->blocks + block * width * BLOCK, *tables = search->tables;
            __m512i both = _mm512_setzero_si512(), upper = _mm512_setzero_si512();
            for (int plane = 0; plane < width; plane++, codes += BLOCK, tables += TABLES) {
                __m512i bytes = _mm512_loadu_si512(codes);
                __m512i low = wide_lookup(tables, _mm512_and_si512(bytes, half));
                __m512i high = wide_lookup(tables + TABLES / 2, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), half));
                both = _mm512_add_epi16(both, _mm512_add_epi16(low, high));
                upper = _mm512_add_epi16(upper, _mm512_add_epi16(_mm512_srli_epi16(low, 8), _mm512_srli_epi16(high, 8)));
            }
            __m512i lower = _mm512_sub_epi16(both, _mm512_slli_epi16(upper, 8));
            __m512i limit = _mm512_set1_epi16((short)search->limit);
            if (search->limit < 0 || !_mm512_cmple_epu16_mask(_mm512_min_epu16(lower, upper), limit))
                continue;
            uint16_t lower_sums[BLOCK / 2], upper_sums[BLOCK / 2];
            _mm512_storeu_si512(lower_sums, lower);
            _mm512_storeu_si512(upper_sums, upper);
            collect_pairs(search, block, lower_sums, upper_sums);
        }
}

static Scan *const SCANS[] = {portable_scan, avx2_scan, avx512_scan};
static Scan *const WEIGHS[] = {portable_weigh, avx2_weigh, avx512_weigh};
#else
static Scan *const SCANS[] = {portable_scan};
static Scan *const WEIGHS[] = {portable_weigh};
#endif

#endif
