/// What the global options and the environment come to.
struct Settings: Sendable, Equatable {
    /// The directory of devices, keys and sessions.
    var stateDirectory: String
    /// Whether results are JSON.
    var json = false
    /// Whether to say more.
    var verbose = false
    /// The daemon to talk to, and no other.
    var controlURL: String?
    /// How calls leave this process.
    var network = NetworkSettings()
    /// What makes ids and keys repeatable.
    var seed: String?
    /// The options about calls that were given on the command line itself.
    var networkFlags: [String] = []

    /// The daemon's ready file, unless `serve` was told another place.
    var readyFile: String { stateDirectory + "/daemon.json" }

    /// The file the wire's names are in; nil for the built-in ones.
    let profileFile: String?

    /// The ready file of reference IdPs without a phone.
    var idpReadyFile: String { stateDirectory + "/idps.json" }

    /// Reads the settings out of a command line that was understood.
    init(_ parsed: ParsedArguments, environment: [String: String]) throws(CommandFailure) {
        if let directory = parsed["state"] {
            stateDirectory = directory
        } else {
            stateDirectory = try Self.standardDirectory(environment)
        }
        json = parsed.has("json")
        verbose = parsed.has("verbose")
        controlURL = parsed["control"]
        seed = parsed["seed"]
        profileFile = parsed["profile"]
        networkFlags = GlobalOptions.network.filter(parsed.given.contains)
        network.allowedHosts = parsed.all("allow-host")
        network.caFile = parsed["ca-file"]
        network.localAddress = parsed["local-address"]
        for rule in parsed.all("resolve") {
            guard let (place, address) = NetworkSettings.resolveRule(rule) else {
                throw .badValue("resolve", "'\(rule)' is not HOST:PORT:ADDR or HOST:PORT:ADDR:PORT")
            }
            network.resolve[place] = address
        }
    }

    /// Where the state is kept when nobody says (XDG base directories).
    private static func standardDirectory(_ environment: [String: String]) throws(CommandFailure) -> String {
        if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return base + "/understudy" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/state/understudy" }
        throw CommandFailure(
            exit: .configuration, code: "no_state_directory", message: "neither HOME nor XDG_STATE_HOME is set",
            advice: "say where devices are kept: --state DIR")
    }
}

/// How calls to identity providers and APIs leave this process.
struct NetworkSettings: Sendable, Equatable {
    /// Hosts besides loopback that may be called.
    var allowedHosts: [String] = []
    /// PEM certificates to trust.
    var caFile: String?
    /// `host:port` to `address:port`.
    var resolve: [String: String] = [:]
    /// The address connections leave from.
    var localAddress: String?

    /// Reads `HOST:PORT:ADDR[:PORT]`, where an IPv6 address stands in brackets.
    static func resolveRule(_ text: String) -> (place: String, address: String)? {
        let parts = fields(text)
        guard parts.count == 3 || parts.count == 4, !parts.contains(""), let port = UInt16(parts[1]), port > 0 else {
            return nil
        }
        guard parts.count == 3 || UInt16(parts[3]).map({ $0 > 0 }) == true else { return nil }
        return ("\(parts[0].lowercased()):\(port)", "\(parts[2]):\(parts.count == 4 ? parts[3] : String(port))")
    }

    /// Divides at colons outside brackets.
    private static func fields(_ text: String) -> [String] {
        var parts = [""]
        var depth = 0
        for character in text {
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            if character == ":", depth == 0 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return depth == 0 ? parts : []
    }
}
