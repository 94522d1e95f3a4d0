//! Works out which tasks wait for which, and how far each is from the end.

use rustc_hash::FxHashSet;

use super::flow::Flow;
use crate::nearest::shorten;
use crate::readers::error::ReadError;

/// The most tasks of a circle that a message names.
const NAMED_IN_CIRCLE: usize = 8;

/// What follows from parents and files together.
pub struct Order {
    /// For each task how many tasks the longest path from it to an exit task has, itself included.
    pub depth: Vec<u32>,
    /// Files that exist before any task runs, in the order of the instance.
    pub initial: Vec<u32>,
    /// How many tasks wait for one that writes a file of theirs and is not among their parents.
    pub by_files: usize,
}

impl Order {
    /// Completes the parents of all tasks.
    ///
    /// # Errors
    /// Tasks that wait for each other.
    pub fn of(flow: &mut Flow, origin: &str) -> Result<Self, ReadError> {
        let writers = writers(flow);
        let mut by_files = follow_files_alone(flow, &writers);
        let mut place = sorted(flow, origin)?;
        by_files += follow_files(flow, &writers, &place);
        place = sorted(flow, origin)?;
        Ok(Self { depth: depths(flow, &place), initial: initial(flow, &writers, &place), by_files })
    }
}

/// The tasks that write each file.
fn writers(flow: &Flow) -> Vec<Vec<u32>> {
    let mut writers = vec![Vec::new(); flow.files.len()];
    for (at, task) in (0..).zip(&flow.tasks) {
        task.outputs.iter().for_each(|&file| writers[file as usize].push(at));
    }
    writers
}

/// A task without parents and children waits for those who write what it reads, as in WfCommons' own migration.
fn follow_files_alone(flow: &mut Flow, writers: &[Vec<u32>]) -> usize {
    let parents: FxHashSet<u32> = flow.tasks.iter().flat_map(|task| task.parents.iter().copied()).collect();
    let mut followed = 0;
    for at in 0..flow.tasks.len() as u32 {
        let task = &mut flow.tasks[at as usize];
        if !task.parents.is_empty() || parents.contains(&at) {
            continue;
        }
        let all = task.inputs.iter().flat_map(|&file| &writers[file as usize]).copied();
        task.parents = all.filter(|&writer| writer != at).collect();
        task.parents.sort_unstable();
        task.parents.dedup();
        followed += usize::from(!task.parents.is_empty());
    }
    followed
}

/// A task waits for those before it in the order that write what it reads, if none of its parents does.
fn follow_files(flow: &mut Flow, writers: &[Vec<u32>], place: &[u32]) -> usize {
    let mut followed = 0;
    for at in 0..flow.tasks.len() {
        let task = &flow.tasks[at];
        let mut more: Vec<u32> = Vec::new();
        for &file in &task.inputs {
            let writers = &writers[file as usize];
            let is_parent = |writer: &u32| task.parents.binary_search(writer).is_ok();
            if !writers.iter().any(is_parent) {
                let before = writers.iter().copied().filter(|&writer| place[writer as usize] < place[at]);
                more.extend(before);
            }
        }
        if !more.is_empty() {
            followed += 1;
            let parents = &mut flow.tasks[at].parents;
            parents.extend(more);
            parents.sort_unstable();
            parents.dedup();
        }
    }
    followed
}

/// The place of each task in an order in which parents come first.
fn sorted(flow: &Flow, origin: &str) -> Result<Vec<u32>, ReadError> {
    let (mut waiting, children) = children(flow);
    let mut place = vec![u32::MAX; waiting.len()];
    let mut order: Vec<u32> = (0..waiting.len() as u32).filter(|&at| waiting[at as usize] == 0).collect();
    let mut next = 0;
    while let Some(&done) = order.get(next) {
        place[done as usize] = next as u32;
        next += 1;
        for &child in &children[done as usize] {
            waiting[child as usize] -= 1;
            if waiting[child as usize] == 0 {
                order.push(child);
            }
        }
    }
    match waiting.iter().position(|&left| left > 0) {
        Some(first) => Err(circle(flow, origin, first, &waiting)),
        None => Ok(place),
    }
}

/// For each task how many parents it has, and its children.
fn children(flow: &Flow) -> (Vec<usize>, Vec<Vec<u32>>) {
    let mut children = vec![Vec::new(); flow.tasks.len()];
    for (at, task) in (0..).zip(&flow.tasks) {
        task.parents.iter().for_each(|&parent| children[parent as usize].push(at));
    }
    (flow.tasks.iter().map(|task| task.parents.len()).collect(), children)
}

/// Whoever still waits does so for somebody who still waits: going back from `first` must come round.
fn circle(flow: &Flow, origin: &str, first: usize, waiting: &[usize]) -> ReadError {
    let mut path = vec![first];
    let mut seen = FxHashSet::from_iter([first]);
    let round = loop {
        let last = &flow.tasks[path[path.len() - 1]];
        let before = last.parents.iter().map(|&parent| parent as usize).find(|&parent| waiting[parent] > 0);
        let before = before.expect("it still waits for somebody");
        if !seen.insert(before) {
            let begin = path.iter().position(|&task| task == before).expect("it has been seen");
            break &path[begin..];
        }
        path.push(before);
    };
    let name = |&task: &usize| format!("`{}`", shorten(&flow.tasks[task].name));
    let shown: Vec<String> = round.iter().take(NAMED_IN_CIRCLE).map(name).collect();
    let more = if round.len() > NAMED_IN_CIRCLE { " after ..." } else { "" };
    let what =
        format!("tasks wait for each other: {}{more} after {}", shown.join(" after "), name(&round[0]));
    ReadError::new(
        format!("{origin}: {}", flow.tasks[round[0]].at),
        what,
        "remove one of the parents or children",
    )
}

fn depths(flow: &Flow, place: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..place.len() as u32).collect();
    order.sort_unstable_by_key(|&task| std::cmp::Reverse(place[task as usize]));
    let mut depth = vec![1; place.len()];
    for task in order {
        for &parent in &flow.tasks[task as usize].parents {
            depth[parent as usize] = depth[parent as usize].max(depth[task as usize] + 1);
        }
    }
    depth
}

/// Files that some task reads which comes before all that write it, or that writes it itself first of all.
fn initial(flow: &Flow, writers: &[Vec<u32>], place: &[u32]) -> Vec<u32> {
    let mut is_initial = vec![false; flow.files.len()];
    for (at, task) in flow.tasks.iter().enumerate() {
        for &file in &task.inputs {
            let is_written = writers[file as usize].iter().any(|&writer| place[writer as usize] < place[at]);
            is_initial[file as usize] |= !is_written;
        }
    }
    (0..).zip(is_initial).filter_map(|(file, is_initial)| is_initial.then_some(file)).collect()
}
