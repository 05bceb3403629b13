/// The options every command takes, in front of it or behind it.
enum GlobalOptions {
    /// All of them.
    static let all: [OptionSpec] = [
        .one(
            "state", "DIR", environment: "UNDERSTUDY_STATE",
            standard: "$XDG_STATE_HOME/understudy, else ~/.local/state/understudy",
            help: "where devices, keys and sessions are kept"),
        .flag("json", help: "one JSON document on stdout, everything else on stderr"),
        .flag("verbose", letter: "v", help: "say more: what each call proved"),
        .one(
            "control", "URL", environment: "UNDERSTUDY_CONTROL",
            help: "the daemon to talk to; without it the one of --state, else none"),
        .many(
            "allow-host", "HOST", environment: "UNDERSTUDY_ALLOW_HOSTS",
            help: "a host, besides loopback, that may be called"),
        .one(
            "ca-file", "FILE", environment: "UNDERSTUDY_CA_FILE",
            help: "PEM certificates to trust in place of the system's"),
        .many(
            "resolve", "HOST:PORT:ADDR[:PORT]", environment: "UNDERSTUDY_RESOLVE",
            help: "connect there for that host and port"),
        .one("local-address", "ADDR", environment: "UNDERSTUDY_LOCAL_ADDRESS", help: "the address calls leave from"),
        .one(
            "profile", "FILE", environment: "UNDERSTUDY_PROFILE",
            help: "the wire's names, as JSON5; begin with understudy profile"),
        .one("seed", "TEXT", environment: "UNDERSTUDY_SEED", help: "makes ids, keys and nonces repeatable"),
        .flag("help", letter: "h", help: "what a command does and takes"),
    ]

    /// The options that concern the process which makes the calls: with a daemon, that is the daemon.
    static let network = ["allow-host", "ca-file", "resolve", "local-address", "profile", "seed"]

    /// Every environment variable that is read.
    static let variables = Set(all.compactMap(\.environment))
}
