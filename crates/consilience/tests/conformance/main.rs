//! Every method in `METHODS` against the same invariants, through the front door.
//!
//! A method that cannot keep an invariant stands in [`table`] with the reason; an exemption that is
//! no longer needed fails, and so does a method that is not in the table.

mod answers;
mod differential;
mod machine;
mod many;
mod networks;
mod order;
mod sizes;
mod sound;
mod symmetry;
mod table;
mod told;
mod uses;
mod weights;

#[path = "../support/mod.rs"]
mod support;

/// Makes every invariant a test over all methods, and the list of their names.
macro_rules! invariants {
    ($($file:ident: $($name:ident),+;)+) => {
        const INVARIANTS: &[&str] = &[$($(stringify!($name)),+),+];
        $($(
            #[test]
            fn $name() {
                table::hold(stringify!($name), $file::$name);
            }
        )+)+
    };
}

invariants! {
    answers:
        a_unanimous_ensemble_is_returned,
        one_clustering_comes_back,
        clear_structure_is_found,
        none_of_many_clusters_is_missed;
    order:
        names_of_clusters_are_no_information,
        order_of_objects_is_no_information,
        order_of_members_is_no_information,
        names_of_clusters_are_no_information_in_noise,
        order_of_objects_is_no_information_in_noise,
        order_of_members_is_no_information_in_noise,
        how_it_is_written_is_no_information_in_large_ensembles;
    weights:
        scaling_all_weights_changes_nothing,
        scaling_all_weights_changes_nothing_in_noise,
        scaling_all_weights_changes_nothing_in_large_ensembles,
        a_weight_is_a_number_of_equal_rows;
    machine:
        threads_change_no_bit,
        threads_change_no_bit_in_large_ensembles,
        a_raised_flag_stops_the_method,
        memory_is_refused_before_it_is_taken;
    uses:
        missing_labels_are_used_or_refused,
        soft_members_are_used_or_hardened,
        a_start_is_used_or_refused,
        documented_defaults_are_the_defaults,
        documented_samples_are_drawn,
        documented_iterations_are_run,
        unknown_parameters_and_k_of_zero_are_refused;
    sizes:
        objects_without_labels_stay_without,
        one_object_is_one_cluster,
        one_cluster_is_everything,
        as_many_clusters_as_profiles,
        more_clusters_than_profiles_are_refused,
        a_member_with_one_cluster_does_no_harm,
        anything_is_answered_or_refused;
}

#[test]
fn the_table_covers_exactly_the_methods() {
    table::check(INVARIANTS);
}
