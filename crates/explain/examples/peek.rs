fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let design = design::compile("d", &text, &design::NoCatalog).design.unwrap();
    match args.get(2).map(String::as_str) {
        Some("svg") => {
            for drawing in explain::drawings(&design) {
                std::fs::write(format!("{}/{}.svg", args[3], drawing.name), &drawing.svg).unwrap();
            }
        }
        Some(name) => {
            let engine = explain::Engine::ALL.into_iter().find(|e| e.name() == name).unwrap();
            print!("{}", explain::realization(&explain::realize(&design, engine)));
        }
        _ => print!("{}", explain::markdown(&explain::sheet(&design))),
    }
}
