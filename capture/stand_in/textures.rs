//! Arrays of 32-bit texels, and textures and surfaces of them.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Mutex;

use crate::callbacks::called;
use crate::{Handle, INVALID_VALUE, SUCCESS};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Shape {
    extents: [usize; 3],
    format: c_int,
    channels: c_uint,
    flags: c_uint,
}

struct Array {
    shape: Shape,
    texels: Vec<u32>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: c_int,
    words: [u64; 16],
    flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side {
    at: [usize; 4],
    kind: c_uint,
    host: *mut c_void,
    device: u64,
    array: Handle,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

#[repr(C)]
pub struct Copy3d {
    from: Side,
    to: Side,
    extents: [usize; 3],
}

/// Textures have odd handles, surfaces even ones.
static OBJECTS: Mutex<Vec<(u64, [u32; 8], Resource)>> = Mutex::new(Vec::new());

fn resource(handle: u64) -> Option<([u32; 8], Resource)> {
    OBJECTS.lock().unwrap().iter().find(|(known, ..)| *known == handle).map(|(_, sampling, resource)| (*sampling, *resource))
}

fn array(handle: u64) -> &'static mut Array {
    let (_, resource) = resource(handle).unwrap();
    unsafe { &mut *(resource.words[0] as *mut Array) }
}

/// The texel of a texture or surface.
pub fn texel(handle: u64, x: usize, y: usize) -> &'static mut u32 {
    let array = array(handle);
    let width = array.shape.extents[0];
    &mut array.texels[y * width + x]
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArray3DCreate_v2(made: *mut Handle, shape: *const Shape) -> c_int {
    let shape = unsafe { *shape };
    let [width, height, depth] = shape.extents;
    let texels = vec![0; width * height.max(1) * depth.max(1) * shape.channels as usize];
    unsafe { *made = Box::into_raw(Box::new(Array { shape, texels })).cast() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArray3DGetDescriptor_v2(shape: *mut Shape, array: Handle) -> c_int {
    unsafe { *shape = (*array.cast::<Array>()).shape };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3D_v2(copy: *const Copy3d) -> c_int {
    let Copy3d { from, to, extents: [row, rows, planes] } = unsafe { &*copy };
    let of = |side: &Side| if side.kind == 3 { unsafe { (*side.array.cast::<Array>()).texels.as_mut_ptr().cast() } } else { side.host };
    unsafe { ptr::copy_nonoverlapping(of(from).cast::<u8>(), of(to).cast::<u8>(), row * rows * planes) };
    SUCCESS
}

fn make(handle: *mut u64, sampling: [u32; 8], of: *const Resource, is_texture: bool) -> c_int {
    let mut objects = OBJECTS.lock().unwrap();
    let number = 2 * objects.len() as u64 + 2 - u64::from(is_texture);
    objects.push((number, sampling, unsafe { *of }));
    unsafe { *handle = number };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectCreate(handle: *mut u64, of: *const Resource, sampling: *const [u32; 8], _: *const c_void) -> c_int {
    called(5, c"cuTexObjectCreate", [handle.cast_const()], || make(handle, unsafe { *sampling }, of, true))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectCreate(handle: *mut u64, of: *const Resource) -> c_int {
    called(6, c"cuSurfObjectCreate", [handle.cast_const()], || make(handle, [0; 8], of, false))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetResourceDesc(of: *mut Resource, handle: u64) -> c_int {
    let Some((_, resource)) = resource(handle) else { return INVALID_VALUE };
    unsafe { *of = resource };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectGetResourceDesc(of: *mut Resource, handle: u64) -> c_int {
    unsafe { cuTexObjectGetResourceDesc(of, handle) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetTextureDesc(sampling: *mut [u32; 8], handle: u64) -> c_int {
    let Some((known, _)) = resource(handle) else { return INVALID_VALUE };
    unsafe { *sampling = known };
    SUCCESS
}
