//! What a reader can be told, as options of the program.

use consilience::words::named;
use consilience_io::Setting;

/// The option for a setting.
pub(crate) fn spelled(setting: Setting<'_>) -> String {
    let option = match setting {
        Setting::Id => "--id",
        Setting::Truth => "--truth",
        Setting::Weights => "--weights",
        Setting::Drop => "--drop",
        Setting::NoHeader => "--no-header",
        Setting::Impute => "--impute mean or --impute median",
        Setting::Memory => "--memory",
        Setting::Rows => "--rows",
        Setting::Cluster => "`consilience run`",
        Setting::Combine => "`consilience combine`",
        Setting::IdIs(column) => return format!("--id '{}'", named(column)),
        Setting::DropThis(column) => return format!("--drop '{}'", named(column)),
    };
    option.to_owned()
}
