//! What is printed when a server has started.

use std::path::Path;

use clap::builder::styling::Style;
use gateway::Standing;
use model_checker::Word;

use crate::commands::token::USUAL_KEYS;
use crate::commands::tries::Try;
use crate::output::{ERROR, GOOD, ODD, STRONG};

/// Where it is, what is known of each design, and what to type first.
///
/// `tokens`: callers present one, issued with the keys in this directory.
pub fn greeting(
    address: &str,
    standings: &[(String, Standing)],
    first: Option<&Try>,
    tokens: Option<&Path>,
    checking: bool,
) -> String {
    let mut text = format!("{STRONG}serving{STRONG:#} {address}\n");
    text.push_str(&format!("console {address}/console\n"));
    for (name, standing) in standings {
        let style = style(standing);
        let now = match standing {
            Standing::Known(_) => "",
            _ if checking => ", and is being checked in the background",
            _ => "",
        };
        text.push_str(&format!("{name}: {style}{standing}{style:#}{now}\n"));
    }
    if let Some(call) = first {
        text.push_str("\ntry\n");
        let header = match tokens {
            Some(keys) => {
                text.push_str(&format!("  {}\n", get_token(call.actor(), keys)));
                "-H \"Authorization: Bearer $TOKEN\" "
            }
            None => "",
        };
        text.push_str(&format!("  {}\n", call.curl(address, header)));
    }
    text
}

/// How good what is known is.
pub fn style(standing: &Standing) -> Style {
    match standing {
        Standing::Known(Word::Proved | Word::Holds { .. }) => GOOD,
        Standing::Known(Word::Violated) => ERROR,
        _ => ODD,
    }
}

/// The command that issues a token with the very keys that the server reads.
fn get_token(role: &str, keys: &Path) -> String {
    let keys = match keys == Path::new(USUAL_KEYS) {
        true => String::new(),
        false => format!(" --keys {}", keys.display()),
    };
    format!("TOKEN=$(steadfast token new me --role {role}{keys})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_issued_with_the_keys_that_the_server_reads() {
        let usual = get_token("buyer", Path::new(USUAL_KEYS));
        assert_eq!(usual, "TOKEN=$(steadfast token new me --role buyer)");
        let named = get_token("buyer", Path::new("./k2"));
        assert_eq!(named, "TOKEN=$(steadfast token new me --role buyer --keys ./k2)");
    }
}
