// Transparent offload in C: products, convolutions and activations of a program, each on the graphics card where that
// is faster, and on the CPU with the right result where it is not, or where the card fails.
//
//     shunt_card* card = shunt_card_open(NULL);  // measures what things cost here, or loads it; fine without a card
//     if (shunt_matmul(card, m, n, k, a, b, c, NULL) != SHUNT_DONE) puts(shunt_last_message());
//     shunt_card_close(card);
//
// The same as shunt/offload.hpp, and C99. docs/offload.md has the whole story. What holds for all of it:
//
// * Values are floats in the program's memory, row-major, without gaps. Sizes count values and are at least 1. Results
//   are written to memory of the caller's that overlaps no argument, and only if the status is SHUNT_DONE.
// * Options may be NULL. All of an options struct zero is the default.
// * Functions may be called by any thread, and by several at once with the same card.
// * What goes wrong is a status, or NULL where a pointer is returned, and a sentence in shunt_last_message().
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum shunt_status {
    SHUNT_DONE = 0,
    SHUNT_DECLINED,       // by the card: slower there, or it failed, or there is none. Nothing was written
    SHUNT_BAD_ARGUMENT,   // the call asks for what cannot be: mend it
    SHUNT_BAD_FILE,       // a file is missing, broken, or cannot be written
    SHUNT_OUT_OF_MEMORY,  // of the machine; a card's is no reason to fail
    SHUNT_NO_GPU,         // by SHUNT_STRICT alone: there is no graphics card here
    SHUNT_GPU_BROKEN,     // by SHUNT_STRICT alone: there is one, and it does not work
    SHUNT_TIMED_OUT,      // by SHUNT_STRICT alone: the card has not answered in time
    SHUNT_FAILED          // anything else
} shunt_status;

// What was wrong with this thread's newest call that gave another status than SHUNT_DONE and SHUNT_DECLINED, or NULL
// for an error: a sentence with values and limits. "" before the first. Valid until the next such call of the thread.
const char* shunt_last_message(void);

// Of what this library returned as char*. NULL is nothing.
void shunt_free(char* text);

// --- a card -----------------------------------------------------------------------------------------------

// A card, what things cost there and here, and the weights on it. NULL is good for all functions that compute: the CPU.
typedef struct shunt_card shunt_card;

typedef enum shunt_policy {
    SHUNT_SILENT = 0,  // failures of the card show in shunt_card_last_error() and the report
    SHUNT_WARN,        // and are told to `warn`, each text once
    SHUNT_STRICT       // nothing is declined: the card, or an error
} shunt_policy;

typedef enum shunt_verify {
    SHUNT_VERIFY_OFF = 0,
    SHUNT_VERIFY_SAMPLED,  // the card's first result of each kind and shape, then as many as take 1 % of the time
    SHUNT_VERIFY_ALWAYS
} shunt_verify;

typedef struct shunt_card_options {
    const char* adapter;      // the card, by number or part of its name in `shunt devices`; NULL: SHUNT_ADAPTER, or
                              // the first that is no software
    const char* backend;      // NULL: "gpu"; or one that a program registered in C++
    size_t weight_bytes;      // of weights on the card, at most; 0: 2^30
    const shunt_card* share;  // use the thread and the weights of this card, which may be closed first; the three
                              // options above are then its own
    shunt_policy policy;
    shunt_verify verify;
    void (*warn)(const char* text, void* warn_data);  // called by the threads that fail, several at once; must return
    void* warn_data;
    const char* costs;       // a file of shunt_card_save_costs() or `shunt calibrate -o`, instead of measured ones
    bool measure;            // costs anew, also where they were stored before
    bool fixed_costs;        // not corrected by what calls took
    uint32_t least_wait_ms;  // the shortest deadline of a call, since compiling takes time; 0: 10000
} shunt_card_options;

// Measures costs (some 100 ms, and what compiling takes), unless they are given or were stored before. Where there is
// no card, or it does not work, the result declines everything and shunt_card_reason() says why. NULL for options that
// cannot be, a file of costs that is none, or no memory.
shunt_card* shunt_card_open(const shunt_card_options* options);

// No call with it may be running. Waits for a card that does not answer two seconds at most. NULL is nothing.
void shunt_card_close(shunt_card* card);

// Why there is no card; NULL: there is one. Valid as long as `card`.
const char* shunt_card_reason(const shunt_card* card);

// The newest error of the card, to be given to shunt_free(). NULL: none. Later successes do not clear it.
char* shunt_card_last_error(const shunt_card* card);

// How many operators ran on the card.
uint64_t shunt_card_offloaded(const shunt_card* card);

// What was decided and why, for people; the same as a JSON object; and the costs in seconds, a figure a line. To be
// given to shunt_free(). NULL: `card` is NULL, or no memory.
char* shunt_card_report(const shunt_card* card);
char* shunt_card_report_json(const shunt_card* card);
char* shunt_card_costs(const shunt_card* card);

// Writes the costs as a JSON object. SHUNT_BAD_FILE where it cannot be written; what was there is then as before.
shunt_status shunt_card_save_costs(const shunt_card* card, const char* path);

