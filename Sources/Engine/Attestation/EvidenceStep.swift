public import Device
import Encoding

/// What became of evidence about the app, as the journal shows it: never a byte of it.
public enum EvidenceStep: Sendable, Hashable {
    /// It was made.
    case made(EvidenceFormat, defect: AttestationDefect, counter: UInt32?)
    /// The platform gave none, for this reason.
    case unavailable(String)

    var jsonMembers: [(String, JSON)] {
        switch self {
        case .made(let format, let defect, let counter):
            var members: [(String, JSON)] = [("event", "made"), ("format", .string(format.rawValue))]
            if defect != .none { members.append(("defect", .string(defect.rawValue))) }
            if let counter { members.append(("counter", .int(Int64(counter)))) }
            return members
        case .unavailable(let reason): return [("event", "unavailable"), ("why", .string(reason))]
        }
    }
}
