//! State spaces in opcodes.

use crate::isa::Space;

/// The modifiers for state spaces.
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

/// True if an instruction that names the space `named` can access a variable of space `variable`.
pub(super) fn same_space(variable: Space, named: Space) -> bool {
    let parent = |space: Space| match space {
        Space::SharedCluster => Space::Shared,
        Space::ParamFunc => Space::Param,
        other @ (Space::Generic | Space::Global | Space::Const | Space::Shared | Space::Local | Space::Param) => other,
    };
    parent(variable) == parent(named)
}
