/* Sketch-token detection. Each function is the twin of NumPy code in sketchhash/tokens, where it is explained, and
 * rounds at the same places in the same order: the results are equal to the last bit. */
#include "export.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#define restrict __restrict
#endif

/* Where the mirrored picture repeats pixel i of a line of this length. */
static int64_t mirrored(int64_t i, int64_t length) {
    const int64_t place = ((i % (2 * length)) + 2 * length) % (2 * length);
    return place < length ? place : 2 * length - 1 - place;
}

/* Copy a line and continue it by `reach` pixels at both ends. */
static void mirror_ends(const float *line, int64_t length, int64_t reach, float *continued) {
    memcpy(continued + reach, line, (size_t)length * sizeof(float));
    for (int64_t i = 0; i < reach; i++) {
        continued[reach - 1 - i] = line[mirrored(-1 - i, length)];
        continued[reach + length + i] = line[mirrored(length + i, length)];
    }
}

static void scale(float *restrict out, const float *restrict in, float weight, int64_t length) {
    for (int64_t i = 0; i < length; i++) out[i] = weight * in[i];
}

static void add_pair(float *restrict out, const float *restrict one, const float *other, float weight, int64_t length) {
    for (int64_t i = 0; i < length; i++) out[i] += weight * (one[i] + other[i]);
}

/* filters._smooth; scratch holds a picture and a line with `reach` more pixels at both ends. */
EXPORT void smooth(const float *planes, int64_t count, int64_t height, int64_t width, const float *weights,
                   int64_t reach, float *scratch, float *out) {
    float *line = scratch + height * width;
    for (int64_t plane = 0; plane < count; plane++, planes += height * width, out += height * width) {
        for (int64_t y = 0; y < height; y++) {
            float *smoothed = scratch + y * width;
            mirror_ends(planes + y * width, width, reach, line);
            scale(smoothed, line + reach, weights[0], width);
            for (int64_t i = 1; i <= reach; i++)
                add_pair(smoothed, line + reach - i, line + reach + i, weights[i], width);
        }
        for (int64_t y = 0; y < height; y++) {
            scale(out + y * width, scratch + y * width, weights[0], width);
            for (int64_t i = 1; i <= reach; i++)
                add_pair(out + y * width, scratch + mirrored(y - i, height) * width,
                         scratch + mirrored(y + i, height) * width, weights[i], width);
        }
    }
}

static float weigh(const float *weights, float red, float green, float blue) {
    return weights[0] * red + weights[1] * green + weights[2] * blue;
}

/* channels.luv; `constants` as laid out there. */
EXPORT void convert_to_luv(const uint8_t *photo, int64_t pixels, const float *linear, const float *lightness,
                           const float *constants, float *out) {
    const float white_u = constants[12], white_v = constants[13], offset_u = constants[14], offset_v = constants[15];
    for (int64_t i = 0; i < pixels; i++, photo += 3) {
        const float red = linear[photo[0]], green = linear[photo[1]], blue = linear[photo[2]];
        const float level = lightness[(int32_t)(weigh(constants, red, green, blue) * 4096.0f + 0.5f)];
        const float projection = fmaxf(weigh(constants + 9, red, green, blue), 1e-30f);
        const float chroma = 13.0f * level;
        out[i] = level;
        out[pixels + i] = chroma * (weigh(constants + 3, red, green, blue) / projection - white_u) + offset_u;
        out[2 * pixels + i] = chroma * (weigh(constants + 6, red, green, blue) / projection - white_v) + offset_v;
    }
}

/* Take over the slopes of one line of one plane where they are steeper than those found so far. */
static void keep_steeper(const float *line, const float *above, const float *below, int64_t width,
                         float *restrict squared, float *restrict across, float *restrict down) {
    for (int64_t x = 0; x < width; x++) {
        const float dx = 0.5f * (line[x + 1] - line[x - 1]), dy = 0.5f * (below[x] - above[x]);
        const float steepness = dx * dx + dy * dy;
        const float known = squared[x], known_dx = across[x], known_dy = down[x];
        const int is_steeper = isgreater(steepness, known); /* unlike >, never traps: only so is it vectorised */
        squared[x] = is_steeper ? steepness : known;
        across[x] = is_steeper ? dx : known_dx;
        down[x] = is_steeper ? dy : known_dy;
    }
}

