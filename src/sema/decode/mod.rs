//! From an instruction of the tree to an operation of the program, by the instruction table.
