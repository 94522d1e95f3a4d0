//! Words messages: "did you mean" the nearest word that would have been right, and texts of users cut to one line.

/// The most valid words that a message lists when none is near.
const LISTED: usize = 12;

/// The remedy for an unknown word: the nearest valid one, or what there is (`plural` names it: "known keys").
pub fn hint<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>, plural: &str) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    match nearest(word, &valid) {
        Some(near) => format!("did you mean `{near}`?"),
        None if valid.is_empty() => format!("there are no {plural}"),
        None => format!("{plural}: {}", list(&valid)),
    }
}

/// Words in backquotes; a long list is cut.
pub fn list(words: &[&str]) -> String {
    let shown: Vec<String> = words.iter().take(LISTED).map(|word| format!("`{}`", shorten(word))).collect();
    let rest = words.len().saturating_sub(LISTED);
    shown.join(", ") + &if rest > 0 { format!(" and {rest} more") } else { String::new() }
}

fn nearest<'a>(word: &str, valid: &[&'a str]) -> Option<&'a str> {
    // The distance costs the product of both lengths, and a key may have megabytes.
    let word: String = word.chars().take(100).flat_map(char::to_lowercase).collect();
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    valid
        .iter()
        .map(|&candidate| (strsim::osa_distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The text, or its first 60 characters if it is longer; control characters are written out, so that a message stays one line.
pub fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).flat_map(printable).collect();
    if text.chars().nth(60).is_some() {
        short.push_str("...");
    }
    short
}

fn printable(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = (!c.is_control()).then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named() {
        assert_eq!(
            hint("dirty_ratoi", ["dirty_ratio", "cores"], "known keys"),
            "did you mean `dirty_ratio`?"
        );
        assert_eq!(hint("SIZE", ["size", "read"], "known keys"), "did you mean `size`?");
    }

    #[test]
    fn without_a_near_word_all_are_listed() {
        assert_eq!(hint("colour", ["size", "read"], "known keys"), "known keys: `size`, `read`");
        assert_eq!(hint("colour", [], "disks"), "there are no disks");
        assert_eq!(list(&["x"; 14]).split(", ").count(), LISTED);
        assert!(list(&["x"; 14]).ends_with(" and 2 more"));
    }
}
