/// Why a probe could not be judged.
public enum ProbeFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Something the probe needs was not given, or the server does not offer it.
    case missing(String)
    /// The server cannot be reached.
    case unreachable(String)
    /// Something right that the probe begins with did not work.
    case broken(String)
    /// The program itself could not do it: a key, or the store.
    case own(String)

    /// A stable code.
    public var code: String {
        switch self {
        case .missing: "conform.missing"
        case .unreachable: "conform.unreachable"
        case .broken: "conform.broken"
        case .own: "conform.own"
        }
    }

    /// What is the matter, in words.
    public var description: String {
        switch self {
        case .missing(let what), .unreachable(let what), .broken(let what), .own(let what): what
        }
    }
}
