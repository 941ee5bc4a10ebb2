use super::*;

/// The whole workspace as the table allows it, with extra dependencies on one crate.
fn workspace(package: &str, extra: &[(&str, bool)]) -> Vec<Package> {
    LAYERS
        .iter()
        .map(|layer| {
            let own = layer.uses.iter().map(|name| (*name, false));
            let added = extra.iter().copied().filter(|_| layer.package == package);
            Package {
                name: layer.package.into(),
                dependencies: own
                    .chain(added)
                    .map(|(name, development)| Dependency { name: name.into(), development })
                    .collect(),
            }
        })
        .collect()
}

fn messages(packages: &[Package]) -> Vec<String> {
    check(packages).into_iter().map(|problem| problem.message).collect()
}

#[test]
fn the_table_allows_itself() {
    assert_eq!(messages(&workspace("syntax", &[])), Vec::<String>::new());
}

#[test]
fn a_layer_may_not_look_up() {
    let planted = workspace("syntax", &[("design", false)]);
    assert_eq!(messages(&planted), ["`syntax` may not depend on `design`"]);
    let planted = workspace("design", &[("engine", true)]);
    assert_eq!(messages(&planted), ["`design` may not depend on `engine`"]);
}

#[test]
fn tests_may_use_what_the_crate_may_not() {
    assert_eq!(messages(&workspace("engine", &[("syntax", true)])), Vec::<String>::new());
    assert_eq!(
        messages(&workspace("engine", &[("syntax", false)])),
        ["`engine` may not depend on `syntax`"]
    );
}

#[test]
fn the_engine_does_not_learn_serialisation_or_time() {
    assert_eq!(
        messages(&workspace("engine", &[("serde", false), ("jiff", false), ("serde_json", true)])),
        ["`engine` must never know of `serde`", "`engine` must never know of `jiff`"]
    );
}

#[test]
fn the_oracle_stays_in_the_tests_of_the_checker() {
    assert_eq!(messages(&workspace("model-checker", &[("stateright", true)])), [""; 0]);
    assert_eq!(
        messages(&workspace("model-checker", &[("stateright", false)])),
        ["`stateright` may only be a development dependency"]
    );
    assert_eq!(
        messages(&workspace("engine", &[("stateright", true)])),
        ["`stateright` may only be used by the tests of `model-checker`"]
    );
}

#[test]
fn a_new_crate_needs_a_layer_and_a_lost_one_loses_it() {
    let mut packages = workspace("syntax", &[]);
    packages[0].name = "utils".into();
    let found = messages(&packages);
    assert!(found.contains(&"`utils` has no layer".into()), "{found:?}");
    assert!(found.contains(&"a layer is kept for `syntax`, which does not exist".into()));
}

#[test]
fn metadata_is_read_with_the_kind_of_each_dependency() {
    let metadata = r#"{"packages":[{"name":"engine","dependencies":[
        {"name":"design","kind":null},{"name":"proptest","kind":"dev"}]}]}"#;
    let dependency = |name: &str, development| Dependency { name: name.into(), development };
    assert_eq!(
        parse(metadata),
        Ok(vec![Package {
            name: "engine".into(),
            dependencies: vec![dependency("design", false), dependency("proptest", true)],
        }])
    );
    assert!(parse("no").is_err());
    assert!(parse("{}").is_err());
}