// --- operators --------------------------------------------------------------------------------------------
//
// Each of them two ways. shunt_matmul() and its like always answer: the card is asked, and what it declines is computed
// on the CPU. shunt_card_matmul() and its like ask the card alone: SHUNT_DECLINED leaves the computing to the caller.
// Both: SHUNT_BAD_ARGUMENT for NULL, sizes of 0, sizes whose product is past memory, and what does not fit together;
// SHUNT_OUT_OF_MEMORY; with SHUNT_STRICT the errors of the card.

// A name for values that are used again and again. A model makes one for each of its weights, once, and gives it along
// with the values. They are then known by this name and never looked at again: whoever alters them must say
// shunt_weight_changed(), or the card goes on with the copy that it has. A name is altered and freed while no call uses
// it.
typedef struct shunt_weight shunt_weight;

shunt_weight* shunt_weight_create(void);  // NULL: no memory
void shunt_weight_changed(shunt_weight* weight);
void shunt_weight_free(shunt_weight* weight);  // the name, not the values. NULL is nothing

typedef enum shunt_activation_kind {
    SHUNT_NONE = 0,      // x
    SHUNT_RELU,          // max(0, x)
    SHUNT_TANH,          // (exp(2·x) − 1) / (exp(2·x) + 1)
    SHUNT_SIGMOID,       // 1 / (1 + exp(−x))
    SHUNT_LEAKY_RELU,    // x < 0 ? alpha·x : x; alpha 0.01
    SHUNT_RELU6,         // min(6, max(0, x))
    SHUNT_HARD_SIGMOID,  // max(0, min(1, alpha·x + beta)); alpha 0.2, beta 0.5
    SHUNT_HARD_SWISH,    // x·max(0, min(1, x/6 + 0.5))
    SHUNT_GELU,          // x/2·(1 + erf(x/√2))
    SHUNT_GELU_TANH,     // x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
    SHUNT_SILU,          // x / (1 + exp(−x))
    SHUNT_SOFTPLUS,      // ln(1 + exp(x))
    SHUNT_ELU,           // x < 0 ? alpha·(exp(x) − 1) : x; alpha 1
    SHUNT_MISH           // x·tanh(ln(1 + exp(x)))
} shunt_activation_kind;

// alpha and beta count as they are, 0 too; only the kinds with them in their formula look at them.
typedef struct shunt_activation {
    shunt_activation_kind kind;
    float alpha, beta;
} shunt_activation;

// With the alpha and beta that stand beside the kind above.
shunt_activation shunt_activation_of(shunt_activation_kind kind);

typedef struct shunt_matmul_options {
    bool b_is_weight;            // a promise: the values of b stay as they are, where they are
    const shunt_weight* weight;  // b's name, which is such a promise too; NULL: b is known by its contents
} shunt_matmul_options;

// c [m, n] = a [m, k] · b [k, n]
shunt_status shunt_matmul(shunt_card* card, size_t m, size_t n, size_t k, const float* a, const float* b, float* c,
                          const shunt_matmul_options* options);
shunt_status shunt_card_matmul(shunt_card* card, size_t m, size_t n, size_t k, const float* a, const float* b, float* c,
                               const shunt_matmul_options* options);

// A convolution's sizes and options. In one dimension h and kh are 1, and the second of each pair counts.
typedef struct shunt_conv {
    size_t n, c, h, w;            // pictures, channels, rows, columns
    size_t o, kh, kw;             // filters, and their rows and columns
    size_t stride[2];             // down and across; 0 is 1
    size_t pad[2];                // zeros above and below, left and right
    size_t dilation[2];           // 0 is 1
    size_t groups;                // divide c and o; 0 is 1
    shunt_activation activation;  // applied last
    const shunt_weight* weight;   // the filters' name; NULL: they are known by their contents
} shunt_conv;

// y [n, o, oh, ow] = activation(x [n, c, h, w] * w [o, c/groups, kh, kw] + bias [o]): cross-correlation with zero
// padding. bias may be NULL. Weights and bias are taken to stay as they are, where they are.
shunt_status shunt_conv2d(shunt_card* card, const shunt_conv* conv, const float* x, const float* w, const float* bias,
                          float* y);
shunt_status shunt_card_conv2d(shunt_card* card, const shunt_conv* conv, const float* x, const float* w,
                               const float* bias, float* y);

// oh = (h + 2·pad − dilation·(kh − 1) − 1) / stride + 1, rounded down, and ow likewise. SHUNT_BAD_ARGUMENT for what
// shunt_conv2d() would refuse.
shunt_status shunt_conv2d_sizes(const shunt_conv* conv, size_t* oh, size_t* ow);

// n values, in place. Without memory, a part of them may be done.
shunt_status shunt_activate(shunt_card* card, size_t n, float* values, shunt_activation activation);
shunt_status shunt_card_activate(shunt_card* card, size_t n, float* values, shunt_activation activation);

#ifdef __cplusplus
}
#endif
