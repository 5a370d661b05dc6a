//! The conversion of texels between memory and registers.

use crate::isa::ChannelType;
use crate::num::F16;
use crate::program::Texels;

/// The four components of a texel, each a 32-bit word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Texel(pub [u32; 4]);

impl Texels {
    /// The components of a texel with the bytes `bytes`: floats, or integers of 32 bits. Absent channels are 0. The smallest normalized
    /// signed integer is slightly below -1.
    pub fn decode(&self, bytes: &[u8], normalized_float: bool) -> Texel {
        let mut components = [0; 4];
        let channels = bytes.chunks_exact(self.channel.bytes() as usize);
        for (component, bytes) in components.iter_mut().zip(channels) {
            *component = decode(self.channel, word(bytes), normalized_float);
        }
        Texel(components)
    }

    /// The bytes of a texel with `components`, as `sust.p` stores them: integers are clamped to the range of the channel, halves are
    /// rounded towards zero.
    pub fn encode(&self, components: [u32; 4]) -> Vec<u8> {
        let channels = components.iter().take(self.channels as usize);
        channels.flat_map(|component| encode(self.channel, *component)).collect()
    }
}

fn decode(channel: ChannelType, word: u32, normalized: bool) -> u32 {
    let float = |value: f32| value.to_bits();
    match channel {
        ChannelType::U8 if normalized => float(word as f32 / 255.0),
        ChannelType::U16 if normalized => float(word as f32 / 65535.0),
        ChannelType::S8 if normalized => float(f32::from(word as i8) / 127.0),
        ChannelType::S16 if normalized => float(f32::from(word as i16) / 32767.0),
        ChannelType::S8 => i32::from(word as i8) as u32,
        ChannelType::S16 => i32::from(word as i16) as u32,
        ChannelType::F16 => float(F16(word as u16).to_f32()),
        ChannelType::U8 | ChannelType::U16 | ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => word,
    }
}

fn encode(channel: ChannelType, component: u32) -> Vec<u8> {
    let signed = component as i32;
    let word = match channel {
        ChannelType::U8 => component.min(u32::from(u8::MAX)),
        ChannelType::U16 => component.min(u32::from(u16::MAX)),
        ChannelType::S8 => signed.clamp(i32::from(i8::MIN), i32::from(i8::MAX)) as u32,
        ChannelType::S16 => signed.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as u32,
        ChannelType::F16 => half_towards_zero(f32::from_bits(component)),
        ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => component,
    };
    word.to_le_bytes()[..channel.bytes() as usize].to_vec()
}

/// The bits of a float as a half, rounded towards zero.
fn half_towards_zero(value: f32) -> u32 {
    let nearest = F16::from_f64(f64::from(value));
    let beyond = nearest.to_f32().abs() > value.abs();
    u32::from(nearest.0) - u32::from(beyond)
}

/// The little-endian number in up to four bytes.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}
