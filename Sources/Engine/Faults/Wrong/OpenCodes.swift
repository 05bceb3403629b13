import Synchronization

/// Authorization codes that were given and not redeemed yet, in memory alone: what `code-of-another-client` presents.
final class OpenCodes: Sendable {
    /// How many are remembered; beyond it the oldest is forgotten.
    static let limit = 64

    private struct Entry {
        let issuer: String
        let clientID: String
        let flow: FlowID
        let code: String
    }

    private let entries = Mutex<[Entry]>([])

    /// A completion gave a code, in the place of an earlier one of the flow.
    func note(_ code: String, of flow: FlowID, for clientID: String, at issuer: String) {
        entries.withLock { entries in
            entries.removeAll { $0.flow == flow }
            if entries.count == Self.limit { entries.removeFirst() }
            entries.append(Entry(issuer: issuer, clientID: clientID, flow: flow, code: code))
        }
    }

    /// The flow's code was redeemed, or the flow is over.
    func forget(_ flow: FlowID) { entries.withLock { $0.removeAll { $0.flow == flow } } }

    /// The newest code of the issuer that was given to another client.
    func code(at issuer: String, notOf clientID: String) -> String? {
        entries.withLock { $0.last { $0.issuer == issuer && $0.clientID != clientID }?.code }
    }
}
