//! Changes to a launch by arguments of a command: `grid=4,2`, `n=64`, `x=@x.npy`.

use std::path::Path;

use super::arg_syntax::{ArgReader, extents, split};
use super::block_list::{block_list, blocks_of};
use super::element::Element;
use super::file::Launch;
use super::param_args::{self, Formal};
use super::ron_advice::meant;
use super::variable_args::{self, Names};
use crate::base::{Diagnostic, SourceId};

/// A part of a launch that is not a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Blocks.
    Grid,
    /// Threads of a block.
    Block,
    /// Blocks of a cluster.
    Cluster,
    /// The blocks that run.
    Blocks,
    /// Bytes of dynamic shared memory.
    DynamicShared,
}

/// Each part with its name in launch files.
const SHAPES: [(&str, Shape); 5] = [
    ("grid", Shape::Grid),
    ("block", Shape::Block),
    ("cluster", Shape::Cluster),
    ("blocks", Shape::Blocks),
    ("dynamic_shared", Shape::DynamicShared),
];

/// What chooses all blocks.
const ALL: &str = "all";

/// The parts of a launch that arguments have set, even to the value that they had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The parameters, by index.
    pub params: Vec<usize>,
    /// The variables of the module, by name.
    pub variables: Vec<String>,
    /// The rest.
    pub shapes: Vec<Shape>,
}

