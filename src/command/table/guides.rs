//! Topics of the help that are about no command of their own: keys, launches, formats, threads, the screen.

/// The text of `help keys`.
pub const KEYS: &str = "\
On the screen: F5 continues, F10 is next, F11 step, F7 stepi, F12 finish, F8 until. With Shift, or with Ctrl where the terminal keeps \
Shift \
for itself, F5, F7, F10, F11 and F12 go backwards. Alt+p and Alt+n go to the position before and after, as the buttons of a browser \
do; Alt+e \
explains the instruction, Alt+g shows the groups of lanes.\n\n\
F2 browses: all keys and the mouse are those of the panes then, until q, Escape or F2; at the prompt, keys without Alt, Ctrl or a number \
write. \
F6, Tab and Shift+Tab go from pane to pane, a click chooses one; a pane without room is shown alone when it is \
its turn. In a pane Up, Down, Left, Right, k, j, PageUp, PageDown, Home and \
End move; . \
goes back to where the focused lane stands, Enter or a second click goes to what is chosen, F9 sets or clears a breakpoint; / \
searches, n and \
N go on. z or Alt+z shows the pane alone. F3 shows the other text: PTX or the source. F4 shows the next layout. F1 and ? list all \
keys, Escape goes back to the panes. A key \
that writes a letter takes one back to the prompt.\n\n\
At the prompt: Tab completes, Enter on an empty line repeats a step, Up and Ctrl-R find lines typed before, Ctrl-C stops a run, \
Ctrl-L draws \
anew, Ctrl-D leaves. The keys are those of Emacs. A file keys.ron in the configuration folder changes keys: ptxdbg-layout(5) says how.";

/// The text of `help launch`, before that of the command.
pub const LAUNCH: &str = "\
What runs is a launch: a kernel, its grid and block, its parameters and memory. It comes from a launch file (-l FILE.ron, or \
kernel.ron beside \
kernel.ptx), from -a on the command line, from a capture (.ptxcap), or it is made up from the kernel; 'info launch' shows it, with \
the reasons \
for what was made up. 'launch NAME=VALUE' changes it, 'save launch FILE' keeps it. ptxdbg-launch(5) describes the file.\n\n\
-a NAME=VALUE gives a parameter or a variable: n=64, x=@x.npy (NumPy), x=f32[16,64]=random, p=null. Several launches in a file run in \
order on \
the same memory: 'goto launch N' and 'catch launch' stop between them, -k NAME begins at the first of a kernel.\n\n\
From Python, ptxdbg.run(...) and Triton's kernel[grid](...) launch on NumPy arrays and torch tensors: docs/python.md.";

/// The text of `help formats`.
pub const FORMATS: &str = "\
After a slash, print, display, output, x and info registers take a letter: x hexadecimal, z with leading zeros, d signed, u unsigned, \
o octal, \
t binary, f floating point, a an address with its symbol, c a character. x also takes a count, a size (b 1 byte, h 2, w 4, g 8) and s \
strings, \
i instructions: x/8xw out, x/4i $pc. Without a letter a value is shown by its type.\n\n\
The name of a type is a format too and takes the bits for elements of it, the lowest first: p/f16 %r1 is {1, -2}, p/e4m3 %r1 has four, \
x/8bf16 As, display/tf32 %r2, info registers/f16.\n\n\
Types narrow or widen a value: (f16)%rs1, (bf16)%rs1, (f16x2)%r1, (bf16x2)%r1, (e4m3x2)%rs1, (e5m2x2)%rs1, (s8x4)%r1; ((f16x2)%r1)[1] \
is one \
half of it. f16, bf16 and fp8 are shown in full. *(f32*)%rd1 is memory, 'type VARIABLE f32[16][16]' gives a byte array a type for \
good.\n\n\
printf and dprintf take the formats of C: \"%d %x %f\\n\", %r1, %r2, %f1.";

/// The text of `help threads`.
pub const THREADS: &str = "\
The focus is one thread; registers and expressions are its. 'block 1,0,0', 'warp 2', 'lane 5', 'thread 33' or 'thread 1,2', 'cluster \
0', and \
'cuda block 1 thread 5' move it; 'up' and 'down' choose a frame.\n\n\
THREADS after break, watch, catch, dprintf and listings are such words too: 'block 1,0,0 warp 2 lane 0-7', 'warp 1', 'lane 0-3,8', or \
a role: \
'producer'. What is not named is not limited. 'role producer warp 0' gives warps a name, 'role auto' guesses.\n\n\
%r1@5 is the register in lane 5, %r1@0-7 in some, %r1@* in all; min(), max(), sum(), any(), all() and uniform() take them together. \
'thread \
apply THREADS COMMAND' does a command for each. A predicate that is false turns lanes off: 'info lanes' and 'list' name these masks \
after \
'off'. 'info divergence' shows the groups of a warp and where they meet.";

/// The text of `help screen`.
pub const SCREEN: &str = "\
On a terminal the screen shows panes, and the prompt below them; --plain has the prompt alone. 'layout NAME' shows other panes: default, \
compact, source, divergence, race, async, memory, tensor, tour; gdb's src, split, asm and regs are known too. F4 goes through them, \
'save \
layout mine' keeps one's own, and ptxdbg-layout(5) describes the file. --theme light is for light grounds.\n\n\
Panes: source (PTX or CUDA), control flow with the lanes in each block, registers, warps, memory, findings, barriers and mbarriers, \
what is in \
flight, a timeline: a click on it goes to that time. 'help keys' lists the keys; PageUp and PageDown scroll.";

/// The text of `help gdb`, before the list of words.
pub const GDB: &str = "\
Most words of gdb and cuda-gdb are commands here, with gdb's short names: 'help' lists them. Others have one line that says what does \
it here:";
