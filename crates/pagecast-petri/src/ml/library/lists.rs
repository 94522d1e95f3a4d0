//! Functions of lists; a multiset is a list of its tokens.

use super::super::machine::{Evaluated, Fault, Machine, checked, list_of};
use super::{Entry, NONE, exceptions, int, is_true, some, taken};
use crate::value::{List, Value};

pub(super) const ENTRIES: &[Entry] = &[
    (&["hd", "List.hd"], "'a list -> 'a", |_, a| first(&list(a, 0)?).cloned()),
    (&["tl", "List.tl"], "'a list -> 'a list", |_, a| {
        let list = list(a, 0)?;
        first(&list)?;
        Ok(Value::List(list.tail(1)))
    }),
    (&["null", "List.null"], "'a list -> bool", |_, a| Ok(Value::Bool(list(a, 0)?.is_empty()))),
    (&["length", "List.length"], "'a list -> int", |_, a| Ok(Value::Int(list(a, 0)?.len() as i64))),
    (&["rev", "List.rev"], "'a list -> 'a list", |_, a| {
        Ok(Value::list(list(a, 0)?.as_slice().iter().rev().cloned().collect()))
    }),
    (&["List.last"], "'a list -> 'a", |_, a| {
        list(a, 0)?
            .as_slice()
            .last()
            .cloned()
            .ok_or_else(|| Fault::new(exceptions::EMPTY, "an empty list has no last item"))
    }),
    (&["nth", "List.nth"], "'a list * int -> 'a", |_, a| {
        let (list, at) = (list(a, 0)?, int(&a[1]));
        let found = usize::try_from(at).ok().and_then(|at| list.as_slice().get(at).cloned());
        found.ok_or_else(|| beyond(&list, at))
    }),
    (&["List.take"], "'a list * int -> 'a list", |_, a| {
        let (list, n) = (list(a, 0)?, int(&a[1]));
        let found = usize::try_from(n).ok().and_then(|n| list.as_slice().get(..n));
        Ok(Value::list(found.ok_or_else(|| beyond(&list, n))?.to_vec()))
    }),
    (&["List.drop"], "'a list * int -> 'a list", |_, a| {
        let (list, n) = (list(a, 0)?, int(&a[1]));
        match usize::try_from(n).ok().filter(|&n| n <= list.len()) {
            Some(n) => Ok(Value::List(list.tail(n))),
            None => Err(beyond(&list, n)),
        }
    }),
    (&["List.concat"], "'a list list -> 'a list", |_, a| {
        let mut found = Vec::new();
        for inner in list(a, 0)?.as_slice() {
            found.extend_from_slice(list_of(inner.clone())?.as_slice());
        }
        Ok(Value::list(checked(found)?))
    }),
    (&["map", "List.map", "ext_col"], "('a -> 'b) -> 'a list -> 'b list", |machine, a| {
        let list = list(a, 1)?;
        let found = list.as_slice().iter().map(|item| machine.apply(&a[0], item.clone()));
        Ok(Value::list(found.collect::<Evaluated<_>>()?))
    }),
    (&["app", "List.app"], "('a -> 'b) -> 'a list -> unit", |machine, a| {
        for item in list(a, 1)?.as_slice() {
            machine.apply(&a[0], item.clone())?;
        }
        Ok(Value::Unit)
    }),
    (&["List.filter", "filter"], "('a -> bool) -> 'a list -> 'a list", |machine, a| {
        let (list, function) = (list(a, 1)?, taken(a, 0));
        Ok(Value::list(parted(machine, &function, &list)?.0))
    }),
    (&["List.partition"], "('a -> bool) -> 'a list -> 'a list * 'a list", |machine, a| {
        let (list, function) = (list(a, 1)?, taken(a, 0));
        let (with, without) = parted(machine, &function, &list)?;
        Ok(Value::tuple([Value::list(with), Value::list(without)]))
    }),
    (&["List.all"], "('a -> bool) -> 'a list -> bool", |machine, a| {
        for item in list(a, 1)?.as_slice() {
            if !is_true(&machine.apply(&a[0], item.clone())?) {
                return Ok(Value::Bool(false));
            }
        }
        Ok(Value::Bool(true))
    }),
    (&["List.exists"], "('a -> bool) -> 'a list -> bool", |machine, a| {
        for item in list(a, 1)?.as_slice() {
            if is_true(&machine.apply(&a[0], item.clone())?) {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }),
    (&["List.find"], "('a -> bool) -> 'a list -> 'a option", |machine, a| {
        for item in list(a, 1)?.as_slice() {
            if is_true(&machine.apply(&a[0], item.clone())?) {
                return Ok(some(item.clone()));
            }
        }
        Ok(NONE)
    }),
    (&["List.mapPartial"], "('a -> 'b option) -> 'a list -> 'b list", |machine, a| {
        let mut found = Vec::new();
        for item in list(a, 1)?.as_slice() {
            if let Value::Apply(_, value) = machine.apply(&a[0], item.clone())? {
                found.push((*value).clone());
            }
        }
        Ok(Value::list(found))
    }),
    (&["foldl", "List.foldl"], "('a * 'b -> 'b) -> 'b -> 'a list -> 'b", |machine, a| {
        let (list, mut found) = (list(a, 2)?, taken(a, 1));
        for item in list.as_slice() {
            found = machine.apply(&a[0], Value::tuple([item.clone(), found]))?;
        }
        Ok(found)
    }),
    (&["foldr", "List.foldr"], "('a * 'b -> 'b) -> 'b -> 'a list -> 'b", |machine, a| {
        let (list, mut found) = (list(a, 2)?, taken(a, 1));
        for item in list.as_slice().iter().rev() {
            found = machine.apply(&a[0], Value::tuple([item.clone(), found]))?;
        }
        Ok(found)
    }),
    (&["List.tabulate"], "int * (int -> 'a) -> 'a list", |machine, a| {
        let mut found = Vec::new();
        for at in 0..int(&a[0]) {
            found.push(machine.apply(&a[1], Value::Int(at))?);
            if at % (1 << 20) == 0 {
                found = checked(found)?;
            }
        }
        Ok(Value::list(checked(found)?))
    }),
    (&["ListPair.zip"], "'a list * 'b list -> ('a * 'b) list", |_, a| {
        let (x, y) = (list(a, 0)?, list(a, 1)?);
        let pairs = x.as_slice().iter().zip(y.as_slice());
        Ok(Value::list(pairs.map(|(x, y)| Value::tuple([x.clone(), y.clone()])).collect()))
    }),
    (&["sort", "Misc.sort"], "('a * 'a -> bool) -> 'a list -> 'a list", |machine, a| {
        let (list, less) = (list(a, 1)?, taken(a, 0));
        let is_less = &mut |a: &Value, b: &Value| machine.apply(&less, Value::tuple([a.clone(), b.clone()]));
        Ok(Value::list(sorted(is_less, list.as_slice())?))
    }),
    (&["ListMergeSort.sort"], "('a * 'a -> bool) -> 'a list -> 'a list", |machine, a| {
        let (list, greater) = (list(a, 1)?, taken(a, 0));
        let is_less =
            &mut |a: &Value, b: &Value| machine.apply(&greater, Value::tuple([b.clone(), a.clone()]));
        Ok(Value::list(sorted(is_less, list.as_slice())?))
    }),
    (&["mem"], "'a list -> 'a -> bool", |_, a| Ok(Value::Bool(list(a, 0)?.as_slice().contains(&a[1])))),
    (&["rm"], "'a -> 'a list -> 'a list", |_, a| {
        let mut items = list(a, 1)?.as_slice().to_vec();
        if let Some(at) = items.iter().position(|item| *item == a[0]) {
            items.remove(at);
        }
        Ok(Value::list(items))
    }),
    (&["rmall"], "'a -> 'a list -> 'a list", |_, a| {
        let list = list(a, 1)?;
        Ok(Value::list(list.as_slice().iter().filter(|item| **item != a[0]).cloned().collect()))
    }),
    (&["contains"], "'a list -> 'a list -> bool", |_, a| {
        let (all, wanted) = (list(a, 0)?, list(a, 1)?);
        Ok(Value::Bool(wanted.as_slice().iter().all(|item| all.as_slice().contains(item))))
    }),
    (&["contains_all"], "'a list -> 'a list -> bool", |_, a| {
        let (all, wanted) = (list(a, 0)?, list(a, 1)?);
        Ok(Value::Bool(without(all.as_slice(), wanted.as_slice()).len() + wanted.len() == all.len()))
    }),
    (&["remdupl"], "'a list -> 'a list", |_, a| {
        let mut found: Vec<Value> = Vec::new();
        for item in list(a, 0)?.as_slice() {
            if !found.contains(item) {
                found.push(item.clone());
            }
        }
        Ok(Value::list(found))
    }),
    (&["intersect"], "'a list -> 'a list -> 'a list", |_, a| {
        let (x, y) = (list(a, 0)?, list(a, 1)?);
        let rest = without(x.as_slice(), y.as_slice());
        Ok(Value::list(without(x.as_slice(), &rest)))
    }),
    (&["union"], "'a list -> 'a list -> 'a list", |_, a| {
        let (x, y) = (list(a, 0)?, list(a, 1)?);
        Ok(Value::list(checked([x.as_slice(), y.as_slice()].concat())?))
    }),
    (&["listsub"], "'a list -> 'a list -> 'a list", |_, a| {
        let (x, y) = (list(a, 0)?, list(a, 1)?);
        Ok(Value::list(without(x.as_slice(), y.as_slice())))
    }),
    (&["ins"], "'a list -> 'a -> 'a list", |_, a| Ok(Value::List(list(a, 0)?.append(&a[1..2])))),
    (&["ins_new"], "'a list -> 'a -> 'a list", |_, a| {
        let list = list(a, 0)?;
        Ok(Value::List(if list.as_slice().contains(&a[1]) { list } else { list.append(&a[1..2]) }))
    }),
];

fn list(arguments: &mut [Value], at: usize) -> Evaluated<List> {
    list_of(taken(arguments, at))
}

fn first(list: &List) -> Evaluated<&Value> {
    list.as_slice()
        .first()
        .ok_or_else(|| Fault::new(exceptions::EMPTY, "an empty list has no head and no tail"))
}

fn beyond(list: &List, at: i64) -> Box<Fault> {
    Fault::new(exceptions::SUBSCRIPT, format!("a list of {} items has no item or stretch {at}", list.len()))
}

fn parted(machine: &mut Machine<'_>, function: &Value, list: &List) -> Evaluated<(Vec<Value>, Vec<Value>)> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for item in list.as_slice() {
        let side = if is_true(&machine.apply(function, item.clone())?) { &mut with } else { &mut without };
        side.push(item.clone());
    }
    Ok((with, without))
}

/// The first list without each item of the second one, once for each time it is there.
fn without(all: &[Value], less: &[Value]) -> Vec<Value> {
    let mut rest = all.to_vec();
    for item in less {
        if let Some(at) = rest.iter().position(|kept| kept == item) {
            rest.remove(at);
        }
    }
    rest
}

/// A merge sort, stable: `is_less` may be any function.
fn sorted(is_less: &mut dyn FnMut(&Value, &Value) -> Evaluated, items: &[Value]) -> Evaluated<Vec<Value>> {
    if items.len() < 2 {
        return Ok(items.to_vec());
    }
    let (left, right) = items.split_at(items.len() / 2);
    let (left, right) = (sorted(is_less, left)?, sorted(is_less, right)?);
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    let mut found = Vec::with_capacity(items.len());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if is_true(&is_less(b, a)?) { right.next() } else { left.next() };
        found.extend(next);
    }
    found.extend(left);
    found.extend(right);
    Ok(found)
}
