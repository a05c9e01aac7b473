// shunt/offload.h in C99: right answers with and without a card, options, and what is refused.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shunt/offload.h"

static int failures = 0;

static void check(bool holds, int line, const char* what, const char* also) {
    if (holds) return;
    failures++;
    printf("line %d: not so: %s; %s\n", line, what, also ? also : "(no text)");
}
#define CHECK(condition) check(condition, __LINE__, #condition, shunt_last_message())

static void check_mentions(const char* text, const char* part, int line) {
    check(text && strstr(text, part), line, part, text);
}
#define CHECK_MENTIONS(text, part) check_mentions(text, part, __LINE__)

// --- what is right ----------------------------------------------------------------------------------------

#define MOST 4000
static float a[MOST], b[MOST], bias[MOST], got[MOST], right[MOST];

static void fill(float* values, unsigned seed) {
    for (int i = 0; i < MOST; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

static bool near_right(size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - right[i]) < 1e-5)) return false;
    return true;
}

// Whether nothing was written since untouched().
static void untouched(void) {
    for (int i = 0; i < MOST; i++) got[i] = 42;
}
static bool is_untouched(void) {
    for (int i = 0; i < MOST; i++)
        if (got[i] != 42) return false;
    return true;
}

static void matmul_right(size_t m, size_t n, size_t k) {
    for (size_t i = 0; i < m * n; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) sum += (double)a[i / n * k + j] * b[j * n + i % n];
        right[i] = (float)sum;
    }
}

// The value of x in picture n and channel c, 0 in the padding.
static double value_at(const shunt_conv* s, size_t n, size_t c, size_t y, size_t x) {
    y -= s->pad[0], x -= s->pad[1];  // wraps around where it is before the first
    return y < s->h && x < s->w ? a[((n * s->c + c) * s->h + y) * s->w + x] : 0;
}

// Expects all options to be given. Followed by leaky_relu with alpha, which is the identity for 1.
static void conv_right(const shunt_conv* s, size_t oh, size_t ow, bool with_bias, double alpha) {
    const size_t in = s->c / s->groups, out = s->o / s->groups;
    for (size_t i = 0; i < s->n * s->o * oh * ow; i++) {
        const size_t x = i % ow, y = i / ow % oh, o = i / ow / oh % s->o, n = i / ow / oh / s->o;
        double sum = with_bias ? bias[o] : 0;
        for (size_t j = 0; j < in * s->kh * s->kw; j++) {
            const size_t kx = j % s->kw, ky = j / s->kw % s->kh, c = j / s->kw / s->kh;
            sum += value_at(s, n, o / out * in + c, y * s->stride[0] + ky * s->dilation[0],
                            x * s->stride[1] + kx * s->dilation[1]) *
                   b[((o * in + c) * s->kh + ky) * s->kw + kx];
        }
        right[i] = (float)(sum < 0 ? alpha * sum : sum);
    }
}

// --- the operators ----------------------------------------------------------------------------------------

static const shunt_conv batch = {.n = 2,
                                 .c = 4,
                                 .h = 9,
                                 .w = 8,
                                 .o = 6,
                                 .kh = 3,
                                 .kw = 2,
                                 .stride = {2, 1},
                                 .pad = {1, 1},
                                 .dilation = {1, 2},
                                 .groups = 2};
static const shunt_conv line = {
    .n = 3, .c = 4, .h = 1, .w = 30, .o = 5, .kh = 1, .kw = 3, .stride = {1, 2}, .pad = {0, 1}};

static void products(shunt_card* card) {
    matmul_right(12, 9, 40);
    untouched();
    CHECK(shunt_matmul(card, 12, 9, 40, a, b, got, NULL) == SHUNT_DONE);
    CHECK(near_right(12 * 9));
    CHECK(got[12 * 9] == 42);
    untouched();
    const shunt_matmul_options constant = {.b_is_weight = true};
    CHECK(shunt_matmul(card, 12, 9, 40, a, b, got, &constant) == SHUNT_DONE);
    CHECK(near_right(12 * 9));
}

static void convolutions(shunt_card* card) {
    size_t oh = 0, ow = 0;
    CHECK(shunt_conv2d_sizes(&batch, &oh, &ow) == SHUNT_DONE);
    CHECK(oh == 5 && ow == 8);
    shunt_conv conv = batch;
    conv.activation.kind = SHUNT_LEAKY_RELU;
    conv.activation.alpha = 0.25f;
    conv_right(&conv, oh, ow, true, 0.25);
    untouched();
    CHECK(shunt_conv2d(card, &conv, a, b, bias, got) == SHUNT_DONE);
    CHECK(near_right(2 * 6 * oh * ow));
    CHECK(got[2 * 6 * oh * ow] == 42);

    CHECK(shunt_conv2d_sizes(&line, &oh, &ow) == SHUNT_DONE);
    CHECK(oh == 1 && ow == 15);
    conv = line;
    conv.dilation[0] = conv.dilation[1] = conv.groups = 1;  // what the zeros stand for
    conv_right(&conv, oh, ow, false, 1);
    untouched();
    CHECK(shunt_conv2d(card, &line, a, b, NULL, got) == SHUNT_DONE);
    CHECK(near_right(3 * 5 * oh * ow));
}

