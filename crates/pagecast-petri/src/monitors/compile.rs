//! Compiles monitors: finds their nodes, and gives their functions the types that CPN Tools gives them.

use std::fmt::Write;

use super::{Call, Functions, Kind, Monitor};
use crate::error::{Error, MlError, Result, Where};
use crate::flat::FlatNode;
use crate::ml::check::Checker;
use crate::ml::declarations::declarations;
use crate::ml::lower::Lowering;
use crate::ml::parser::expression;
use crate::ml::types::Type;
use crate::model::{Model, Step};
use crate::net::{MonitorText, monitor_number as number};

/// Compiles the monitors of a net that are not switched off. Those of the user's own kind have effects outside of the net, and are left out.
///
/// # Errors
///
/// `Net` for a monitor whose nodes are not there or are of the wrong kind, `Inscription` for a function that cannot be understood.
pub fn compile(model: &mut Model) -> Result<Vec<Monitor>> {
    let texts: Vec<_> = model.net.monitors.iter().filter(|text| !text.is_disabled).cloned().collect();
    let needs_bindings = texts.iter().any(|text| !text.functions.is_empty());
    if needs_bindings {
        declare_bindings(model)?;
    }
    let mut found = Vec::new();
    for text in &texts {
        found.extend(monitor(model, text)?);
    }
    Ok(found)
}

fn place_of(model: &Model, text: &MonitorText) -> Where {
    Where::monitor(&model.net.name, &text.name)
}

/// The nodes of a monitor: places and transitions. Of several instances of a page it watches the one that the file names, or the first.
fn nodes(model: &Model, text: &MonitorText) -> Result<(Vec<u32>, Vec<u32>)> {
    let (mut places, mut transitions) = (Vec::new(), Vec::new());
    for (id, instance) in &text.nodes {
        let nodes = model.flat.drawn.iter().filter_map(|drawn| {
            let page = &model.net.pages[drawn.page];
            let place = page.places.iter().position(|place| place.id == *id);
            let transition = page.transitions.iter().position(|transition| transition.id == *id);
            let place = place.map(|at| drawn.places[at] as u32);
            let transition = transition.and_then(|at| drawn.transitions[at]).map(|at| at as u32);
            (place.is_some() || transition.is_some()).then_some((drawn, place, transition))
        });
        let Some((_, place, transition)) = nodes.min_by_key(|(drawn, ..)| drawn.id != *instance) else {
            let message = format!("its node `{id}` is no place and no transition of a page in use");
            return Err(Error::Net { place: place_of(model, text), message });
        };
        places.extend(place);
        transitions.extend(transition);
    }
    Ok((places, transitions))
}

fn monitor(model: &mut Model, text: &MonitorText) -> Result<Option<Monitor>> {
    let (places, transitions) = nodes(model, text)?;
    let one = |nodes: &[u32], what: &str| match nodes {
        [node] => Ok(*node),
        _ => {
            let message = format!("it watches one {what}, and not {}", nodes.len());
            Err(Error::Net { place: place_of(model, text), message })
        }
    };
    let everywhere = || (0..model.transitions.len() as u32).collect();
    let (kind, after) = match text.kind {
        number::MARKING_SIZE => {
            let place = one(&places, "place")?;
            (Kind::MarkingSize(place), around(model, &[place]))
        }
        number::LIST_LENGTH => {
            let place = one(&places, "place")?;
            let of = &model.program.colsets[model.places[place as usize].colset];
            if !matches!(&of.of, Type::Con(name, _) if &**name == "list") {
                let message = format!("its place has the colour set {}, which is no list", of.name);
                return Err(Error::Net { place: place_of(model, text), message });
            }
            (Kind::ListLength(place), around(model, &[place]))
        }
        number::COUNT => {
            one(&transitions, "transition")?;
            (Kind::Count, transitions)
        }
        number::CONTENTS => {
            let place = one(&places, "place")?;
            let is_empty = text.option("empty") != Some("false");
            (Kind::Contents(place, is_empty), around(model, &[place]))
        }
        number::ENABLED => (Kind::Enabled(one(&transitions, "transition")?), everywhere()),
        number::DATA | number::WRITE | number::BREAKPOINT => {
            let after = match (&transitions[..], &places[..]) {
                ([], []) => everywhere(),
                ([], places) => around(model, places),
                (transitions, _) => transitions.to_vec(),
            };
            let has_binding = !transitions.is_empty();
            let of = functions(model, text, places, (&after, has_binding))?;
            let kind = match text.kind {
                number::DATA => Kind::Data(of),
                number::WRITE => Kind::Write(of),
                _ => Kind::Breakpoint(of),
            };
            (kind, after)
        }
        _ => return Ok(None),
    };
    let is_timed = match kind {
        Kind::MarkingSize(_) | Kind::ListLength(_) => model.is_timed,
        Kind::Data(_) => text.option("timed") == Some("true"),
        _ => false,
    };
    Ok(Some(Monitor { name: text.name.clone(), kind, is_timed, after }))
}

