//! State spaces as opcodes name them.

use crate::isa::Space;

/// The words that name a space.
pub(super) const SPACES: &[(&str, Space)] = &[
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("local", Space::Local),
    ("param", Space::Param),
    ("const", Space::Const),
    ("shared::cta", Space::Shared),
    ("shared::cluster", Space::SharedCluster),
    ("param::entry", Space::Param),
    ("param::func", Space::ParamFunc),
];

/// Whether a variable of space `variable` is where an instruction of space `named` looks.
pub(super) fn same_space(variable: Space, named: Space) -> bool {
    let group = |space: Space| match space {
        Space::SharedCluster => Space::Shared,
        Space::ParamFunc => Space::Param,
        other @ (Space::Generic | Space::Global | Space::Const | Space::Shared | Space::Local | Space::Param) => other,
    };
    group(variable) == group(named)
}