static void activations(shunt_card* card) {
    for (size_t i = 0; i < 300; i++) right[i] = (float)(a[i] / (1 + exp(-a[i])));
    memcpy(got, a, sizeof got);
    CHECK(shunt_activate(card, 300, got, shunt_activation_of(SHUNT_SILU)) == SHUNT_DONE);
    CHECK(near_right(300));
    CHECK(got[300] == a[300]);
}

static void operators(shunt_card* card) {
    products(card), convolutions(card), activations(card);
}

// --- without a card ---------------------------------------------------------------------------------------

static void declines_all(shunt_card* card) {
    untouched();
    CHECK(shunt_card_matmul(card, 12, 9, 40, a, b, got, NULL) == SHUNT_DECLINED);
    CHECK(shunt_card_conv2d(card, &batch, a, b, NULL, got) == SHUNT_DECLINED);
    CHECK(shunt_card_activate(card, 300, got, shunt_activation_of(SHUNT_GELU)) == SHUNT_DECLINED);
    CHECK(is_untouched());
}

static void without_a_card(void) {
    operators(NULL);
    declines_all(NULL);
    CHECK(shunt_card_reason(NULL) != NULL);
    CHECK(shunt_card_last_error(NULL) == NULL);
    CHECK(shunt_card_offloaded(NULL) == 0);
    CHECK(shunt_card_report(NULL) == NULL);
    CHECK_MENTIONS(shunt_last_message(), "NULL");
    shunt_card_close(NULL), shunt_free(NULL), shunt_weight_changed(NULL), shunt_weight_free(NULL);

    shunt_card_options options = {.adapter = "no such card"};
    shunt_card* card = shunt_card_open(&options);
    CHECK(card != NULL);
    CHECK(shunt_card_reason(card) && *shunt_card_reason(card));
    operators(card);
    declines_all(card);
    CHECK(shunt_card_offloaded(card) == 0);
    char* const report = shunt_card_report(card);
    CHECK_MENTIONS(report, "0 operators on the card, 8 on the CPU");
    CHECK_MENTIONS(report, "no card");
    shunt_free(report);
    shunt_card_close(card);

    options.policy = SHUNT_STRICT;
    card = shunt_card_open(&options);
    untouched();
    CHECK(shunt_matmul(card, 12, 9, 40, a, b, got, NULL) == SHUNT_NO_GPU);
    CHECK_MENTIONS(shunt_last_message(), shunt_card_reason(card));
    CHECK(is_untouched());
    shunt_card_close(card);
}

static void remember(const char* text, void* memory) {
    snprintf(memory, 1000, "%s", text);
}

static void a_card_that_does_not_work_is_told(void) {
    char told[1000] = "";
    const shunt_card_options options = {
        .backend = "no such backend", .policy = SHUNT_WARN, .warn = remember, .warn_data = told};
    shunt_card* const card = shunt_card_open(&options);
    CHECK_MENTIONS(told, "no such backend");
    char* const error = shunt_card_last_error(card);
    CHECK_MENTIONS(error, told);
    CHECK_MENTIONS(shunt_card_reason(card), told);
    shunt_free(error);
    operators(card);
    shunt_card_close(card);
}

// --- with one ---------------------------------------------------------------------------------------------

// Writes costs by which nothing is faster on the card, or, where `card_wins`, everything.
static void write_costs(const char* path, bool card_wins) {
    const shunt_card_options nowhere = {.adapter = "no such card"};
    shunt_card* const none = shunt_card_open(&nowhere);  // its costs are all 0
    CHECK(shunt_card_save_costs(none, path) == SHUNT_DONE);
    shunt_card_close(none);
    if (!card_wins) return;
    char text[4000] = "";
    FILE* file = fopen(path, "r");
    if (file) text[fread(text, 1, sizeof text - 1, file)] = 0, fclose(file);
    file = fopen(path, "w");
    if (!file) exit(1);
    const char* from = text;
    while (*from) {
        const bool cpu = !strncmp(from, "\"cpu_gemm\"", 10) || !strncmp(from, "\"cpu_conv\"", 10) ||
                         !strncmp(from, "\"cpu_act\"", 9);
        if (cpu) {
            const size_t colon = strcspn(from, ":");
            fprintf(file, "%.*s: 1", (int)colon, from);
            from += strcspn(from, ",\n}");
        } else {
            fputc(*from++, file);
        }
    }
    fclose(file);
}

