//! What is known of a design, where a visitor cannot miss it.

use model_checker::Word;

use crate::html::{Html, html};
use crate::prose::prose;
use crate::units::count;
use crate::value::Place;
use gateway::{Service, Standing};

/// A few words in a colour, which lead to the check.
pub fn tag(service: &Service) -> Html {
    let place = Place { name: &service.name, design: service.design() };
    let (class, text) = match service.standing() {
        Standing::Known(Word::Proved) => ("good", "proved"),
        Standing::Known(Word::Holds { .. }) => ("good", "holds within bounds"),
        Standing::Known(Word::Violated) => ("bad", "violated"),
        Standing::Known(Word::NotKnown { .. }) => ("odd", "not known"),
        Standing::NotChecked => ("odd", "not checked"),
        Standing::Checking { .. } => ("odd", "being checked"),
    };
    let mut page = Html::new();
    html!(page, "<a class=\"tag {}\" href=\"{}\">{}</a>", class, place.at("/check"), text);
    page
}

/// The whole word, with its bounds. Empty where a banner says it.
pub fn whole(service: &Service) -> Html {
    let mut page = Html::new();
    match service.standing() {
        Standing::Known(Word::Proved) => html!(
            page,
            "<p class=\"verdict\"><strong class=\"good\">Proved</strong>: every state of the world \
             that the design names was seen, and nothing was cut.</p>"
        ),
        Standing::Known(Word::Holds { bounds }) => html!(
            page,
            "<p class=\"verdict\"><strong class=\"good\">Holds within</strong> {}.</p>",
            prose(&bounds.join(", "))
        ),
        _ => {}
    }
    page
}

/// Above every page of a design on which nobody should rely. Empty: there is nothing to warn of.
pub fn banner(service: &Service) -> Html {
    let place = Place { name: &service.name, design: service.design() };
    let mut page = Html::new();
    match service.standing() {
        Standing::Known(Word::Proved | Word::Holds { .. }) => {}
        Standing::Known(Word::Violated) => html!(
            page,
            "<div class=\"note bad banner\" role=\"status\"><p><strong>This design is \
             violated.</strong> The check found a history that breaks a goal. It is served all the \
             same. <a href=\"{}\">See the check</a></p></div>",
            place.at("/check")
        ),
        Standing::Known(Word::NotKnown { why }) => html!(
            page,
            "<div class=\"note odd banner\" role=\"status\"><p><strong>It is not known whether this \
             design holds</strong>: {}. <a href=\"{}\">See the check</a></p></div>",
            prose(&why),
            place.at("/check")
        ),
        Standing::NotChecked => html!(
            page,
            "<div class=\"note odd banner\" role=\"status\"><p><strong>This design was not \
             checked.</strong> <a href=\"{}\">Check it</a></p></div>",
            place.at("/check")
        ),
        Standing::Checking { arm, states } => html!(
            page,
            "<div class=\"note odd banner\" role=\"status\"><p><strong>This design was not checked \
             yet.</strong> It is being checked now: <code>{}</code>, {} states so far. <a \
             href=\"{}\">Look on</a></p></div>",
            arm,
            count(states as f64),
            place.at("/check")
        ),
    }
    page
}
