//! The values of the small world: keys, what callers give, and what a type can hold.

use std::collections::BTreeSet;

use design::model::{AttrId, Const, OperationId, SubjectId, Type, Values};

use super::flow::{Place, Scope};
use super::text::{quoted, set};
use super::world::{World, key_of, type_name};

impl World<'_> {
    // Keys and values.

    /// Every key of a subject, as values.
    pub fn key_list(&self, id: SubjectId) -> Vec<String> {
        let subject = self.subject(id);
        let parts: Vec<Vec<String>> =
            (0..subject.keys.len()).map(|part| self.key_values(id, part)).collect();
        let mut all: Vec<Vec<String>> = vec![Vec::new()];
        for values in &parts {
            all = all
                .iter()
                .flat_map(|head| {
                    values.iter().map(move |value| {
                        let mut key = head.clone();
                        key.push(value.clone());
                        key
                    })
                })
                .collect();
        }
        all.into_iter().map(|parts| key_of(&parts)).collect()
    }

    fn key_values(&self, id: SubjectId, part: usize) -> Vec<String> {
        let key = &self.subject(id).keys[part];
        let values = self.design.world.keys.get(id.index()).and_then(|parts| parts.get(part));
        match (values, key.ty.required()) {
            (_, Type::Ref(of)) => self.key_list(*of),
            (Some(values), ty) => self.list(values, ty, Place::Key(id, part as u32)),
            (None, Type::Actor) => self.all_principals(),
            (None, ty) => self.list(&Values::Whole, ty, Place::Key(id, part as u32)),
        }
    }

    pub fn part_list(&self, id: SubjectId, part: usize) -> Vec<String> {
        self.key_values(id, part)
    }

    /// The definition of the set of keys.
    pub fn key_set(&self, id: SubjectId) -> String {
        let subject = self.subject(id);
        let parts: Vec<String> = (0..subject.keys.len())
            .map(|part| match subject.keys[part].ty.required() {
                Type::Ref(of) => self.keys(*of),
                _ => set(&self.key_values(id, part)),
            })
            .collect();
        parts.join(" \\X ")
    }

    /// What opaque values of a place are called.
    fn opaque(&self, place: Place, count: u32) -> Vec<String> {
        let own = [place];
        let places = self.flow.class(place).map_or(&own[..], |class| &class.places);
        let keys = places.iter().filter(|place| matches!(place, Place::Key(..)));
        let name = keys.chain(places).find_map(|place| self.name_of(*place));
        let name = name.unwrap_or_else(|| "value".into());
        (1..=count).map(|at| quoted(&format!("{name}-{at}"))).collect()
    }

    fn name_of(&self, place: Place) -> Option<String> {
        let name = match place {
            Place::Attr(subject, attr) | Place::MapValue(subject, attr) => {
                self.subject(subject).attributes[attr.index()].name.clone()
            }
            Place::Key(subject, part) => self.subject(subject).keys[part as usize].name.clone(),
            Place::Memory(actor, field) => {
                self.design.actors[actor.index()].memory[field.index()].name.clone()
            }
            Place::Local(Scope::Operation(operation), local) => {
                self.design.operations[operation as usize].locals[local.index()].name.clone()
            }
            _ => return None,
        };
        Some(name).filter(|name| !name.is_empty())
    }

    /// Every value, one by one.
    pub fn list(&self, values: &Values, ty: &Type, place: Place) -> Vec<String> {
        let ty = ty.required();
        match values {
            Values::Opaque(count) => match ty {
                Type::Int | Type::Decimal | Type::Money(_) | Type::Duration => {
                    (0..*count).map(|at| at.to_string()).collect()
                }
                _ => self.opaque(place, *count),
            },
            Values::Range(low, high) => match ty {
                Type::Time => {
                    vec![self.refuse("a parameter that is a `time`")]
                }
                _ => (*low..=*high).map(|at| at.to_string()).collect(),
            },
            Values::Listed(list) => list.iter().map(|value| self.constant(value)).collect(),
            Values::Whole => match ty {
                Type::Bool => vec!["FALSE".into(), "TRUE".into()],
                Type::Enum(id) => self.design.enumerations[id.index()]
                    .constants
                    .iter()
                    .map(|name| quoted(name))
                    .collect(),
                _ => vec![self.refuse(format!("values of the type {}", type_name(ty)))],
            },
            Values::Refs(subject) => self.key_list(*subject),
            Values::Principals => self.all_principals(),
            Values::PrincipalsOf(actors) => {
                let mut names: Vec<String> = Vec::new();
                for name in actors.iter().flat_map(|actor| self.principals(*actor)) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                names
            }
            Values::Units(low, high) => (*low..=*high)
                .map(|units| (i64::from(units) * self.clock.steps).to_string())
                .collect(),
            Values::OrNull(inner) => {
                let mut list = self.list(inner, ty, place);
                list.push("Null".into());
                list
            }
            Values::SetOf(..) | Values::ListOf(..) => {
                vec![self.refuse("a collection among the values of another type")]
            }
            Values::Fields(_) => vec![self.refuse("lists of records")],
            Values::Irrelevant => vec![self.any(ty, place)],
        }
    }

    /// The one value of what nothing looks at.
    fn any(&self, ty: &Type, place: Place) -> String {
        match ty {
            Type::Int | Type::Decimal | Type::Money(_) | Type::Duration | Type::Time => "0".into(),
            Type::Bool => "FALSE".into(),
            Type::Enum(id) => quoted(&self.design.enumerations[id.index()].constants[0]),
            Type::Set { .. } => "{}".into(),
            Type::List { .. } | Type::Map { .. } => "<<>>".into(),
            _ => self.opaque(place, 1).remove(0),
        }
    }

    /// The values that a caller gives a parameter.
    pub fn given(&self, id: OperationId, at: usize) -> String {
        let param = &self.design.operations[id.index()].params[at];
        let place = Place::Local(Scope::Operation(id.0), param.local);
        let ty = param.ty.required();
        let values = self.design.world.params.get(id.index()).and_then(|params| params.get(at));
        let fallback = match ty {
            Type::Ref(subject) => Values::Refs(*subject),
            Type::Actor => Values::Principals,
            _ => Values::Whole,
        };
        let values = values.unwrap_or(&fallback);
        let (inner, null) = match values {
            Values::OrNull(inner) => (&**inner, true),
            other => (other, false),
        };
        let mut text = match inner {
            Values::Refs(subject) => self.keys(*subject),
            Values::Principals => "Principals".into(),
            Values::SetOf(of, max) | Values::ListOf(of, max) => {
                let element = match ty {
                    Type::Set { of, .. } | Type::List { of, .. } => of,
                    other => other,
                };
                let mut elements = self.list(of, element, place);
                let met = self.met(of, None, element, place);
                elements.extend(met);
                let elements = set(&elements);
                if let Values::SetOf(..) = inner {
                    format!("{{s \\in SUBSET {elements} : Cardinality(s) <= {max}}}")
                } else {
                    let most = self.setting("list", 4).min(i64::from(*max));
                    format!("UNION {{[1..n -> {elements}] : n \\in 0..{most}}}")
                }
            }
            Values::Range(low, high) if *ty != Type::Time => format!("{low}..{high}"),
            Values::Whole if *ty == Type::Bool => "BOOLEAN".into(),
            other => set(&self.list(other, ty, place)),
        };
        let mut more: Vec<String> = self.met(inner, param.default.as_ref(), &param.ty, place);
        if null {
            more.push("Null".into());
        }
        if !more.is_empty() {
            text = format!("({text} \\cup {})", set(&more));
        }
        text
    }

    /// A parameter's own default, and the literals that it meets.
    fn met(
        &self,
        values: &Values,
        default: Option<&Const>,
        ty: &Type,
        place: Place,
    ) -> Vec<String> {
        let open = matches!(
            values,
            Values::Opaque(_) | Values::Range(..) | Values::Listed(_) | Values::Units(..)
        );
        if !open {
            return Vec::new();
        }
        let class = self.flow.class(place);
        let mut more: BTreeSet<Const> =
            class.map(|class| class.literals.clone()).unwrap_or_default();
        more.extend(default.filter(|value| **value != Const::Null).cloned());
        let held: Vec<String> = self.list(values, ty, place);
        let more = more.iter().map(|value| self.constant(value));
        more.filter(|value| !held.contains(value)).collect()
    }

    /// What a record has that was made and not written yet, or is not there.
    pub fn blank(&self, id: SubjectId, attr: AttrId) -> String {
        let held = &self.subject(id).attributes[attr.index()];
        match (&held.default, &held.ty) {
            (Some(value), _) => self.constant(value),
            (None, Type::Set { .. }) => "{}".into(),
            (None, Type::List { .. } | Type::Map { .. }) => "<<>>".into(),
            (None, _) => "Null".into(),
        }
    }

    pub fn constant(&self, value: &Const) -> String {
        match value {
            Const::Null => "Null".into(),
            Const::Bool(value) => if *value { "TRUE" } else { "FALSE" }.into(),
            Const::Int(value) | Const::Decimal(value) => value.to_string(),
            Const::Text(text) => quoted(text),
            Const::Duration(ms) => self.clock.duration(*ms).to_string(),
            Const::Enum(id, at) => {
                quoted(&self.design.enumerations[id.index()].constants[*at as usize])
            }
            Const::Set(list) => {
                set(&list.iter().map(|value| self.constant(value)).collect::<Vec<_>>())
            }
            Const::List(list) => super::text::tuple(
                &list.iter().map(|value| self.constant(value)).collect::<Vec<_>>(),
            ),
            Const::Map(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(key, value)| {
                        format!("({} :> {})", self.constant(key), self.constant(value))
                    })
                    .collect();
                if pairs.is_empty() { "<<>>".into() } else { pairs.join(" @@ ") }
            }
        }
    }

    /// Every value of a type of which there are few; in the order in which `for` visits them.
    pub fn universe(&self, ty: &Type) -> Option<Vec<String>> {
        match ty.required() {
            Type::Ref(subject) => Some(self.key_list(*subject)),
            Type::Actor => Some(self.all_principals()),
            Type::Bool => Some(vec!["FALSE".into(), "TRUE".into()]),
            Type::Enum(id) => Some(
                self.design.enumerations[id.index()].constants.iter().map(|c| quoted(c)).collect(),
            ),
            _ => None,
        }
    }
}
