//! Deals the bytes of a file to parts, a strip to each in turn.
//!
//! Source: `src/io/description/dist-simple-stripe.c`, OrangeFS 2.9. Strips of a part follow one another in its datafile, so the bytes of a
//! range that a part has are one range of the datafile.

use crate::units::Bytes;

/// A file that is dealt to so many parts in strips of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stripes {
    strip: u64,
    parts: u64,
}

/// The bytes of a range that one part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    /// The part, counted from 0.
    pub part: u32,
    /// Its first byte in the datafile.
    pub offset: u64,
    pub bytes: Bytes,
}

impl Stripes {
    /// Strips of at least one byte, at least one part.
    pub(crate) fn new(strip: Bytes, parts: u32) -> Self {
        Self { strip: strip.0, parts: parts.into() }
    }

    /// The bytes that a part has of the first `size` bytes of a file.
    pub(crate) fn share(&self, part: u32, size: Bytes) -> Bytes {
        let (rounds, rest) = match self.strip.checked_mul(self.parts) {
            Some(round) => (size.0 / round, size.0 % round),
            None => (0, size.0),
        };
        let before = self.strip.saturating_mul(part.into());
        Bytes(rounds * self.strip + rest.saturating_sub(before).min(self.strip))
    }

    /// The payload of each part that has bytes of a range, in the order of their first bytes.
    pub(crate) fn payloads(&self, offset: u64, bytes: Bytes) -> impl Iterator<Item = Payload> {
        let (stripes, end) = (*self, Bytes(offset.saturating_add(bytes.0)));
        let first = offset / self.strip;
        let strips = if bytes == Bytes::ZERO { 0 } else { (end.0 - 1) / self.strip - first + 1 };
        (first..first + strips.min(self.parts)).map(move |strip| {
            let part = (strip % stripes.parts) as u32;
            let start = stripes.share(part, Bytes(offset));
            Payload { part, offset: start.0, bytes: stripes.share(part, end) - start }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The payloads of a range, byte by byte: the strip of each byte, dealt in turn.
    fn dealt(strip: u64, parts: u64, offset: u64, bytes: u64) -> Vec<Payload> {
        let mut all: Vec<Payload> = Vec::new();
        for at in offset..offset + bytes {
            let part = (at / strip % parts) as u32;
            match all.iter_mut().find(|payload| payload.part == part) {
                Some(payload) => payload.bytes += Bytes(1),
                None => {
                    let offset = at / (strip * parts) * strip + at % strip;
                    all.push(Payload { part, offset, bytes: Bytes(1) });
                }
            }
        }
        all
    }

    proptest! {
        #[test]
        fn payloads_are_those_of_single_bytes(strip in 1_u64..9, parts in 1_u32..6, offset in 0_u64..200, bytes in 0_u64..200) {
            let payloads: Vec<_> = Stripes::new(Bytes(strip), parts).payloads(offset, Bytes(bytes)).collect();
            prop_assert_eq!(payloads, dealt(strip, parts.into(), offset, bytes));
        }

        #[test]
        fn no_byte_is_lost(strip in 1_u64..1 << 40, parts in 1_u32..70, offset in 0_u64..1 << 50, bytes in 0_u64..1 << 50) {
            let stripes = Stripes::new(Bytes(strip), parts);
            let sent: u64 = stripes.payloads(offset, Bytes(bytes)).map(|payload| payload.bytes.0).sum();
            prop_assert_eq!(sent, bytes);
            let kept: u64 = (0..parts).map(|part| stripes.share(part, Bytes(offset)).0).sum();
            prop_assert_eq!(kept, offset);
        }

        #[test]
        fn payloads_follow_one_another_in_their_datafiles(strip in 1_u64..1 << 20, parts in 1_u32..70, cuts in prop::collection::vec(0_u64..1 << 30, 2..9)) {
            let stripes = Stripes::new(Bytes(strip), parts);
            let mut ends = vec![0; parts as usize];
            let mut at = 0;
            for bytes in cuts {
                for Payload { part, offset, bytes } in stripes.payloads(at, Bytes(bytes)) {
                    prop_assert_eq!(offset, ends[part as usize]);
                    ends[part as usize] += bytes.0;
                }
                at += bytes;
            }
        }
    }
}
