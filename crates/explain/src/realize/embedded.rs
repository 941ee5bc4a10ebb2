//! The embedded store: one writer, state in memory, one log on disk.

use layout::Size;

use super::Line;
use super::forms::{CommitForm, WriteKind};

pub fn notes() -> Vec<String> {
    vec![
        "a step is evaluated under the single writer, so what it read cannot change before it commits".into(),
        "a commit is one frame of the log; frames that come in together share one sync, and none is answered before it".into(),
        "the feed is the log itself: one partition, in commit order".into(),
    ]
}

pub fn scans(form: &CommitForm) -> Vec<Line> {
    let line = |scan: &super::ScanForm| {
        Line::always(format!(
            "scan {} ({}): from {} to {}, in order",
            scan.name, scan.what, scan.from, scan.to
        ))
    };
    form.scans.iter().map(line).collect()
}

pub fn reads(form: &CommitForm) -> Vec<Line> {
    form.reads
        .iter()
        .map(|record| Line {
            when: record.when.clone(),
            text: format!("get {}: {}", record.name, record.key),
        })
        .collect()
}

pub fn commit(form: &CommitForm) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut total = Size::NOTHING;
    for write in &form.writes {
        let (bytes, texts) = write.key.size();
        let key = Size { min: bytes, max: bytes, open: texts > 0 };
        let size = key.and(write.size);
        for _ in 0..write.times.min(1) {
            total = total.and(Size {
                min: if write.when.is_some() { 0 } else { size.min },
                max: size.max * write.times,
                open: size.open,
            });
        }
        let verb = match write.kind {
            WriteKind::Remove | WriteKind::Delete => "delete",
            _ => "put",
        };
        let times =
            if write.times > 1 { format!(", up to {} times", write.times) } else { String::new() };
        lines.push(Line {
            when: write.when.clone(),
            text: format!(
                "{verb} {} ({}): {}, {}{times}",
                write.name,
                write.what,
                write.key,
                size.text()
            ),
        });
    }
    if let Some(feed) = form.feed {
        total = total.and(feed);
        let events = if form.events.is_empty() {
            String::new()
        } else {
            format!(" with {}", form.events.join(", "))
        };
        lines.push(Line::always(format!("feed{events}: {}", feed.text())));
    }
    if !lines.is_empty() {
        lines.push(Line::always(format!("one frame: {}", total.text())));
    }
    lines
}
