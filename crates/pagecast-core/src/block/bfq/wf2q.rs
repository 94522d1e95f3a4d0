//! B-WF2Q+: which queue is served next, by virtual times of start and finish.
//!
//! Source: `block/bfq-wf2q.c`, Linux 6.12. Left out: groups; one level of queues is there, of three classes.

use crate::units::Nanos;
use crate::workload::IoClass;

/// `WFQ_SERVICE_SHIFT`
const SERVICE_SHIFT: u32 = 22;
/// `BFQ_CL_IDLE_TIMEOUT`: the idle class is served so often at least.
const IDLE_CLASS_TIMEOUT: Nanos = Nanos(200_000_000);

/// Where a queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum On {
    /// In no tree.
    #[default]
    Nothing,
    /// Among those that wait for service.
    Active,
    /// Empty, with a finish in the future.
    Idle,
    /// In service.
    Service,
}

/// The place of a queue in the order of service (`bfq_entity`); service and budgets in sectors.
#[derive(Clone, Debug, Default)]
pub struct Entity {
    pub on: On,
    pub class: IoClass,
    pub start: u64,
    pub finish: u64,
    pub budget: u64,
    pub service: u64,
    pub weight: u64,
    /// Without weight raising.
    pub orig_weight: u64,
}

impl Entity {
    /// `bfq_bfqq_budget_left`
    pub fn budget_left(&self) -> u64 {
        self.budget.saturating_sub(self.service)
    }

    /// `bfq_calc_finish`
    fn calc_finish(&mut self, service: u64) {
        self.finish = self.start + delta(service, self.weight);
    }
}

/// The queues of a class (`bfq_service_tree`).
#[derive(Clone, Copy, Debug, Default)]
pub struct ServiceTree {
    vtime: u64,
    /// The weights of all queues that are on it.
    wsum: u64,
}

/// `bfq_delta`
fn delta(service: u64, weight: u64) -> u64 {
    (service << SERVICE_SHIFT) / weight.max(1)
}

/// The trees of all classes (`bfq_sched_data`).
#[derive(Debug, Default)]
pub struct ServiceTrees {
    each: [ServiceTree; 3],
    idle_class_served: Nanos,
}

impl ServiceTrees {
    fn of(&mut self, entity: &Entity) -> &mut ServiceTree {
        &mut self.each[entity.class as usize]
    }

    /// `__bfq_activate_entity`: puts a queue that is not active among those that wait, as if it had never been away if it is `shifted_back`.
    pub fn activate(&mut self, entity: &mut Entity, class: IoClass, shifted_back: bool, coeff: u64) {
        let tree = self.of(entity);
        let shifted_back = shifted_back && tree.vtime > entity.finish;
        let least = if shifted_back { entity.finish } else { tree.vtime };
        if entity.on == On::Idle {
            entity.start = least.max(entity.finish);
            tree.wsum -= entity.weight;
        } else {
            entity.start = least;
        }
        if entity.class != class {
            entity.class = class;
            entity.start = self.of(entity).vtime;
        }
        self.of(entity).wsum += entity.weight;
        self.enqueue(entity, shifted_back, coeff);
    }

    /// `__bfq_requeue_entity`
    pub fn requeue(&mut self, entity: &mut Entity, coeff: u64) {
        if entity.on == On::Service {
            entity.calc_finish(entity.service);
            entity.start = entity.finish;
        }
        self.enqueue(entity, false, coeff);
    }

    /// `bfq_update_fin_time_enqueue`
    fn enqueue(&mut self, entity: &mut Entity, shifted_back: bool, coeff: u64) {
        self.update_weight(entity, coeff);
        entity.calc_finish(entity.budget);
        let vtime = self.of(entity).vtime;
        if shifted_back && vtime > entity.finish {
            let push = (vtime - entity.finish) / coeff;
            entity.start += push;
            entity.finish += push;
        }
        entity.on = On::Active;
    }

