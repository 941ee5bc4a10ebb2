//! The outbox and the world outside; messages between places.

use design::model::{Answer, Fault, OperationId, OperationKind, Type};

use super::actions::Actions;
use super::expr::{Frame, Scope};
use super::flow::{Place, Scope as FlowScope};
use super::run::Run;
use super::text::{junction, quoted, set, tuple};

impl Actions<'_> {
    pub fn outbox(&mut self) {
        for effect in self.world.effects().collect::<Vec<_>>() {
            self.effect(effect);
        }
    }

    fn effect(&mut self, id: OperationId) {
        let world = self.world;
        let operation = &world.design.operations[id.index()];
        let OperationKind::Effect(effect) = &operation.kind else { return };
        if effect.sign.is_some() {
            world.refuse("effects that sign");
        }
        let timed = |param: &design::model::Param| *param.ty.required() == Type::Time;
        if operation.params.iter().any(timed) {
            world.refuse("a time that travels with a call to the world outside");
        }
        let name = world.operation(id);
        let answers = [
            ("ok", &effect.on_ok),
            ("refused", &effect.on_refused),
            ("unknown", &effect.on_unknown),
        ];
        for (word, answer) in answers {
            self.handler(id, &format!("{name}_{word}"), answer);
        }
        self.attempt(id);
        self.decide(id);
        self.answer(id, &name);
    }

    /// What an answer commits; the entry is closed before that.
    fn handler(&mut self, id: OperationId, name: &str, answer: &Answer) {
        let world = self.world;
        let operation = &world.design.operations[id.index()];
        let mut scope = Scope::of(world, false, Frame::This);
        scope.locals = self.param_names(operation).into_iter().collect();
        let mut heads = vec!["entry".to_owned()];
        heads.extend(self.param_names(operation).into_iter().map(|(_, name)| name));
        if let Some(local) = answer.param {
            scope.locals.insert(local, "answer".into());
            heads.push("answer".into());
        }
        let outbox = world.outbox(id);
        scope.now.insert(outbox.clone(), format!("Closed({outbox}, entry)"));
        let mut run = Run::of(scope, id);
        run.guarded();
        run.body(&answer.body);
        let parts = run.finish(&self.variables.steps, &[]);
        self.text.push(format!("{name}({}) ==\n{}", heads.join(", "), junction("/\\", 4, &parts)));
    }

    fn attempt(&mut self, id: OperationId) {
        let world = self.world;
        let (outbox, outside) = (world.outbox(id), world.outside(id));
        let times = if world.is_key_gone(id) { ", times |-> 0" } else { "" };
        let becomes = format!(
            "{outside}' = {outside} @@ (entry :> [is |-> \"asked\", args |-> {outbox}[entry], answer |-> Null{times}])"
        );
        let same = self.others(&[&outside]);
        let step = junction("/\\", 0, &[becomes, same]);
        let way = self.way_of(&[], &[], &step, &[]).replace('\n', "\n        ");
        let name = format!("Attempt_{}", world.design.operations[id.index()].name);
        self.text.push(format!(
            "\\* The call of an open entry reaches the world outside.\n{name} ==\n    \\E entry \\in DOMAIN {outbox} \\ DOMAIN {outside} :\n        {way}"
        ));
        self.next.push(name);
    }

    fn decide(&mut self, id: OperationId) {
        let world = self.world;
        let operation = &world.design.operations[id.index()];
        let OperationKind::Effect(effect) = &operation.kind else { return };
        let outside = world.outside(id);
        let gone = world.is_key_gone(id);
        let values = match (effect.on_ok.param, world.design.world.answers.get(id.index())) {
            (Some(local), Some(Some(values))) => {
                let place = Place::Local(FlowScope::Operation(id.0), local);
                let ty = &operation.locals[local.index()].ty;
                set(&world.list(values, ty, place))
            }
            _ => "{Null}".into(),
        };
        let times = if gone { ", !.times = 1" } else { "" };
        let same = self.others(&[&outside]);
        let done = format!(
            "\\E answer \\in {values} :\n    {outside}' = [{outside} EXCEPT ![entry] = [@ EXCEPT !.is = \"done\", !.answer = answer{times}]]"
        );
        let refused = format!("{outside}' = [{outside} EXCEPT ![entry].is = \"refused\"]");
        let step = junction(
            "/\\",
            0,
            &[
                format!("{outside}[entry].is = \"asked\""),
                junction("\\/", 0, &[done, refused]),
                same,
            ],
        );
        let way = self.way_of(&[], &[], &step, &[]).replace('\n', "\n        ");
        let name = format!("Decide_{}", operation.name);
        self.text.push(format!(
            "\\* The world outside decides a key, once and for good.\n{name} ==\n    \\E entry \\in DOMAIN {outside} :\n        {way}"
        ));
        self.next.push(name);
        if gone {
            let outbox = world.outbox(id);
            let again = format!(
                "{outside}' = [{outside} EXCEPT ![entry] = [@ EXCEPT !.is = \"done\", !.times = @ + 1]]"
            );
            let step = junction("/\\", 0, &[again, self.others(&[&outside])]);
            let conditions =
                [format!("{outside}[entry].is # \"asked\""), format!("{outside}[entry].times < 2")];
            let way = self.way_of(&conditions, &[], &step, &[]).replace('\n', "\n        ");
            let name = format!("Again_{}", operation.name);
            self.text.push(format!(
                "\\* Without the key, what was decided is done once more, or after all.\n{name} ==\n    \\E entry \\in DOMAIN {outbox} \\cap DOMAIN {outside} :\n        {way}"
            ));
            self.next.push(name);
        }
    }

    fn answer(&mut self, id: OperationId, name: &str) {
        let world = self.world;
        let operation = &world.design.operations[id.index()];
        let OperationKind::Effect(effect) = &operation.kind else { return };
        let (outbox, outside) = (world.outbox(id), world.outside(id));
        let decided = |word: &str| format!("IsDecided({outside}, entry, {})", quoted(word));
        let unknown = if world.setting("unknowns", 1) == 0 { "FALSE" } else { "TRUE" };
        let kinds = [
            ("ok", decided("done"), &effect.on_ok),
            ("refused", decided("refused"), &effect.on_refused),
            ("unknown", unknown.into(), &effect.on_unknown),
        ];
        let closed = junction(
            "/\\",
            0,
            &[format!("{outbox}' = Closed({outbox}, entry)"), self.others(&[&outbox])],
        );
        let mut ways = Vec::new();
        for (word, condition, answer) in kinds {
            let mut args = vec!["entry".to_owned()];
            args.extend((1..=operation.params.len()).map(|at| format!("{outbox}[entry][{at}]")));
            if answer.param.is_some() {
                args.push(if word == "ok" {
                    format!("{outside}[entry].answer")
                } else {
                    "Null".into()
                });
            }
            let handler = format!("{name}_{word}({})", args.join(", "));
            let dropped = junction("/\\", 0, &[format!("~ENABLED {handler}"), closed.clone()]);
            let step = junction("\\/", 0, &[handler, dropped]);
            ways.push(self.way_of(&[condition], &[], &step, &[]));
        }
        let name = format!("Answer_{}", operation.name);
        self.text.push(format!(
            "\\* The first answer closes the entry; it comes to nothing if the guard does not hold.\n{name} ==\n    \\E entry \\in DOMAIN {outbox} :\n{}",
            junction("\\/", 8, &ways)
        ));
        self.next.push(name);
    }

    /// Messages are delivered in any order, perhaps twice, perhaps never.
    pub fn messages(&mut self) {
        if !self.world.targets.contains(&true) {
            return;
        }
        let world = self.world;
        let taken = if self.variables.message_set {
            "Messages \\ {message}"
        } else {
            "Messages (-) SetToBag({message})"
        };
        let among = if self.variables.message_set { "Messages" } else { "BagToSet(Messages)" };
        let mut ways = Vec::new();
        for (index, operation) in world.design.operations.iter().enumerate() {
            if !world.targets[index] {
                continue;
            }
            if operation.params.iter().any(|param| *param.ty.required() == Type::Time) {
                world.refuse("a time that travels with a message");
            }
            let id = OperationId::of(index);
            let args: Vec<String> =
                (1..=operation.params.len()).map(|at| format!("message.args[{at}]")).collect();
            let personal = world.is_personal(operation);
            let applied = |rest: &str| {
                let mut all: Vec<String> = personal.then(|| "me".to_owned()).into_iter().collect();
                all.extend(args.clone());
                all.push(rest.to_owned());
                format!("{}({})", world.operation(id), all.join(", "))
            };
            let mut kinds = vec![self.way_of(&[], &[], &applied(taken), &[])];
            if self.on(Fault::DoubledMessage) {
                let way = self.way_of(&[], &[Fault::DoubledMessage], &applied("Messages"), &[]);
                kinds.push(format!("\\* it is delivered, and stays on its way\n{way}"));
            }
            let gone = junction(
                "/\\",
                0,
                &[
                    format!("~ENABLED {}", applied("Messages")),
                    format!("Messages' = {taken}"),
                    self.others(&["Messages"]),
                ],
            );
            kinds.push(format!(
                "\\* it is refused, and gone\n{}",
                self.way_of(&[], &[], &gone, &[])
            ));
            let mut parts = vec![format!("message.step = {}", quoted(&operation.name))];
            if self.on(Fault::Partition)
                && let Some(to) = world.place(operation, &args)
            {
                parts.push(format!("~Apart(message.from, {to})"));
            }
            let kinds = junction("\\/", 0, &kinds);
            parts.push(if personal {
                format!(
                    "\\E me \\in {} :\n    {}",
                    world.callers(operation),
                    kinds.replace('\n', "\n    ")
                )
            } else {
                kinds
            });
            ways.push(junction("/\\", 0, &parts));
        }
        self.text.push(format!(
            "\\* A message arrives.\nDeliver ==\n    \\E message \\in {among} :\n{}",
            junction("\\/", 8, &ways)
        ));
        self.next.push("Deliver".into());
        if self.on(Fault::LostMessage) {
            let step =
                junction("/\\", 0, &[format!("Messages' = {taken}"), self.others(&["Messages"])]);
            let way =
                self.way_of(&[], &[Fault::LostMessage], &step, &[]).replace('\n', "\n        ");
            self.text.push(format!(
                "\\* A message is lost.\nLose ==\n    \\E message \\in {among} :\n        {way}"
            ));
            self.next.push("Lose".into());
        }
        self.partition();
    }

    fn partition(&mut self) {
        if !self.on(Fault::Partition) {
            return;
        }
        let same = self.others(&[]);
        let heal =
            self.way_of(&["CutOff # {}".into()], &[], &same, &[("CutOff".into(), "{}".into())]);
        let cut = self.way_of(
            &["CutOff = {}".into()],
            &[Fault::Partition],
            &same,
            &[("CutOff".into(), "side".into())],
        );
        self.text.push(format!(
            "\\* Some places do not hear the others any more; one of them is never among these, so that\n\\* each division is there once.\nCut ==\n    \\E side \\in (SUBSET (Places \\ {{LastPlace}})) \\ {{{{}}}} :\n        {}",
            cut.replace('\n', "\n        ")
        ));
        self.text.push(format!("Heal ==\n    {}", heal.replace('\n', "\n    ")));
        self.next.push("Cut".into());
        self.next.push("Heal".into());
    }

    /// Every place that there is.
    pub fn places(&self) -> Vec<String> {
        let mut places: Vec<String> = Vec::new();
        for (index, subject) in self.world.design.subjects.iter().enumerate() {
            let Some(part) = subject.place else { continue };
            let id = design::model::SubjectId::of(index);
            for value in self.world.part_list(id, part as usize) {
                if !places.contains(&value) {
                    places.push(value);
                }
            }
        }
        places
    }

    pub fn all_variables(&self) -> String {
        let all: Vec<String> =
            self.variables.steps.iter().chain(&self.variables.faults).cloned().collect();
        tuple(&all)
    }
}
