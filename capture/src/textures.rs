//! Textures and surfaces: the objects that the program has made, and the arrays of their texels, before a launch and after it.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint, c_void};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::driver::{self, Driver, Handle, NOT_FOUND, SUCCESS, Status};
use crate::parent;

/// What an object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is read, with a sampler.
    Texture,
    /// It is read and written.
    Surface,
}

impl Kind {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Texture => "texture",
            Kind::Surface => "surface",
        }
    }
}

static OBJECTS: Mutex<BTreeSet<(Kind, u64)>> = Mutex::new(BTreeSet::new());

/// The program has made an object.
pub fn is_made(kind: Kind, handle: u64) {
    if parent::is_there() {
        OBJECTS.lock().unwrap_or_else(PoisonError::into_inner).insert((kind, handle));
    }
}

/// The program destroys an object.
pub fn is_destroyed(kind: Kind, handle: u64) {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner).remove(&(kind, handle));
}

/// Formats of a channel, and its bytes.
const FORMATS: [(c_int, u64); 8] = [(1, 1), (2, 2), (3, 4), (8, 1), (9, 2), (10, 4), (0x10, 2), (0x20, 4)];
/// What memory an object is of.
const OF_ARRAY: c_int = 0;
const OF_LINEAR: c_int = 2;
const OF_PITCH: c_int = 3;
/// Flags of an array: the last extent counts its layers; it is a cubemap.
const LAYERED: c_uint = 1;
const CUBE: c_uint = 4;
/// A flag of a texture: its texels are in sRGB.
const SRGB: c_uint = 0x10;

