//! Shares a device between its reads and its writes.

use crate::flow::{Network, Resource, ResourceId, Route, Use};
use crate::machine::Sharing;
use crate::result::Part;
use crate::units::BytesPerSecond;

/// The routes of reading from and writing to a device.
#[derive(Clone, Debug)]
pub(crate) struct ReadWrite {
    pub read: Route,
    pub write: Route,
}

/// One side of a device: a rate, or one for each number of streams.
pub(super) fn side(rate: BytesPerSecond, at: &[(u32, BytesPerSecond)]) -> Resource {
    match at {
        [] => Resource::constant(rate.0),
        points => Resource::varying(points.iter().map(|&(streams, rate)| (streams, rate.0)).collect()),
    }
}

/// The read and the write side of a device before they are added.
pub(super) struct Sides {
    pub read: Resource,
    pub write: Resource,
    pub read_part: Part,
    pub write_part: Part,
}

impl Sides {
    /// Adds the resources that `sharing` asks for.
    pub(super) fn add(self, sharing: Sharing, network: &mut impl Network) -> ReadWrite {
        match sharing {
            Sharing::Separate => {
                let (read, write) = (network.add(self.read), network.add(self.write));
                ReadWrite {
                    read: route(&[(read, 1.0, self.read_part)]),
                    write: route(&[(write, 1.0, self.write_part)]),
                }
            }
            Sharing::Time => {
                let cost = self.read.capacity(1) / self.write.capacity(1);
                let both = network.add(self.read);
                ReadWrite {
                    read: route(&[(both, 1.0, self.read_part)]),
                    write: route(&[(both, cost, self.write_part)]),
                }
            }
            Sharing::Total if self.read == self.write => {
                let both = network.add(self.read);
                ReadWrite {
                    read: route(&[(both, 1.0, self.read_part)]),
                    write: route(&[(both, 1.0, self.write_part)]),
                }
            }
            Sharing::Total => {
                let total = network.add(Resource::faster(&self.read, &self.write));
                let (read, write) = (network.add(self.read), network.add(self.write));
                ReadWrite {
                    read: route(&[(read, 1.0, self.read_part), (total, 1.0, self.read_part)]),
                    write: route(&[(write, 1.0, self.write_part), (total, 1.0, self.write_part)]),
                }
            }
        }
    }
}

pub(super) fn route(uses: &[(ResourceId, f64, Part)]) -> Route {
    let uses: Vec<Use> = uses.iter().map(|&(resource, cost, part)| Use { resource, cost, part }).collect();
    Route::new(&uses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::fluid::Fluid;

    fn sides(read: f64, write: f64) -> Sides {
        Sides {
            read: Resource::constant(read),
            write: Resource::constant(write),
            read_part: Part::DeviceRead,
            write_part: Part::DeviceWrite,
        }
    }

    #[test]
    fn equal_rates_share_one_resource() {
        let both = sides(5.0, 5.0).add(Sharing::Total, &mut Fluid::default());
        assert_eq!(both.read.uses()[0].resource, both.write.uses()[0].resource);
        assert_eq!(both.read.uses().len(), 1);
    }

    #[test]
    fn unequal_rates_have_a_total_besides() {
        let both = sides(5.0, 4.0).add(Sharing::Total, &mut Fluid::default());
        assert_ne!(both.read.uses()[0].resource, both.write.uses()[0].resource);
        assert_eq!(both.read.uses()[1].resource, both.write.uses()[1].resource);
    }

    #[test]
    fn shared_time_makes_slow_writes_dear() {
        let both = sides(6.0, 4.0).add(Sharing::Time, &mut Fluid::default());
        assert_eq!(both.read.uses()[0].resource, both.write.uses()[0].resource);
        assert_eq!(both.write.uses()[0].cost, 1.5);
    }

    #[test]
    fn separate_sides_do_not_meet() {
        let both = sides(5.0, 5.0).add(Sharing::Separate, &mut Fluid::default());
        assert_ne!(both.read.uses()[0].resource, both.write.uses()[0].resource);
    }
}
