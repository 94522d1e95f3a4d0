//! Runs compiled CPN ML.

use std::sync::Arc;

use smallvec::SmallVec;

use super::code::{Arm, Callee, Code, Function, Lambda, Match, Operator};
use super::library::{Builtin, exceptions};
use super::program::{Program, TimeKind};
use crate::random::Draws;
use crate::stack::is_nearly_full;
use crate::value::{List, Multiset, Stamp, Symbol, Tokens, Value, When};

/// How many items a list, and how many characters a string may have.
pub const LONGEST: usize = 100_000_000;

/// An exception on its way.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its value.
    pub exception: Value,
    /// The message for people.
    pub message: String,
}

impl Fault {
    /// An exception of the library.
    pub fn new(exception: Symbol, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { exception: Value::Con(exception), message: message.into() })
    }
}

/// The value of an expression, or the exception that it raises.
pub type Evaluated<T = Value> = Result<T, Box<Fault>>;

/// The state of CPN ML that changes while it runs.
#[derive(Clone, Debug)]
pub struct State {
    /// Frames; the first one belongs to the transition.
    pub stack: Vec<Value>,
    top: usize,
    depth: usize,
    /// Contents of references.
    pub cells: Vec<Value>,
    /// The model time.
    pub now: Stamp,
    /// Occurrences so far.
    pub steps: u64,
    /// Random numbers.
    pub draws: Draws,
}

impl State {
    /// The state at the beginning of a run.
    pub fn new(program: &Program, seed: u64) -> Self {
        Self {
            stack: Vec::new(),
            top: 0,
            depth: 0,
            cells: program.cells.clone(),
            now: Stamp::ZERO,
            steps: 0,
            draws: Draws::of(seed, 1),
        }
    }

    /// Makes room for the frame of a transition.
    pub fn enter(&mut self, slots: usize) {
        self.top = slots;
        self.depth = 0;
        if self.stack.len() < slots {
            self.stack.resize(slots, Value::Unit);
        }
    }
}

/// Runs CPN ML of a program with a state.
pub struct Machine<'a> {
    /// Functions and colour sets.
    pub program: &'a Program,
    /// Variables, references, time.
    pub state: &'a mut State,
}

