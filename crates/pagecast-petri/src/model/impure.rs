//! Knows which functions depend on more than their arguments.

use crate::ml::ast::Declaration;
use crate::ml::code::Callee;
use crate::ml::free;
use crate::ml::program::{Meaning, Program};
use crate::value::Value;

/// Functions whose value is not that of their arguments alone.
pub struct Impure {
    /// Those that may change while the marking does not.
    volatile: Vec<String>,
    /// Those with random numbers or references.
    random: Vec<String>,
}

impl Impure {
    /// Those of the library.
    pub fn new() -> Self {
        let random = RANDOM.map(str::to_owned).to_vec();
        let volatile = RANDOM.into_iter().chain(["time", "ModelTime.time"]).map(str::to_owned).collect();
        Self { volatile, random }
    }

    /// Notes the functions of a declaration that use one of them.
    pub fn note(&mut self, program: &Program, declaration: &Declaration) {
        let names: Vec<String> = match declaration {
            Declaration::Fun(functions) => functions.iter().map(|function| function.name.clone()).collect(),
            Declaration::Val(pattern, _) => {
                let is_data = |name: &String| program.global(name).is_none_or(|of| of.scheme.of.is_data());
                free::pattern_names(pattern).into_iter().filter(|name| !is_data(name)).collect()
            }
            _ => return,
        };
        let used = free::declaration_names(declaration);
        if used.iter().any(|name| self.is_volatile(program, name)) {
            self.volatile.extend(names.iter().cloned());
        }
        if used.iter().any(|name| self.is_random(program, name)) {
            self.random.extend(names);
        }
    }

    /// True for a function that may change while the marking does not.
    pub fn is_volatile(&self, program: &Program, name: &str) -> bool {
        depends(name, &self.volatile) || is_builtin(program, name, &["step", "intTime"])
    }

    /// True for a function with random numbers, references or the number of steps.
    pub fn is_random(&self, program: &Program, name: &str) -> bool {
        depends(name, &self.random) || is_builtin(program, name, &["step"])
    }
}

/// True for one of some functions of the library, which the net does not declare anew.
fn is_builtin(program: &Program, name: &str, functions: &[&str]) -> bool {
    let meaning = program.global(name).map(|global| &global.meaning);
    let is_of_library =
        matches!(meaning, Some(Meaning::Value(Value::Fn(of))) if matches!(of.callee, Callee::Builtin(_)));
    functions.contains(&name) && is_of_library && !program.variables.contains_key(name)
}

/// The functions of the library with random numbers or references.
const RANDOM: [&str; 19] = [
    "!",
    "inc",
    "dec",
    "ref",
    "random",
    "uniform",
    "discrete",
    "exponential",
    "erlang",
    "normal",
    "gamma",
    "beta",
    "chisq",
    "student",
    "rayleigh",
    "weibull",
    "poisson",
    "bernoulli",
    "binomial",
];

fn depends(name: &str, volatile: &[String]) -> bool {
    name.ends_with(".ran") || volatile.iter().any(|known| known == name)
}
