#![expect(clippy::unwrap_used, reason = "tests")]

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use super::backup_arguments::BackupCommand;
use super::*;

fn parse(line: &str) -> Cli {
    Cli::try_parse_from(line.split_whitespace()).unwrap()
}

fn refused(line: &str) -> ErrorKind {
    Cli::try_parse_from(line.split_whitespace()).unwrap_err().kind()
}

#[test]
fn the_definition_holds_together() {
    Cli::command().debug_assert();
}

#[test]
fn the_manual_page_and_completions_are_commands() {
    assert!(matches!(parse("printfloor man").command, Some(CliCommand::Man)));
    for shell in ["bash", "zsh", "fish"] {
        let line = format!("printfloor completions {shell}");
        assert!(matches!(parse(&line).command, Some(CliCommand::Completions { .. })), "{line}");
    }
    assert_eq!(refused("printfloor completions tcsh"), ErrorKind::InvalidValue);
}

#[test]
fn a_backup_is_written_or_verified() {
    let backup = |line: &str| match parse(line).command {
        Some(CliCommand::Backup(args)) => args,
        other => panic!("not backup: {other:?}"),
    };
    let written = backup("printfloor backup --data X shop.tar");
    assert!(written.command.is_none() && written.file == Some(PathBuf::from("shop.tar")), "{written:?}");
    let Some(BackupCommand::Verify { place }) = backup("printfloor backup verify shop.tar").command else {
        panic!("not verify")
    };
    assert_eq!(place, "shop.tar");
    assert_eq!(backup("printfloor backup --to s3://shop/daily").to.as_deref(), Some("s3://shop/daily"));
    assert_eq!(refused("printfloor backup"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("printfloor backup shop.tar --to /srv"), ErrorKind::ArgumentConflict);
}

#[test]
fn a_restore_reads_a_file_or_a_bucket() {
    let place = |line: &str| match parse(line).command {
        Some(CliCommand::Restore(args)) => args.place.or(args.from).unwrap(),
        other => panic!("not restore: {other:?}"),
    };
    assert_eq!(place("printfloor restore shop.tar"), "shop.tar");
    assert_eq!(place("printfloor restore --from s3://shop/daily"), "s3://shop/daily");
    assert_eq!(refused("printfloor restore"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("printfloor restore a --from b"), ErrorKind::ArgumentConflict);
}

#[test]
fn a_transfer_names_both_databases() {
    let transfer = parse("printfloor transfer --from data --to postgres://localhost/shop").command;
    let Some(CliCommand::Transfer { from, to }) = transfer else { panic!("not transfer") };
    assert_eq!((from.as_str(), to.as_str()), ("data", "postgres://localhost/shop"));
    assert_eq!(refused("printfloor transfer --from data"), ErrorKind::MissingRequiredArgument);
}

#[test]
fn the_audit_log_is_verified_against_heads() {
    let command = |line: &str| match parse(line).command {
        Some(CliCommand::Audit(command)) => command,
        other => panic!("not audit: {other:?}"),
    };
    assert!(matches!(command("printfloor audit head --data X"), AuditCommand::Head));
    let hash = "0a".repeat(32);
    let line = format!("printfloor audit verify --head 7:{hash} --head 12:{hash}");
    let AuditCommand::Verify { heads } = command(&line) else { panic!("not verify") };
    assert_eq!(heads.iter().map(|head| head.number).collect::<Vec<_>>(), [7, 12]);
    assert_eq!(heads[0].hash, hash);
    assert_eq!(refused("printfloor audit verify --head 7"), ErrorKind::ValueValidation);
    assert_eq!(refused("printfloor audit"), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
}

#[test]
fn a_recount_corrects_only_if_asked_to() {
    for (line, corrects) in [("printfloor recount --data X", false), ("printfloor recount --correct", true)] {
        let command = parse(line).command;
        assert!(matches!(command, Some(CliCommand::Recount { correct }) if correct == corrects), "{line}: {command:?}");
    }
    assert_eq!(refused("printfloor recount all"), ErrorKind::UnknownArgument);
}

#[test]
fn without_a_command_the_server_runs() {
    let cli = parse("printfloor --listen 0.0.0.0:9000 --data /srv --config shop.toml");
    assert!(cli.command.is_none());
    assert_eq!(cli.serve.listen.unwrap().port(), 9000);
    assert_eq!(cli.global.data.unwrap(), PathBuf::from("/srv"));
    assert_eq!(cli.global.config.unwrap(), PathBuf::from("shop.toml"));
    let serve = parse("printfloor serve --listen [::1]:9001").command;
    let Some(CliCommand::Serve { args, end_with_stdin: false }) = serve else { panic!("not serve") };
    assert!(args.listen.unwrap().is_ipv6());
}

#[test]
fn every_command_takes_the_data_folder_on_either_side() {
    for line in [
        "printfloor --data X serve",
        "printfloor serve --data X",
        "printfloor demo --data X",
        "printfloor key list --data X",
        "printfloor --data X key list",
        "printfloor key --data X revoke 018f0000-0000-7000-8000-000000000000",
        "printfloor user list --data X",
        "printfloor check --data X",
    ] {
        assert_eq!(parse(line).global.data, Some(PathBuf::from("X")), "{line}");
    }
}

#[test]
fn keys_and_users_know_their_roles() {
    let line = "printfloor key create --name web --role customer --customer-email a@b.example --expires-at 2030-01-31T12:00:00Z";
    let Some(CliCommand::Key(KeyCommand::Create(new))) = parse(line).command else { panic!("not key create") };
    assert_eq!((new.name.as_str(), Role::from(new.role)), ("web", Role::Customer));
    assert_eq!(new.expires_at.unwrap().to_string(), "2030-01-31T12:00:00.000Z");
    let Some(CliCommand::Key(KeyCommand::Create(new))) =
        parse("printfloor key create --name web --role admin --expires-at 2027-01-01").command
    else {
        panic!("not key create")
    };
    assert_eq!(new.expires_at.unwrap().to_string(), "2027-01-01T00:00:00.000Z", "a date is its beginning in UTC");
    let line = "printfloor user create --email a@b.example --role operator";
    let Some(CliCommand::User(UserCommand::Create(new))) = parse(line).command else { panic!("not user create") };
    assert_eq!((Role::from(new.role), new.name), (Role::Operator, None));
}

#[test]
fn wrong_usage_is_refused() {
    assert_eq!(refused("printfloor key create --name x"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("printfloor key create --name x --role boss"), ErrorKind::InvalidValue);
    assert_eq!(refused("printfloor user create --email a@b.example --role customer"), ErrorKind::InvalidValue);
    assert_eq!(refused("printfloor key create --name x --role admin --expires-at soon"), ErrorKind::ValueValidation);
    assert_eq!(refused("printfloor key revoke x"), ErrorKind::ValueValidation);
    assert_eq!(refused("printfloor serve --listen nowhere"), ErrorKind::ValueValidation);
    assert_eq!(refused("printfloor openapi accounting"), ErrorKind::InvalidValue);
    assert_eq!(refused("printfloor user list --new"), ErrorKind::UnknownArgument);
    assert_eq!(refused("printfloor dance"), ErrorKind::InvalidSubcommand);
}

#[tokio::test]
async fn an_option_in_the_wrong_place_is_not_ignored() {
    for line in ["printfloor --listen 127.0.0.1:1 key list", "printfloor demo --config x.toml"] {
        assert!(matches!(Box::pin(run_command(parse(line))).await, Err(CliError::Usage(_))), "{line}");
    }
}

#[test]
fn what_is_no_id_or_time_is_told_in_words() {
    let words = |line: &str| Cli::try_parse_from(line.split_whitespace()).unwrap_err().to_string();
    assert!(words("printfloor key revoke x").contains("is not an ID; `printfloor key list` shows the IDs"));
    let message = words("printfloor key create --name x --role admin --expires-at 2027-13-01");
    assert!(message.contains("must be a time such as 2030-01-31T12:00:00Z or a date such as 2030-01-31"), "{message}");
    assert!(words("printfloor serve --listen nowhere").contains("such as 127.0.0.1:8787"));
}

#[test]
fn arguments_of_tools_are_passed_on_as_they_are() {
    let arguments = |line: &str| match parse(line) {
        Cli { command: Some(CliCommand::Demo(args) | CliCommand::Simulate(args)), global, .. } => {
            (global.data, args.arguments.join(" ".as_ref()).into_string().unwrap())
        }
        _ => panic!("{line} starts no tool"),
    };
    assert_eq!(arguments("printfloor demo"), (None, String::new()));
    assert_eq!(arguments("printfloor demo --help"), (None, "--help".to_owned()));
    assert_eq!(arguments("printfloor simulate -h"), (None, "-h".to_owned()));
    let simulate = "--fw-rest 2 --speed 60 --payments";
    assert_eq!(arguments(&format!("printfloor simulate {simulate}")), (None, simulate.to_owned()));
    // Up to the first option of the tool, the directory is parsed here; after it, by the tool.
    let data = Some(PathBuf::from("X"));
    assert_eq!(arguments("printfloor demo --data X --for 2.5"), (data.clone(), "--for 2.5".to_owned()));
    assert_eq!(arguments("printfloor --data X demo --for 2.5"), (data, "--for 2.5".to_owned()));
    assert_eq!(arguments("printfloor demo --for 2.5 --data X"), (None, "--for 2.5 --data X".to_owned()));
}
