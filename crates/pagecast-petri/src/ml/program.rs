//! Holds the declarations of a net: colour sets, variables, values, functions, and what every name means.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{Declaration, Expr, Pattern, PatternKind};
use super::check::Checker;
use super::code::{Code, Lambda};
use super::library;
use super::lower::Lowering;
use super::machine::{Fault, Machine, State};
use super::types::{Scheme, Type};
use crate::colset::Colset;
use crate::error::MlError;
use crate::value::{Symbol, Value};

/// The kind of the model time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TimeKind {
    /// Integers.
    #[default]
    Integer,
    /// Real numbers.
    Real,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A value.
    Value(Value),
    /// A constant that a pattern may name: `true`, `nil`.
    Constant(Value),
    /// A function of the net.
    Function(u32),
    /// A constructor; true if it has an argument.
    Constructor(Symbol, bool),
    /// An index.
    Index(Symbol),
}

/// A name with its type and meaning.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its type.
    pub scheme: Scheme,
    /// Its meaning.
    pub meaning: Meaning,
}

/// The declarations of a net.
#[derive(Clone, Debug)]
pub struct Program {
    /// Names of constructors, in the order of their numbers.
    pub symbols: Vec<String>,
    /// Colour sets.
    pub colsets: Vec<Colset>,
    /// Functions of the net.
    pub functions: Vec<Arc<Lambda>>,
    /// First contents of references.
    pub cells: Vec<Value>,
    /// Ranges of indices.
    pub index_ranges: HashMap<Symbol, (i64, i64)>,
    /// The kind of the model time.
    pub time: TimeKind,
    /// Variables of the net, with the number of their colour set.
    pub variables: HashMap<String, usize>,
    globals: HashMap<String, Global>,
    pub(super) colset_numbers: HashMap<String, usize>,
    pub(super) types: HashMap<String, Type>,
}

impl Program {
    /// A program with the library only.
    pub fn new(time: TimeKind) -> Self {
        let time_type = if time == TimeKind::Real { Type::real() } else { Type::int() };
        let named = [
            ("int", Type::int()),
            ("IntInf.int", Type::int()),
            ("intinf", Type::int()),
            ("INTINF", Type::int()),
            ("real", Type::real()),
            ("bool", Type::bool()),
            ("string", Type::string()),
            ("char", Type::string()),
            ("unit", Type::unit()),
            ("exn", Type::named("exn")),
            ("order", Type::named("order")),
            ("time", time_type.clone()),
            ("Time.time", time_type),
        ];
        let mut program = Self {
            symbols: Vec::new(),
            colsets: Vec::new(),
            functions: Vec::new(),
            cells: Vec::new(),
            index_ranges: HashMap::new(),
            time,
            variables: HashMap::new(),
            globals: HashMap::new(),
            colset_numbers: HashMap::new(),
            types: named.into_iter().map(|(name, of)| (name.to_owned(), of)).collect(),
        };
        library::declare(&mut program);
        program.standard_colsets();
        program
    }

    /// The meaning of a name, if it has one.
    pub fn global(&self, name: &str) -> Option<&Global> {
        self.globals.get(name)
    }

    /// The number of a colour set.
    pub fn colset(&self, name: &str) -> Option<usize> {
        self.colset_numbers.get(name).copied()
    }

    /// The names of all colour sets.
    pub fn colset_names(&self) -> impl Iterator<Item = &str> {
        self.colset_numbers.keys().map(|name| &**name)
    }

    /// Declares a name.
    pub fn set(&mut self, name: &str, scheme: Scheme, meaning: Meaning) {
        self.globals.insert(name.to_owned(), Global { scheme, meaning });
    }

