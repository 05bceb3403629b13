import Glibc

/// The directory of devices, keys and sessions.
enum StateDirectory {
    /// Makes the directory and those above it, for its owner only; what is wrong with it shows when it is used.
    static func make(_ path: String) {
        var made = ""
        for part in path.split(separator: "/") {
            made += made.isEmpty && !path.hasPrefix("/") ? part : "/" + part
            mkdir(made, 0o700)
        }
    }
}
