/* What the tests of the surface share: an expectation that does not hold ends the program with its place. */
#ifndef EXPECT_H
#define EXPECT_H

#include "ptxdbg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(what)                                                                       \
    do {                                                                                   \
        if (!(what)) {                                                                     \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, ptxdbg_error()); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

#endif