    /// A new constructor.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        self.symbols.push(name.to_owned());
        Symbol(self.symbols.len() as u32 - 1)
    }

    /// The message for a name that means nothing.
    pub fn unknown<'a>(&'a self, name: &str, more: impl Iterator<Item = &'a str>) -> String {
        let known = self.globals.keys().map(|name| &**name).chain(more);
        match nearest(name, known) {
            Some(near) => format!("`{name}` is not declared; did you mean `{near}`?"),
            None => format!("`{name}` is not declared"),
        }
    }

    /// The type that a name with arguments stands for.
    pub fn type_named(&self, name: &str, arguments: Vec<Type>) -> Result<Type, String> {
        match (name, arguments.len()) {
            ("list" | "ms" | "option" | "ref", 1) => Ok(Type::Con(name.into(), arguments)),
            // Multisets with time stamps have the same type as others.
            ("tms", 1) => Ok(Type::Con("ms".into(), arguments)),
            ("list" | "ms" | "tms" | "option" | "ref", _) => {
                Err(format!("the type `{name}` has one argument"))
            }
            _ => match self.types.get(name) {
                Some(of) if arguments.is_empty() => Ok(of.clone()),
                Some(_) => Err(format!("the type `{name}` has no arguments")),
                None => Err(match nearest(name, self.types.keys().map(|name| &**name)) {
                    Some(near) => format!("there is no type `{name}`; did you mean `{near}`?"),
                    None => format!("there is no type `{name}`"),
                }),
            },
        }
    }

    /// Declares what a text declares.
    pub fn declare(&mut self, declaration: &Declaration) -> Result<(), MlError> {
        match declaration {
            Declaration::Colset(colset) => self.declare_colset(colset),
            Declaration::Var(names, of) => {
                let colset = match &of.kind {
                    super::ast::TypeKind::Name(name, arguments) if arguments.is_empty() => self.colset(name),
                    _ => None,
                };
                let colset = colset.ok_or_else(|| {
                    MlError::new(of.at, "expected the name of a colour set that is declared above")
                })?;
                self.variables.extend(names.iter().map(|(name, _)| (name.clone(), colset)));
                Ok(())
            }
            Declaration::Globref(name, expr) => {
                let mut checker = Checker::new(self);
                checker.vars.level = 1;
                let of = checker.infer(expr)?;
                checker.finish()?;
                checker.vars.level = 0;
                let of = checker.vars.generalised(&of).of;
                let scheme = Scheme::mono(Type::Con("ref".into(), vec![of]));
                let scheme = declared_type(&checker, name, expr.at, &scheme)?;
                let value = self.settle(expr)?;
                self.cells.push(value);
                let cell = Value::Ref(self.cells.len() as u32 - 1);
                self.set(name, scheme, Meaning::Value(cell));
                Ok(())
            }
            Declaration::Exception(name, argument, _) => {
                let exn = Type::named("exn");
                let of = match argument {
                    None => exn,
                    Some(argument) => Type::function(Checker::new(self).written(argument)?, exn),
                };
                let symbol = self.symbol(name);
                self.set(name, Scheme::mono(of), Meaning::Constructor(symbol, argument.is_some()));
                Ok(())
            }
            Declaration::Val(pattern, expr) => self.declare_value(declaration, pattern, expr),
            Declaration::Fun(functions) => {
                let mut checker = Checker::new(self);
                let names = checker.declare(declaration)?;
                checker.finish()?;
                let first = self.functions.len() as u32;
                for (number, (name, scheme)) in (first..).zip(names) {
                    self.set(&name, scheme, Meaning::Function(number));
                }
                // Room for all of them, because they may call each other.
                let empty = Arc::new(Lambda {
                    name: String::new(),
                    parameters: 1,
                    is_spread: false,
                    arguments: 1,
                    slots: 1,
                    captured: Box::new([]),
                    itself: None,
                    clauses: Box::new([]),
                });
                self.functions.resize(self.functions.len() + functions.len(), empty.clone());
                for (number, function) in (first..).zip(functions) {
                    // How it is called has to be known before its own calls are compiled.
                    let shape = Lowering::shape(self, function);
                    self.functions[number as usize] = Arc::new(shape);
                }
                for (number, function) in (first..).zip(functions) {
                    let lambda = Lowering::new(self).global_function(function)?;
                    self.functions[number as usize] = Arc::new(lambda);
                }
                Ok(())
            }
        }
    }

    fn declare_value(
        &mut self,
        declaration: &Declaration,
        pattern: &Pattern,
        expr: &Expr,
    ) -> Result<(), MlError> {
        let mut checker = Checker::new(self);
        checker.vars.level = 1;
        let names = checker.declare(declaration)?;
        checker.finish()?;
        checker.vars.level = 0;
        let names = names.into_iter().map(|(name, scheme)| {
            let scheme = declared_type(&checker, &name, expr.at, &scheme)?;
            Ok((name, scheme))
        });
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let value = self.settle(expr)?;
        let mut lowering = Lowering::new(self);
        let matching = lowering.pattern(pattern)?;
        let (slots, bound) = (lowering.slots(), lowering.bound());
        let mut state = State::new(self, 0);
        state.enter(slots);
        let fits = Machine { program: self, state: &mut state }.matches(&matching, &value, 0);
        if !fits.map_err(|fault| at_fault(pattern.at, &fault))? {
            return Err(MlError::new(pattern.at, "the value does not fit the pattern"));
        }
        for (name, scheme) in names {
            let slot = bound[&name] as usize;
            self.set(&name, scheme, Meaning::Value(state.stack[slot].clone()));
        }
        Ok(())
    }

    /// The value of an expression whose types are checked, and the contents of references after it.
    fn evaluate(&self, expr: &Expr) -> Result<(Value, Vec<Value>), MlError> {
        let mut lowering = Lowering::new(self);
        let code = lowering.expression(expr)?;
        let mut state = State::new(self, 0);
        state.enter(lowering.slots());
        let value = Machine { program: self, state: &mut state }.eval(&code, 0);
        let value = value.map_err(|fault| at_fault(expr.at, &fault))?;
        Ok((value, state.cells))
    }

    /// The value of a declaration whose types are checked; its references belong to the program.
    pub(super) fn settle(&mut self, expr: &Expr) -> Result<Value, MlError> {
        let (value, cells) = self.evaluate(expr)?;
        self.cells = cells;
        Ok(value)
    }

    /// Checks an expression whose value holds no reference, and gives its value.
    pub fn value_of(&self, expr: &Expr, wanted: &Type) -> Result<Value, MlError> {
        self.checked(expr, wanted)?;
        Ok(self.evaluate(expr)?.0)
    }

    pub(super) fn checked(&self, expr: &Expr, wanted: &Type) -> Result<(), MlError> {
        let mut checker = Checker::new(self);
        checker.check(expr, wanted)?;
        checker.finish()
    }

    /// True if a function value is true of a value: the condition of a subset.
    pub fn holds(&self, function: &Value, value: Value) -> bool {
        let mut state = State::new(self, 0);
        matches!(Machine { program: self, state: &mut state }.apply(function, value), Ok(Value::Bool(true)))
    }

    /// Compiles an expression whose types are checked, with a constant for it where nothing is computed.
    pub fn constant(code: &Code) -> Option<&Value> {
        match code {
            Code::Const(value) => Some(value),
            _ => None,
        }
    }
}

