//! What the users of other memory tools met, tried against the real programs.
//!
//! The rows are those of the collection of field reports that the project started from: A coding-agent
//! memory tools, B general memory systems, C a graph memory service. Each test names its rows in a
//! comment. What another test proves already is not repeated here:
//!
//! | row | what went wrong elsewhere | proved by |
//! |---|---|---|
//! | A17 | old session id after a restart | [`transport`], `http_rules::a_session_id_of_before_a_restart_does_not_matter` |
//! | A18 | log on stdout | [`transport`], `stdio_rules::nothing_but_the_protocol_is_on_stdout_even_with_the_loudest_log` |
//! | A19, C7 | slow or flooded large store | [`large`], `mmw-store` `meaning::a_large_workspace_is_loaded_beside_and_a_person_may_wait_for_it` |
//! | A20, B3 | a retry writes twice | [`transport`], [`memory`], `mmw-store` `idempotency` |
//! | A22 | open to web pages, path traversal | [`transport`], `http_rules::{foreign_hosts_and_origins_are_turned_away, paths_do_not_lead_out}` |
//! | A24 | database is locked | `processes`, `mmw-store` `processes` |
//! | A26 | the log eats the disk | [`storage`] |
//! | A27 | migrations skipped or cut off | [`storage`], `mmw-store` `sqlite::migrate::tests` |
//! | A29 | half-written files | [`storage`], `crash` |
//! | A32, C12 | leaked processes | [`transport`], `stdio_rules::it_ends_when_its_input_ends` |
//! | A33, B13 | text taken for query syntax | [`search`], `mmw-store` `searching::{ordinary_text_is_never_syntax, any_text_is_a_query}` |
//! | A34 | all words or nothing | [`search`] |
//! | A35, B15 | scripts and Unicode forms | [`search`], `mmw-store` `words::tests` |
//! | A36, C11 | another model on the same store | `mmw-store` `meaning::{a_model_of_other_dimensions_on_the_same_store_is_no_error_and_finds_everything, another_model_embeds_everything_again_while_words_answer}` |
//! | A37 | waits for the network | [`transport`], `nothing_goes_out`, `mmw-server` `embeddings` |
//! | A39, B22 | cut inside a character, silent cuts | [`search`], `mmw-store` `searching::the_last_word_of_a_long_record_is_findable_and_the_cut_is_told` |
//! | A40 | lone surrogates | [`transport`], [`content`], `stdio_rules::a_lone_surrogate_costs_one_character_and_not_the_session` |
//! | A43 | secrets on the disk | [`content`], `mmw-store` `idempotency::a_secret_in_the_place_of_a_key_or_a_hash_is_kept_nowhere` |
//! | A44, B17 | hashes taken for secrets | [`content`], `mmw-guard` `secrets` |
//! | A45, B18, B19 | planted and honest text | [`content`], `mmw-guard` `planted` |
//! | A46, B28 | wrong project | [`identity`], `mmw-agent` `project::tests` |
//! | A48 | byte order mark, spaces in paths | [`transport`]; Windows itself has no machine here |
//! | A49, A50, A51 | anchors flip, or lead out | [`anchors`], `mmw-agent` `anchors`, `anchor::tests`, `roots::tests` |
//! | A53, B7 | near duplicates merged | [`memory`], `mmw-store` `versions::near_duplicates_are_never_merged` |
//! | A55, C2 | saved, but nowhere | [`storage`], `faults` |
//! | A56 | answers without a limit | [`search`], `mmw-store` `searching::an_answer_keeps_within_its_tokens`, `limits::an_answer_stays_small_however_long_its_neighbours_are` |
//! | B1, B2 | concurrent writes | [`memory`], `mmw-store` `idempotency` |
//! | B4, B5 | contradictions | [`memory`], `mmw-store` `conflicts` |
//! | B8, C4 | forgotten text comes back | [`memory`], `mmw-store` `forgetting`, `summaries`, `meaning::a_forgotten_record_is_not_found_by_meaning_and_has_no_vector`, `sight`, `wording` |
//! | B12 | tenants leak | [`identity`], `mmw-store` `isolation` |
//! | B14 | empty or odd paging | [`transport`], `mmw-store` `searching::limits_are_checked` |
//! | B20 | times | [`memory`], `mmw-core` `time` |
//! | B23 | odd strings | [`content`], `stdio_rules::odd_strings_come_back_byte_for_byte` |
//! | B29 | a summary of what is gone | [`memory`], `mmw-store` `summaries::a_summary_names_the_source_that_was_forgotten` |
//! | B30, C1 | what waits for review is read | [`memory`], `mmw-store` `lane::a_candidate_is_no_record_on_any_surface` |
//! | B33 | "nothing known" when memory failed | [`storage`], `mmw-agent` `protocol::a_store_that_can_not_be_opened_is_told_by_the_calls`, `mmw-store` `sqlite::tests::waiting` |
//! | B34 | work lost after the answer | [`storage`], `crash`, `mmw-server` `upkeep` |
//! | C3 | expired, future, superseded facts | [`memory`], `mmw-store` `freshness` |
//! | C5 | a replacement in several steps | `crash`; a version is one transaction |
//! | C6 | unbounded scores | [`search`], `mmw-core` `rank`, and `mmw-store` `wording` for words that everybody has |
//! | C8 | confident answers to absent topics | [`search`] |
//! | C9 | links lead out of the scope | [`search`], `mmw-store` `isolation::a_source_that_the_reader_may_not_see_leaves_no_trace` |
//! | C10 | age hides | [`memory`] |
//! | C, #79 | an argument is ignored | [`transport`], `stdio_rules::a_bad_argument_is_named_with_the_nearest_right_one` |
//!
//! | A21, C12, C #197 | the queue before a server | `relay_faults`, `relay_crash`, `relay_projects`, `mmw-hooks` `spool` |
//! | A1, A2, A13, A14, A15 | the Stop hook, and what `connect` leaves behind | `stop_hook`, `mmw-agent` `connect` |
//!
//! Not tried, for the part does not exist yet: the other hooks and capture (A4-A8, A10, A11, A58, B25, B26, C #35), the
//! archivist's summaries (B34's kill between answer and summary), the console (B23's escaping). There is no reranker
//! (B21): what orders hits is arithmetic over what was found.

mod anchors;
mod content;
mod identity;
mod large;
mod memory;
mod search;
mod storage;
mod support;
mod transport;
