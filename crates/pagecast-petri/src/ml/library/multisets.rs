//! Functions of multisets.

use super::super::machine::{Fault, list_of, multiset};
use super::{Entry, exceptions, is_true, taken};
use crate::value::{Multiset, Tokens, Value, When};

pub(super) const ENTRIES: &[Entry] = &[
    (&["cf"], "'a * 'a ms -> int", |_, a| {
        let multiset = multiset(taken(a, 1));
        Ok(Value::Int(multiset.count(&a[0]) as i64))
    }),
    (&["ms_to_col"], "'a ms -> 'a list", |_, a| Ok(Value::List(list_of(taken(a, 0))?))),
    (&["ms_to_list"], "'a ms -> 'a list", |_, a| Ok(Value::List(list_of(taken(a, 0))?))),
    (&["list_to_ms"], "'a list -> 'a ms", |_, a| {
        let list = list_of(taken(a, 0))?;
        let tokens =
            list.as_slice().iter().map(|value| Tokens { value: value.clone(), when: When::NOW, count: 1 });
        Ok(Value::Ms(Multiset::collect(tokens.collect()).into()))
    }),
    (&["ext_ms"], "('a -> 'b ms) -> 'a ms -> 'b ms", |machine, a| {
        let mut all = Vec::new();
        for tokens in &multiset(taken(a, 1)).0 {
            let found = multiset(machine.apply(&a[0], tokens.value.clone())?);
            all.extend(found.0.iter().map(|one| Tokens { count: one.count * tokens.count, ..one.clone() }));
        }
        Ok(Value::Ms(Multiset::collect(all).into()))
    }),
    (&["filter"], "('a -> bool) -> 'a ms -> 'a ms", |machine, a| {
        let mut kept = Vec::new();
        for tokens in &multiset(taken(a, 1)).0 {
            if is_true(&machine.apply(&a[0], tokens.value.clone())?) {
                kept.push(tokens.clone());
            }
        }
        Ok(Value::Ms(Multiset(kept).into()))
    }),
    (&["random"], "'a ms -> 'a", |machine, a| {
        let multiset = multiset(taken(a, 0));
        if multiset.is_empty() {
            return Err(Fault::new(exceptions::EMPTY, "an empty multiset has no random element"));
        }
        let mut left = machine.state.draws.below(multiset.len());
        for tokens in &multiset.0 {
            if left < tokens.count {
                return Ok(tokens.value.clone());
            }
            left -= tokens.count;
        }
        unreachable!("the draw is below the number of tokens")
    }),
];