/// `CUDA_RESOURCE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Resource {
    kind: c_int,
    words: [u64; 16],
    flags: c_uint,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Sampling {
    /// The mode for coordinates out of range, of each dimension.
    pub address: [c_int; 3],
    /// 0 is the nearest texel, 1 is linear.
    pub filter: c_int,
    /// What else is said.
    pub flags: c_uint,
    mipmaps: [c_uint; 5],
    /// The border's color.
    pub border: [f32; 4],
    reserved: [c_int; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct View {
    format: c_int,
    extents: [usize; 3],
    ranges: [c_uint; 4],
    reserved: [c_uint; 16],
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ArrayShape {
    extents: [usize; 3],
    format: c_int,
    channels: c_uint,
    flags: c_uint,
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side {
    at: [usize; 4],
    kind: c_uint,
    host: *mut c_void,
    device: u64,
    array: Handle,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
struct Copy3d {
    from: Side,
    to: Side,
    extents: [usize; 3],
}

type OfObject<T> = unsafe extern "C" fn(*mut T, u64) -> Status;

/// The functions of the driver that are called.
struct Functions {
    texture_resource: Option<OfObject<Resource>>,
    surface_resource: Option<OfObject<Resource>>,
    sampling: Option<OfObject<Sampling>>,
    view: Option<OfObject<View>>,
    shape: Option<unsafe extern "C" fn(*mut ArrayShape, Handle) -> Status>,
    copy: Option<unsafe extern "C" fn(*const Copy3d) -> Status>,
}

fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| Functions {
        texture_resource: driver::function(c"cuTexObjectGetResourceDesc"),
        surface_resource: driver::function(c"cuSurfObjectGetResourceDesc"),
        sampling: driver::function(c"cuTexObjectGetTextureDesc"),
        view: driver::function(c"cuTexObjectGetResourceViewDesc"),
        shape: driver::function(c"cuArray3DGetDescriptor_v2"),
        copy: driver::function(c"cuMemcpy3D_v2"),
    })
}

/// What `ask` says of an object.
fn asked<T: Default>(ask: Option<OfObject<T>>, handle: u64) -> Result<T, String> {
    let mut answer = T::default();
    // SAFETY: the object is one that the program has made; the result is written to a variable that lives on.
    let status = ask.map_or(NOT_FOUND, |ask| unsafe { ask(&mut answer, handle) });
    if status == SUCCESS { Ok(answer) } else { Err(format!("asked for it, the driver answers {status}")) }
}

/// Texels in a file.
pub struct Array {
    /// What they are copied from.
    origin: Origin,
    /// Their bytes.
    pub bytes: u64,
    /// The file with what they were before the launch.
    pub before: String,
    /// The file with what they were after it, if that is something else.
    pub after: Option<String>,
}

/// Where texels are on the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// In an array of these bytes in x, rows and planes.
    Array(Handle, [usize; 3]),
    /// In rows that begin as many bytes after each other: first address, bytes of a row, rows, pitch.
    Rows(u64, u64, u64, u64),
}

/// Where the texels of an object are.
pub enum Place {
    /// In the array of this index.
    Array(usize),
    /// In memory.
    Address(u64),
}

/// A texture or a surface.
pub struct Object {
    /// Which of them.
    pub kind: Kind,
    /// Its handle.
    pub handle: u64,
    /// Where its texels are.
    pub place: Place,
    /// Their format, as the driver numbers them, and channels.
    pub format: (c_int, c_uint),
    /// Width, height and depth; 0 where it has no such extent. Depth counts layers and faces where there are any.
    pub extents: [usize; 3],
    /// Whether it has layers.
    pub is_layered: bool,
    /// Whether it is a cubemap.
    pub is_cube: bool,
    /// How a texture is read.
    pub sampling: Sampling,
}

/// What is kept of textures and surfaces.
#[derive(Default)]
pub struct Textures {
    folder: PathBuf,
    /// The arrays.
    pub arrays: Vec<Array>,
    /// Those that lie in them, and in memory.
    pub objects: Vec<Object>,
}

impl Textures {
    /// Keeps all there are, in files of `folder`, of at most `bytes` bytes. What cannot be kept is said.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(driver: &Driver, folder: &Path, bytes: u64) -> io::Result<Self> {
        let mut textures = Self { folder: folder.to_path_buf(), ..Self::default() };
        let objects: Vec<(Kind, u64)> = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        for (kind, handle) in objects {
            let left = bytes - textures.bytes();
            if let Err(why) = textures.add(driver, kind, handle, left)? {
                parent::report(&["say", &format!("{} {handle:#x} is not captured: {why}", kind.word())]);
            }
        }
        Ok(textures)
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.arrays.iter().map(|array| array.bytes).sum()
    }

    /// The addresses of those that lie in memory.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.objects.iter().filter_map(|object| match object.place {
            Place::Array(_) => None,
            Place::Address(address) => Some(address),
        })
    }

    /// Adds an object; why it cannot be kept.
    fn add(&mut self, driver: &Driver, kind: Kind, handle: u64, left: u64) -> io::Result<Result<(), String>> {
        let (mut object, source) = match described(kind, handle) {
            Ok(described) => described,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(source) = source {
            let known = self.arrays.iter().position(|array| array.origin == source);
            let index = match known {
                Some(index) => index,
                None => match self.copy(driver, source, left)? {
                    Ok(index) => index,
                    Err(why) => return Ok(Err(why)),
                },
            };
            object.place = Place::Array(index);
        }
        self.objects.push(object);
        Ok(Ok(()))
    }

    fn copy(&mut self, driver: &Driver, origin: Origin, left: u64) -> io::Result<Result<usize, String>> {
        let bytes = origin.bytes();
        if bytes > left {
            return Ok(Err(format!("it has {bytes} bytes, and --max-bytes leaves {left}")));
        }
        let index = self.arrays.len();
        let before = format!("array{index}.bin");
        match origin.copied(driver) {
            Ok(texels) => fs::write(self.folder.join(&before), texels)?,
            Err(status) => return Ok(Err(format!("copying its texels, the driver answers {status}"))),
        }
        self.arrays.push(Array { origin, bytes, before, after: None });
        Ok(Ok(index))
    }

    /// Keeps what is otherwise now.
    ///
    /// # Errors
    /// It cannot be copied or written.
    pub fn keep_after(&mut self) -> io::Result<()> {
        for (index, array) in self.arrays.iter_mut().enumerate() {
            let texels = array.origin.copied(driver::driver());
            let texels = texels.map_err(|status| io::Error::other(format!("copying texels, the driver answers {status}")))?;
            if texels != fs::read(self.folder.join(&array.before))? {
                let name = format!("array{index}.after.bin");
                fs::write(self.folder.join(&name), texels)?;
                array.after = Some(name);
            }
        }
        Ok(())
    }
}

