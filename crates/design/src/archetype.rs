//! `use A08 as Ticket`: an archetype is a text with the placeholder `X` in its names.

use syntax::{FileId, TokenKind};

/// The archetype's text with `X` replaced by `noun` in every name: `XHoldState` becomes
/// `TicketHoldState`, `ParentXRelation` becomes `ParentTicketRelation`; in names with underscores
/// `x` is the placeholder: `hold_x` becomes `hold_ticket`. Texts and comments are left alone,
/// but for the words `X` and `Xs` standing alone in them.
pub fn instantiate(text: &str, noun: &str) -> String {
    let (tokens, _) = syntax::lex(text, FileId(0));
    let mut result = String::with_capacity(text.len() + text.len() / 4);
    let mut copied = 0;
    for token in &tokens {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let (Some(between), Some(word)) = (text.get(copied..start), text.get(start..end)) else {
            continue;
        };
        result.push_str(between);
        match token.kind {
            TokenKind::Word => result.push_str(&rename(word, noun)),
            TokenKind::Text | TokenKind::Comment => result.push_str(&rename_prose(word, noun)),
            _ => result.push_str(word),
        }
        copied = end;
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    result
}

pub(crate) fn rename(word: &str, noun: &str) -> String {
    if word.contains('X') {
        let letters: Vec<char> = word.chars().collect();
        let mut result = String::new();
        for (at, letter) in letters.iter().enumerate() {
            let begins = at == 0 || letters[at - 1].is_lowercase() || letters[at - 1] == '_';
            let ends = letters
                .get(at + 1)
                .is_none_or(|next| next.is_uppercase() || *next == 's' && at + 2 == letters.len());
            let constant = letters.len() > 1 && letters.iter().all(|l| !l.is_lowercase());
            if *letter == 'X' && begins && ends && !constant {
                result.push_str(noun);
            } else {
                result.push(*letter);
            }
        }
        return result;
    }
    if word.split('_').any(|part| part == "x" || part == "xs") {
        let snake = snake_case(noun);
        let parts: Vec<String> = word
            .split('_')
            .map(|part| match part {
                "x" => snake.clone(),
                "xs" => format!("{snake}s"),
                other => other.to_string(),
            })
            .collect();
        return parts.join("_");
    }
    word.to_string()
}

/// In prose only a lone `X` is the placeholder.
pub(crate) fn rename_prose(text: &str, noun: &str) -> String {
    let spaced = snake_case(noun).replace('_', " ");
    let mut result = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, result: &mut String| {
        match word.as_str() {
            "X" => result.push_str(&spaced),
            "Xs" => {
                result.push_str(&spaced);
                result.push('s');
            }
            other => result.push_str(other),
        }
        word.clear();
    };
    for letter in text.chars() {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
        } else {
            flush(&mut word, &mut result);
            result.push(letter);
        }
    }
    flush(&mut word, &mut result);
    result
}

/// `GuestRoom` becomes `guest_room`.
pub(crate) fn snake_case(noun: &str) -> String {
    let mut result = String::new();
    for (at, letter) in noun.chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            result.push('_');
        }
        result.extend(letter.to_lowercase());
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_placeholder_is_a_word_of_the_name() {
        for (from, to) in [
            ("XHoldState", "TicketHoldState"),
            ("X", "Ticket"),
            ("ParentXRelationState", "ParentTicketRelationState"),
            ("HoldX", "HoldTicket"),
            ("hold_x", "hold_ticket"),
            ("x", "ticket"),
            ("x_id", "ticket_id"),
            ("MAX", "MAX"),
            ("Xylophone", "Xylophone"),
            ("index", "index"),
            ("FIX_X", "FIX_X"),
        ] {
            assert_eq!(rename(from, "Ticket"), to, "{from}");
        }
        assert_eq!(rename("x_id", "GuestRoom"), "guest_room_id");
    }

    #[test]
    fn prose_keeps_its_words() {
        assert_eq!(
            rename_prose("// an X is held; Xanadu is not", "GuestRoom"),
            "// an guest room is held; Xanadu is not"
        );
    }
}
