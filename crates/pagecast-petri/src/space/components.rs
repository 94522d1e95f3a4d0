//! Finds the strongly connected components of a state space (Tarjan, 1972), without recursion.

/// The component of each node; components are numbered so that an arc never leads to a larger number.
pub fn components(successors: impl Fn(usize) -> Vec<u32>, nodes: usize) -> (Vec<u32>, usize) {
    const NONE: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NONE; nodes], vec![0_u32; nodes]);
    let mut component = vec![NONE; nodes];
    let (mut stack, mut next, mut count) = (Vec::new(), 0_u32, 0_usize);
    for root in 0..nodes {
        if index[root] != NONE {
            continue;
        }
        let mut open: Vec<(usize, Vec<u32>, usize)> = Vec::new();
        let mut visit = Some(root);
        loop {
            if let Some(node) = visit.take() {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                open.push((node, successors(node), 0));
            }
            let Some((node, targets, at)) = open.last_mut() else { break };
            let node = *node;
            if let Some(&target) = targets.get(*at) {
                *at += 1;
                let target = target as usize;
                if index[target] == NONE {
                    visit = Some(target);
                } else if component[target] == NONE {
                    low[node] = low[node].min(index[target]);
                }
                continue;
            }
            open.pop();
            if let Some((parent, ..)) = open.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = count as u32;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    (component, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_one_component_and_its_end_another() {
        let arcs: [&[u32]; 4] = [&[1], &[2], &[0, 3], &[]];
        let (found, count) = components(|node| arcs[node].to_vec(), 4);
        assert_eq!(count, 2);
        assert_eq!(found, [1, 1, 1, 0]);
    }
}
