//! Writes and reads numbers as LEB128, and signed ones as zigzag.

/// Appends a number.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the difference of a number to another one; it wraps around.
#[inline]
pub fn put_delta(out: &mut Vec<u8>, value: u64, from: u64) {
    let delta = value.wrapping_sub(from) as i64;
    put(out, ((delta << 1) ^ (delta >> 63)) as u64);
}

/// Appends a text with its length.
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Bytes that are read from the front; none are left after a read that fails.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    /// What is left.
    pub rest: &'a [u8],
}

impl<'a> Bits<'a> {
    /// A byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// A number.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A number of 32 bits.
    #[inline]
    pub fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// A number that was written as its difference to another one.
    #[inline]
    pub fn delta(&mut self, from: u64) -> Option<u64> {
        let coded = self.number()?;
        Some(from.wrapping_add((coded >> 1) ^ (coded & 1).wrapping_neg()))
    }

    /// Eight bytes as a finite real number.
    pub fn real(&mut self) -> Option<f64> {
        let (bytes, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(f64::from_le_bytes(*bytes)).filter(|value| value.is_finite())
    }

    /// A text.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            for from in [0, 5, 1 << 40, u64::MAX] {
                let mut out = Vec::new();
                put(&mut out, value);
                put_delta(&mut out, value, from);
                let mut bits = Bits { rest: &out };
                assert_eq!((bits.number(), bits.delta(from), bits.rest), (Some(value), Some(value), &[][..]));
                assert!(out.len() <= 20);
            }
        }
    }

    #[test]
    fn a_number_of_too_many_bits_is_none() {
        assert_eq!(Bits { rest: &[0xff; 12] }.number(), None);
        assert_eq!(Bits { rest: &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2] }.number(), None);
        assert_eq!(Bits { rest: &[0x80] }.number(), None);
    }
}