impl<'a> Machine<'a> {
    /// The value of an expression, with variables in the frame at `base`.
    pub fn eval(&mut self, code: &Code, base: usize) -> Evaluated {
        match code {
            Code::Const(value) => Ok(value.clone()),
            Code::Slot(slot) => Ok(self.state.stack[base + *slot as usize].clone()),
            Code::Operation(operator, operands) => {
                let at_hand = (self.at_hand(&operands[0], base), self.at_hand(&operands[1], base));
                if let (Some(Value::Int(a)), Some(Value::Int(b))) = at_hand
                    && let Some(found) = of_integers(*operator, *a, *b)
                {
                    return found;
                }
                let left = self.eval(&operands[0], base)?;
                let right = self.eval(&operands[1], base)?;
                self.operate(*operator, left, right)
            }
            Code::Tuple(parts) => self.tuple(parts, base),
            Code::List(items) => Ok(Value::list(self.all(items, base)?.into_vec())),
            Code::Field(place, of) => match self.at_hand(of, base) {
                Some(of) => Ok(field(of, *place).clone()),
                None => Ok(field(&self.eval(of, base)?, *place).clone()),
            },
            Code::If(parts) => {
                if self.is_true(&parts[0], base)? {
                    self.eval(&parts[1], base)
                } else {
                    self.eval(&parts[2], base)
                }
            }
            Code::And(both) => {
                Ok(Value::Bool(self.is_true(&both[0], base)? && self.is_true(&both[1], base)?))
            }
            Code::Or(both) => Ok(Value::Bool(self.is_true(&both[0], base)? || self.is_true(&both[1], base)?)),
            Code::Case(subject, arms) => {
                let value = self.eval(subject, base)?;
                match self.arm(arms, &value, base)? {
                    Some(body) => self.eval(body, base),
                    None => Err(self.no_match("case", &value)),
                }
            }
            Code::Let(bindings, body) => {
                for (pattern, code) in bindings {
                    let value = self.eval(code, base)?;
                    if !self.matches(pattern, &value, base)? {
                        return Err(Fault::new(
                            exceptions::BIND,
                            "the value of `val` does not fit its pattern",
                        ));
                    }
                }
                self.eval(body, base)
            }
            Code::Sequence(all) => {
                let (last, first) = all.split_last().expect("a sequence has expressions");
                for code in first {
                    self.eval(code, base)?;
                }
                self.eval(last, base)
            }
            Code::Closure(lambda, slots) => {
                let captured =
                    slots.iter().map(|&slot| self.state.stack[base + slot as usize].clone()).collect();
                Ok(Function::value(Callee::Lambda(lambda.clone(), captured)))
            }
            Code::Call(function, arguments) => {
                let function = self.eval(function, base)?;
                let arguments = self.all(arguments, base)?;
                self.apply_all(function, arguments)
            }
            Code::CallKnown(number, arguments) => {
                let program = self.program;
                let lambda = &program.functions[*number as usize];
                let frame = self.push_frame(lambda)?;
                for (slot, argument) in arguments.iter().enumerate() {
                    let value = self.eval(argument, base)?;
                    self.state.stack[frame + slot] = value;
                }
                let result = self.run(lambda, frame);
                self.pop_frame(frame);
                result
            }
            Code::CallBuiltin(builtin, arguments) => {
                let mut arguments = self.all(arguments, base)?;
                (builtin.run)(self, &mut arguments)
            }
            Code::Construct(symbol, argument) => {
                Ok(Value::Apply(*symbol, Arc::new(self.eval(argument, base)?)))
            }
            Code::Index(symbol, number) => {
                let Value::Int(number) = self.eval(number, base)? else {
                    unreachable!("an index is an integer")
                };
                self.program.index(*symbol, number)
            }
            Code::Raise(of) => {
                let exception = self.eval(of, base)?;
                let message = format!("exception {}", self.program.shown(&exception));
                Err(Box::new(Fault { exception, message }))
            }
            Code::Handle(of, arms) => {
                let (top, depth) = (self.state.top, self.state.depth);
                let fault = match self.eval(of, base) {
                    Ok(value) => return Ok(value),
                    Err(fault) => fault,
                };
                (self.state.top, self.state.depth) = (top, depth);
                match self.arm(arms, &fault.exception, base)? {
                    Some(body) => self.eval(body, base),
                    None => Err(fault),
                }
            }
        }
    }

    /// The value of a constant, a variable, or a field of one: it is not copied.
    fn at_hand<'s>(&'s self, code: &'s Code, base: usize) -> Option<&'s Value> {
        match code {
            Code::Const(value) => Some(value),
            Code::Slot(slot) => Some(&self.state.stack[base + *slot as usize]),
            Code::Field(place, of) => Some(field(self.at_hand(of, base)?, *place)),
            _ => None,
        }
    }

    /// A tuple, made where it stays.
    fn tuple(&mut self, parts: &[Code], base: usize) -> Evaluated {
        let mut fault = None;
        let values = (0..parts.len()).map(|part| match fault {
            None => self.eval(&parts[part], base).unwrap_or_else(|failed| {
                fault = Some(failed);
                Value::Unit
            }),
            Some(_) => Value::Unit,
        });
        let values: Arc<[Value]> = values.collect();
        fault.map_or(Ok(Value::Tuple(values)), Err)
    }

    fn all(&mut self, codes: &[Code], base: usize) -> Evaluated<SmallVec<[Value; 4]>> {
        codes.iter().map(|code| self.eval(code, base)).collect()
    }

