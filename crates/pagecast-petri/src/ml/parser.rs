//! Parses expressions, patterns and types of CPN ML.
//!
//! Source: the Definition of Standard ML (revised, 1997) for the subset, and the operators of CPN Tools. Operators bind as
//! `PRECEDENCE` says. Not in the subset: datatypes, structures, `while`, `local`, and `infix` declarations.

use super::ast::{
    Clause, Declaration, Expr, ExprKind, Fun, Pattern, PatternKind, Places, Rule, TypeExpr, TypeKind,
};
use super::lexer::{Lexeme, lexemes};
use crate::error::MlError;
use crate::stack::is_nearly_full;
use crate::value::Value;

/// How deep expressions, patterns and types may be nested.
const DEEPEST: usize = 1000;
/// How many operators may stand in one row.
const LONGEST_ROW: usize = 20_000;

/// How tightly each operator binds, and whether it groups to the right.
///
/// Standard ML's levels, doubled, with those of CPN Tools between them: `++` is looser than a comparison, a coefficient tighter than one and
/// looser than arithmetic, and a time stamp belongs to the term in front of it.
const PRECEDENCE: [(&str, u8, bool); 34] = [
    (":=", 1, false),
    ("orelse", 2, false),
    ("andalso", 4, false),
    ("==", 5, false),
    ("<><>", 5, false),
    ("<<", 5, false),
    ("<<=", 5, false),
    (">>", 5, false),
    (">>=", 5, false),
    ("@@+", 5, false),
    ("++", 6, false),
    ("+++", 6, false),
    ("--", 6, false),
    ("o", 6, false),
    ("**", 7, true),
    ("=", 8, false),
    ("<>", 8, false),
    ("<", 8, false),
    (">", 8, false),
    ("<=", 8, false),
    (">=", 8, false),
    ("@", 8, false),
    ("@+", 8, false),
    ("@++", 8, false),
    ("`", 9, true),
    ("::", 10, true),
    ("^^", 10, true),
    ("+", 12, false),
    ("-", 12, false),
    ("^", 12, false),
    ("*", 14, false),
    ("/", 14, false),
    ("div", 14, false),
    ("mod", 14, false),
];

/// Words of Standard ML that are not in the subset.
const UNSUPPORTED: [&str; 13] = [
    "datatype",
    "abstype",
    "type",
    "local",
    "open",
    "infix",
    "infixr",
    "nonfix",
    "structure",
    "signature",
    "functor",
    "use",
    "while",
];

/// Parses the text of one expression.
pub fn expression(text: &str) -> Result<Expr, MlError> {
    let mut parser = Parser::new(text)?;
    let found = parser.expression()?;
    parser.end()?;
    Ok(found)
}

/// Parses expressions that are separated by commas, as the conditions of a guard.
pub fn expressions(text: &str) -> Result<Vec<Expr>, MlError> {
    let mut parser = Parser::new(text)?;
    let found = parser.separated(Parser::expression)?;
    parser.end()?;
    Ok(found)
}

/// Reads lexemes one after the other.
pub struct Parser {
    lexemes: Vec<(Lexeme, usize)>,
    next: usize,
    depth: usize,
}

impl Parser {
    /// A parser at the beginning of a text.
    pub fn new(text: &str) -> Result<Self, MlError> {
        Ok(Self { lexemes: lexemes(text)?, next: 0, depth: 0 })
    }

    /// The next lexeme.
    pub fn peek(&self) -> &Lexeme {
        &self.lexemes[self.next].0
    }

    /// Where the next lexeme stands.
    pub fn at(&self) -> usize {
        self.lexemes[self.next].1
    }

    /// Takes the next lexeme; the end is never passed.
    pub fn take(&mut self) -> Lexeme {
        let found = self.lexemes[self.next].0.clone();
        if found != Lexeme::End {
            self.next += 1;
        }
        found
    }