static void costs_decide(void) {
    write_costs("never.json", false);
    shunt_card_options options = {.costs = "never.json", .fixed_costs = true};
    shunt_card* card = shunt_card_open(&options);
    declines_all(card);
    operators(card);
    CHECK(shunt_card_offloaded(card) == 0);
    shunt_card_close(card);

    write_costs("always.json", true);
    options.costs = "always.json";
    options.verify = SHUNT_VERIFY_ALWAYS;
    card = shunt_card_open(&options);
    CHECK(shunt_card_reason(card) == NULL);
    operators(card);
    CHECK(shunt_card_offloaded(card) == 5);
    untouched();
    matmul_right(3, 4, 5);
    CHECK(shunt_card_matmul(card, 3, 4, 5, a, b, got, NULL) == SHUNT_DONE);
    CHECK(near_right(3 * 4));
    CHECK(shunt_card_offloaded(card) == 6);
    CHECK(shunt_card_last_error(card) == NULL);
    char *const report = shunt_card_report(card), *const json = shunt_card_report_json(card),
                *const costs = shunt_card_costs(card);
    CHECK_MENTIONS(report, "6 operators on the card, 0 on the CPU");
    CHECK_MENTIONS(report, "matmul 12x40 by 40x9");
    CHECK(json && json[0] == '{');
    CHECK_MENTIONS(json, "\"on_card\"");
    CHECK_MENTIONS(costs, "cpu_gemm");
    shunt_free(report), shunt_free(json), shunt_free(costs);
    shunt_card_close(card);
}

// The card goes on with the copy that it has until it is told.
static void weights(void) {
    const shunt_card_options options = {.policy = SHUNT_STRICT, .costs = "always.json"};
    shunt_card* const card = shunt_card_open(&options);
    shunt_weight* const weight = shunt_weight_create();
    const shunt_matmul_options named = {.weight = weight};
    float matrix[4] = {1, 2, 3, 4}, row[2] = {1, 1}, answer[2];
    CHECK(shunt_matmul(card, 1, 2, 2, row, matrix, answer, &named) == SHUNT_DONE);
    CHECK(answer[0] == 4 && answer[1] == 6);
    matrix[0] = 10;
    CHECK(shunt_matmul(card, 1, 2, 2, row, matrix, answer, &named) == SHUNT_DONE);
    CHECK(answer[0] == 4 && answer[1] == 6);
    shunt_weight_changed(weight);
    CHECK(shunt_matmul(card, 1, 2, 2, row, matrix, answer, &named) == SHUNT_DONE);
    CHECK(answer[0] == 13 && answer[1] == 6);

    const shunt_conv point = {.n = 1, .c = 1, .h = 1, .w = 2, .o = 2, .kh = 1, .kw = 2, .weight = weight};
    shunt_weight_changed(weight);
    CHECK(shunt_conv2d(card, &point, row, matrix, NULL, answer) == SHUNT_DONE);
    CHECK(answer[0] == 12 && answer[1] == 7);
    matrix[0] = 1;
    CHECK(shunt_conv2d(card, &point, row, matrix, NULL, answer) == SHUNT_DONE);
    CHECK(answer[0] == 12 && answer[1] == 7);
    shunt_weight_free(weight);
    shunt_card_close(card);
}

// Two policies, one thread and one set of weights.
static void shared(void) {
    shunt_card_options options = {.costs = "never.json"};
    shunt_card* const first = shunt_card_open(&options);
    options = (shunt_card_options){.share = first, .policy = SHUNT_STRICT, .costs = "never.json"};
    shunt_card* const second = shunt_card_open(&options);
    shunt_card_close(first);
    CHECK(shunt_card_reason(second) == NULL);
    operators(second);
    CHECK(shunt_card_offloaded(second) == 5);
    shunt_card_close(second);
}

// --- what is refused --------------------------------------------------------------------------------------