/// The transitions with an arc to or from one of some places.
fn around(model: &Model, places: &[u32]) -> Vec<u32> {
    let touches = |of: &crate::model::Transition| {
        let mut taken = of.steps.iter().filter_map(|step| match step {
            Step::Take(take) => Some(take.place),
            Step::TakeAll { place, .. } => Some(*place),
            _ => None,
        });
        taken.any(|place| places.contains(&place))
            || of.outputs.iter().any(|(place, _)| places.contains(place))
            || of.resets.iter().any(|place| places.contains(place))
    };
    let transitions = model.transitions.iter().zip(0..);
    transitions.filter(|(of, _)| touches(of)).map(|(_, number)| number).collect()
}

/// The name of a node in functions of monitors: `Page'Node`, with a line for each character that no name may hold.
fn mangled(model: &Model, at: &FlatNode, name: &str) -> String {
    let plain = |text: &str| {
        let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        text.chars().map(allowed).collect::<String>()
    };
    format!("{}'{}", plain(&model.net.pages[at.page].name), plain(name))
}

fn binding_name(model: &Model, transition: u32) -> String {
    let at = &model.flat.transitions[transition as usize].at;
    mangled(model, at, &model.net.pages[at.page].transitions[at.node].name)
}

/// Declares the binding elements of all transitions: a constructor for each, of the number of the page's instance and a record of the variables.
fn declare_bindings(model: &mut Model) -> Result<()> {
    let mut text = "colset monitor'int = int; colset monitor'unit = unit;".to_owned();
    let mut constructors = Vec::new();
    for (number, transition) in model.transitions.iter().enumerate() {
        let name = binding_name(model, number as u32);
        if constructors.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let mut variables: Vec<_> = transition.variables.iter().collect();
        variables.sort_by(|a, b| a.name.cmp(&b.name));
        let fields = variables
            .iter()
            .map(|variable| format!("{} : {}", variable.name, model.program.colsets[variable.colset].name));
        let record = if variables.is_empty() {
            "monitor'unit".to_owned()
        } else {
            let fields = fields.collect::<Vec<_>>().join(" * ");
            write!(text, "colset monitor'variables'{number} = record {fields};").expect("a string grows");
            format!("monitor'variables'{number}")
        };
        write!(text, "colset monitor'binding'{number} = product monitor'int * {record};")
            .expect("a string grows");
        constructors.push((name, number));
    }
    let union = constructors.iter().map(|(name, number)| format!("{name} : monitor'binding'{number}"));
    if !constructors.is_empty() {
        write!(text, "colset monitor'element = union {};", union.collect::<Vec<_>>().join(" + "))
            .expect("a string grows");
    }
    let place = || Where::declaration(&model.net.name, "colset monitor'element");
    let parsed = declarations(&text).map_err(|error| error.at(place(), &text))?;
    for declaration in parsed {
        model.program.declare(&declaration).map_err(|error| error.at(place(), &text))?;
    }
    Ok(())
}

