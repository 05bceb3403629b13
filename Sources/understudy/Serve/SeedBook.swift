import Control
import Crypto
import Encoding

/// Entropy from `--seed`, a stretch of its own for each process on a state directory.
///
/// Two commands with one seed must not draw the same ids and keys; two runs of the same commands on fresh
/// directories must. So the directory counts the processes that drew from a seed.
enum SeedBook {
    /// The system's entropy, or the next stretch of the seed's.
    static func entropy(_ settings: Settings) throws(CommandFailure) -> Entropy {
        guard let seed = settings.seed else { return .system }
        let path = settings.stateDirectory + "/seed-count"
        let text = PrivateFile.read(path, limit: 1 << 16).map { String(decoding: $0, as: UTF8.self) } ?? ""
        var counts = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.count == 2 }
        let name = name(of: seed)
        let count = counts.last { $0[0] == name }.flatMap { Int($0[1]) } ?? 0
        counts.removeAll { $0[0] == name }
        let lines = counts.suffix(Self.remembered - 1).map { $0.joined(separator: " ") } + ["\(name) \(count + 1)"]
        do throws(PrivateFileError) {
            try PrivateFile.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: path)
        } catch {
            throw CommandFailure(exit: .configuration, code: error.code, message: error.description)
        }
        return entropy(seed: seed, stretch: "process \(count)")
    }

    /// How many seeds a directory counts the processes of.
    private static let remembered = 64

    /// What a seed is counted under; the seed itself is written nowhere.
    private static func name(of seed: String) -> String {
        Hex.encode(Array(SHA256.hash(Array(seed.utf8)).prefix(8)))
    }

    /// The settings with a seed: the one that was given, or one drawn now, so that any run can be repeated.
    static func seeded(_ settings: Settings) -> Settings {
        var settings = settings
        if settings.seed == nil { settings.seed = Entropy.system.token(9) }
        return settings
    }

    /// The line every run that can be repeated says its seed in.
    static func line(_ settings: Settings) -> String { "seed \(settings.seed ?? "none")" }

    /// A stretch of a seed's entropy, by name.
    static func entropy(seed: String, stretch: String) -> Entropy {
        Entropy(seed: Array("understudy seed\n\(seed)\n\(stretch)".utf8))
    }
}