/// The name of a variable pattern.
pub fn variable(pattern: &Pattern) -> Option<&str> {
    match &pattern.kind {
        PatternKind::Name(name) => Some(name),
        PatternKind::Typed(of, _) => variable(of),
        _ => None,
    }
}

/// The type of a declared value, with its variables free. Those of a function or a reference that is computed have to be known.
fn declared_type(checker: &Checker<'_>, name: &str, at: usize, scheme: &Scheme) -> Result<Scheme, MlError> {
    let free = checker.vars.quantified(&scheme.of);
    if free.vars.len() == scheme.vars.len() || free.of.is_data() {
        return Ok(free);
    }
    let shown = checker.vars.shown(&free.of);
    Err(MlError::new(
        at,
        format!("the type of `{name}` is not known, only {shown}; write it, as in `([]: C)`"),
    ))
}

fn at_fault(at: usize, fault: &Fault) -> MlError {
    MlError::new(at, fault.message.clone())
}

/// The known name that differs least from a name, if it differs little.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut all: Vec<_> = known.map(|known| (distance(name, known), known)).collect();
    all.sort_unstable();
    let &(differs, near) = all.first()?;
    (differs > 0 && differs <= name.chars().count() / 3).then_some(near)
}

/// How many characters have to be inserted, removed or replaced (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
