//! What "engine" means: one test a rule of the traits in [`crate::engine`].
//!
//! [`conformance!`](crate::conformance) stamps the suite onto an engine.
#![allow(missing_docs, reason = "the names of the cases are their sentences")]

pub mod access;
pub mod audit;
pub mod guard;
pub mod lane;
pub mod lexicon;
pub mod records;
pub mod sources;
pub mod transactions;
pub mod turns;
pub mod vectors;

/// Stamps the suite onto an engine: `conformance!(name, open)` makes a module `name` with one test a
/// rule. `open` returns an empty engine and whatever must live as long as it.
#[macro_export]
macro_rules! conformance {
    ($name:ident, $open:path) => {
        mod $name {
            #[allow(unused_imports, reason = "`open` may be a full path")]
            use super::*;

            $crate::conformance! { @cases $open;
                transactions:
                    what_was_written_is_read_in_and_after_the_transaction,
                    a_failed_transaction_leaves_nothing,
                    a_panic_in_a_transaction_leaves_nothing_and_the_engine_usable,
                    a_snapshot_does_not_see_later_writes,
                    concurrent_writes_all_arrive,
                    an_empty_store_has_no_problems;
                records:
                    a_record_reads_back_as_it_was_written,
                    records_are_found_by_id_and_by_row,
                    the_newest_records_of_a_place_come_first,
                    rows_rise_in_the_order_of_arrival_within_the_range_of_their_workspace,
                    an_id_is_taken_once,
                    a_record_needs_a_project,
                    forgotten_records_leave_every_read,
                    forgetting_again_changes_nothing,
                    what_was_derived_from_a_forgotten_record_shows_it,
                    purging_erases_what_was_forgotten_before_the_moment,
                    versions_are_those_of_one_place_and_key,
                    the_same_statement_is_found_without_a_key_only,
                    fact_keys_are_listed_by_prefix,
                    contested_facts_say_different_things,
                    resolutions_read_back_as_they_were_written,
                    links_are_seen_from_both_ends_and_kept_once,
                    counters_follow_saving_and_forgetting;
                sources:
                    a_document_covers_its_spans_in_the_places_asked_for,
                    a_hash_leads_to_the_sources_that_it_is_known_for,
                    source_reports_have_a_bound,
                    an_answer_is_kept_until_it_is_old;
                lexicon:
                    words_are_taken_as_they_are,
                    rows_have_all_of_the_words,
                    rows_come_highest_first_from_the_range,
                    statistics_are_those_of_the_workspace,
                    word_counts_read_back_as_they_were_written,
                    word_counts_of_a_range_come_in_its_order,
                    replaced_words_are_found_instead_of_the_old_ones,
                    changes_of_words_are_told_in_their_order,
                    the_state_of_the_index_reads_back;
                turns:
                    turns_have_the_nearest_of_their_session_around_them,
                    what_is_no_turn_has_none_around_it_and_is_around_none,
                    a_forgotten_turn_is_around_none;
                vectors:
                    a_record_waits_for_a_vector_of_every_model,
                    what_is_taken_is_nobody_elses_until_the_moment,
                    a_vector_is_kept_for_who_waits_only,
                    vectors_are_read_by_row_and_by_number,
                    forgotten_and_changed_records_lose_their_vectors,
                    numbers_of_vectors_only_rise,
                    removals_are_told_in_their_order,
                    an_unused_model_goes_with_its_vectors;
                lane:
                    an_item_reads_back_as_it_was_written,
                    items_are_filtered_and_come_oldest_first,
                    a_decision_moves_an_item_and_may_erase_it,
                    the_newest_item_of_a_content_is_found_after_erasing,
                    evidence_is_added_once,
                    expired_items_lose_their_text,
                    an_item_loses_its_text_with_the_record_that_it_became;
                access:
                    accounts_read_back_and_change_state,
                    projects_are_found_by_name_and_by_person,
                    limits_can_be_changed,
                    keys_read_back_as_they_were_written,
                    a_key_is_revoked_once,
                    the_last_use_of_a_key_only_moves_on;
                guard:
                    a_policy_is_of_one_project_and_can_be_taken_away,
                    kept_records_come_with_forgotten_ones_and_without_purged_ones,
                    a_rewritten_record_is_found_by_its_new_words_only,
                    a_rewritten_item_keeps_its_state_and_decision,
                    loose_texts_are_found_and_changed_where_they_stand,
                    a_reason_of_the_audit_is_redacted_and_vouched_for;
                audit:
                    the_chain_holds_and_is_read_in_order,
                    a_record_leads_to_its_rows,
                    the_oldest_due_job_is_taken_once_until_its_lease_ends,
                    a_failed_job_comes_back_or_is_set_aside;
            }
        }
    };
    (@cases $open:path; $($room:ident: $($case:ident),+;)+) => {$($(
        #[test]
        fn $case() {
            let (engine, _kept) = $open();
            $crate::testing::conformance::$room::$case(&engine);
            let problems = $crate::engine::Engine::verify(&engine).expect("the store can be checked");
            assert_eq!(problems, Vec::<String>::new());
        }
    )+)+};
}
