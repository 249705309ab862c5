//! The running example of the product, from the first save to forgetting.

use mmw_core::wire::SearchArgs;

use crate::support::{World, asking, derived, fact, sha, sourced};

#[test]
fn staging_from_the_first_save_to_forgetting() {
    let world = World::new();
    let content = "staging is deployed with the systemd unit `app-staging`";
    let in_backend = |args| mmw_core::wire::RememberArgs {
        workspace: Some("backend".into()),
        ..args
    };
    let first = world.save(in_backend(sourced(
        fact("deploy-staging", content),
        "docs/deploy.md",
        &sha('1'),
    )));
    let first_id = first.record.as_ref().unwrap().id;
    assert_eq!(first.status.as_deref(), Some("unverified"));
    assert!(first.conflicts_with.is_empty() && first.superseded.is_empty());

    let ask = |query: &str| SearchArgs {
        workspace: Some("backend".into()),
        ..asking(query)
    };
    let found = world.search(&ask("how do we deploy the staging server"));
    assert_eq!(found.hits[0].record.content, content);
    assert_eq!(found.hits[0].status, "unverified");

    let validated = world
        .memory
        .validate(
            &world.me,
            &mmw_core::wire::ValidateArgs {
                source_id: "docs/deploy.md".into(),
                current_source_hash: sha('2'),
                workspace: Some("backend".into()),
            },
        )
        .unwrap();
    assert_eq!((validated.checked, validated.unchanged), (1, 0));
    assert_eq!(validated.stale[0].id, first_id);

    let stale = world.search(&SearchArgs {
        current_source_hash: Some(sha('2')),
        ..ask("staging unit")
    });
    assert_eq!(stale.hits[0].status, "stale");
    assert_eq!(stale.hits[0].status_reasons[0].code, "source_changed");
    assert_eq!(
        world.search(&ask("staging unit")).hits[0].status,
        "unverified"
    );

    let summary = world.save(in_backend(derived(
        "summary: staging runs under systemd",
        &[first_id],
    )));
    let second = world.save(in_backend(sourced(
        fact("deploy-staging", "staging is deployed with docker compose"),
        "docs/deploy.md",
        &sha('2'),
    )));
    let second_id = second.record.as_ref().unwrap().id;
    assert_eq!(second.status.as_deref(), Some("unverified"));
    assert_eq!(second.conflicts_with[0].id, first_id);
    assert_eq!(second.superseded, [first_id]);

    let both = world.search(&ask("staging deployed"));
    let shown: Vec<_> = both
        .hits
        .iter()
        .map(|hit| (hit.record.id, hit.status.as_str()))
        .collect();
    assert_eq!(
        shown[..2],
        [(second_id, "conflict"), (first_id, "conflict")]
    );
    assert_eq!(both.hits[0].superseded_by, None);
    assert_eq!(both.hits[1].superseded_by, Some(second_id));
    let inherited = world.explain(summary.record.as_ref().unwrap().id);
    assert_eq!(inherited.status, "conflict");
    assert_eq!(inherited.status_reasons[0].code, "inherited");

    let args = mmw_core::wire::ResolveArgs {
        fact_key: "deploy-staging".into(),
        workspace: Some("backend".into()),
        winner: first_id.to_string(),
        note: Some("compose was an experiment".into()),
    };
    let resolved = world
        .memory
        .resolve(&world.me, mmw_core::place::Reviewer::at_terminal(), &args)
        .unwrap();
    assert_eq!(resolved.resolution.way, "terminal");
    let after = world.search(&ask("staging deployed"));
    assert_eq!(after.hits[0].record.id, first_id);
    assert_eq!(after.hits[0].status, "unverified");
    assert_eq!(after.hits[0].older_versions, 1);
    assert_eq!(
        world.status(summary.record.as_ref().unwrap().id),
        "unverified"
    );

    let receipt = world.forget(first_id);
    assert_eq!((receipt.forgotten, receipt.dry_run), (1, false));
    assert!(
        world
            .search(&ask("systemd unit app-staging"))
            .hits
            .iter()
            .all(|hit| hit.record.id != first_id)
    );
    assert!(world.try_explain(first_id).is_err());
    assert_eq!(world.status(summary.record.unwrap().id), "stale");
}
