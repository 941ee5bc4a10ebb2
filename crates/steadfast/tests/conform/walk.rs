//! From node to node of a sample, and what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use design::model::Design;
use model_checker::sample::{Drawn, Sample};

use replay::{Carried, Carrier, Stop};

#[derive(Default)]
pub struct Tally {
    taken: usize,
    refused: usize,
    on_the_way: usize,
    left_out: BTreeMap<&'static str, usize>,
    differences: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} taken, {} refused, {} on the way",
            self.taken, self.refused, self.on_the_way
        )?;
        match self.left_out.is_empty() {
            true => Ok(()),
            false => write!(f, ", left out {:?}", self.left_out),
        }
    }
}

impl Tally {
    /// Fails unless so many were carried out and everything came to the same.
    pub fn expect(self, name: &str, expected: usize) {
        let mut shortest = self.differences;
        shortest.sort_by_key(|text| text.lines().count());
        let count = shortest.len();
        shortest.truncate(3);
        assert!(count == 0, "{name}: {count} differences, such as\n{}", shortest.join("\n"));
        assert!(self.left_out.is_empty(), "{name}: {:?}", self.left_out);
        assert!(self.taken > 0 && self.refused > 0, "{name}: all were of one kind");
        assert_eq!(self.taken + self.refused, expected, "{name}: not all were carried out");
    }
}

pub struct Walk<'a> {
    sample: &'a Sample,
    pub design: Arc<Design>,
    /// nodes that were compared
    seen: Vec<bool>,
    pub tally: Tally,
}

/// Gives a runtime that is as it was made.
type Fresh<'f> = dyn FnMut() -> Carrier + 'f;

impl<'a> Walk<'a> {
    pub fn new(sample: &'a Sample) -> Walk<'a> {
        Walk {
            sample,
            design: Arc::new(sample.design.clone()),
            seen: vec![false; sample.nodes.len()],
            tally: Tally::default(),
        }
    }

    /// Carries out what was drawn and is wanted, at most so many, evenly over the nodes.
    pub fn all(&mut self, most: usize, wanted: fn(&Drawn) -> bool, fresh: &mut Fresh<'_>) {
        let nodes = &self.sample.nodes;
        let all: usize =
            nodes.iter().map(|node| node.drawn.iter().filter(|it| wanted(it)).count()).sum();
        let most = most.min(all);
        let mut number = 0;
        for (node, held) in nodes.iter().enumerate() {
            let mut chosen: Vec<&Drawn> = held.drawn.iter().filter(|it| wanted(it)).collect();
            chosen.retain(|_| {
                number += 1;
                number * most / all > (number - 1) * most / all
            });
            if !chosen.is_empty() {
                self.node(node, &chosen, fresh);
            }
        }
    }

    fn path(&self, node: usize) -> Vec<usize> {
        let mut path = vec![node];
        while let Some((before, _)) = &self.sample.nodes[path[path.len() - 1]].from {
            path.push(*before);
        }
        path.reverse();
        path
    }

    /// A runtime that has come to this node.
    fn reach(&mut self, node: usize, fresh: &mut Fresh<'_>) -> Result<Carrier, Stop> {
        let mut carrier = fresh();
        for at in self.path(node) {
            if let Some((before, event)) = &self.sample.nodes[at].from {
                carrier.carry_out(event, &self.sample.nodes[*before].state)?;
            }
            if !self.seen[at] {
                carrier.compare(&self.sample.nodes[at].state)?;
                self.seen[at] = true;
                self.tally.on_the_way += 1;
            }
        }
        Ok(carrier)
    }

    fn node(&mut self, node: usize, chosen: &[&Drawn], fresh: &mut Fresh<'_>) {
        let held = &self.sample.nodes[node];
        let mut ready = match self.reach(node, fresh) {
            Ok(carrier) => Some(carrier),
            Err(stop) => return self.stopped(stop, node, None, chosen.len()),
        };
        for drawn in chosen {
            if let Drawn::Refused(event, refusal) = drawn
                && let Some(carrier) = &mut ready
            {
                let carried = carrier.is_refused_here(event, refusal, &held.state);
                let carried = carried.and_then(|()| carrier.compare(&held.state));
                self.tally.refused += usize::from(carried.is_ok());
                self.told(carried, node, drawn);
            }
        }
        for drawn in chosen {
            let Drawn::Taken(event, after) = drawn else { continue };
            let carrier = match ready.take() {
                Some(carrier) => Ok(carrier),
                None => self.reach(node, fresh),
            };
            let carried = carrier.and_then(|mut carrier| {
                carrier.carry_out(event, &held.state)?;
                carrier.compare(after)
            });
            self.tally.taken += usize::from(carried.is_ok());
            self.told(carried, node, drawn);
        }
    }

    fn told(&mut self, carried: Carried, node: usize, drawn: &Drawn) {
        if let Err(stop) = carried {
            self.stopped(stop, node, Some(drawn), 1);
        }
    }

    fn stopped(&mut self, stop: Stop, node: usize, drawn: Option<&Drawn>, many: usize) {
        match stop {
            Stop::LeftOut(why) => *self.tally.left_out.entry(why).or_default() += many,
            what => {
                let mut text = format!("{what}\n");
                for at in self.path(node) {
                    if let Some((_, event)) = &self.sample.nodes[at].from {
                        text.push_str(&format!("    {event:?}\n"));
                    }
                }
                if let Some(drawn) = drawn {
                    let event = match drawn {
                        Drawn::Taken(event, _) | Drawn::Refused(event, _) => event,
                    };
                    text.push_str(&format!("  > {event:?}\n"));
                }
                self.tally.differences.push(text);
            }
        }
    }
}