/* channels._strongest_slopes; scratch holds a line with one more pixel at both ends. */
EXPORT void find_strongest_slopes(const float *planes, int64_t count, int64_t height, int64_t width, float *scratch,
                                  float *squared, float *across, float *down) {
    for (int64_t y = 0; y < height; y++, squared += width, across += width, down += width) {
        for (int64_t x = 0; x < width; x++) squared[x] = -1.0f;
        for (int64_t plane = 0; plane < count; plane++) {
            const float *picture = planes + plane * height * width;
            mirror_ends(picture + y * width, width, 1, scratch);
            keep_steeper(scratch + 1, picture + mirrored(y - 1, height) * width,
                         picture + mirrored(y + 1, height) * width, width, squared, across, down);
        }
    }
}

/* channels._by_orientation */
EXPORT void split_by_orientation(const float *magnitude, const float *across, const float *down, int64_t pixels,
                                 float *restrict out) {
    for (int64_t i = 0; i < pixels; i++) {
        const float x = fabsf(across[i]), y = fabsf(down[i]);
        const float low = x < y ? x : y, high = x < y ? y : x;
        const float ratio = low / (high > 1e-30f ? high : 1e-30f);
        const float diagonal = magnitude[i] * (ratio + 0.348f * ratio * (1.0f - ratio));
        const float axis = magnitude[i] - diagonal;
        const int is_level = x >= y, is_falling = (across[i] < 0.0f) == (down[i] < 0.0f);
        out[i] = is_level ? axis : 0.0f;
        out[pixels + i] = is_falling ? diagonal : 0.0f;
        out[2 * pixels + i] = is_level ? 0.0f : axis;
        out[3 * pixels + i] = is_falling ? 0.0f : diagonal;
    }
}

/* A node as it is walked: where its feature's two values lie from a patch's corner. A leaf keeps its share of
 * contours for a threshold. Sixteen bytes, four to a cache line. */
struct node {
    int32_t first, second;
    float threshold;
    int32_t left;
};

enum { PATCHES_A_BLOCK = 1024 };

/* Walk one tree with a block of patches. All take a step before any takes the next: their memory accesses overlap,
 * the next nodes are on their way when they are needed, and no branch depends on which way a patch goes. */
static void walk_tree(const struct node *nodes, int32_t root, const float *planes, const int64_t *corners, int32_t count,
                      float *share) {
    int32_t at[PATCHES_A_BLOCK], patch[PATCHES_A_BLOCK], last[PATCHES_A_BLOCK];
    for (int32_t i = 0; i < count; i++) {
        at[i] = root;
        patch[i] = i;
    }
    int32_t walking = count;
    while (walking > 0) {
        int32_t further = 0;
        for (int32_t i = 0; i < walking; i++) {
            const struct node *node = nodes + at[i];
            const float *corner = planes + corners[patch[i]];
            const float value = corner[node->first] - corner[node->second];
            last[patch[i]] = at[i];
            patch[further] = patch[i];
            at[further] = node->left + !(value < node->threshold);
            PREFETCH(nodes + at[further]);
            further += node->left >= 0;
        }
        walking = further;
    }
    for (int32_t i = 0; i < count; i++) share[i] += nodes[last[i]].threshold;
}

/* Forest.contour_share; `lookups` and the arrays of the forest as there, `nodes` is room for as many. */
EXPORT void walk_forest(const float *planes, const int64_t *corners, int64_t patches, const int64_t *lookups,
                        int64_t features, const int32_t *roots, int64_t trees, const int32_t *feature,
                        const float *threshold, const int32_t *left, const float *contour, int64_t node_count,
                        struct node *nodes, float *share) {
    for (int64_t i = 0; i < node_count; i++) {
        if (left[i] < 0)
            nodes[i] = (struct node){0, 0, contour[i], left[i]};
        else
            nodes[i] = (struct node){(int32_t)lookups[feature[i]], (int32_t)lookups[features + feature[i]],
                                     threshold[i], left[i]};
    }
    for (int64_t start = 0; start < patches; start += PATCHES_A_BLOCK) {
        const int64_t rest = patches - start;
        const int32_t count = rest < PATCHES_A_BLOCK ? (int32_t)rest : PATCHES_A_BLOCK;
        for (int32_t i = 0; i < count; i++) share[start + i] = 0.0f;
        for (int64_t tree = 0; tree < trees; tree++)
            walk_tree(nodes, roots[tree], planes, corners + start, count, share + start);
        for (int32_t i = 0; i < count; i++) share[start + i] /= (float)trees;
    }
}
