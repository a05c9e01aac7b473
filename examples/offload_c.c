// In C: a product and a convolution, each on the graphics card where that is faster, and what was decided.
// Works without a card too.
#include <shunt/offload.h>
#include <stdio.h>
#include <stdlib.h>

static void expect_done(shunt_status status) {
    if (status == SHUNT_DONE) return;
    printf("%s\n", shunt_last_message());
    exit(1);
}

int main(void) {
    shunt_card* card = shunt_card_open(NULL);
    if (shunt_card_reason(card)) printf("Everything on the CPU: %s\n", shunt_card_reason(card));

    const float rows[] = {1, 2, 3, 4}, matrix[] = {5, 6, 7, 8};
    float c[4];
    shunt_weight* weight = shunt_weight_create();  // the card knows the matrix by it
    for (int i = 0; i < 3; i++)
        expect_done(shunt_matmul(card, 2, 2, 2, rows, matrix, c, &(shunt_matmul_options){.weight = weight}));

    const float picture[3 * 3] = {0, 0, 0, 0, 1, 0, 0, 0, 0}, filter[2 * 2] = {1, -2, 3, -4};
    const shunt_conv conv = {
        .n = 1, .c = 1, .h = 3, .w = 3, .o = 1, .kh = 2, .kw = 2, .activation = {SHUNT_RELU, 0, 0}};
    size_t oh, ow;
    expect_done(shunt_conv2d_sizes(&conv, &oh, &ow));
    float* y = malloc(oh * ow * sizeof *y);
    if (!y) return 1;
    expect_done(shunt_conv2d(card, &conv, picture, filter, NULL, y));

    printf("%g %g %g %g, %g %g %g %g\n", c[0], c[1], c[2], c[3], y[0], y[1], y[2], y[3]);
    char* report = shunt_card_report(card);
    if (report) printf("%s", report);
    const int right = c[0] == 19 && c[3] == 50 && y[0] == 0 && y[1] == 3 && y[2] == 0 && y[3] == 1;
    shunt_free(report);
    free(y);
    shunt_weight_free(weight);
    shunt_card_close(card);
    return right ? 0 : 1;
}