    /// True, and past it, if this sign comes next.
    pub fn takes_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Lexeme::Sign(next) if *next == sign);
        self.next += usize::from(found);
        found
    }

    /// True, and past it, if this reserved word comes next.
    pub fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Lexeme::Word(next) if *next == word);
        self.next += usize::from(found);
        found
    }

    /// True, and past it, if this name comes next.
    pub fn takes_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Lexeme::Name(next) if next == name);
        self.next += usize::from(found);
        found
    }

    /// The error that something else was expected.
    pub fn expected(&self, what: &str) -> MlError {
        MlError::new(self.at(), format!("expected {what}, found {}", self.peek()))
    }

    /// The error that something else was expected, or that the word which comes is not supported.
    pub fn expected_or_unsupported(&self, what: &str) -> MlError {
        let word = match self.peek() {
            Lexeme::Word(word) => word,
            Lexeme::Name(name) => name.as_str(),
            _ => return self.expected(what),
        };
        if UNSUPPORTED.contains(&word) {
            return MlError::new(self.at(), format!("`{word}` is not supported here"));
        }
        self.expected(what)
    }

    /// Goes past a sign that has to come.
    pub fn sign(&mut self, sign: &str) -> Result<(), MlError> {
        if self.takes_sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Goes past a word that has to come.
    pub fn word(&mut self, word: &str) -> Result<(), MlError> {
        if self.takes_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Goes past a name and gives it, with its offset.
    pub fn name(&mut self, what: &str) -> Result<(String, usize), MlError> {
        let at = self.at();
        match self.peek() {
            Lexeme::Name(name) => {
                let name = name.clone();
                self.next += 1;
                Ok((name, at))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Fails unless the text is at its end.
    pub fn end(&mut self) -> Result<(), MlError> {
        if *self.peek() == Lexeme::End { Ok(()) } else { Err(self.expected("an operator or the end")) }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, MlError>) -> Result<T, MlError> {
        if self.depth == DEEPEST || is_nearly_full(self.depth) {
            return Err(MlError::new(self.at(), format!("nested deeper than {} levels", self.depth)));
        }
        self.depth += 1;
        let found = parse(self);
        self.depth -= 1;
        found
    }

    fn separated<T>(&mut self, parse: impl Fn(&mut Self) -> Result<T, MlError>) -> Result<Vec<T>, MlError> {
        let mut found = vec![parse(self)?];
        while self.takes_sign(",") {
            found.push(parse(self)?);
        }
        Ok(found)
    }

    /// An expression.
    pub fn expression(&mut self) -> Result<Expr, MlError> {
        self.deeper(Self::expression_here)
    }

    fn expression_here(&mut self) -> Result<Expr, MlError> {
        let at = self.at();
        let boxed = Box::new;
        let mut found = if self.takes_word("if") {
            let condition = self.expression()?;
            self.word("then")?;
            let then = self.expression()?;
            self.word("else")?;
            let otherwise = self.expression()?;
            Expr { kind: ExprKind::If(boxed(condition), boxed(then), boxed(otherwise)), at }
        } else if self.takes_word("case") {
            let subject = self.expression()?;
            self.word("of")?;
            Expr { kind: ExprKind::Case(boxed(subject), self.rules()?), at }
        } else if self.takes_word("fn") {
            Expr { kind: ExprKind::Fn(self.rules()?), at }
        } else if self.takes_word("raise") {
            Expr { kind: ExprKind::Raise(boxed(self.expression()?)), at }
        } else {
            self.operation(0)?
        };
        loop {
            if self.takes_sign(":") {
                let annotated = self.type_expression()?;
                found = Expr { kind: ExprKind::Typed(boxed(found), annotated), at };
            } else if self.takes_word("handle") {
                found = Expr { kind: ExprKind::Handle(boxed(found), self.rules()?), at };
            } else {
                return Ok(found);
            }
        }
    }

    fn rules(&mut self) -> Result<Vec<Rule>, MlError> {
        let mut found = Vec::new();
        self.takes_sign("|");
        loop {
            let pattern = self.pattern()?;
            self.sign("=>")?;
            found.push(Rule { pattern, body: self.expression()? });
            if !self.takes_sign("|") {
                return Ok(found);
            }
        }
    }

    fn operator(&self) -> Option<(&'static str, u8, bool)> {
        let text = match self.peek() {
            Lexeme::Sign(text) | Lexeme::Word(text) => *text,
            Lexeme::Name(name) if name == "o" => "o",
            _ => return None,
        };
        PRECEDENCE.iter().find(|(operator, ..)| *operator == text).copied()
    }

    fn operation(&mut self, loosest: u8) -> Result<Expr, MlError> {
        let mut left = self.operand()?;
        let mut row = 0;
        while let Some((operator, level, to_the_right)) = self.operator() {
            if level < loosest {
                break;
            }
            let at = self.at();
            row += 1;
            if row > LONGEST_ROW {
                return Err(MlError::new(at, format!("more than {LONGEST_ROW} operators in one row")));
            }
            self.take();
            let right =
                self.deeper(|parser| parser.operation(if to_the_right { level } else { level + 1 }))?;
            let (left_at, a, b) = (left.at, Box::new(left), Box::new(right));
            left = match operator {
                "andalso" => Expr { kind: ExprKind::And(a, b), at: left_at },
                "orelse" => Expr { kind: ExprKind::Or(a, b), at: left_at },
                // It delays all terms in front of it.
                "@@+" => Expr { kind: ExprKind::Binary("@+", a, b), at },
                operator => Expr { kind: ExprKind::Binary(operator, a, b), at },
            };
        }
        Ok(left)
    }

    /// `if`, `case` and `fn` stand as the last operand, too: `1 + (if ...)` needs no brackets in CPN Tools.
    fn operand(&mut self) -> Result<Expr, MlError> {
        if matches!(self.peek(), Lexeme::Word("if" | "case" | "fn" | "raise")) {
            return self.expression();
        }
        let mut found = self.atom()?;
        while self.is_at_atom() {
            let argument = self.atom()?;
            let at = found.at;
            found = Expr { kind: ExprKind::Apply(Box::new(found), Box::new(argument)), at };
        }
        Ok(found)
    }

    fn is_at_atom(&self) -> bool {
        match self.peek() {
            Lexeme::Name(name) => !matches!(name.as_str(), "o" | "timed" | "declare"),
            Lexeme::Int(_) | Lexeme::Real(_) | Lexeme::Str(_) | Lexeme::Char(_) => true,
            Lexeme::Sign(sign) => matches!(*sign, "(" | "[" | "{" | "#" | "!"),
            Lexeme::Word(word) => matches!(*word, "let" | "op"),
            Lexeme::TypeVar(_) | Lexeme::End => false,
        }
    }

    fn atom(&mut self) -> Result<Expr, MlError> {
        self.deeper(Self::atom_here)
    }

    fn atom_here(&mut self) -> Result<Expr, MlError> {
        let at = self.at();
        let kind = match self.peek().clone() {
            Lexeme::Int(_) | Lexeme::Real(_) | Lexeme::Str(_) | Lexeme::Char(_) => {
                ExprKind::Literal(self.literal().expect("a literal comes"))
            }
            Lexeme::Name(name) => {
                self.take();
                ExprKind::Name(name)
            }
            Lexeme::Word("op") => {
                self.take();
                match self.take() {
                    Lexeme::Sign(sign) | Lexeme::Word(sign) => ExprKind::Name(format!("op {sign}")),
                    Lexeme::Name(name) => ExprKind::Name(name),
                    _ => return Err(MlError::new(at, "`op` wants an operator, as in `op +`")),
                }
            }
            Lexeme::Word("let") => {
                self.take();
                self.let_in()?
            }
            Lexeme::Sign("(") => {
                self.take();
                self.in_brackets()?
            }
            Lexeme::Sign("[") => {
                self.take();
                if self.takes_sign("]") {
                    ExprKind::List(Vec::new())
                } else {
                    let items = self.separated(Self::expression)?;
                    self.sign("]")?;
                    ExprKind::List(items)
                }
            }
            Lexeme::Sign("{") => {
                self.take();
                let fields = self.separated(|parser| {
                    let (label, _) = parser.name("the label of a field")?;
                    parser.sign("=")?;
                    Ok((label, parser.expression()?))
                })?;
                self.sign("}")?;
                ExprKind::Record(fields)
            }
            Lexeme::Sign("#") => {
                self.take();
                let label = match self.take() {
                    Lexeme::Name(name) => name,
                    Lexeme::Int(number) if number > 0 => number.to_string(),
                    _ => return Err(MlError::new(at, "`#` wants a label or a number from 1, as in `#1 x`")),
                };
                ExprKind::Select(label, Places::default())
            }
            Lexeme::Sign("!") => {
                self.take();
                let cell = self.atom()?;
                let function = Expr { kind: ExprKind::Name("!".into()), at };
                ExprKind::Apply(Box::new(function), Box::new(cell))
            }
            _ => return Err(self.expected_or_unsupported("an expression")),
        };
        Ok(Expr { kind, at })
    }

    fn literal(&mut self) -> Option<Value> {
        let value = match self.peek() {
            Lexeme::Int(value) => Value::Int(*value),
            Lexeme::Real(value) => Value::Real(*value),
            Lexeme::Str(text) | Lexeme::Char(text) => Value::str(text),
            _ => return None,
        };
        self.next += 1;
        Some(value)
    }

    fn in_brackets(&mut self) -> Result<ExprKind, MlError> {
        if self.takes_sign(")") {
            return Ok(ExprKind::Literal(Value::Unit));
        }
        let first = self.expression()?;
        if self.takes_sign(")") {
            return Ok(first.kind);
        }
        let mut all = vec![first];
        let separator = if matches!(self.peek(), Lexeme::Sign(";")) { ";" } else { "," };
        while self.takes_sign(separator) {
            all.push(self.expression()?);
        }
        self.sign(")")?;
        Ok(if separator == ";" { ExprKind::Sequence(all) } else { ExprKind::Tuple(all) })
    }

    fn let_in(&mut self) -> Result<ExprKind, MlError> {
        let mut declared = Vec::new();
        while !self.takes_word("in") {
            if self.takes_sign(";") {
                continue;
            }
            declared.push(self.value_declaration()?);
        }
        let at = self.at();
        let mut all = vec![self.expression()?];
        while self.takes_sign(";") {
            if matches!(self.peek(), Lexeme::Word("end")) {
                break;
            }
            all.push(self.expression()?);
        }
        self.word("end")?;
        let body = if all.len() == 1 { all.remove(0) } else { Expr { kind: ExprKind::Sequence(all), at } };
        Ok(ExprKind::Let(declared, Box::new(body)))
    }

    /// `val` or `fun`.
    pub fn value_declaration(&mut self) -> Result<Declaration, MlError> {
        if self.takes_word("val") {
            if matches!(self.peek(), Lexeme::Word("rec")) {
                return Err(MlError::new(
                    self.at(),
                    "`val rec` is not supported; declare the function with `fun`",
                ));
            }
            return self.values();
        }
        if self.takes_word("fun") {
            let mut functions = vec![self.function()?];
            while self.takes_word("and") {
                functions.push(self.function()?);
            }
            return Ok(Declaration::Fun(functions));
        }
        Err(self.expected_or_unsupported("`val`, `fun` or `in`"))
    }

    /// `p = e and q = f` is `(p, q) = (e, f)`.
    fn values(&mut self) -> Result<Declaration, MlError> {
        let at = self.at();
        let (mut patterns, mut values) = (Vec::new(), Vec::new());
        loop {
            patterns.push(self.pattern()?);
            self.sign("=")?;
            values.push(self.expression()?);
            if !self.takes_word("and") {
                break;
            }
        }
        if values.len() == 1 {
            return Ok(Declaration::Val(patterns.remove(0), values.remove(0)));
        }
        let pattern = Pattern { kind: PatternKind::Tuple(patterns), at };
        Ok(Declaration::Val(pattern, Expr { kind: ExprKind::Tuple(values), at }))
    }

    fn function(&mut self) -> Result<Fun, MlError> {
        let (name, at) = self.name("the name of a function")?;
        let mut clauses = vec![self.clause()?];
        while self.takes_sign("|") {
            let (again, at) = self.name("the name of the function")?;
            if again != name {
                return Err(MlError::new(
                    at,
                    format!("this clause is of `{again}`, the first one of `{name}`"),
                ));
            }
            let clause = self.clause()?;
            if clause.parameters.len() != clauses[0].parameters.len() {
                return Err(MlError::new(
                    at,
                    format!("the clauses of `{name}` have different numbers of parameters"),
                ));
            }
            clauses.push(clause);
        }
        Ok(Fun { name, at, clauses })
    }

    fn clause(&mut self) -> Result<Clause, MlError> {
        let mut parameters = vec![self.atomic_pattern()?];
        while !matches!(self.peek(), Lexeme::Sign("=" | ":")) {
            parameters.push(self.atomic_pattern()?);
        }
        let result = if self.takes_sign(":") { Some(self.type_expression()?) } else { None };
        self.sign("=")?;
        Ok(Clause { parameters, result, body: self.expression()? })
    }

    /// A pattern.
    pub fn pattern(&mut self) -> Result<Pattern, MlError> {
        self.deeper(Self::pattern_here)
    }

    fn pattern_here(&mut self) -> Result<Pattern, MlError> {
        let at = self.at();
        let mut found = self.atomic_pattern()?;
        if let PatternKind::Name(name) = &found.kind {
            if self.takes_word("as") {
                let kind = PatternKind::As(name.clone(), Box::new(self.pattern()?));
                found = Pattern { kind, at };
            } else if self.is_at_pattern() {
                let kind = PatternKind::Apply(name.clone(), Box::new(self.atomic_pattern()?));
                found = Pattern { kind, at };
            }
        }
        if self.takes_sign("::") {
            let kind = PatternKind::Cons(Box::new(found), Box::new(self.pattern()?));
            found = Pattern { kind, at };
        }
        while self.takes_sign(":") {
            found = Pattern { kind: PatternKind::Typed(Box::new(found), self.type_expression()?), at };
        }
        Ok(found)
    }

    fn is_at_pattern(&self) -> bool {
        match self.peek() {
            Lexeme::Name(_) | Lexeme::Int(_) | Lexeme::Real(_) | Lexeme::Str(_) | Lexeme::Char(_) => true,
            Lexeme::Sign(sign) => matches!(*sign, "(" | "[" | "{" | "_"),
            _ => false,
        }
    }

    fn atomic_pattern(&mut self) -> Result<Pattern, MlError> {
        self.deeper(Self::atomic_pattern_here)
    }

    fn atomic_pattern_here(&mut self) -> Result<Pattern, MlError> {
        let at = self.at();
        if let Some(value) = self.literal() {
            return Ok(Pattern { kind: PatternKind::Literal(value), at });
        }
        let kind = match self.take() {
            Lexeme::Name(name) => PatternKind::Name(name),
            Lexeme::Sign("_") => PatternKind::Any,
            Lexeme::Sign("(") if self.takes_sign(")") => PatternKind::Literal(Value::Unit),
            Lexeme::Sign("(") => {
                let mut all = self.separated(Self::pattern)?;
                self.sign(")")?;
                if all.len() == 1 { all.remove(0).kind } else { PatternKind::Tuple(all) }
            }
            Lexeme::Sign("[") if self.takes_sign("]") => PatternKind::List(Vec::new()),
            Lexeme::Sign("[") => {
                let all = self.separated(Self::pattern)?;
                self.sign("]")?;
                PatternKind::List(all)
            }
            Lexeme::Sign("{") => self.record_pattern()?,
            found => return Err(MlError::new(at, format!("expected a pattern, found {found}"))),
        };
        Ok(Pattern { kind, at })
    }

    fn record_pattern(&mut self) -> Result<PatternKind, MlError> {
        let (mut fields, mut is_partial) = (Vec::new(), false);
        loop {
            if self.takes_sign("...") {
                is_partial = true;
                break;
            }
            let (label, at) = self.name("the label of a field")?;
            let pattern = if self.takes_sign("=") {
                self.pattern()?
            } else {
                Pattern { kind: PatternKind::Name(label.clone()), at }
            };
            fields.push((label, pattern));
            if !self.takes_sign(",") {
                break;
            }
        }
        self.sign("}")?;
        Ok(PatternKind::Record(fields, is_partial, Places::default()))
    }

    /// A type.
    pub fn type_expression(&mut self) -> Result<TypeExpr, MlError> {
        self.deeper(Self::type_here)
    }

    fn type_here(&mut self) -> Result<TypeExpr, MlError> {
        let at = self.at();
        let mut parts = vec![self.type_application()?];
        while self.takes_sign("*") {
            parts.push(self.type_application()?);
        }
        let left =
            if parts.len() == 1 { parts.remove(0) } else { TypeExpr { kind: TypeKind::Tuple(parts), at } };
        if self.takes_sign("->") {
            let kind = TypeKind::Fn(Box::new(left), Box::new(self.type_expression()?));
            return Ok(TypeExpr { kind, at });
        }
        Ok(left)
    }

    fn type_application(&mut self) -> Result<TypeExpr, MlError> {
        let at = self.at();
        let mut found = match self.take() {
            Lexeme::TypeVar(name) => TypeExpr { kind: TypeKind::Var(name), at },
            Lexeme::Name(name) => TypeExpr { kind: TypeKind::Name(name, Vec::new()), at },
            Lexeme::Sign("(") => {
                let mut arguments = self.separated(Self::type_expression)?;
                self.sign(")")?;
                if arguments.len() == 1 {
                    arguments.remove(0)
                } else {
                    let (name, at) = self.name("the name of a type")?;
                    TypeExpr { kind: TypeKind::Name(name, arguments), at }
                }
            }
            Lexeme::Sign("{") => {
                let fields = self.separated(|parser| {
                    let (label, _) = parser.name("the label of a field")?;
                    parser.sign(":")?;
                    Ok((label, parser.type_expression()?))
                })?;
                self.sign("}")?;
                TypeExpr { kind: TypeKind::Record(fields), at }
            }
            found => return Err(MlError::new(at, format!("expected a type, found {found}"))),
        };
        while let Lexeme::Name(name) = self.peek() {
            let kind = TypeKind::Name(name.clone(), vec![found]);
            self.take();
            found = TypeExpr { kind, at };
        }
        Ok(found)
    }
}
