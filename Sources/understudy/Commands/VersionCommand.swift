import Encoding

/// `understudy version`.
enum VersionCommand {
    static let spec = CommandSpec("version", "print the version") { (_, context) throws(CommandFailure) in
        let document: JSON = ["name": "understudy", "version": .string(Version.current)]
        context.output.result(document, lines: ["understudy \(Version.current)"])
        return .done
    }
}

/// The program's version (semver.org).
enum Version {
    /// The version of this build.
    static let current = "0.1.0"
}