static void refused_products(void) {
    CHECK(shunt_matmul(NULL, 0, 9, 40, a, b, got, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "m 0 n 9 k 40");
    CHECK(shunt_matmul(NULL, 2, 3, 4, NULL, b, got, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "a is NULL");
    CHECK(shunt_card_matmul(NULL, 2, 3, 4, a, NULL, got, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "b is NULL");
    CHECK(shunt_card_matmul(NULL, 2, 3, 4, a, b, NULL, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "c is NULL");
    CHECK(shunt_matmul(NULL, SIZE_MAX / 2, 3, 4, a, b, got, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "past what memory can address");
    CHECK(shunt_matmul(NULL, (size_t)1 << 40, (size_t)1 << 40, 1, a, b, got, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "1099511627776");
}

static void refuses(shunt_conv conv, const char* because) {
    size_t oh = 7, ow = 7;
    CHECK(shunt_conv2d_sizes(&conv, &oh, &ow) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), because);
    CHECK(oh == 7 && ow == 7);
    CHECK(shunt_conv2d(NULL, &conv, a, b, bias, got) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), because);
    CHECK(shunt_card_conv2d(NULL, &conv, a, b, bias, got) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), because);
}

static void refused_convolutions(void) {
    shunt_conv conv = batch;
    conv.groups = 3;
    refuses(conv, "3 groups do not divide 4 channels and 6 filters");
    conv.groups = 5;
    refuses(conv, "5 groups do not divide 4 channels");
    conv = batch, conv.kh = 99;
    refuses(conv, "spans 99");
    conv = batch, conv.n = 0;
    refuses(conv, "n 0 c 4 h 9 w 8 o 6 kh 3 kw 2");
    conv = batch, conv.n = SIZE_MAX / 64;
    refuses(conv, "past what memory can address");
    conv = batch, conv.pad[1] = SIZE_MAX;
    refuses(conv, "2^32");
    // gcc and clang make this enumeration an unsigned int, which holds any of them.
    conv = batch, conv.activation.kind = (shunt_activation_kind)99;
    refuses(conv, "kind is 99");
    size_t oh;
    CHECK(shunt_conv2d_sizes(NULL, &oh, &oh) == SHUNT_BAD_ARGUMENT);
    CHECK(shunt_conv2d_sizes(&batch, &oh, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "ow is NULL");
    CHECK(shunt_conv2d(NULL, NULL, a, b, bias, got) == SHUNT_BAD_ARGUMENT);
    CHECK(shunt_conv2d(NULL, &batch, NULL, b, bias, got) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "x is NULL");
    CHECK(shunt_conv2d(NULL, &batch, a, NULL, bias, got) == SHUNT_BAD_ARGUMENT);
    CHECK(shunt_conv2d(NULL, &batch, a, b, bias, NULL) == SHUNT_BAD_ARGUMENT);
}

static void refused_otherwise(void) {
    CHECK(shunt_activate(NULL, 0, got, shunt_activation_of(SHUNT_RELU)) == SHUNT_BAD_ARGUMENT);
    CHECK(shunt_activate(NULL, 3, NULL, shunt_activation_of(SHUNT_RELU)) == SHUNT_BAD_ARGUMENT);
    CHECK(shunt_activate(NULL, SIZE_MAX, got, shunt_activation_of(SHUNT_RELU)) == SHUNT_BAD_ARGUMENT);
    CHECK(shunt_card_activate(NULL, 3, got, shunt_activation_of((shunt_activation_kind)14)) == SHUNT_BAD_ARGUMENT);
    CHECK_MENTIONS(shunt_last_message(), "kind is 14");
    CHECK(shunt_card_open(&(shunt_card_options){.policy = (shunt_policy)3}) == NULL);
    CHECK_MENTIONS(shunt_last_message(), "policy is 3");
    CHECK(shunt_card_open(&(shunt_card_options){.verify = (shunt_verify)9}) == NULL);
    CHECK(shunt_card_open(&(shunt_card_options){.costs = "no such.json"}) == NULL);
    CHECK_MENTIONS(shunt_last_message(), "no such.json");
    CHECK(shunt_card_save_costs(NULL, "costs.json") == SHUNT_BAD_ARGUMENT);
    shunt_card* const card = shunt_card_open(&(shunt_card_options){.adapter = "no such card"});
    CHECK(shunt_card_save_costs(card, NULL) == SHUNT_BAD_ARGUMENT);
    CHECK(shunt_card_save_costs(card, "no/such/folder.json") == SHUNT_BAD_FILE);
    shunt_card_close(card);
}

int main(void) {
    CHECK(!strcmp(shunt_last_message(), ""));
    fill(a, 1), fill(b, 2), fill(bias, 3);
    untouched();
    refused_products(), refused_convolutions(), refused_otherwise();
    CHECK(is_untouched());
    without_a_card();
    a_card_that_does_not_work_is_told();
    write_costs("never.json", false);
    shunt_card* const card = shunt_card_open(&(shunt_card_options){.costs = "never.json"});
    const char* const needed = getenv("SHUNT_NEED_GPU");
    if (!shunt_card_reason(card)) {
        costs_decide(), weights(), shared();
    } else {
        printf("Nothing was tried on a card: %s\n", shunt_card_reason(card));
        CHECK(!needed || strcmp(needed, "1"));
    }
    shunt_card_close(card);
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
