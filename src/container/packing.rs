//! Compression of entries' payloads, with bounds on decompression.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

/// Maximum window of a decoder in bytes. A frame with a larger one is rejected.
const WINDOW_BYTES: u64 = 64 << 20;
/// Maximum bytes of a decompressed payload: the same as of a PTX file.
const UNPACKED_BYTES: u64 = 512 << 20;
/// Maximum compression ratio of LZ4 (LZ4 Block Format Description: a byte of a length adds at most 255).
const LZ4_RATIO: u64 = 255;

/// The compression of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Uncompressed, possibly with zero padding.
    Plain,
    /// One block of LZ4.
    Lz4,
    /// A frame of Zstandard.
    Zstd,
    /// An unknown compression: the flags of the entry.
    Unknown(u64),
}

impl Packing {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Plain => "plain",
            Packing::Lz4 => "LZ4",
            Packing::Zstd => "zstd",
            Packing::Unknown(_) => "unknown",
        }
    }

    /// Decompresses `bytes`; the result must have `size` bytes if they are compressed.
    ///
    /// # Errors
    /// The bytes are damaged, or the result does not have `size` bytes, in a line. Allocations are bounded by the compression ratio.
    pub fn unpack(self, bytes: Vec<u8>, size: u64) -> Result<Vec<u8>, String> {
        if size > UNPACKED_BYTES && self != Packing::Plain {
            return Err(format!("it says it has {size} bytes when unpacked; {UNPACKED_BYTES} is the most that is read"));
        }
        match self {
            Packing::Plain => Ok(bytes),
            Packing::Lz4 => lz4(&bytes, size),
            Packing::Zstd => zstd(&bytes, size),
            Packing::Unknown(flags) => Err(format!("it is packed in a way that is not known here (flags {flags:#x})")),
        }
    }
}

fn lz4(bytes: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let damaged = |why: String| format!("its LZ4 block is damaged: {why}");
    let most = (bytes.len() as u64).saturating_mul(LZ4_RATIO);
    if size > most {
        return Err(damaged(format!("{} bytes cannot stand for the {size} that it says", bytes.len())));
    }
    let mut unpacked = vec![0; size as usize];
    let written = lz4_flex::block::decompress_into(bytes, &mut unpacked).map_err(|error| damaged(error.to_string()))?;
    if written as u64 != size {
        return Err(damaged(format!("it comes to {written} bytes, and says {size}")));
    }
    Ok(unpacked)
}

fn zstd(bytes: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let damaged = |why: String| format!("its zstd frame is damaged: {why}");
    let decoder = StreamingDecoder::new_with_max_window_size(bytes, WINDOW_BYTES).map_err(|error| damaged(error.to_string()))?;
    let mut unpacked = Vec::new();
    // One byte more than `size` shows that there is more.
    decoder.take(size.saturating_add(1)).read_to_end(&mut unpacked).map_err(|error| damaged(error.to_string()))?;
    match unpacked.len() as u64 {
        written if written == size => Ok(unpacked),
        written if written > size => Err(damaged(format!("it comes to more than the {size} bytes that it says"))),
        written => Err(damaged(format!("it comes to {written} bytes, and says {size}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `abcabcabcabcabc!!!!!`: three literals, a match of 12 bytes 3 back, and five literals (LZ4 Block Format Description).
    const LZ4: &[u8] = b"\x38abc\x03\x00\x50!!!!!";

    #[test]
    fn lz4_blocks_are_unpacked_to_the_size_that_is_said() {
        assert_eq!(Packing::Lz4.unpack(LZ4.to_vec(), 20).as_deref(), Ok(&b"abcabcabcabcabc!!!!!"[..]));
        for size in [0, 19, 21, 3000, 1 << 40] {
            assert!(Packing::Lz4.unpack(LZ4.to_vec(), size).is_err(), "{size}");
        }
        assert!(Packing::Lz4.unpack(LZ4[..6].to_vec(), 20).is_err());
    }

    /// A frame of one raw block, `abc`, and one that repeats `x` 9 times (RFC 8878, 3.1.1).
    const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x00\x58\x18\x00\x00abc\x4b\x00\x00x";

    #[test]
    fn zstd_frames_are_unpacked_to_the_size_that_is_said() {
        assert_eq!(Packing::Zstd.unpack(ZSTD.to_vec(), 12).as_deref(), Ok(&b"abcxxxxxxxxx"[..]));
        for size in [0, 11, 13, 1 << 40] {
            assert!(Packing::Zstd.unpack(ZSTD.to_vec(), size).is_err(), "{size}");
        }
        for end in 0..ZSTD.len() {
            assert!(Packing::Zstd.unpack(ZSTD[..end].to_vec(), 12).is_err(), "{end}");
        }
    }

    /// Its window is of 2^41 bytes.
    #[test]
    fn a_wide_window_is_refused() {
        let mut wide = ZSTD.to_vec();
        wide[5] = 0xf8;
        let said = Packing::Zstd.unpack(wide, 12).unwrap_err();
        assert!(said.contains("window"), "{said}");
    }
}
