//! The driver's functions of textures and surfaces that are replaced.

#![allow(non_snake_case, reason = "the names are the driver's")]

use std::ffi::c_void;

use crate::driver::{NOT_FOUND, SUCCESS, Status};
use crate::hooks::{Hook, hook};
use crate::textures::{self, Kind};

/// An argument that is only passed on.
type Any = *mut c_void;
type MakeTexture = unsafe extern "C" fn(*mut u64, Any, Any, Any) -> Status;
type MakeSurface = unsafe extern "C" fn(*mut u64, Any) -> Status;
type Destroy = unsafe extern "C" fn(u64) -> Status;

static TEXTURE: Hook = hook(c"cuTexObjectCreate", c"cuTexObjectCreate", cuTexObjectCreate as *const c_void);
static TEXTURE_END: Hook = hook(c"cuTexObjectDestroy", c"cuTexObjectDestroy", cuTexObjectDestroy as *const c_void);
static SURFACE: Hook = hook(c"cuSurfObjectCreate", c"cuSurfObjectCreate", cuSurfObjectCreate as *const c_void);
static SURFACE_END: Hook = hook(c"cuSurfObjectDestroy", c"cuSurfObjectDestroy", cuSurfObjectDestroy as *const c_void);

/// The functions that are replaced.
pub static HOOKS: [&Hook; 4] = [&TEXTURE, &TEXTURE_END, &SURFACE, &SURFACE_END];

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectCreate(handle: *mut u64, resource: Any, sampling: Any, view: Any) -> Status {
    let Some(real) = TEXTURE.real::<MakeTexture>() else { return NOT_FOUND };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(handle, resource, sampling, view) };
    if status == SUCCESS {
        // SAFETY: the driver has written the handle.
        textures::is_made(Kind::Texture, unsafe { *handle });
    }
    status
}

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectDestroy(handle: u64) -> Status {
    textures::is_destroyed(Kind::Texture, handle);
    // SAFETY: the argument is the program's.
    TEXTURE_END.real::<Destroy>().map_or(NOT_FOUND, |real| unsafe { real(handle) })
}

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectCreate(handle: *mut u64, resource: Any) -> Status {
    let Some(real) = SURFACE.real::<MakeSurface>() else { return NOT_FOUND };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(handle, resource) };
    if status == SUCCESS {
        // SAFETY: the driver has written the handle.
        textures::is_made(Kind::Surface, unsafe { *handle });
    }
    status
}

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectDestroy(handle: u64) -> Status {
    textures::is_destroyed(Kind::Surface, handle);
    // SAFETY: the argument is the program's.
    SURFACE_END.real::<Destroy>().map_or(NOT_FOUND, |real| unsafe { real(handle) })
}
