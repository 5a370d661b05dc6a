//! The help on expressions.

/// The text of `help expressions`.
pub const ABOUT: &str = "\
Expressions are those of C, over registers (%r1, %p1, %v.x), special registers (%tid.x), CUDA's names (threadIdx.x), variables, buffers \
of the launch, parameters and labels.\n\n\
x[3] is an element, x[0..7] are the elements 0 to 7. *x@8 and x[3]@8 are 8 elements, as in gdb, *x@n as many as n says. *(f32*)%rd1 reads \
memory through a pointer, *(shared f32*)%r2 in a space of its own: global, shared, local, const or param.\n\n\
A register with @ is that of other lanes of the warp: %r1@5 of lane 5, %r1@0-7 or %r1@0..7 of lanes 0 to 7, %r1@0-3,8 of a list, %r1@* of \
all. (%r1 + 1)@* is computed in each lane. A difference is written with blanks: %r1@5 - 1. *%rd1@8 is refused, as it could be 8 elements \
or lane 8: write %rd1[0..7] or *(%rd1@8). A variable of the source is in lanes with x@* and x@0..3; x@3 is its value in lane 3 where it \
is in a register or a parameter of the kernel, and as in gdb 3 objects from it on where it is in other memory. 'watch', 'last' and \
'history' take what 'print' shows.\n\n\
any(), all(), min(), max(), sum() and uniform() take a value in the active lanes, or in those of an @ inside. fabs(), sqrt(), rsqrt(), \
fmin() and fmax(), the same with an f at the end, and min(a, b) and max(a, b) are those of C. $pc, $lane, $warp, $frame, $time and \
$active say where the thread is.\n\n\
Where a module has debug data (nvcc -G, clang -g), the variables of the source have their names and types: acc, s.field, p->next, *p, \
a[3][5], color == app::BLUE. A plain name is looked up as in C++, in the innermost namespace around the function first; ::name is outside \
of all, 'app::scale<int>' in quotes or without is a name with its arguments. A name of both a variable and a register is the variable; \
%r6, $r6 and R6 are the register. The name of a pointer to numbers among the parameters of the kernel that is also a buffer's is the \
buffer as long as it points to its start, and the pointer once the kernel has moved it. Where only lines are known (nvcc -lineinfo), a \
parameter that the kernel changes has its value at entry: 'info args' shows it as n@entry, and param_2 is it. (V*)p, static_cast<V*>(p) \
and (app::Color)5 cast to types of the source, and a pointer to an object becomes one to its base; of several types of one name the one in \
scope is meant, as in C++, app::V names another, and what stays open is refused with all of them; const in a cast is the word of C, and \
the state space with an @: (@const int*). sizeof(V) and sizeof(x) are sizes, p[0..3] are objects in a row, p[0..3].x a member of each. \
'info locals', 'info args', 'info scope', 'whatis' and 'ptype' list and explain them.\n\n\
A variable of a Triton program is the tensor that the block's threads hold together, where NAME.ttgir lies beside NAME.ptx: qk[0, 5], \
qk[0:4, 2] without the end, qk@* the part of the focused warp, qk - @ref.npy, sum(qk), (f32)p. Its value is what the last \
statement before the instruction has given it; · stands for an element that a load has left out, ? for one in no register.\n\n\
An array that its compiler declares by the byte has the type that the instructions that access it show; 'type' says which and changes \
it.\n\n\
print keeps what it shows: $ is the last value, $$ the one before it, $$3 the third before it, $2 the second of all ('show values'). \
'set $x = VALUE' keeps one under a name ('show convenience'); $_ is the last address that x has shown, $__ what lies there, $bpnum the \
last breakpoint. 'p i = 3', 'p ++i' and 'p a[i--] + 1' assign, as set does, each step once and in the order of the text. A parameter of \
the kernel is changed for all threads, of a debug build also in the register that the code has loaded it into. A variable without a \
value where the thread stands counts with the last one that it had, which is said, in expressions that are not about lanes.\n\n\
Casts take the types of PTX and of C: (f16x2)%r4, ((f16x2)%r4)[1], (float)%r1. Of a register \
        of a packed type, %r4.x and %r4.y are the numbers.";
