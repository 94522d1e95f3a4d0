//! Keeps the place of a flow among the flows of each resource on its path.
//!
//! The first ones are in the flow itself, since most paths are short; those of long routes over a network are on the heap.

/// How many places are in the flow.
const NEAR: usize = 5;

/// The place at each resource of a path, in the order of the path.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    near: [u32; NEAR],
    far: Vec<u32>,
}

impl Places {
    /// The place at one resource, which has been set.
    pub(super) fn get(&self, number: usize) -> u32 {
        match self.near.get(number) {
            Some(&place) => place,
            None => self.far[number - NEAR],
        }
    }

    /// Notes the place at one resource.
    pub(super) fn set(&mut self, number: usize, place: u32) {
        if let Some(near) = self.near.get_mut(number) {
            *near = place;
            return;
        }
        if self.far.len() <= number - NEAR {
            self.far.resize(number - NEAR + 1, 0);
        }
        self.far[number - NEAR] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_was_set_last_however_long_the_path() {
        let mut places = Places::default();
        (0..20).for_each(|at| places.set(at, 100 + at as u32));
        places.set(3, 7);
        places.set(17, 8);
        assert_eq!([0, 3, 4, 5, 17, 19].map(|at| places.get(at)), [100, 7, 104, 105, 8, 119]);
    }
}