    /// `__bfq_entity_update_weight_prio`
    pub fn update_weight(&mut self, entity: &mut Entity, coeff: u64) {
        let tree = self.of(entity);
        tree.wsum -= entity.weight;
        entity.weight = entity.orig_weight * coeff;
        tree.wsum += entity.weight;
    }

    /// `__bfq_deactivate_entity`
    pub fn deactivate(&mut self, entity: &mut Entity) {
        if entity.on == On::Service {
            entity.calc_finish(entity.service);
        }
        let tree = self.of(entity);
        if entity.finish > tree.vtime {
            entity.on = On::Idle;
        } else {
            tree.wsum -= entity.weight;
            entity.on = On::Nothing;
        }
    }

    /// `bfq_bfqq_served`: charges a queue for service.
    pub fn served(&mut self, entity: &mut Entity, sectors: u64) {
        entity.service += sectors;
        let tree = self.of(entity);
        tree.vtime += delta(sectors, tree.wsum);
    }

    /// `bfq_forget_idle`: forgets an empty queue whose finish is past.
    pub fn forget_idle<'a>(&mut self, class: IoClass, idle: impl Iterator<Item = &'a mut Entity>) {
        let tree = &mut self.each[class as usize];
        let of_class = idle.filter(|each| each.on == On::Idle && each.class == class);
        if let Some(first) = of_class.min_by_key(|each| each.finish).filter(|each| each.finish <= tree.vtime)
        {
            tree.wsum -= first.weight;
            first.on = On::Nothing;
        }
    }

    /// `bfq_lookup_next_entity`: the queue of the best class that is eligible and has the least finish.
    pub fn next<'a>(
        &mut self,
        now: Nanos,
        all: impl Iterator<Item = (u32, &'a Entity)> + Clone,
    ) -> Option<u32> {
        let active = all.filter(|(_, each)| each.on == On::Active);
        let best = active.clone().map(|(_, each)| each.class).min()?;
        let has_idle = active.clone().any(|(_, each)| each.class == IoClass::Idle);
        let is_due = self.idle_class_served + IDLE_CLASS_TIMEOUT < now;
        if is_due {
            self.idle_class_served = now;
        }
        let class = if is_due && has_idle { IoClass::Idle } else { best };
        let of_class = active.filter(|(_, each)| each.class == class);
        let tree = &mut self.each[class as usize];
        let first = of_class.clone().map(|(_, each)| each.start).min()?;
        tree.vtime = tree.vtime.max(first);
        let vtime = tree.vtime;
        of_class.filter(|(_, each)| each.start <= vtime).min_by_key(|(_, each)| each.finish).map(|(at, _)| at)
    }

    /// The sum of weights that a queue has its part of, with those of better classes (`bfqq_request_over_limit`).
    pub fn weights_down_to(&self, class: IoClass) -> u64 {
        const LEVELS: u64 = 8;
        self.each[..=class as usize].iter().fold(0, |sum, tree| sum * LEVELS + tree.wsum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves two queues that never empty for so many budgets. Returns the sectors of each.
    fn shares(weights: [u64; 2]) -> [u64; 2] {
        let mut trees = ServiceTrees::default();
        let mut queues =
            weights.map(|weight| Entity { budget: 1000, orig_weight: weight, ..Entity::default() });
        queues.iter_mut().for_each(|each| trees.activate(each, IoClass::BestEffort, false, 1));
        let mut sectors = [0, 0];
        for _ in 0..900 {
            let next = trees.next(Nanos::ZERO, queues.iter().enumerate().map(|(at, each)| (at as u32, each)));
            let next = next.expect("both wait") as usize;
            queues[next].on = On::Service;
            trees.served(&mut queues[next], 1000);
            sectors[next] += 1000;
            trees.requeue(&mut queues[next], 1);
            queues[next].service = 0;
        }
        sectors
    }

    #[test]
    fn service_is_shared_by_weights() {
        assert_eq!(shares([40, 40]), [450_000, 450_000]);
        let [heavy, light] = shares([80, 10]);
        assert!((heavy as f64 / light as f64 - 8.0).abs() < 0.1, "{heavy} {light}");
    }
}
