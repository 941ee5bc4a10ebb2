//! The form in which one verdict is kept.

use std::time::{SystemTime, UNIX_EPOCH};

use model_checker::{VERSION, Word};
use serde_json::{Value, json};

const FORMAT: &str = "steadfast-verdict/1";

pub fn write(mark: &str, design: &str, word: &Word) -> String {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "format": FORMAT,
        "checker": VERSION,
        "mark": mark,
        "design": design,
        "verdict": word,
        "at_s": at,
    })
    .to_string()
}

/// The verdict, if it is one of this checker on this text; else why not.
pub fn read(form: &str, mark: &str) -> Result<Word, String> {
    let form: Value = serde_json::from_str(form).map_err(|_| "it is not JSON".to_string())?;
    if form["format"] != FORMAT {
        return Err(format!("it does not have the format `{FORMAT}`"));
    }
    if form["checker"] != VERSION {
        return Err("it was made by another version of the checker".into());
    }
    if form["mark"] != mark {
        return Err("it is about another text".into());
    }
    serde_json::from_value(form["verdict"].clone()).map_err(|_| "it has no verdict".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_of_this_checker_on_this_text_is_believed() {
        let word = Word::Holds { bounds: vec!["log: 3 entries".into()] };
        let form = write("abc", "D", &word);
        assert_eq!(read(&form, "abc"), Ok(word));
        let checker = format!("\"checker\":{VERSION}");
        assert!(form.contains(&checker));
        for (from, to, why) in [
            ("steadfast-verdict/1", "steadfast-verdict/2", "format"),
            (checker.as_str(), "\"checker\":0", "another version"),
            ("\"mark\":\"abc\"", "\"mark\":\"abd\"", "another text"),
            ("\"holds\"", "\"fine\"", "no verdict"),
            ("{", "", "not JSON"),
        ] {
            let said = read(&form.replacen(from, to, 1), "abc").unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
