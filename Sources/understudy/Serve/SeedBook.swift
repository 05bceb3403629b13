import Control
import Crypto

/// Entropy from `--seed`, a stretch of its own for each process on a state directory.
///
/// Two commands with one seed must not draw the same ids and keys; two runs of the same commands on fresh
/// directories must. So the directory counts the processes that drew from a seed.
enum SeedBook {
    /// The system's entropy, or the next stretch of the seed's.
    static func entropy(_ settings: Settings) throws(CommandFailure) -> Entropy {
        guard let seed = settings.seed else { return .system }
        let path = settings.stateDirectory + "/seed-count"
        let text = PrivateFile.read(path, limit: 64).map { String(decoding: $0, as: UTF8.self) } ?? "0"
        let count = Int(text.filter { $0 != "\n" }) ?? 0
        do throws(PrivateFileError) {
            try PrivateFile.write(Array("\(count + 1)\n".utf8), to: path)
        } catch {
            throw CommandFailure(exit: .configuration, code: error.code, message: error.description)
        }
        return entropy(seed: seed, stretch: "process \(count)")
    }

    /// A stretch of a seed's entropy, by name.
    static func entropy(seed: String, stretch: String) -> Entropy {
        Entropy(seed: Array("understudy seed\n\(seed)\n\(stretch)".utf8))
    }
}
