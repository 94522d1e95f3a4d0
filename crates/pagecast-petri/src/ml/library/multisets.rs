//! Functions of multisets.

use std::sync::Arc;

use super::super::machine::{Fault, list_of, multiset};
use super::{Entry, Evaluated, exceptions, taken};
use crate::value::{Multiset, Tokens, Value, When};

pub(super) const ENTRIES: &[Entry] = &[
    (&["cf"], "'a * 'a ms -> int", |_, a| {
        let multiset = tokens(taken(a, 1))?;
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
        for one in &tokens(taken(a, 1))?.0 {
            let found = multiset(machine.apply(&a[0], one.value.clone())?);
            all.extend(found.0.iter().map(|each| Tokens { count: each.count * one.count, ..each.clone() }));
        }
        Ok(Value::Ms(Multiset::collect(all).into()))
    }),
    (&["random"], "'a ms -> 'a", |machine, a| {
        let multiset = tokens(taken(a, 0))?;
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

/// A multiset, or the one of the items of a list.
fn tokens(of: Value) -> Evaluated<Arc<Multiset>> {
    match of {
        Value::List(list) => {
            let one = |value: &Value| Tokens { value: value.clone(), when: When::NOW, count: 1 };
            Ok(Arc::new(Multiset::collect(list.as_slice().iter().map(one).collect())))
        }
        of => Ok(multiset(of)),
    }
}