/// Changes `launch`, of a kernel and a module with these `names`, as `args` say, each with its source; data files are
/// relative to `folder`.
///
/// # Errors
/// Every mistake in the arguments; the launch is then unchanged.
pub fn change(launch: &mut Launch, args: &[(SourceId, &str)], names: Names<'_>, folder: &Path) -> Result<Changed, Vec<Diagnostic>> {
    let (mut after, mut changed, mut errors) = (launch.clone(), Changed::default(), Vec::new());
    let (formals, mut params) = (names.params, Vec::new());
    match variable_args::read(args, names, folder) {
        Ok(given) => given.into_iter().for_each(|given| {
            changed.variables.push(given.name.clone());
            given.put(&mut after);
        }),
        Err(wrong) => errors.extend(wrong),
    }
    for (source, arg) in &names.not_of_variables(args) {
        match SHAPES.iter().find(|(name, _)| *name == name_of(arg) && !is_formal(arg, formals)) {
            Some((_, shape)) => {
                errors.extend(reshape(&mut after, *shape, ArgReader { arg, source: *source }).err());
                changed.shapes.push(*shape);
            }
            None => match no_change(ArgReader { arg, source: *source }, formals) {
                Some(error) => errors.push(error),
                None => params.push((*source, *arg)),
            },
        }
    }
    match param_args::read(&params, names, folder) {
        Ok(given) => {
            for (index, (param, _)) in given {
                if let Some(place) = after.params.get_mut(index) {
                    place.set(param);
                }
                changed.params.push(index);
            }
        }
        Err(wrong) => errors.extend(wrong),
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    *launch = after;
    Ok(changed)
}

/// The error for an argument that changes nothing: it names no part of the shape and no parameter, and has no value for one.
fn no_change(reader: ArgReader<'_>, formals: &[Formal]) -> Option<Diagnostic> {
    let arg = reader.arg;
    let name = name_of(arg);
    let (ty, extents, value) = split(arg);
    let is_value = ty == "bytes" || Element::from_name(ty).is_some() || !arg.starts_with(|first: char| first.is_ascii_alphabetic());
    if let Some(meant) = meant(name, SHAPES.iter().map(|(name, _)| *name)).filter(|_| !is_value && !is_formal(arg, formals)) {
        let help = format!("did you mean '{meant}'? {meant}={}", &arg[name.len() + 1..]);
        return Some(reader.error(arg, format!("'{name}' is neither a parameter nor a part of the shape"), &help));
    }
    let says_nothing = value.is_none() && extents.is_none() && !is_value && !arg.contains(',');
    says_nothing.then(|| reader.error(arg, format!("'{arg}' changes nothing"), "a change is NAME=VALUE: n=64, x=@x.npy, grid=4,2"))
}

fn name_of(arg: &str) -> &str {
    arg.split_once('=').map_or("", |(name, _)| name)
}

/// True if a parameter of the kernel has the name; it takes precedence over a part of the shape.
fn is_formal(arg: &str, formals: &[Formal]) -> bool {
    formals.iter().any(|formal| formal.names.iter().any(|known| known == name_of(arg)))
}

fn reshape(launch: &mut Launch, shape: Shape, reader: ArgReader<'_>) -> Result<(), Diagnostic> {
    let (name, value) = reader.arg.split_once('=').unwrap_or((reader.arg, ""));
    let three = || -> Result<(u32, u32, u32), Diagnostic> {
        let [x, y, z] = extents(value).map_err(|message| reader.error(value, message, &format!("{name}=4,2")))?;
        Ok((x, y, z))
    };
    match shape {
        Shape::Grid => launch.grid = three()?,
        Shape::Block => launch.block = three()?,
        Shape::Cluster => launch.cluster = Some(three()?),
        Shape::Blocks if value == ALL => launch.blocks = None,
        Shape::Blocks => {
            let (x, y, z) = launch.grid;
            let blocks = block_list(value).and_then(|ranges| blocks_of(&ranges, [x, y, z]));
            let blocks = blocks.map_err(|message| reader.error(value, message, "blocks=17,0,0 blocks=0-3 blocks=all"))?;
            launch.blocks = Some(blocks.into_iter().map(|[x, y, z]| (x, y, z)).collect());
        }
        Shape::DynamicShared => {
            let wrong = |_| reader.error(value, format!("'{value}' is not a number of bytes"), "dynamic_shared=4096");
            launch.dynamic_shared = value.parse().map_err(wrong)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::file::{Content, Param};
    use super::super::param_args::ParamType;
    use super::super::read::LaunchFile;
    use super::super::{Element, Number};
    use super::*;

    fn launch() -> Launch {
        let text = "Launch(grid: (1, 1, 1), block: (32, 1, 1), params: [Buffer(name: \"x\", elem: F32, len: 4, init: Zero), U32(1)])";
        let file = LaunchFile::parse("a.ron", Path::new(""), text.to_string()).unwrap();
        let Content::Launch(launch) = file.content else { panic!("{text} is one launch") };
        launch
    }

    fn formals() -> Vec<Formal> {
        let formal = |name: &str, ty| Formal { names: vec![name.to_string()], ty };
        vec![formal("x", ParamType::Pointer(Some(Element::F32))), formal("n", ParamType::Scalar(Element::U32))]
    }

    fn names(params: &[Formal]) -> Names<'_> {
        Names { params, variables: &[] }
    }

    #[test]
    fn shapes_and_parameters_are_changed() {
        let mut changed = launch();
        let args = ["grid=4,2", "block=8x8", "cluster=2", "dynamic_shared=64", "n=7"].map(|arg| (SourceId(0), arg));
        change(&mut changed, &args, names(&formals()), Path::new("")).unwrap();
        assert_eq!((changed.grid, changed.block, changed.cluster), ((4, 2, 1), (8, 8, 1), Some((2, 1, 1))));
        assert_eq!((changed.dynamic_shared, &changed.params[1]), (64, &Param::U32(Number::Integer(7))));
        assert_eq!(changed.params[0], launch().params[0]);
    }

    #[test]
    fn words_that_change_nothing_are_refused_in_a_line() {
        for (arg, message, help) in [
            ("shared=64", "'shared' is neither a parameter nor a part of the shape", "did you mean 'dynamic_shared'? dynamic_shared=64"),
            ("Grid=4", "'Grid' is neither a parameter nor a part of the shape", "did you mean 'grid'? grid=4"),
            ("foo", "'foo' changes nothing", "a change is NAME=VALUE: n=64, x=@x.npy, grid=4,2"),
            ("n", "'n' changes nothing", "a change is NAME=VALUE: n=64, x=@x.npy, grid=4,2"),
        ] {
            let errors = change(&mut launch(), &[(SourceId(0), arg)], names(&formals()), Path::new("")).unwrap_err();
            assert_eq!((&*errors[0].message, errors[0].help.as_deref(), errors.len()), (message, Some(help), 1), "{arg}");
        }
    }

    #[test]
    fn a_mistake_changes_nothing() {
        let mut changed = launch();
        let args = [(SourceId(0), "grid=4"), (SourceId(1), "block=0"), (SourceId(2), "m=3"), (SourceId(3), "dynamic_shared=many")];
        let errors = change(&mut changed, &args, names(&formals()), Path::new("")).unwrap_err();
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(messages, ["no extent can be 0", "'many' is not a number of bytes", "'m' is neither a parameter nor a type"]);
        assert_eq!(changed, launch());
    }
}
