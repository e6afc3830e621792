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
        Setting::DecimalComma => "--decimal ,",
        Setting::NoHeader => "--no-header",
        Setting::Impute => "--impute mean or --impute median",
        Setting::Memory => "--memory",
        Setting::Rows => "--rows",
        Setting::Cluster => "`consilience run`",
        Setting::Combine => "`consilience combine`",
        Setting::NoiseIsACluster => "--noise cluster",
        Setting::MissingIs(token) => return format!("--missing '{}'", named(token)),
        Setting::TruthIn(file) => return format!("--truth '{}:COLUMN'", named(file)),
        Setting::IdIs(column) => return format!("--id '{}'", named(column)),
        Setting::DropThis(column) => return format!("--drop '{}'", named(column)),
        // A comma in a name would part it.
        Setting::DropThese(columns) if columns.iter().any(|column| column.contains(',')) => {
            let each: Vec<String> = columns.iter().map(|c| spelled(Setting::DropThis(c))).collect();
            return each.join(" ");
        }
        Setting::DropThese(columns) => return spelled(Setting::DropThis(&columns.join(","))),
    };
    option.to_owned()
}
