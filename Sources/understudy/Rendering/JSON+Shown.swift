import Encoding

extension JSON {
    /// A member as a person reads it, safe for a terminal: texts without quotes, everything else as JSON.
    func shown(_ name: String) -> String { self[name]?.shown ?? "" }

    /// This value as a person reads it.
    var shown: String {
        switch self {
        case .string(let text): Display.safe(text)
        case .null: "-"
        default: Display.safe(text)
        }
    }

    /// A member that is an array, its elements as a person reads them.
    func list(_ name: String) -> [String] { (self[name]?.array ?? []).map(\.shown) }

    /// A member that counts seconds since 1970, as date and time.
    func time(_ name: String) -> String? { self[name]?.int.map(Display.time) }

    /// Whether a member is true.
    func holds(_ name: String) -> Bool { self[name]?.bool == true }
}
