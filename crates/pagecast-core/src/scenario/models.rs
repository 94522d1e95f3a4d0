//! Reads `models` and `[model.NAME]`: the models to ask, and their options. The meaning of an option is its model's.

use std::collections::BTreeMap;

use super::braces::{self, Copies, Scope};
use super::document::{Node, Value, shorten};
use super::table::Fields;
use crate::error::ScenarioError;
use crate::policy::{ModelOptions, OptionValue};

/// The models that a scenario asks for.
///
/// # Errors
/// A list that names a model twice, or is none.
pub fn read_models(root: &Fields<'_>) -> Result<Vec<String>, ScenarioError> {
    let models: Vec<String> = root.get("models")?.unwrap_or_default();
    for (index, name) in models.iter().enumerate() {
        if models[..index].contains(name) {
            let what = format!("`models` names `{}` twice", shorten(name));
            return Err(root.place("models").error(what, "remove one of them"));
        }
    }
    Ok(models)
}

/// The options of each model, as text.
///
/// # Errors
/// An option that is a list, a table or a date.
pub fn read_options(root: &Fields<'_>) -> Result<BTreeMap<String, ModelOptions>, ScenarioError> {
    let models = root.named("model")?.into_iter();
    models.map(|(model, node)| Ok((model.to_owned(), read_model(model, node)?))).collect()
}

fn read_model(model: &str, node: &Node) -> Result<ModelOptions, ScenarioError> {
    let Value::Table(table) = &node.value else {
        let what = format!("`model.{}` is {}, but must be a table", shorten(model), node.describe());
        return Err(node.at.error(what, "write for example [model.wrench]"));
    };
    let options = table.entries.iter().map(|entry| {
        let text = scalar(&entry.node, &entry.key)?;
        let text = braces::render(&text, &Scope::of(Copies::Never), false, &entry.node.at)?.into_owned();
        Ok((entry.key.clone(), OptionValue { text, at: entry.at.to_string() }))
    });
    options.collect()
}

/// A string, number or boolean as text, after `--set` as it was typed.
///
/// # Errors
/// Anything else.
pub fn scalar(node: &Node, key: &str) -> Result<String, ScenarioError> {
    match &node.value {
        _ if let Some(typed) = &node.typed => Ok(typed.to_string()),
        Value::Text(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(flag) => Ok(flag.to_string()),
        _ => {
            let what = format!(
                "`{}` is {}, but must be a string, a number or a boolean",
                shorten(key),
                node.describe()
            );
            Err(node.at.error(what, ""))
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::scenario::testing::{MACHINE, PROCESS, error, read};

    #[test]
    fn options_are_text_with_their_place() {
        let text = format!("{MACHINE}\n[model.wrench]\nchunk = '100 MB'\nratio = 0.5\n{PROCESS}");
        let scenario = read(&text, &["model.wrench.period='5 s'"]).unwrap();
        let options = &scenario.model_options["wrench"];
        assert_eq!(options["chunk"].text, "100 MB");
        assert_eq!(options["chunk"].at, "x.toml:3");
        assert_eq!(options["ratio"].text, "0.5");
        assert_eq!(options["period"].at, "--set model.wrench.period='5 s'");
    }

    #[test]
    fn what_a_caller_says_counts_more_than_the_scenario() {
        let text = format!("{MACHINE}\n[model.wrench]\nchunk = '100 MB'\nratio = 0.5\n{PROCESS}");
        let options = read(&text, &[]).unwrap().options_of("wrench", &[("chunk".into(), "1 MB".into())]);
        assert_eq!((&*options["chunk"].text, &*options["chunk"].at), ("1 MB", "option wrench.chunk"));
        assert_eq!((&*options["ratio"].text, &*options["ratio"].at), ("0.5", "x.toml:4"));
    }

    #[test]
    fn unknown_models_are_found_wherever_they_stand() {
        let asked = read(&format!("models = ['wrnch']\n{MACHINE}\n{PROCESS}"), &[]).unwrap();
        assert_snapshot!(asked.check_models(&["wrench", "no-cache"]).unwrap_err(), @"x.toml: there is no model `wrnch`; did you mean `wrench`?");
        let with_options = read(&format!("{MACHINE}\n[model.kernel]\n{PROCESS}"), &[]).unwrap();
        assert_snapshot!(with_options.check_models(&["wrench", "no-cache"]).unwrap_err(), @"x.toml: there is no model `kernel`; models: `wrench`, `no-cache`");
        assert_eq!(asked.check_models(&["wrnch"]), Ok(()));
    }

    #[test]
    fn a_model_asked_twice_is_refused() {
        assert_snapshot!(error("models = ['wrench', 'wrench']"), @"x.toml:2: `models` names `wrench` twice; remove one of them");
    }

    #[test]
    fn options_are_scalars_in_tables() {
        assert_snapshot!(error("[model]\nwrench = 1"), @"x.toml:3: `model.wrench` is the number 1, but must be a table; write for example [model.wrench]");
        assert_snapshot!(error("[model.wrench]\nchunk = []"), @"x.toml:3: `chunk` is a list, but must be a string, a number or a boolean");
    }
}
