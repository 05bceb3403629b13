import Control
import Engine
import HTTP
import JOSE

/// Who speaks for which confidential client on every phone of the daemon, as apps register at launch.
enum LaunchedAssertions {
    static let specs: [OptionSpec] = [
        .many("assertion-key", "CLIENT=FILE", help: "mint a client's assertions with this private key"),
        .many("assertion-kid", "CLIENT=KID", help: "the kid that key is registered under"),
        .many("assertion-command", "CLIENT=COMMAND", help: "have this command print a client's assertions"),
        .many("assertion-url", "CLIENT=URL", help: "ask this backend for a client's assertions"),
        .flag(
            "allow-assertion-commands",
            help: "let callers of the control API name commands to run; anybody on this machine can call it"),
    ]

    /// Registers what the options name.
    static func register(_ parsed: ParsedArguments, on engine: Engine) throws(CommandFailure) {
        var kids: [String: String] = [:]
        for (clientID, kid) in try pairs("assertion-kid", parsed) { kids[clientID] = kid }
        for (clientID, path) in try pairs("assertion-key", parsed) {
            let file = try KeyFile.key(path, option: "assertion-key")
            let named = SigningKeyFile(key: file.key, keyID: kids.removeValue(forKey: clientID) ?? file.keyID)
            try register(.key(named), clientID, "assertion-key", engine)
        }
        if let clientID = kids.keys.first {
            throw .badValue("assertion-kid", "--assertion-kid names \(clientID), for which there is no --assertion-key")
        }
        for (clientID, command) in try pairs("assertion-command", parsed) {
            try register(.command(command), clientID, "assertion-command", engine)
        }
        for (clientID, text) in try pairs("assertion-url", parsed) {
            guard let url = try? HTTPURL(text) else {
                throw .badValue("assertion-url", "--assertion-url: '\(text)' is no absolute http or https URL")
            }
            try register(.backend(url), clientID, "assertion-url", engine)
        }
    }

    private static func register(
        _ source: ClientAssertionSource, _ clientID: String, _ option: String, _ engine: Engine
    ) throws(CommandFailure) {
        do throws(EngineError) {
            try engine.launchClientAssertions(source, for: clientID)
        } catch {
            throw CommandFailure(
                exit: .configuration, code: error.code, message: "--\(option): \(error.description)", field: option)
        }
    }

    private static func pairs(
        _ option: String, _ parsed: ParsedArguments
    ) throws(CommandFailure) -> [(clientID: String, value: String)] {
        var pairs: [(String, String)] = []
        for text in parsed.all(option) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw .badValue(option, "--\(option): '\(text)' does not begin with a client_id and '='")
            }
            pairs.append((String(parts[0]), String(parts[1])))
        }
        return pairs
    }
}
