//! Setters of parameter builders.

/// Writes the setter of every field named, in an `impl` of the builder: `restarts: usize` becomes
/// `pub fn restarts(mut self, restarts: usize) -> Self`, with the comment above it.
macro_rules! setters {
    ($($(#[$comment:meta])* $field:ident: $value:ty,)+) => {$(
        $(#[$comment])*
        #[must_use]
        #[allow(unreachable_pub, reason = "some parameters are for the library alone")]
        pub fn $field(mut self, $field: $value) -> Self {
            self.$field = $field;
            self
        }
    )+};
}

pub(crate) use setters;