    /// True if a condition holds.
    pub fn is_true(&mut self, code: &Code, base: usize) -> Evaluated<bool> {
        match self.eval(code, base)? {
            Value::Bool(value) => Ok(value),
            other => unreachable!("the type check lets {other:?} be no condition"),
        }
    }

    fn arm<'c>(&mut self, arms: &'c [Arm], value: &Value, base: usize) -> Evaluated<Option<&'c Code>> {
        for arm in arms {
            if self.matches(&arm.pattern, value, base)? {
                return Ok(Some(&arm.body));
            }
        }
        Ok(None)
    }

    fn no_match(&self, what: &str, value: &Value) -> Box<Fault> {
        let shown = self.program.shown(value);
        Fault::new(exceptions::MATCH, format!("no pattern of the {what} fits {shown}"))
    }

    /// True if a value fits a pattern, whose variables are stored in the frame at `base`.
    pub fn matches(&mut self, pattern: &Match, value: &Value, base: usize) -> Evaluated<bool> {
        Ok(match (pattern, value) {
            (Match::Any, _) => true,
            (Match::Bind(slot), value) => {
                self.state.stack[base + *slot as usize] = value.clone();
                true
            }
            (Match::Equal(wanted), value) => wanted == value,
            (Match::Tuple(parts), Value::Tuple(values)) => {
                for (part, value) in parts.iter().zip(values.iter()) {
                    if !self.matches(part, value, base)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Match::Fields(fields), Value::Tuple(values)) => {
                for (place, field) in fields {
                    if !self.matches(field, &values[*place as usize], base)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Match::List(items), value) => {
                let Some(list) = as_list(value) else { return Ok(false) };
                if items.len() != list.len() {
                    return Ok(false);
                }
                for (item, value) in items.iter().zip(list.as_slice()) {
                    if !self.matches(item, value, base)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Match::Cons(both), value) => match as_list(value) {
                Some(list) if !list.is_empty() => {
                    self.matches(&both[0], &list.as_slice()[0], base)?
                        && self.matches(&both[1], &Value::List(list.tail(1)), base)?
                }
                _ => false,
            },
            (Match::Apply(wanted, of), Value::Apply(symbol, argument)) => {
                wanted == symbol && self.matches(of, argument, base)?
            }
            (Match::Index(wanted, of), Value::Index(symbol, number)) => {
                wanted == symbol && self.matches(of, &Value::Int(*number), base)?
            }
            (Match::As(slot, of), value) => {
                self.state.stack[base + *slot as usize] = value.clone();
                self.matches(of, value, base)?
            }
            (Match::Code(code), value) => self.eval(code, base)? == *value,
            _ => false,
        })
    }

    fn push_frame(&mut self, lambda: &Lambda) -> Evaluated<usize> {
        if is_nearly_full(self.state.depth) {
            let text = format!(
                "the function `{}` is called at a depth of {} calls; does it ever end?",
                lambda.name, self.state.depth
            );
            return Err(Fault::new(exceptions::OVERFLOW, text));
        }
        self.state.depth += 1;
        let frame = self.state.top;
        self.state.top += lambda.slots;
        if self.state.stack.len() < self.state.top {
            self.state.stack.resize(self.state.top, Value::Unit);
        }
        Ok(frame)
    }

    fn pop_frame(&mut self, frame: usize) {
        // What stays in a frame would be shared, and lists could not grow in place.
        self.state.stack[frame..self.state.top].fill(Value::Unit);
        self.state.top = frame;
        self.state.depth -= 1;
    }

    /// Runs the clause that fits the arguments at the beginning of the frame.
    fn run(&mut self, lambda: &Lambda, frame: usize) -> Evaluated {
        for (patterns, body) in &lambda.clauses {
            if lambda.is_spread || self.fits(patterns, frame)? {
                return self.eval(body, frame);
            }
        }
        let value = self.state.stack[frame].clone();
        Err(self.no_match(&format!("function `{}`", lambda.name), &value))
    }

    fn fits(&mut self, patterns: &[Match], frame: usize) -> Evaluated<bool> {
        for (slot, pattern) in patterns.iter().enumerate() {
            if matches!(pattern, Match::Any) {
                continue;
            }
            let value = self.state.stack[frame + slot].clone();
            if !self.matches(pattern, &value, frame)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Calls a function value with one argument.
    pub fn apply(&mut self, function: &Value, argument: Value) -> Evaluated {
        self.apply_all(function.clone(), smallvec::smallvec![argument])
    }

    fn apply_all(&mut self, function: Value, arguments: SmallVec<[Value; 4]>) -> Evaluated {
        let mut function = function;
        for argument in arguments {
            function = self.apply_one(&function, argument)?;
        }
        Ok(function)
    }

    fn apply_one(&mut self, function: &Value, argument: Value) -> Evaluated {
        let Value::Fn(function) = function else {
            unreachable!("the type check lets no other value be called")
        };
        let wanted = match &function.callee {
            Callee::Lambda(lambda, _) => lambda.parameters,
            Callee::Known(number) => self.program.functions[*number as usize].parameters,
            Callee::Builtin(builtin) => builtin.parameters,
            Callee::Colset(what, _) => what.parameters(),
            _ => 1,
        };
        if function.applied.len() + 1 < wanted {
            let mut applied = function.applied.clone();
            applied.push(argument);
            return Ok(Value::Fn(Arc::new(Function { callee: function.callee.clone(), applied })));
        }
        self.call(function, argument)
    }

    fn call(&mut self, function: &Arc<Function>, last: Value) -> Evaluated {
        let program = self.program;
        match &function.callee {
            Callee::Lambda(lambda, captured) => self.call_lambda(lambda, captured, function, last),
            Callee::Known(number) => {
                self.call_lambda(&program.functions[*number as usize], &[], function, last)
            }
            Callee::Builtin(builtin) => {
                let mut arguments: SmallVec<[Value; 4]> = function.applied.iter().cloned().collect();
                spread(builtin, last, &mut arguments);
                (builtin.run)(self, &mut arguments)
            }
            Callee::Colset(what, colset) => {
                let argument = match function.applied.first() {
                    None => last,
                    Some(first) => Value::tuple([first.clone(), last]),
                };
                what.call(program, *colset, argument, &mut self.state.draws)
            }
            Callee::Constructor(symbol) => Ok(Value::Apply(*symbol, Arc::new(last))),
            Callee::Index(symbol) => match last {
                Value::Int(number) => program.index(*symbol, number),
                other => unreachable!("the type check lets {other:?} be no index"),
            },
            Callee::Field(place) => Ok(field(&last, *place).clone()),
            Callee::Operator(operator) => match last {
                Value::Tuple(parts) => self.operate(*operator, parts[0].clone(), parts[1].clone()),
                other => unreachable!("the type check lets {other:?} be no pair"),
            },
            Callee::Compose(f, g) => {
                let between = self.apply(g, last)?;
                self.apply(f, between)
            }
        }
    }

    fn call_lambda(
        &mut self,
        lambda: &Lambda,
        captured: &[Value],
        function: &Arc<Function>,
        last: Value,
    ) -> Evaluated {
        let frame = self.push_frame(lambda)?;
        let stack = &mut self.state.stack;
        if let (true, Value::Tuple(parts)) = (lambda.is_spread, &last) {
            stack[frame..frame + parts.len()].clone_from_slice(parts);
        } else {
            let given = function.applied.len();
            stack[frame..frame + given].clone_from_slice(&function.applied);
            stack[frame + given] = last;
        }
        for (&slot, value) in lambda.captured.iter().zip(captured) {
            stack[frame + slot as usize] = value.clone();
        }
        if let Some(slot) = lambda.itself {
            stack[frame + slot as usize] =
                Value::Fn(Arc::new(Function { callee: function.callee.clone(), applied: Vec::new() }));
        }
        let result = self.run(lambda, frame);
        self.pop_frame(frame);
        result
    }

    /// The value of an operator.
    pub fn operate(&mut self, operator: Operator, left: Value, right: Value) -> Evaluated {
        if let (Value::Int(a), Value::Int(b)) = (&left, &right)
            && let Some(found) = of_integers(operator, *a, *b)
        {
            return found;
        }
        if let (Value::Real(a), Value::Real(b)) = (&left, &right)
            && let Some(found) = of_reals(operator, *a, *b)
        {
            return Ok(found);
        }
        Ok(match (operator, left, right) {
            (Operator::Eq, a, b) => Value::Bool(a == b),
            (Operator::Ne, a, b) => Value::Bool(a != b),
            (Operator::Lt, a, b) => Value::Bool(a < b),
            (Operator::Gt, a, b) => Value::Bool(a > b),
            (Operator::Le, a, b) => Value::Bool(a <= b),
            (Operator::Ge, a, b) => Value::Bool(a >= b),
            (Operator::Concat, Value::Str(a), Value::Str(b)) => {
                if a.len() + b.len() > LONGEST {
                    return Err(Fault::new(
                        exceptions::SIZE,
                        format!("a string of more than {LONGEST} bytes"),
                    ));
                }
                Value::str(&[&*a, &*b].concat())
            }
            (Operator::Cons, head, tail) => {
                let tail = list_of(tail)?;
                let mut items = Vec::with_capacity(tail.len() + 1);
                items.push(head);
                items.extend_from_slice(tail.as_slice());
                Value::list(checked(items)?)
            }
            (Operator::Append, a, b) => {
                let (a, b) = (list_of(a)?, list_of(b)?);
                if a.len() + b.len() > LONGEST {
                    return Err(Fault::new(exceptions::SIZE, format!("a list of more than {LONGEST} items")));
                }
                Value::List(a.append(b.as_slice()))
            }
            (Operator::Times, Value::Int(count), value) => {
                Value::Ms(Arc::new(Multiset::of(value, When::NOW, coefficient(count)?)))
            }
            (Operator::Scale, Value::Int(times), of) => match multiset(of).times(coefficient(times)?) {
                Some(all) => Value::Ms(Arc::new(all)),
                None => return Err(Fault::new(exceptions::SIZE, "a multiset of more than 2^63 tokens")),
            },
            (Operator::Plus, a, b) => {
                let (a, b) = (multiset(a), multiset(b));
                if a.is_empty() {
                    return Ok(Value::Ms(b));
                }
                Value::Ms(if b.is_empty() { a } else { Arc::new(a.plus(&b)) })
            }
            (Operator::Minus, a, b) => match multiset(a).minus(&multiset(b)) {
                Some(rest) => Value::Ms(Arc::new(rest)),
                None => {
                    return Err(Fault::new(exceptions::SUBTRACT, "`--` takes tokens that are not there"));
                }
            },
            (Operator::After, of, delay) => {
                let delay = self.stamp(&delay)?;
                self.stamped(of, When::After(delay))
            }
            (Operator::At, of, time) => {
                let time = self.stamp(&time)?;
                self.stamped(of, When::At(time))
            }
            (Operator::MsEq, a, b) => Value::Bool(same(&multiset(a), &multiset(b))),
            (Operator::MsNe, a, b) => Value::Bool(!same(&multiset(a), &multiset(b))),
            (Operator::MsLe, a, b) => Value::Bool(multiset(a).is_within(&multiset(b))),
            (Operator::MsGe, a, b) => Value::Bool(multiset(b).is_within(&multiset(a))),
            (Operator::MsLt, a, b) => {
                let (a, b) = (multiset(a), multiset(b));
                Value::Bool(a.is_within(&b) && !b.is_within(&a))
            }
            (Operator::MsGt, a, b) => {
                let (a, b) = (multiset(a), multiset(b));
                Value::Bool(b.is_within(&a) && !a.is_within(&b))
            }
            (Operator::Assign, Value::Ref(cell), value) => {
                self.state.cells[cell as usize] = value;
                Value::Unit
            }
            (Operator::Compose, f, g) => Function::value(Callee::Compose(f, g)),
            (operator, a, b) => unreachable!("the type check lets no {operator:?} of {a:?} and {b:?} pass"),
        })
    }

    /// The time or the delay that an expression gives, outside of functions.
    pub fn eval_stamp(&mut self, code: &Code) -> Evaluated<Stamp> {
        match self.at_hand(code, 0) {
            Some(value) => self.stamp(value),
            None => {
                let value = self.eval(code, 0)?;
                self.stamp(&value)
            }
        }
    }

    /// A time or a delay of the model's kind.
    fn stamp(&self, value: &Value) -> Evaluated<Stamp> {
        let stamp = match (self.program.time, value) {
            (TimeKind::Integer, Value::Int(time)) => Stamp(*time),
            (TimeKind::Real, Value::Int(time)) => Stamp::real(*time as f64),
            (TimeKind::Real, Value::Real(time)) if time.is_finite() => Stamp::real(*time),
            (TimeKind::Real, Value::Real(time)) => {
                return Err(Fault::new(exceptions::DOMAIN, format!("the time {time} is no number")));
            }
            (TimeKind::Integer, Value::Real(time)) => {
                return Err(Fault::new(
                    exceptions::DOMAIN,
                    format!("the time {time} is real, and this net has integer time; use `@++` or `round`"),
                ));
            }
            (_, other) => unreachable!("the type check lets {other:?} be no time"),
        };
        if stamp < Stamp::ZERO {
            return Err(Fault::new(exceptions::DOMAIN, "a time or a delay is negative"));
        }
        Ok(stamp)
    }

    /// A later time.
    pub fn later(&self, time: Stamp, delay: Stamp) -> Evaluated<Stamp> {
        match self.program.time {
            TimeKind::Real => Ok(Stamp::real(time.as_real() + delay.as_real())),
            TimeKind::Integer => match time.0.checked_add(delay.0) {
                Some(sum) => Ok(Stamp(sum)),
                None => Err(Fault::new(exceptions::OVERFLOW, "the model time is above 2^63")),
            },
        }
    }

    fn stamped(&self, of: Value, when: When) -> Value {
        let tokens = multiset(of);
        let all =
            tokens.0.iter().map(|tokens| Tokens { when: self.both(tokens.when, when), ..tokens.clone() });
        Value::Ms(Arc::new(Multiset::collect(all.collect())))
    }

    /// A stamp is the last word; delays add up.
    fn both(&self, first: When, then: When) -> When {
        match (first, then) {
            (When::After(a), When::After(b)) => When::After(self.later(a, b).unwrap_or(Stamp(i64::MAX))),
            (When::At(a), When::After(b)) => When::At(self.later(a, b).unwrap_or(Stamp(i64::MAX))),
            (_, at) => at,
        }
    }
}

fn coefficient(count: i64) -> Evaluated<u64> {
    u64::try_from(count)
        .map_err(|_| Fault::new(exceptions::SIZE, format!("the coefficient {count} is negative")))
}

fn field(of: &Value, place: u32) -> &Value {
    match of {
        Value::Tuple(parts) => &parts[place as usize],
        other => unreachable!("the type check lets no field of {other:?} pass"),
    }
}

fn same(a: &Multiset, b: &Multiset) -> bool {
    a.is_within(b) && b.is_within(a)
}

/// A multiset, or the one of a single token.
pub fn multiset(value: Value) -> Arc<Multiset> {
    match value {
        Value::Ms(multiset) => multiset,
        value => Arc::new(Multiset::of(value, When::NOW, 1)),
    }
}

/// A list, or the tokens of a multiset one by one.
fn as_list(value: &Value) -> Option<List> {
    match value {
        Value::List(list) => Some(list.clone()),
        Value::Ms(_) => list_of(value.clone()).ok(),
        _ => None,
    }
}

/// A list, or the tokens of a multiset one by one.
pub fn list_of(value: Value) -> Evaluated<List> {
    match value {
        Value::List(list) => Ok(list),
        Value::Ms(multiset) => {
            if multiset.len() > LONGEST as u64 {
                return Err(Fault::new(exceptions::SIZE, format!("a list of more than {LONGEST} items")));
            }
            Ok(List::from(multiset.values().cloned().collect::<Vec<_>>()))
        }
        other => unreachable!("the type check lets {other:?} be no list"),
    }
}

/// Items that are not too many.
pub fn checked(items: Vec<Value>) -> Evaluated<Vec<Value>> {
    if items.len() > LONGEST {
        return Err(Fault::new(exceptions::SIZE, format!("a list of more than {LONGEST} items")));
    }
    Ok(items)
}

/// Puts the argument of a function of the library behind others; a tuple that it takes apart comes in parts.
fn spread(builtin: &Builtin, last: Value, arguments: &mut SmallVec<[Value; 4]>) {
    match last {
        Value::Tuple(parts) if builtin.is_spread => arguments.extend(parts.iter().cloned()),
        last => arguments.push(last),
    }
}

fn of_integers(operator: Operator, a: i64, b: i64) -> Option<Evaluated> {
    let whole = |found: Option<i64>| match found {
        Some(value) => Ok(Value::Int(value)),
        None if b == 0 => Err(Fault::new(exceptions::DIV, "division by 0")),
        None => Err(Fault::new(exceptions::OVERFLOW, "an integer of more than 64 bits")),
    };
    Some(match operator {
        Operator::Add => match a.checked_add(b) {
            Some(value) => Ok(Value::Int(value)),
            None => Err(Fault::new(exceptions::OVERFLOW, "an integer of more than 64 bits")),
        },
        Operator::Sub => match a.checked_sub(b) {
            Some(value) => Ok(Value::Int(value)),
            None => Err(Fault::new(exceptions::OVERFLOW, "an integer of more than 64 bits")),
        },
        Operator::Mul => match a.checked_mul(b) {
            Some(value) => Ok(Value::Int(value)),
            None => Err(Fault::new(exceptions::OVERFLOW, "an integer of more than 64 bits")),
        },
        // Standard ML rounds towards minus infinity.
        Operator::Div => whole(a.checked_div(b).map(|towards_zero| {
            let is_below = a % b != 0 && (a < 0) != (b < 0);
            towards_zero - i64::from(is_below)
        })),
        Operator::Mod => whole(
            a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }),
        ),
        Operator::Eq => Ok(Value::Bool(a == b)),
        Operator::Ne => Ok(Value::Bool(a != b)),
        Operator::Lt => Ok(Value::Bool(a < b)),
        Operator::Gt => Ok(Value::Bool(a > b)),
        Operator::Le => Ok(Value::Bool(a <= b)),
        Operator::Ge => Ok(Value::Bool(a >= b)),
        _ => return None,
    })
}

fn of_reals(operator: Operator, a: f64, b: f64) -> Option<Value> {
    Some(match operator {
        Operator::Add => Value::Real(a + b),
        Operator::Sub => Value::Real(a - b),
        Operator::Mul => Value::Real(a * b),
        Operator::Divide => Value::Real(a / b),
        Operator::Eq => Value::Bool(a == b),
        Operator::Ne => Value::Bool(a != b),
        Operator::Lt => Value::Bool(a < b),
        Operator::Gt => Value::Bool(a > b),
        Operator::Le => Value::Bool(a <= b),
        Operator::Ge => Value::Bool(a >= b),
        _ => return None,
    })
}
