//! Where the answer of a view comes from: the same on every engine, since views lie beside the runtime.

use design::model::*;

use crate::spell::Scope;

/// How a read gets at a view.
pub fn text(design: &Design, view: &View) -> String {
    let scope = Scope::row(design, &view.locals);
    let subject = &design.subjects[view.subject.index()].name;
    let mut picked: Vec<String> = view.params.iter().map(|param| param.name.clone()).collect();
    picked.extend(view.caller.iter().map(|_| "me".to_string()));
    let of = match picked.is_empty() {
        true => String::new(),
        false => format!("({})", picked.join(", ")),
    };
    let order = |keys: &[(&Expr, bool)]| {
        let keys = keys.iter().map(|(value, down)| {
            format!("{}{}", scope.text(value), if *down { " desc" } else { "" })
        });
        let keys: Vec<String> = keys.chain(["key".to_string()]).collect();
        keys.join(", ")
    };
    let kept = match &view.form {
        ViewForm::Count => format!("how many {subject}"),
        ViewForm::Sum { value } => format!("the sum of {}", scope.text(value)),
        ViewForm::Extreme { value, greatest } => {
            format!(
                "the {subject} in the order of {}, of which the first",
                order(&[(value, *greatest)])
            )
        }
        ViewForm::Average { value, .. } => {
            format!("the sum of {} and how many there are", scope.text(value))
        }
        ViewForm::List { order: keys, .. } => {
            let keys: Vec<(&Expr, bool)> =
                keys.iter().map(|key| (&key.value, key.descending)).collect();
            format!("the {subject} in the order of {}", order(&keys))
        }
        ViewForm::Rank { by, .. } => {
            format!("the {subject} in the order of {}", order(&[(&by.value, by.descending)]))
        }
        ViewForm::Window { by, .. } => format!("stretches of {}", scope.text(by)),
        ViewForm::Search { .. } | ViewForm::Near { .. } => format!("an index of {subject}"),
    };
    let mut text = format!(
        "{}{of}: {kept}, which the server has in memory and keeps from the feed",
        view.name
    );
    if !view.with.is_empty() {
        let shown: Vec<&str> = view.with.iter().map(|column| column.name.as_str()).collect();
        let joined = view.joined();
        let from: Vec<&str> =
            joined.iter().map(|id| design.subjects[id.index()].name.as_str()).collect();
        let shown = shown.join(", ");
        text += &format!("; for each row {shown} from the {} there", from.join(", "));
    }
    text
}