/// Compiles the functions of a monitor: declares them, and the call of each.
fn functions(
    model: &mut Model,
    text: &MonitorText,
    places: Vec<u32>,
    (after, has_binding): (&[u32], bool),
) -> Result<Functions> {
    let at = place_of(model, text);
    let wants_text = text.kind == number::WRITE;
    let mut known = Vec::new();
    for (kind, source) in [("init", "init"), ("pred", "pred"), ("obs", "obs"), ("stop", "stop")] {
        let Some((_, source)) =
            text.functions.iter().find(|(name, body)| name.starts_with(source) && !body.trim().is_empty())
        else {
            continue;
        };
        let wrong = |error: MlError| error.at(at.inscription(kind), source);
        for declaration in declarations(source).map_err(wrong)? {
            model.program.declare(&declaration).map_err(wrong)?;
        }
        known.push(kind);
    }
    let has = |kind: &str| known.contains(&kind);
    let of = Caller { model, at: &at, places: &places, wants_text };
    let init =
        if has("init") && text.kind != number::BREAKPOINT { Some(of.call("init", None)?) } else { None };
    let stop =
        if has("stop") && text.kind != number::BREAKPOINT { Some(of.call("stop", None)?) } else { None };
    if !has("pred") {
        let message = "it has no function `pred`".to_owned();
        return Err(Error::Net { place: at.clone(), message });
    }
    let needs_observer = text.kind != number::BREAKPOINT;
    if needs_observer && !has("obs") {
        let message = "it has no function `obs`".to_owned();
        return Err(Error::Net { place: at.clone(), message });
    }
    let calls = after.iter().map(|&transition| {
        let by = Some((transition, has_binding));
        let observer = if needs_observer { Some(of.call("obs", by)?) } else { None };
        Ok((of.call("pred", by)?, observer))
    });
    let after = calls.collect::<Result<Vec<_>>>()?;
    Ok(Functions { places: places.clone(), init, stop, after })
}

/// Compiles calls of the functions of a monitor.
struct Caller<'a> {
    model: &'a Model,
    at: &'a Where,
    places: &'a [u32],
    wants_text: bool,
}

impl Caller<'_> {
    /// A call after an occurrence of a transition, with its binding element or without; or one at the beginning or the end.
    fn call(&self, function: &'static str, by: Option<(u32, bool)>) -> Result<Call> {
        let (model, program) = (self.model, &self.model.program);
        let variables =
            by.map_or(&[][..], |(transition, _)| &model.transitions[transition as usize].variables[..]);
        let marks: Vec<String> = (0..self.places.len()).map(|at| format!("monitor'mark'{at}")).collect();
        let mut arguments = Vec::new();
        if let Some((transition, true)) = by {
            let mut fields: Vec<_> = variables.iter().map(|of| format!("{0} = {0}", of.name)).collect();
            fields.sort();
            let record =
                if fields.is_empty() { "()".to_owned() } else { format!("{{{}}}", fields.join(", ")) };
            let instance = model.flat.transitions[transition as usize].at.instance;
            arguments.push(format!("{} ({instance}, {record})", binding_name(model, transition)));
        }
        arguments.extend(marks.iter().cloned());
        let text = format!("{function} ({})", arguments.join(", "));
        let wrong = |error: MlError| {
            let message = error.message;
            Error::Net { place: self.at.inscription(function), message }
        };
        let expr = expression(&text).map_err(wrong)?;
        let mut names: Vec<String> = variables.iter().map(|of| of.name.clone()).collect();
        let mut checker = Checker::new(program);
        for of in variables {
            checker.bind(&of.name, program.colsets[of.colset].of.clone());
        }
        for (mark, &place) in marks.iter().zip(self.places) {
            let colset = model.places[place as usize].colset;
            checker.bind(mark, Type::ms(program.colsets[colset].of.clone()));
        }
        let found = checker.infer(&expr).map_err(wrong)?;
        checker.finish().map_err(wrong)?;
        let is_right = fits(&checker.vars.resolved(&found), function, self.wants_text);
        if !is_right {
            let wanted = match (function, self.wants_text) {
                ("pred", _) => "bool",
                (_, true) => "string",
                (_, false) => "a number, or an option of one",
            };
            let message = format!("expected {wanted}, found {}", checker.vars.shown(&found));
            return Err(Error::Net { place: self.at.inscription(function), message });
        }
        names.extend(marks);
        let mut lowering = Lowering::with(program, &names);
        let code = lowering.expression(&expr).map_err(wrong)?;
        Ok(Call { code, slots: lowering.slots() })
    }
}

/// True if a function of a monitor gives what its kind wants.
fn fits(found: &Type, function: &str, wants_text: bool) -> bool {
    let Type::Con(name, arguments) = found else { return false };
    match (function, wants_text) {
        ("pred", _) => &**name == "bool",
        (_, true) => &**name == "string" || function != "obs" && &**name == "unit",
        (_, false) => match (&**name, &arguments[..]) {
            ("int" | "real" | "unit", _) => true,
            ("option", [Type::Con(of, _)]) => matches!(&**of, "int" | "real"),
            ("option", _) => true,
            _ => false,
        },
    }
}
