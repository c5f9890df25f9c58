//! Address of a PostgreSQL database with one or several hosts, only one of which accepts writes at a time:
//! `postgres://user:password@host1:5432,host2:5433/shop?target_session_attrs=read-write`, as PostgreSQL's own programs
//! write it.
//!
//! Everything but the hosts is the driver's business: each address that comes out of here names one host and is read by
//! the driver.

/// Maximum number of hosts in an address.
const MAX_HOSTS: usize = 8;
/// Parameter with the kind of host that a program wants.
const ATTRIBUTE: &str = "target_session_attrs";
/// Values of that parameter that a program which writes can have.
const WRITING_ATTRIBUTES: [&str; 3] = ["read-write", "primary", "any"];
/// Parameters that replace the hosts before the name of the database.
const HOST_PARAMETERS: [&str; 3] = ["host", "hostaddr", "port"];

/// Reason why an address is rejected. The message continues a sentence that begins with the setting's name, and never
/// contains a part of the address, because that could be a part of its password.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DatabaseAddressError {
    /// The address has more than `MAX_HOSTS` hosts.
    #[error("must have at most {MAX_HOSTS} hosts")]
    TooManyHosts,
    /// The host with this number, counted from 1, has no name.
    #[error("has no name for host {0}")]
    NoHost(usize),
    /// The host with this number, counted from 1, has a port that is none.
    #[error("has an invalid port for host {0}")]
    Port(usize),
    /// Several hosts are in a parameter, or a parameter contradicts the hosts before the database's name.
    #[error("must list all hosts before the database name, as in postgres://host1:5432,host2:5432/shop")]
    InParameter,
    /// A character of the password ends the part with the hosts.
    #[error("must percent-encode special characters in the password, such as %2F for / and %40 for @")]
    Password,
    /// The address asks for a host that cannot be written.
    #[error("must have target_session_attrs=read-write, because Printfloor writes")]
    NotWriting,
}

/// Returns the address of each host alone, in the order in which the address names them.
///
/// # Errors
///
/// Fails if the hosts cannot be distinguished, or if the address asks for a read-only one.
pub fn addresses_of_hosts(address: &str) -> Result<Vec<String>, DatabaseAddressError> {
    // The driver rejects what is no address at all.
    let Some((scheme, rest)) = address.split_once("://") else { return Ok(vec![address.to_owned()]) };
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (login, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let hosts: Vec<&str> = hosts.split(',').collect();
    let (path, query) = tail.split_once('?').map_or((tail, None), |(path, query)| (path, Some(query)));
    if hosts.len() > 1 && path.contains('@') {
        return Err(DatabaseAddressError::Password);
    }
    let query = query.map(|query| checked_query(query, hosts.len())).transpose()?.unwrap_or_default();
    if hosts.len() > MAX_HOSTS {
        return Err(DatabaseAddressError::TooManyHosts);
    }
    if hosts.len() > 1 {
        for (host, number) in hosts.iter().zip(1..) {
            check_host(host, number)?;
        }
    }
    Ok(hosts.iter().map(|host| format!("{scheme}://{login}{host}{path}{query}")).collect())
}

/// Checks the parameters of an address with the given number of hosts. Returns them with their question mark, without
/// the one that the driver does not understand.
fn checked_query(query: &str, hosts: usize) -> Result<String, DatabaseAddressError> {
    let mut others = Vec::new();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if name == ATTRIBUTE {
            if !WRITING_ATTRIBUTES.contains(&value) {
                return Err(DatabaseAddressError::NotWriting);
            }
            continue;
        }
        let is_list = value.contains(',') || value.to_ascii_lowercase().contains("%2c");
        if HOST_PARAMETERS.contains(&name) && (hosts > 1 || is_list) {
            return Err(DatabaseAddressError::InParameter);
        }
        others.push(parameter);
    }
    Ok(if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) })
}

fn check_host(host: &str, number: usize) -> Result<(), DatabaseAddressError> {
    // The colons of an IPv6 address are within brackets.
    let end_of_name = host.rfind(']').map_or(0, |at| at + 1);
    let (name, port) = match host[end_of_name..].find(':') {
        Some(at) => (&host[..end_of_name + at], Some(&host[end_of_name + at + 1..])),
        None => (host, None),
    };
    if name.is_empty() {
        return Err(DatabaseAddressError::NoHost(number));
    }
    match port.map(str::parse::<u16>) {
        None | Some(Ok(1..)) => Ok(()),
        Some(_) => Err(DatabaseAddressError::Port(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_the_login_the_database_and_the_parameters() {
        for (address, hosts) in [
            ("postgres://localhost/shop", vec!["postgres://localhost/shop"]),
            (
                "postgres://sam:p%40s@db1:5433/shop?sslmode=require",
                vec!["postgres://sam:p%40s@db1:5433/shop?sslmode=require"],
            ),
            (
                "postgres://sam:a,b@db1:5432,db2:5433/shop?target_session_attrs=read-write&sslmode=require",
                vec![
                    "postgres://sam:a,b@db1:5432/shop?sslmode=require",
                    "postgres://sam:a,b@db2:5433/shop?sslmode=require",
                ],
            ),
            (
                "postgresql://db1,[fd00::2]:5432,[fd00::3]/shop?target_session_attrs=primary",
                vec!["postgresql://db1/shop", "postgresql://[fd00::2]:5432/shop", "postgresql://[fd00::3]/shop"],
            ),
            ("postgres://a@b@db1,db2", vec!["postgres://a@b@db1", "postgres://a@b@db2"]),
            ("postgres:///shop?host=/run/postgresql", vec!["postgres:///shop?host=/run/postgresql"]),
            ("postgres://db1/shop@1", vec!["postgres://db1/shop@1"]),
            ("postgres", vec!["postgres"]),
        ] {
            let expected: Vec<String> = hosts.into_iter().map(str::to_owned).collect();
            assert_eq!(addresses_of_hosts(address), Ok(expected), "{address}");
        }
    }

    #[test]
    fn a_list_that_cannot_be_read_is_refused_in_words() {
        use DatabaseAddressError as Error;
        for (address, error) in [
            ("postgres://a,,b/shop", Error::NoHost(2)),
            ("postgres://a,:5432/shop", Error::NoHost(2)),
            ("postgres://a,b:0/shop", Error::Port(2)),
            ("postgres://a:70000,b/shop", Error::Port(1)),
            ("postgres://a,b:/shop", Error::Port(2)),
            ("postgres://a,[fd00::1]x:y/shop", Error::Port(2)),
            ("postgres://sam:secret,/x@a,b/shop", Error::Password),
            ("postgres:///shop?host=a,b", Error::InParameter),
            ("postgres:///shop?host=a%2cb", Error::InParameter),
            ("postgres://a,b/shop?port=5432", Error::InParameter),
            ("postgres://a,b/shop?target_session_attrs=standby", Error::NotWriting),
            ("postgres://a/shop?target_session_attrs=read-only", Error::NotWriting),
        ] {
            assert_eq!(addresses_of_hosts(address), Err(error), "{address}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn the_number_of_hosts_is_bounded() {
        let list = |many: usize| format!("postgres://{}/shop", vec!["db"; many].join(","));
        assert_eq!(addresses_of_hosts(&list(MAX_HOSTS)).map(|hosts| hosts.len()), Ok(MAX_HOSTS));
        assert_eq!(addresses_of_hosts(&list(MAX_HOSTS + 1)), Err(DatabaseAddressError::TooManyHosts));
    }
}
