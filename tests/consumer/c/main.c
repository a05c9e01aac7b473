// Hello, world in C: a product, without a card.
#include <shunt/offload.h>
#include <stdio.h>

int main(void) {
    const float row[] = {1, 2}, matrix[] = {3, 4, 5, 6};
    float product[2];
    if (shunt_matmul(NULL, 1, 2, 2, row, matrix, product, NULL) != SHUNT_DONE) {
        printf("%s\n", shunt_last_message());
        return 1;
    }
    printf("%g %g\n", product[0], product[1]);
    return product[0] == 13 && product[1] == 16 ? 0 : 1;
}