impl Origin {
    fn bytes(self) -> u64 {
        match self {
            Origin::Array(_, [row, rows, planes]) => (row as u64).saturating_mul(rows as u64).saturating_mul(planes as u64),
            Origin::Rows(_, row, rows, _) => row.saturating_mul(rows),
        }
    }

    /// The texels, row after row.
    fn copied(self, driver: &Driver) -> Result<Vec<u8>, Status> {
        let mut texels = vec![0; usize::try_from(self.bytes()).map_err(|_| NOT_FOUND)?];
        match self {
            Origin::Array(array, [row, rows, planes]) => {
                const HOST: c_uint = 1;
                const ARRAY: c_uint = 3;
                let none = ptr::null_mut();
                let side = Side { at: [0; 4], kind: HOST, host: none, device: 0, array: none, reserved: none, pitch: row, height: rows };
                let to = Side { host: texels.as_mut_ptr().cast(), ..side };
                let copy = Copy3d { from: Side { kind: ARRAY, array, ..side }, to, extents: [row, rows, planes] };
                // SAFETY: the array is that of an object that the program has made; there is room for as many bytes.
                let status = functions().copy.map_or(NOT_FOUND, |call| unsafe { call(&copy) });
                if status == SUCCESS { Ok(texels) } else { Err(status) }
            }
            Origin::Rows(address, row, _, pitch) => {
                for (number, texels) in (0_u64..).zip(texels.chunks_mut(usize::try_from(row).unwrap_or(0).max(1))) {
                    let status = driver.copy(address + number * pitch, texels);
                    if status != SUCCESS {
                        return Err(status);
                    }
                }
                Ok(texels)
            }
        }
    }
}

/// What an object is, and what its texels are copied from where they are not in plain memory; why it cannot be kept.
fn described(kind: Kind, handle: u64) -> Result<(Object, Option<Origin>), String> {
    let functions = functions();
    let resource = match kind {
        Kind::Texture => asked(functions.texture_resource, handle)?,
        Kind::Surface => asked(functions.surface_resource, handle)?,
    };
    let sampling = match kind {
        Kind::Texture => asked(functions.sampling, handle)?,
        Kind::Surface => Sampling::default(),
    };
    if sampling.flags & SRGB != 0 {
        return Err("its texels are in sRGB".to_string());
    }
    if kind == Kind::Texture && asked(functions.view, handle).is_ok_and(|view: View| view.format != 0) {
        return Err("it is a view of its array in another format".to_string());
    }
    let [first, packed, third, fourth, fifth, ..] = resource.words;
    let packed = (packed as c_int, (packed >> 32) as c_uint);
    let mut shape = ArrayShape::default();
    let (format, place) = match resource.kind {
        OF_ARRAY => {
            // SAFETY: the array is that of the object; the result is written to a variable that lives on.
            let status = functions.shape.map_or(NOT_FOUND, |ask| unsafe { ask(&mut shape, first as Handle) });
            if status != SUCCESS {
                return Err(format!("asked for its array, the driver answers {status}"));
            }
            ((shape.format, shape.channels), Place::Array(0))
        }
        OF_LINEAR => (packed, Place::Address(first)),
        OF_PITCH => {
            shape.extents = [third as usize, fourth as usize, 0];
            (packed, Place::Array(0))
        }
        _ => return Err("it is of a mipmapped array".to_string()),
    };
    let channel = FORMATS.iter().find(|(known, _)| *known == format.0).map(|(_, bytes)| *bytes);
    let channel = channel.ok_or_else(|| format!("its texels have format {:#x} of the driver", format.0))?;
    let texel = channel * u64::from(format.1);
    let source = match resource.kind {
        OF_ARRAY => {
            let [width, height, depth] = shape.extents;
            Some(Origin::Array(first as Handle, [width * texel as usize, height.max(1), depth.max(1)]))
        }
        OF_PITCH => Some(Origin::Rows(first, third * texel, fourth, fifth)),
        _ => {
            shape.extents = [(third / texel.max(1)) as usize, 0, 0];
            None
        }
    };
    let (is_layered, is_cube) = (shape.flags & LAYERED != 0, shape.flags & CUBE != 0);
    Ok((Object { kind, handle, place, format, extents: shape.extents, is_layered, is_cube, sampling }, source))
}
